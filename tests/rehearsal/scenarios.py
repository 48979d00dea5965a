"""The simulated clouds with one of their named worlds in them. Each world is built once; every test works on a copy."""

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

from gpufleet_rehearsal.cloud.availability import offers_of
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.open_cloud import input_problems, placed
from gpufleet_rehearsal.cloud.settings import RehearsalSettings
from gpufleet_rehearsal.cloud.store import Resource, Store
from gpufleet_rehearsal.table.loader import Table, load_table
from gpufleet_rehearsal.table.model import Trigger, WorldResource
from gpufleet_rehearsal.table.paths import Json, Scope, parse_path
from tests.rehearsal.fast_clock import FastClock

AWS = load_table("aws")
AZURE = load_table("azure-native")
TABLES = (AWS, AZURE)
T = TypeVar("T")
NAME = "asked-for"
"""Logical name of what a test asks for."""
LONG_AFTER = 1e6
"""Seconds after which nothing of a world is still being made or settling."""
_REFERENCE = re.compile(r"\$\{([\w-]+)\.([^}]+)\}")


def urn(type_: str, name: str) -> str:
    return f"urn:pulumi:test::worlds::{type_}::{name}"


@dataclass
class World:
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


def open_world(table: Table, directory: Path, trigger: Trigger | None = None) -> World:
    """An empty cloud in a directory, with the faults and quotas that a trigger wants."""
    given = RehearsalSettings(faults=trigger.faults, quotas=trigger.quotas) if trigger else RehearsalSettings()
    # A provider of AWS cannot do without a region, and the settings have one.
    settings = placed(given, table.row, {table.row.region.key: given.region} if table.row.region.required else {})
    store, clock = Store(directory / "cloud.db"), FastClock()
    cloud = Cloud(table, store, clock, settings, problems=input_problems, offers=offers_of(table.cloud))
    return World(cloud, clock, {})


def build(table: Table, resources: Sequence[WorldResource], directory: Path) -> World:
    """A cloud with these resources, one after the other."""
    world = open_world(table, directory)
    for resource in resources:
        world.add(resource)
    return world


@cache
def _built(cloud: str, name: str) -> tuple[Path, dict[str, tuple[str, str]]]:
    directory = Path(tempfile.mkdtemp(prefix="gpufleet-world-"))
    table = next(table for table in TABLES if table.cloud == cloud)
    world = build(table, table.worlds[name], directory)
    world.cloud.store.close()
    return directory / "cloud.db", world.made


def in_world(table: Table, name: str | None, directory: Path, trigger: Trigger | None = None) -> World:
    """A copy of a named world (None: an empty cloud)."""
    made: dict[str, tuple[str, str]] = {}
    if name is not None:
        file, made = _built(table.cloud, name)
        shutil.copy(file, directory / "cloud.db")
    world = open_world(table, directory, trigger)
    world.made.update(made)
    world.clock.at = LONG_AFTER
    return world
