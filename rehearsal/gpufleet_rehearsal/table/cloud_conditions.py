"""Operators of conditions that look beyond the resource itself: at other resources, the catalog, time and networks."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from gpufleet_rehearsal.table.conditions import Condition, PathText, When, values_at
from gpufleet_rehearsal.table.paths import Scope, plain

USUAL_SURGE = "10%"
"""maxSurge of Microsoft.ContainerService/managedClusters/agentPools 2025-09-01 where none is given."""


class Exists(Condition, operator="exists"):
    """`exists: {type: aws:ec2/route:Route, where: {routeTableId: $it}, when: condition}`: the cloud holds another
    resource of the type (not being deleted); `where`: its path = a path of here, some value in common; `when` is asked
    of it, with `$self.x` for what is being asked for and `$it` kept."""

    type: str
    where: dict[PathText, PathText] = {}
    when: When | None = None

    def holds(self, scope: Scope) -> bool:
        return any(True for _ in self.matches(scope))

    def matches(self, scope: Scope) -> Iterator[Scope]:
        """Each resource that is meant."""
        return (there for there in others(self.type, self.where, scope) if self.when is None or self.when.holds(there))


def others(type_: str, where: Mapping[str, str], scope: Scope) -> Iterator[Scope]:
    """The other resources of a type that have a value in common with this one at every path of `where`."""
    wanted = {theirs: [plain(v) for v in values_at(ours, scope)] for theirs, ours in where.items()}
    if not all(wanted.values()):
        return
    for thing in scope.cloud.resources_of(type_):
        there = scope.at(thing)
        if thing.id == scope.here.id and thing.type == scope.here.type:
            continue
        if all(any(plain(v) in values for v in values_at(theirs, there)) for theirs, values in wanted.items()):
            yield there


class AtLeast(Exists, operator="at_least"):
    """`at_least: {others: 5, type: aws:ec2/vpc:Vpc, where: ..., when: ...}`: so many of what `exists` looks for (quotas
    of a network, a role, an account). `others` may be a path to the number: `$limits.vpcs`."""

    others: int | PathText

    def holds(self, scope: Scope) -> bool:
        most = [self.others] if isinstance(self.others, int) else values_at(self.others, scope)
        count = sum(1 for _ in self.matches(scope))
        return any(count >= float(plain(number)) for number in most)


class TotalAbove(Exists, operator="total"):
    """`total: {of: "policy | size", above: 10240, type: aws:iam/rolePolicy:RolePolicy, where: {role: role}}`: the
    numbers at `of`, here and in what `exists` looks for, come to more than that."""

    of: PathText
    above: int

    def holds(self, scope: Scope) -> bool:
        numbers = (float(plain(v)) for one in (scope, *self.matches(scope)) for v in values_at(self.of, one))
        return sum(numbers) > self.above


class NotOffered(Condition, operator="not_offered"):
    """`not_offered: {type: instanceTypes[*], zone: "subnetIds[*] -> availabilityZoneId"}`: the catalog knows the
    instance type and says that some of the zones (ids or names; without `zone`: the whole region) does not offer it. A
    type that the catalog does not know is taken to be offered."""

    type: PathText
    zone: PathText | None = None

    def holds(self, scope: Scope) -> bool:
        zones = [scope.cloud.zone(plain(v)) for v in values_at(self.zone, scope)] if self.zone else [None]
        return any(
            scope.cloud.offered(plain(kind), zone) is False for kind in values_at(self.type, scope) for zone in zones
        )


class Changed(Condition, operator="changed"):
    """`changed: path`: on an update, what is there now differs from what was."""

    short = "path"
    path: PathText

    def holds(self, scope: Scope) -> bool:
        return scope.old is not None and values_at(self.path, scope) != values_at(f"$old.{self.path}", scope)


class Younger(Condition, operator="younger"):
    """`younger: {of: path, seconds: 60}`: some resource that the path leads to (by id, arn or name) was made less than
    so many simulated seconds ago. Never at latency scale 0."""

    of: PathText
    seconds: float

    def holds(self, scope: Scope) -> bool:
        found = [t for v in values_at(self.of, scope) for t in scope.cloud.find(plain(v), ())]
        return any(scope.cloud.age(thing) < self.seconds for thing in found)


class StatusIs(Condition, operator="status"):
    """`status: {of: path, is: [creating, failed]}`: some resource that the path leads to (without `of`: this one) is in
    one of these states: creating, available, failed, deleting."""

    of: PathText | None = None
    states: list[Literal["creating", "available", "failed", "deleting"]] = Field(alias="is")

    def holds(self, scope: Scope) -> bool:
        if self.of is None:
            return scope.cloud.status(scope.here) in self.states
        found = [t for v in values_at(self.of, scope) for t in scope.cloud.find(plain(v), ())]
        return any(scope.cloud.status(thing) in self.states for thing in found)


class Cidr(Condition, operator="cidr"):
    """`cidr: {of: cidrBlock, outside: "vpcId -> cidrBlock"}`: some network at `of` lies in none of those at `outside`;
    `cidr: {of: cidrBlock, overlaps: path}`: some network at `of` overlaps one of those; `cidr: {of: path, longer: 28,
    shorter: 16}`: its prefix is longer (the network smaller) or shorter than that. Any one of those given is enough."""

    of: PathText
    outside: PathText | None = None
    overlaps: PathText | None = None
    longer: int | None = None
    shorter: int | None = None

    def holds(self, scope: Scope) -> bool:
        return any(self._holds_for(net, scope) for net in _networks(self.of, scope))

    def _holds_for(self, net: ipaddress.IPv4Network, scope: Scope) -> bool:
        within = _networks(self.outside, scope) if self.outside else []
        return (
            bool(within and not any(net.subnet_of(other) for other in within))
            or bool(self.overlaps and any(net.overlaps(other) for other in _networks(self.overlaps, scope)))
            or (self.longer is not None and net.prefixlen > self.longer)
            or (self.shorter is not None and net.prefixlen < self.shorter)
        )


def _networks(path: str, scope: Scope) -> list[ipaddress.IPv4Network]:
    found: list[ipaddress.IPv4Network] = []
    for value in values_at(path, scope):
        try:
            found.append(ipaddress.IPv4Network(plain(value), strict=False))
        except ValueError:
            continue
    return found


class Files(Condition, operator="files"):
    """`files: {above: 0}`: so many files, images or objects lie in this resource."""

    above: int = 0

    def holds(self, scope: Scope) -> bool:
        return scope.cloud.file_count(scope.here) > self.above


class LacksAddresses(Condition, operator="lacks_addresses"):
    """`lacks_addresses: {subnets: "subnetIds[*]", least: 5}`: some subnet there has fewer free addresses than that;
    `lacks_addresses: {subnets: "subnetIds[*]", nodes: scalingConfig.desiredSize}`: all of them together have fewer than
    so many nodes need, with one each. What this resource holds itself counts as free."""

    subnets: PathText
    least: int = 1
    nodes: PathText | None = None

    def holds(self, scope: Scope) -> bool:
        found = [thing for v in values_at(self.subnets, scope) for thing in scope.cloud.find(plain(v), ())]
        free = [scope.cloud.free_addresses(thing, scope.here) for thing in found]
        known = [each for each in free if each is not None]
        if self.nodes is None:
            return any(each < self.least for each in known)
        asked = [float(plain(value)) for value in values_at(self.nodes, scope)]
        return len(known) == len(free) > 0 and any(sum(known) < number for number in asked)


class NoCapacity(Condition, operator="no_capacity"):
    """`no_capacity: {type: instanceTypes[*], zone: "subnetIds[*] -> availabilityZoneId"}`: a injected fault
    (`capacity:...`) says so for **every** pair of an instance type and a zone (id or name) there. Ask besides whether
    anything is to be launched at all."""

    type: PathText
    zone: PathText

    def holds(self, scope: Scope) -> bool:
        types = [plain(value) for value in values_at(self.type, scope)]
        zones = [scope.cloud.zone(plain(value)) for value in values_at(self.zone, scope)]
        pairs = [(kind, zone) for kind in types for zone in zones]
        return bool(pairs) and all(scope.cloud.no_capacity(kind, zone) for kind, zone in pairs)


class Restricted(Condition, operator="restricted"):
    """`restricted: {type: vmSize, zone: "zones[*]", location: "location | location"}`: by the account's file, the
    account may not use the size in some of these zones (numbers) of the location."""

    type: PathText
    zone: PathText
    location: PathText

    def holds(self, scope: Scope) -> bool:
        places = values_at(self.location, scope)
        return any(
            scope.cloud.restricted(plain(kind), f"{plain(place)}-{plain(zone)}")
            for kind in values_at(self.type, scope)
            for place in places
            for zone in values_at(self.zone, scope)
        )


class OverQuota(Condition, operator="over_quota"):
    """`over_quota: {type: instanceTypes[*], count: scalingConfig.desiredSize, where: {region: region}}`: with so many
    instances of the first instance type there, those of all resources of this kind together that are counted with it
    (`where`, as of `exists`) have more vCPUs than the settings' quota of its family; with `family`, of that one for all
    types (a service's own quota). Instances on Spot or in a capacity block are to be left out by `unless`. `surge`
    leads to the number, or the share in %, of nodes that come besides while old ones are replaced (10% without one)."""

    type: PathText
    count: PathText
    where: dict[PathText, PathText] = {}
    unless: When | None = None
    family: str | None = None
    surge: PathText | None = None

    def holds(self, scope: Scope) -> bool:
        family, asked = self._vcpus(scope)
        limit = scope.cloud.quota(family) if family else None
        if limit is None or not asked:
            return False
        there = others(scope.here.type, self.where, scope)
        used = sum(vcpus for kind, vcpus in map(self._vcpus, there) if kind == family)
        return used + asked + self._surge(scope) > limit

    def _surge(self, scope: Scope) -> float:
        """vCPUs of the nodes that come beside the old ones while they are replaced."""
        if self.surge is None:
            return 0
        types, counts = values_at(self.type, scope), values_at(self.count, scope)
        said = next((plain(value) for value in values_at(self.surge, scope)), USUAL_SURGE)
        share = said.removesuffix("%")
        if not share.isdecimal():
            return 0
        nodes = math.ceil(float(plain(counts[0])) * int(share) / 100) if said != share else int(share)
        return nodes * (scope.cloud.vcpus(plain(types[0])) or 0)

    def _vcpus(self, scope: Scope) -> tuple[str | None, float]:
        types, counts = values_at(self.type, scope), values_at(self.count, scope)
        if not types or not counts or (self.unless is not None and self.unless.holds(scope)):
            return None, 0
        kind = plain(types[0])
        return self.family or scope.cloud.family(kind), float(plain(counts[0])) * (scope.cloud.vcpus(kind) or 0)
