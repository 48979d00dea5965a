"""Private addresses of subnets: how many each hands out, and what the resources of the cloud hold of them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpufleet_rehearsal.table.paths import ResourceView, Scope, parse_path, plain

if TYPE_CHECKING:
    from gpufleet_rehearsal.cloud.scope import CloudView

KEPT = 5
"""Addresses of every subnet that AWS keeps: https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html."""


def free_addresses(cloud: CloudView, subnet: ResourceView, without: ResourceView) -> int | None:
    """Addresses that a subnet can still hand out if `without` held none; None if that has no range."""
    row = cloud.table.types.get(subnet.type)
    if row is None or row.range is None:
        return None
    for value in parse_path(row.range).values(Scope(subnet, cloud)):
        try:
            size = ipaddress.IPv4Network(plain(value), strict=False).num_addresses
        except ValueError:
            return None
        return max(0, size - KEPT - sum(_held(cloud, subnet, without)))
    return None


def _held(cloud: CloudView, subnet: ResourceView, without: ResourceView) -> Iterator[int]:
    """What each resource but one holds in a subnet."""
    for type_, row in cloud.table.types.items():
        if not row.addresses:
            continue
        for thing in cloud.resources_of(type_):
            if (thing.type, thing.id) == (without.type, without.id):
                continue
            scope = Scope(thing, cloud)
            for holding in row.addresses:
                subnets = [plain(value) for value in parse_path(holding.subnets).values(scope)]
                if subnet.id not in subnets or (holding.when is not None and not holding.when.holds(scope)):
                    continue
                if holding.nodes is None:
                    yield 1
                else:
                    # Rounded down: a node that may lie in either subnet takes none of the last address.
                    nodes = sum(int(float(plain(value))) for value in parse_path(holding.nodes).values(scope))
                    yield nodes // len(subnets)
