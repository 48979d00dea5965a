"""Operators of conditions that count the addresses of a subnet."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping

from gpufleet_rehearsal.table.cloud_conditions import others
from gpufleet_rehearsal.table.conditions import Condition, PathText, When, values_at
from gpufleet_rehearsal.table.paths import Json, Scope, plain


class SubnetTooSmall(Condition, operator="subnet_too_small"):
    """`subnet_too_small: {pools: [$self, "resourceName -> agentPoolProfiles[*]"], type: ..., where: ...}`: some subnet
    has fewer free addresses than the nodes of these pools together may take, each and all its pods one.

    `pools` are paths of objects; `type` and `where`, as of `exists`, add other resources. The keys of each: `subnet`
    (a subnet's id), the first of `nodes` that is there, `pods` (without it `usual_pods`). If `nodes_alone` holds for
    what is asked for, pods take none; so do those of a pool with the key `pods_elsewhere`."""

    pools: list[PathText]
    type: str | None = None
    where: dict[PathText, PathText] = {}
    subnet: str = "vnetSubnetID"
    nodes: list[str] = ["maxCount", "count"]
    pods: str = "maxPods"
    usual_pods: int = 30
    pods_elsewhere: str = "podSubnetID"
    nodes_alone: When | None = None
    reserved: int = 5
    range: PathText = "addressPrefix"

    def holds(self, scope: Scope) -> bool:
        alone = self.nodes_alone is not None and self.nodes_alone.holds(scope)
        taken: dict[str, float] = {}
        for pool in self._pools(scope):
            if isinstance(subnet := pool.get(self.subnet), str):
                taken[subnet] = taken.get(subnet, 0) + self._addresses(pool, alone)
        return any(self._free(subnet, scope) < number for subnet, number in taken.items())

    def _pools(self, scope: Scope) -> Iterator[Mapping[str, Json]]:
        for path in self.pools:
            yield from (value for value in values_at(path, scope) if isinstance(value, Mapping))
        if self.type is not None:
            yield from (there.here.view for there in others(self.type, self.where, scope))

    def _addresses(self, pool: Mapping[str, Json], alone: bool) -> float:
        nodes = next((float(plain(pool[key])) for key in self.nodes if pool.get(key) is not None), 1.0)
        if alone or pool.get(self.pods_elsewhere):
            return nodes
        return nodes * (1 + float(plain(pool.get(self.pods) or self.usual_pods)))

    def _free(self, subnet: str, scope: Scope) -> float:
        """Addresses for nodes and pods; infinite where the subnet or its range is not known."""
        found = scope.cloud.find(subnet, ())
        ranges = [plain(value) for thing in found for value in values_at(self.range, scope.at(thing))]
        try:
            return ipaddress.IPv4Network(ranges[0], strict=False).num_addresses - self.reserved
        except (IndexError, ValueError):
            return float("inf")
