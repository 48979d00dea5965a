"""Operators of conditions that look beyond the resource itself: at other resources, the catalog, time and networks."""

from __future__ import annotations

import ipaddress
from typing import Literal

from pydantic import Field

from .conditions import Condition, PathText, When, values_at
from .paths import Scope, plain
from .zone_names import zone_id


class Exists(Condition, operator="exists"):
    """`exists: {type: aws:ec2/route:Route, where: {routeTableId: $it}, when: condition}`: the cloud holds another
    resource of the type (not being deleted); `where`: its path = a path of here, some value in common; `when` is asked
    of it, with `$self.x` for what is being asked for and `$it` kept."""

    type: str
    where: dict[PathText, PathText] = {}
    when: When | None = None

    def holds(self, scope: Scope) -> bool:
        wanted = {theirs: [plain(v) for v in values_at(ours, scope)] for theirs, ours in self.where.items()}
        if not all(wanted.values()):
            return False
        for thing in scope.around.things(self.type):
            there = scope.at(thing)
            if thing.id == scope.here.id and thing.type == scope.here.type:
                continue
            if all(any(plain(v) in values for v in values_at(theirs, there)) for theirs, values in wanted.items()) and (
                self.when is None or self.when.holds(there)
            ):
                return True
        return False


class NotOffered(Condition, operator="not_offered"):
    """`not_offered: {type: instanceTypes[*], zone: "subnetIds[*] -> availabilityZoneId"}`: the catalog knows the
    instance type and says that some of the zones (ids or names; without `zone`: the whole region) does not offer it. A
    type that the catalog does not know is taken to be offered."""

    type: PathText
    zone: PathText | None = None

    def holds(self, scope: Scope) -> bool:
        zones = [zone_id(plain(v)) for v in values_at(self.zone, scope)] if self.zone else [None]
        return any(
            scope.around.offered(plain(kind), zone) is False for kind in values_at(self.type, scope) for zone in zones
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
        found = [t for v in values_at(self.of, scope) for t in scope.around.find(plain(v), ())]
        return any(scope.around.age(thing) < self.seconds for thing in found)


class StatusIs(Condition, operator="status"):
    """`status: {of: path, is: [creating, failed]}`: some resource that the path leads to (without `of`: this one) is in
    one of these states: creating, available, failed, deleting."""

    of: PathText | None = None
    states: list[Literal["creating", "available", "failed", "deleting"]] = Field(alias="is")

    def holds(self, scope: Scope) -> bool:
        if self.of is None:
            return scope.around.status(scope.here) in self.states
        found = [t for v in values_at(self.of, scope) for t in scope.around.find(plain(v), ())]
        return any(scope.around.status(thing) in self.states for thing in found)


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
        return scope.around.file_count(scope.here) > self.above
