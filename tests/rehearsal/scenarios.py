"""The simulated clouds with one of their named scenarios in them. Each is built once; every test works on a copy."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tempfile
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from gpufleet_rehearsal.cloud.availability import instance_catalog_of
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.open_cloud import input_problems, with_location
from gpufleet_rehearsal.cloud.scope import LIMITS, RESTRICTED
from gpufleet_rehearsal.cloud.settings import RehearsalSettings
from gpufleet_rehearsal.cloud.store import SimulatedResource, Store
from gpufleet_rehearsal.table.loader import CloudTable, load_table
from gpufleet_rehearsal.table.model import ScenarioResource, Trigger
from gpufleet_rehearsal.table.paths import Json, Scope, parse_path
from tests.rehearsal.fast_clock import FastClock

AWS = load_table("aws")
AZURE = load_table("azure-native")
TABLES = (AWS, AZURE)
T = TypeVar("T")
NAME = "asked-for"
"""Logical name of what a test asks for."""
LONG_AFTER = 1e6
"""Seconds after which nothing of a scenario is still being made or settling."""
_REFERENCE = re.compile(r"\$\{([\w-]+)\.([^}]+)\}")


def urn(type_: str, name: str) -> str:
    return f"urn:pulumi:test::scenarios::{type_}::{name}"


@dataclass
class Scenario:
    """A cloud and what its scenario's resources became. Time jumps instead of passing."""

    cloud: Cloud
    clock: FastClock
    made: dict[str, tuple[str, str]]
    """Scenario resource -> its type and id."""

    def resource(self, name: str) -> SimulatedResource:
        found = self.cloud.store.get(*self.made[name])
        assert found is not None, f"{name} is not in the scenario"
        return found

    def fill(self, value: Json) -> Json:
        """The value with every `${name.path}` replaced by what the scenario's resource has there."""
        if isinstance(value, Mapping):
            return {key: self.fill(inner) for key, inner in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self.fill(inner) for inner in value]
        return _REFERENCE.sub(lambda m: self._of(m[1], m[2]), value) if isinstance(value, str) else value

    def _of(self, name: str, path: str) -> str:
        thing = self.resource(name)
        if path == "id":
            return thing.id
        (value,) = parse_path(path).values(Scope(thing, self.cloud.view))
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

    def create(self, type_: str, name: str, given: Mapping[str, Json]) -> SimulatedResource:
        return self.run(self.cloud.create(type_, urn(type_, name), self.inputs(type_, name, given)))

    def update(self, resource: SimulatedResource, given: Mapping[str, Json]) -> SimulatedResource:
        inputs = self.inputs(resource.type, resource.name, given)
        return self.run(self.cloud.update(resource.type, resource.id, resource.urn, inputs))

    def delete(self, resource: SimulatedResource) -> None:
        self.run(self.cloud.delete(resource.type, resource.id, resource.urn))

    def add(self, resource: ScenarioResource) -> SimulatedResource:
        made = self.create(resource.type, resource.name, resource.inputs)
        self.made[resource.name] = (made.type, made.id)
        return made

    def prepare(self, trigger: Trigger) -> None:
        """What stands before a trigger: the limits and deletions it asks for."""
        if trigger.limits:
            self.cloud.store.remember(LIMITS, json.dumps(trigger.limits))
        for name in trigger.before:
            self.delete(self.resource(name))

    def state(self) -> list[tuple[object, ...]]:
        """Everything that the cloud holds, without the revision counters of its file."""
        return [
            (r.type, r.id, r.status, dict(r.inputs), dict(r.outputs), r.version) for r in self.cloud.store.resources()
        ]


def open_scenario(table: CloudTable, directory: Path, trigger: Trigger | None = None) -> Scenario:
    """An empty cloud in a directory, with the faults and quotas that a trigger wants."""
    given = RehearsalSettings(faults=trigger.faults, quotas=trigger.quotas) if trigger else RehearsalSettings()
    # A provider of AWS cannot do without a region, and the settings have one.
    settings = with_location(
        given, table.row, {table.row.region.key: given.region} if table.row.region.required else {}
    )
    store, clock = Store(directory / "cloud.db"), FastClock()
    if trigger is not None and trigger.restricted_zones:
        store.remember(RESTRICTED, json.dumps(trigger.restricted_zones))
    cloud = Cloud(table, store, clock, settings, problems=input_problems, offers=instance_catalog_of(table.cloud))
    return Scenario(cloud, clock, {})


def build(table: CloudTable, resources: Sequence[ScenarioResource], directory: Path) -> Scenario:
    """A cloud with these resources, one after the other."""
    scenario = open_scenario(table, directory)
    for resource in resources:
        scenario.add(resource)
    return scenario


@cache
def _built(cloud: str, name: str) -> tuple[Path, dict[str, tuple[str, str]]]:
    directory = Path(tempfile.mkdtemp(prefix="gpufleet-scenario-"))
    table = next(table for table in TABLES if table.cloud == cloud)
    scenario = build(table, table.scenarios[name], directory)
    scenario.cloud.store.close()
    return directory / "cloud.db", scenario.made


def in_scenario(table: CloudTable, name: str | None, directory: Path, trigger: Trigger | None = None) -> Scenario:
    """A copy of a named scenario (None: an empty cloud)."""
    made: dict[str, tuple[str, str]] = {}
    if name is not None:
        file, made = _built(table.cloud, name)
        shutil.copy(file, directory / "cloud.db")
    scenario = open_scenario(table, directory, trigger)
    scenario.made.update(made)
    scenario.clock.at = LONG_AFTER
    return scenario
