"""A small cloud of its own, so that tests of the interpreter do not depend on the data of a real one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.settings import RehearsalSettings
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.table.loader import load_table
from tests.rehearsal.fast_clock import FastClock

TYPES = """
toy:net/network:Network:
  id: "net-{hex:8}"
  outputs: {arn: "arn:toy:{$region}:{$account}:network/{$id}", revision: "{$version}"}
  range: cidr
  defaults: {dns: true, options.colour: red}
  implicit_resources: [{type: "toy:net/group:Group", inputs: {networkId: "{$id}"}, output: defaultGroupId}]
  deletion_blockers:
    - &held
      {type: "toy:net/subnet:Subnet", by: networkId, code: InUse, text: "{$id} is in use", source: s, evidence: assumed}
    - {<<: *held, type: "toy:net/group:Group"}
  immutable: [cidr]
  unread: [token, options.key]
  unordered: [zones]
  latency: &quick {create: {seconds: 2, source: s, sure: A}, delete: {seconds: 1, source: s, sure: A}}
toy:net/subnet:Subnet:
  id: "sub-{hex:8}"
  references:
    networkId: {to: ["toy:net/network:Network"], code: NoNetwork, text: "network {value} does not exist"}
  unique: [{by: [networkId, zone], code: ZoneTaken, text: "there is one in {zone}"}]
  outputs: {cidrOfNetwork: "{networkId -> cidr}"}
  immutable: [networkId, zone]
  latency: *quick
toy:net/group:Group:
  id: "grp-{hex:8}"
  autoname: {property: name, max: 20}
  immutable: [name]
  latency: *quick
toy:net/interface:Interface:
  id: "eni-{hex:8}"
  hidden: true
  latency: *quick
toy:iam/role:Role:
  id: "{name}"
  autoname: {property: name, max: 64}
  import_id: "role/{name}"
  scope: global
  immutable: [name]
  outputs: {arn: "arn:toy::role/{name}"}
  settle: {seconds: 10, source: s}
  latency: *quick
toy:iam/put:Put:
  id: "{of}"
  defaults: {serial: "{hex:8}", key: {of: "{digits:4}"}}
  idempotent: true
  taggable: false
  latency: *quick
toy:run/pool:Pool:
  id: "{name}"
  autoname: {property: name, max: 30}
  outputs: {status: ACTIVE}
  immutable: [name]
  references:
    roleArn:
      to: ["toy:iam/role:Role"]
      by: arn
      code: NoRole
      text: "no role {value | base} ({value})"
      unless: "^arn:toy:cloud:"
    "subnetIds[*]": {to: ["toy:net/subnet:Subnet"], code: NoSubnet, text: "{value}"}
  leftovers:
    - when: {absent: "roleArn -> arn"}
      type: "toy:net/interface:Interface"
      inputs: {subnetId: "{subnetIds[0]}"}
      why: nobody is left to take it away
  latency:
    create: {seconds: 30, source: s, sure: A, cases: [{when: {equals: {size: 0}}, seconds: 5, source: s, sure: A}]}
    delete: {seconds: 1, source: s, sure: A}
"""
REFUSALS = """
- name: pool-size-limit
  type: "toy:run/pool:Pool"
  when: {number: {of: size, above: 9}}
  code: TooLarge
  text: "{size} is more than 9"
  source: s
  evidence: assumed
  date: 2026-11
  trigger: {inputs: {size: 10}}
  neighbour: {inputs: {size: 9}}
- name: pool-never-joins
  type: "toy:run/pool:Pool"
  when: {all: [{equals: {network: closed}}, {not: {exists: {type: "toy:iam/role:Role", where: {name: opener}}}}]}
  code: NeverJoined
  text: "{name} did not join"
  comes: in-status
  after: 1200
  source: s
  evidence: assumed
  date: 2026-11
  trigger: {inputs: {network: closed}}
  neighbour: {inputs: {network: open}}
- name: pool-no-capacity
  type: "toy:run/pool:Pool"
  when: {no_capacity: {type: kind, zone: "subnetIds[*] -> zone"}}
  code: NoCapacity
  text: "no {kind}"
  comes: in-status
  after: 60
  source: s
  evidence: assumed
  date: 2026-11
  trigger: {inputs: {}}
  neighbour: {inputs: {}}
- name: network-kept
  type: "toy:net/network:Network"
  operation: delete
  when: {any: [{equals: {keep: true}}, {files: {above: 0}}]}
  code: Kept
  text: "{$id} is kept"
  source: s
  evidence: assumed
  date: 2026-11
  trigger: {delete: x}
  neighbour: {delete: x}
"""
NETWORK = "toy:net/network:Network"
SUBNET = "toy:net/subnet:Subnet"
ROLE = "toy:iam/role:Role"
POOL = "toy:run/pool:Pool"


def urn(type_: str, name: str) -> str:
    return f"urn:pulumi:s::p::{type_}::{name}"


class Toy:
    """A toy cloud, driven synchronously; `again` opens the same file as another process would."""

    def __init__(self, directory: Path, settings: RehearsalSettings, clock: Clock) -> None:
        self.directory, self.clock = directory, clock
        self.store = Store(directory / "cloud.db")
        self.cloud = Cloud(load_table("toy", directory), self.store, clock, settings)

    def create(self, type_: str, name: str, /, **inputs: Any) -> Any:
        return asyncio.run(self.cloud.create(type_, urn(type_, name), inputs))

    def update(self, resource: Any, /, **inputs: Any) -> Any:
        return asyncio.run(self.cloud.update(resource.type, resource.id, resource.urn, inputs))

    def delete(self, resource: Any) -> None:
        asyncio.run(self.cloud.delete(resource.type, resource.id, resource.urn))

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(work)

    def again(self, settings: RehearsalSettings | None = None) -> Toy:
        return Toy(self.directory, settings or self.cloud.settings, self.clock)


@pytest.fixture
def toy_table(tmp_path: Path) -> Path:
    for folder, text in (("types", TYPES), ("refusals", REFUSALS)):
        (tmp_path / "toy" / folder).mkdir(parents=True)
        (tmp_path / "toy" / folder / "toy.yaml").write_text(text)
    return tmp_path


@pytest.fixture
def make_toy(toy_table: Path) -> Iterator[Callable[..., Toy]]:
    made: list[Toy] = []

    def make(clock: Clock | None = None, **settings: Any) -> Toy:
        made.append(Toy(toy_table, RehearsalSettings(**settings), clock or Clock(0)))
        return made[-1]

    yield make
    for toy in made:
        toy.store.close()


@pytest.fixture
def toy(make_toy: Callable[..., Toy]) -> Toy:
    """At latency scale 0."""
    return make_toy()


@pytest.fixture
def timed_toy(make_toy: Callable[..., Toy]) -> Toy:
    """With time that counts, and takes none."""
    return make_toy(FastClock())
