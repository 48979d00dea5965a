"""The simulated AWS with one of its named worlds in it. Each world is built once; every test works on a copy."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from fast_clock import FastClock

from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.offers import AwsOffers
from gpufleet_rehearsal.cloud.opening import input_problems
from gpufleet_rehearsal.cloud.settings import Settings
from gpufleet_rehearsal.cloud.store import Resource, Store
from gpufleet_rehearsal.table.loading import load_table
from gpufleet_rehearsal.table.paths import Json, Scope, parse_path
from gpufleet_rehearsal.table.rows import Trigger, WorldResource

TABLE = load_table("aws")
T = TypeVar("T")
NAME = "asked-for"
"""Logical name of what a test asks for."""
LONG_AFTER = 1e6
"""Seconds after which nothing of a world is still being made or settling."""
_REFERENCE = re.compile(r"\$\{([\w-]+)\.([^}]+)\}")


def urn(type_: str, name: str) -> str:
    return f"urn:pulumi:test::worlds::{type_}::{name}"


@dataclass
class Aws:
    """A cloud and what its world's resources became. Time jumps instead of passing."""

    cloud: Cloud
    clock: FastClock
    made: dict[str, tuple[str, str]]
    """World resource -> its type and id."""

    def resource(self, name: str) -> Resource:
        found = self.cloud.store.get(*self.made[name])
        assert found is not None, f"{name} is not in the world"
        return found

    def fill(self, value: Json) -> Json:
        """The value with every `${name.path}` replaced by what the world's resource has there."""
        if isinstance(value, Mapping):
            return {key: self.fill(inner) for key, inner in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self.fill(inner) for inner in value]
        return _REFERENCE.sub(lambda m: self._of(m[1], m[2]), value) if isinstance(value, str) else value

    def _of(self, name: str, path: str) -> str:
        thing = self.resource(name)
        if path == "id":
            return thing.id
        (value,) = parse_path(path).values(Scope(thing, self.cloud.around))
        assert isinstance(value, str)
        return value

    def inputs(self, type_: str, name: str, given: Mapping[str, Json]) -> dict[str, Json]:
        """The inputs of a request, which must pass the input checks."""
        filled = self.fill(given)
        assert isinstance(filled, dict)
        inputs, failures = self.cloud.check(type_, name, filled, {})
        assert not failures, f"{name}: {[failure.reason for failure in failures]}"
        return inputs

    def run(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run(work)

    def create(self, type_: str, name: str, given: Mapping[str, Json]) -> Resource:
        return self.run(self.cloud.create(type_, urn(type_, name), self.inputs(type_, name, given)))

    def update(self, resource: Resource, given: Mapping[str, Json]) -> Resource:
        inputs = self.inputs(resource.type, resource.name, given)
        return self.run(self.cloud.update(resource.type, resource.id, resource.urn, inputs))

    def delete(self, resource: Resource) -> None:
        self.run(self.cloud.delete(resource.type, resource.id, resource.urn))

    def add(self, resource: WorldResource) -> Resource:
        made = self.create(resource.type, resource.name, resource.inputs)
        self.made[resource.name] = (made.type, made.id)
        return made

    def prepare(self, trigger: Trigger) -> None:
        """What stands before a trigger: the deletions it asks for."""
        for name in trigger.before:
            self.delete(self.resource(name))

    def state(self) -> list[tuple[object, ...]]:
        """Everything that the cloud holds, without the revision counters of its file."""
        return [
            (r.type, r.id, r.status, dict(r.inputs), dict(r.outputs), r.version) for r in self.cloud.store.resources()
        ]


def open_aws(directory: Path, trigger: Trigger | None = None) -> Aws:
    """A cloud in a directory, with the faults and quotas that a trigger wants."""
    settings = Settings(faults=trigger.faults, quotas=trigger.quotas) if trigger else Settings()
    store, clock = Store(directory / "cloud.db"), FastClock()
    return Aws(Cloud(TABLE, store, clock, settings, problems=input_problems, offers=AwsOffers()), clock, {})


def build(resources: Sequence[WorldResource], directory: Path) -> Aws:
    """A cloud with these resources, one after the other."""
    aws = open_aws(directory)
    for resource in resources:
        aws.add(resource)
    return aws


@cache
def _built(world: str) -> tuple[Path, dict[str, tuple[str, str]]]:
    directory = Path(tempfile.mkdtemp(prefix="gpufleet-world-"))
    aws = build(TABLE.worlds[world], directory)
    aws.cloud.store.close()
    return directory / "cloud.db", aws.made


def in_world(world: str | None, directory: Path, trigger: Trigger | None = None) -> Aws:
    """A copy of a named world (None: an empty cloud)."""
    made: dict[str, tuple[str, str]] = {}
    if world is not None:
        file, made = _built(world)
        shutil.copy(file, directory / "cloud.db")
    aws = open_aws(directory, trigger)
    aws.made.update(made)
    aws.clock.at = LONG_AFTER
    return aws
