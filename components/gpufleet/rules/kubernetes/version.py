"""Rules on versions of what is installed on a cluster."""

import re

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

_VERSION = re.compile(r"v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")


@rule("any-kubernetes-version-pinned", Severity.ERROR)
def version_pinned(*, argument: str, version: str) -> Outcome:
    """Software on a cluster has one exact version of three numbers, the same on every run.

    Source: kubeflow/mpi-operator's manifest on master names the image :master, which changes under a running cluster;
    Helm takes a range such as ~1.2 and then another chart on every run.
    """
    if _VERSION.fullmatch(version):
        return passed()
    return failed(argument, version, "is not one version", "use three numbers, such as 0.20.0")
