"""The environments that crash, before and after each of their operations, undisturbed: what a crash is measured by."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gpufleet_rehearsal.cloud.store import SimulatedResource, Store
from tests.crashes.crash import start, wait_for_all
from tests.e2e.rehearsed_project import Project, copy_of_ours

Config = dict[str, Any]


def _aws(config: Config) -> None:
    config["registry"]["repositories"].append("inference")
    config["pools"]["trainers"]["types"] = ["g5.12xlarge"]
    config["cluster"]["log_retention_days"] = 7
    del config["budget"]


def _azure(config: Config) -> None:
    config["pools"]["trainers"]["types"] = ["Standard_NC8as_T4_v3"]
    config["batch"]["pools"]["spot"]["max"] = 20
    config["files"]["allowed_cidrs"].append("198.51.100.0/24")
    config["pools"]["more"] = config["pools"]["trainers"] | {"placement": "none"}
    del config["budget"]


def _hybrid(config: Config) -> None:
    config["pools"]["rented"]["types"] = ["g5.24xlarge"]
    config["registry"]["repositories"].append("inference")
    config["own_servers"]["networks"]["nodes"].append("10.80.1.0/24")
    del config["budget"]


CHANGES: Mapping[str, Callable[[Config], None]] = {"aws-dev": _aws, "azure-dev": _azure, "hybrid": _hybrid}
"""A change that creates, updates, replaces and deletes resources, for each environment."""
UP, CHANGE, DESTROY, KEEP = "up", "change", "destroy", "destroy, keeping data"


@dataclass(frozen=True)
class Rehearsed:
    """An environment's rehearsal in a copy of the project."""

    project: Project
    environment: str

    def command(self, operation: str) -> list[str]:
        """Arguments of `gpufleet rehearse` for an operation."""
        options = ["--destroy"] if operation in (DESTROY, KEEP) else []
        return [self.environment, "--latency-scale", "0", "--no-control-plane", *options]

    def copy(self, folder: Path) -> "Rehearsed":
        shutil.copytree(self.project.folder, folder, symlinks=True)
        return Rehearsed(Project(folder), self.environment)

    def change(self) -> None:
        """Change the configuration as `CHANGES` says."""
        self.project.configure(CHANGES[self.environment], self.environment)

    @property
    def checkpoint(self) -> Mapping[str, Any]:
        """The engine's state, as the file has it; empty where there is none."""
        file = self.project.home._state(self.environment)
        latest = json.loads(file.read_text())["checkpoint"].get("latest") if file.exists() else None
        return latest or {}

    def seen(self) -> "Snapshot":
        """What the clouds hold and the state knows."""
        home = self.project.home
        held, objects = (_all(home.root / name) for name in ("cloud.db", "kubernetes.db"))
        resources = [each for each in self.checkpoint.get("resources") or [] if each.get("custom")]
        known = {(each["type"], each["id"]) for each in resources if each.get("id")}
        own = {(each.type, each.id): each for each in held if each.owner is None}
        gone = sorted(
            str(each["urn"]).rpartition("::")[2]
            for each in resources
            if each["type"].startswith(("aws:", "azure-native:")) and (each["type"], each.get("id")) not in own
        )
        kept = home.root.rglob("*")
        return Snapshot(
            held=Counter(f"{each.type} {each.name}" for each in held),
            objects=Counter(f"{each.type} {each.name}" for each in objects),
            ids={f"{each.type} {each.name}": each.id for each in own.values()},
            orphans=sorted(f"{each.type} {each.name}" for key, each in own.items() if key not in known),
            gone=gone,
            stale=sorted(str(each["urn"]) for each in resources if each.get("delete")),
            pending=[str(each["resource"]["urn"]) for each in self.checkpoint.get("pending_operations") or []],
            locks=[str(file) for file in (home.root / "backend" / ".pulumi" / "locks").rglob("*.json")],
            files={str(file.relative_to(home.root)) for file in kept if file.is_file() and _counts(file)},
        )


def _all(file: Path) -> list[SimulatedResource]:
    return Store(file).resources() if file.exists() else []


def _counts(file: Path) -> bool:
    """Whether a file's being there says something: not the engine's history, nor what SQLite has beside a database.

    An engine that is killed while it writes its state leaves what it has written, in a file that nobody reads again.
    """
    return not {"history", "backups"} & set(file.parts) and not file.name.endswith(("-wal", "-shm", ".tmp"))


@dataclass(frozen=True)
class Snapshot:
    """What there is at a moment. held, objects: how many of each type and logical name, of the cloud and Kubernetes.

    ids: of what the cloud did not make itself. orphans: not in the state. gone: in the state alone. stale: replaced,
    and still to be deleted. pending: operations that the state takes for interrupted. files: of the rehearsal.
    """

    held: Counter[str]
    objects: Counter[str]
    ids: Mapping[str, str]
    orphans: list[str]
    gone: list[str]
    stale: list[str]
    pending: list[str]
    locks: list[str]
    files: set[str]


@dataclass(frozen=True)
class Scene:
    """An environment before an operation, in `folder`, with what the operation makes of it undisturbed."""

    folder: Path
    environment: str
    operation: str

    @property
    def before(self) -> Rehearsed:
        return Rehearsed(Project(self.folder / "before"), self.environment)

    @property
    def after(self) -> Rehearsed:
        return Rehearsed(Project(self.folder / "after"), self.environment)

    @cached_property
    def moments(self) -> list[str]:
        """All moments of the operation (provider.py), as they came."""
        return (self.folder / "moments").read_text().splitlines()

    @cached_property
    def result(self) -> Snapshot:
        return self.after.seen()

    def play(self) -> None:
        """Carry the operation out, undisturbed. Errors: AssertionError when it fails."""
        after = self.before.copy(self.folder / "after")
        os.chdir(after.project.folder)
        start(after.command(self.operation), notes=str(self.folder / "moments"))
        wait_for_all()
        assert self.result.orphans == self.result.gone == self.result.locks == self.result.pending == [], self.result
        assert bool(self.result.held) is (self.operation != DESTROY), self.result


def empty(folder: Path, environment: str, *, erase: bool) -> Rehearsed:
    """An environment that was never brought up, told to erase its data with a destroy or to keep it."""
    folder.mkdir(parents=True)
    project = copy_of_ours(folder)
    project.configure(lambda config: config.update(erase=erase), environment)
    if environment == "hybrid":
        project.connect_site()
    return Rehearsed(project, environment)


def prepare(folder: Path, environment: str, *, erase: bool, operations: Iterable[str]) -> None:
    """Play an environment's `up` and these operations after it; `scene` then has them."""
    up = scene(folder, environment, UP, erase=erase)
    empty(up.before.project.folder, environment, erase=erase)
    up.play()
    for operation in operations:
        later = scene(folder, environment, operation, erase=erase)
        before = up.after.copy(later.folder / "before")
        if operation == CHANGE:
            before.change()
        later.play()


def scene(folder: Path, environment: str, operation: str, *, erase: bool) -> Scene:
    """The scene of an operation in an environment that erases its data, or keeps them, when it is destroyed."""
    return Scene(folder / f"{environment}, {'erasing' if erase else 'keeping'}" / operation, environment, operation)
