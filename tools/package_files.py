"""The generated files of components/packages/: each package's schema, and what its folder needs installed."""

import re
import subprocess
import sys
from functools import partial
from importlib.metadata import distribution, version

from packaging.requirements import Requirement

# Cloud -> what of gpufleet its components need: each the SDK of its own.
CLOUDS = {"aws": "gpufleet[aws]", "azure": "gpufleet[azure]", "kubernetes": "gpufleet[kubernetes]"}

_PRINT = """\
from gpufleet.pulumi_package.schema import written
from gpufleet.pulumi_package.provider import Package
print(written(Package({cloud!r}).schema), end="")
"""
_HEAD = """\
# What the folder's environment gets; the engine's pip reads this file, in this folder, and nothing else. Written by
# `make generate` from the versions in requirements.lock. gpufleet is that of the checkout: it is on no package index,
# and by its name pip would take what somebody else has registered there.
"""


def _schema(cloud: str) -> str:
    # In a process of its own: none imports the SDKs of two clouds.
    command = [sys.executable, "-c", _PRINT.format(cloud=cloud)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


aws_schema, azure_schema, kubernetes_schema = (partial(_schema, cloud) for cloud in CLOUDS)


def _requirements(cloud: str) -> str:
    """gpufleet for the cloud, and every package that this brings, at the locked version."""
    needed: set[str] = set()
    _gather(Requirement(CLOUDS[cloud]), needed)
    pins = sorted(f"{name}=={version(name)}" for name in needed)
    return "\n".join([f"{_HEAD}../../..[{cloud}]", *pins, ""])


def _gather(requirement: Requirement, needed: set[str]) -> None:
    """Add what a requirement needs, itself excluded when it is gpufleet; markers as on this machine."""
    extras = requirement.extras or {""}
    for text in distribution(requirement.name).requires or ():
        inner = Requirement(text)
        if inner.marker is not None and not any(inner.marker.evaluate({"extra": extra}) for extra in extras):
            continue
        name = re.sub(r"[-_.]+", "-", inner.name).lower()
        if name not in needed:
            needed.add(name)
            _gather(inner, needed)


aws_requirements, azure_requirements, kubernetes_requirements = (partial(_requirements, cloud) for cloud in CLOUDS)
