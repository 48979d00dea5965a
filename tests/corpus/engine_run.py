"""A program of the corpus on the real engine: `gpufleet rehearse --program` of its resources, its change, its end."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import yaml

from tests.corpus.programs import HERE, REFERENCE, Program
from tests.e2e.rehearsed_project import Project
from tests.e2e.tiny_program import made

STEPS = ("up", "change", "destroy")


@dataclass(frozen=True)
class Step:
    """A command on a program: whether all is as it must be, how long it took, and what it said."""

    ok: bool
    seconds: float
    said: str


def run_program(program: Program, folder: Path) -> dict[str, Step]:
    """Up, change and destroy of a program in a new folder. What comes after a failed step is left out."""
    folder.mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: corpus\nruntime: python\n")
    region = {"aws:region": program.region} if program.cloud == "aws" else {"azure-native:location": "eastus"}
    (folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": region}))
    if program.holds:
        (folder / "rehearsal.dev.yaml").write_text(yaml.safe_dump(list(program.holds)))
    shutil.copy(HERE / "pulumi_program.py", folder / "__main__.py")
    project = Project(folder)

    def up(resources: Mapping[str, Mapping[str, Any]]) -> Callable[[], tuple[CompletedProcess[str], bool]]:
        def run() -> tuple[CompletedProcess[str], bool]:
            (folder / "resources.json").write_text(json.dumps({"nodes": nodes(program, resources)}))
            done = project.rehearse(environment="dev")
            return done, set(made(project)) == set(resources)

        return run

    def destroy() -> tuple[CompletedProcess[str], bool]:
        done = project.rehearse("--destroy", environment="dev")
        held = {each["id"] for each in program.holds}
        left = [r.type for r in project.cloud_of("dev").store.resources() if r.id not in held]
        return done, sorted(left) == sorted(program.leaves)

    steps: dict[str, Step] = {}
    for name, run in zip(STEPS, (up(program.resources), up(program.changed), destroy), strict=True):
        began = time.monotonic()
        done, as_expected = run()
        # `--destroy` says by its code that something is left.
        code = 1 if name == "destroy" and program.leaves else 0
        ok = done.returncode == code and as_expected
        steps[name] = Step(ok, time.monotonic() - began, done.stdout + done.stderr)
        if not ok:
            break
    return steps


def nodes(program: Program, resources: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What pulumi_program.py reads."""
    listed: list[dict[str, Any]] = []
    taken = {}
    for name, path in REFERENCE.findall(json.dumps([program.lookups, resources])):
        taken.setdefault(name, set()).add(re.split(r"[.\[]", path)[0])
    for name in program.order(resources):
        if name in program.lookups:
            listed.append({"name": name, "arguments": {}, **program.lookups[name]})
            continue
        node = {"inputs": {}, "dependsOn": [], "deleteBeforeReplace": None, **resources[name]}
        outputs = sorted(taken.get(name, set()) - {"id", "urn"})
        listed.append({"name": name, **node, "outputs": outputs})
    return listed
