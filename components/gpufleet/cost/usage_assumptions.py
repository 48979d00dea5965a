"""Assumptions about what a plan does not contain, such as busy hours and stored data, each with unit and default.

No `from __future__ import annotations` here: the stack's settings read the annotations as objects.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet.rules.messages import format_value, nearest
from gpufleet.typed_dicts import NumberRange

HOURS = 730.0
"""Hours of a month: 8,760 / 12, as both clouds' own price pages count."""
Amount = Annotated[float, NumberRange(0)]


class UsageArgs(TypedDict):
    """Assumptions about one month of the whole stack. Amounts are shared by all resources of their kind."""

    busy_hours: NotRequired[Annotated[float, NumberRange(0, HOURS)]]
    """Hours of a month in which jobs run, 0 to 730. Default 160: eight hours on twenty days."""
    busy_nodes: NotRequired[Mapping[str, int]]
    """Nodes that run in those hours, by the pool's logical name (* is a wildcard). Default: desired of each pool."""
    disk_gib: NotRequired[Amount]
    """GiB of a node's disk where the program leaves it to the image. Default 100."""
    files_gib: NotRequired[Amount]
    """GiB kept in shared file systems. Default 500."""
    files_read_gb: NotRequired[Amount]
    """GB read from shared file systems. Default 1000."""
    files_written_gb: NotRequired[Amount]
    """GB written to shared file systems. Default 200."""
    backup_gib: NotRequired[Amount]
    """GiB kept in backups of shared file systems. Default 500."""
    objects_gib: NotRequired[Amount]
    """GiB kept in object storage (S3, Blob). Default 500."""
    registry_gib: NotRequired[Amount]
    """GiB of images kept in container registries. Default 50."""
    nat_gb: NotRequired[Amount]
    """GB through NAT gateways. Default 300."""
    endpoint_gb: NotRequired[Amount]
    """GB through interface endpoints and private endpoints. Default 100."""
    cross_zone_gb: NotRequired[Amount]
    """GB between zones, each counted once; where a stack has its subnets or pools in several. Default 100."""
    site_gb: NotRequired[Amount]
    """GB from the cloud to on-prem servers, by a link or a sync. Incoming data is free. Default 100."""
    sync_gb: NotRequired[Amount]
    """GB that DataSync copies, in both directions. Default 500."""
    logs_gb: NotRequired[Amount]
    """GB that log groups and workspaces take in. Default 20."""
    own_server_vcpus: NotRequired[Amount]
    """vCPUs of all on-prem servers that joined EKS as hybrid nodes, as `nproc` counts them. Default: not known."""


class UsageError(UserError):
    """Assumptions that cannot be used; the text has one line for each fault."""


@dataclass(frozen=True)
class UsageAssumptions:
    """`UsageArgs` with our defaults; every table lists them. None: not known."""

    busy_hours: float = 160
    disk_gib: float = 100
    files_gib: float = 500
    files_read_gb: float = 1000
    files_written_gb: float = 200
    backup_gib: float = 500
    objects_gib: float = 500
    registry_gib: float = 50
    nat_gb: float = 300
    endpoint_gb: float = 100
    cross_zone_gb: float = 100
    site_gb: float = 100
    sync_gb: float = 500
    logs_gb: float = 20
    own_server_vcpus: float | None = None
    busy_nodes: tuple[tuple[str, int], ...] = ()

    def nodes_of(self, pool: str, desired: int | None) -> int | None:
        """Nodes of a pool in busy hours: as stated, else `desired`."""
        return next((nodes for name, nodes in self.busy_nodes if fnmatchcase(pool, name)), desired)

    def as_args(self) -> dict[str, object]:
        """These assumptions as a configuration would hold them, for reports."""
        values: dict[str, object] = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"busy_nodes": dict(self.busy_nodes)}


AMOUNTS: Mapping[str, tuple[str, str]] = {
    "busy_hours": ("h", "in which desired nodes run"),
    "disk_gib": ("GiB", "on a node's disk where the program does not say"),
    "files_gib": ("GiB", "in shared files"),
    "files_read_gb": ("GB", "read from shared files"),
    "files_written_gb": ("GB", "written to shared files"),
    "backup_gib": ("GiB", "in backups of shared files"),
    "objects_gib": ("GiB", "in object storage"),
    "registry_gib": ("GiB", "of container images"),
    "nat_gb": ("GB", "through NAT gateways"),
    "endpoint_gb": ("GB", "through private endpoints"),
    "cross_zone_gb": ("GB", "between zones"),
    "site_gb": ("GB", "out to on-prem servers"),
    "sync_gb": ("GB", "copied by DataSync"),
    "logs_gb": ("GB", "of logs"),
    "own_server_vcpus": ("vCPU", "of on-prem servers in the cluster, all month"),
}
"""Unit of each assumption and what it counts, as reports print it."""
OF_POOLS = frozenset({"busy_hours", "disk_gib"})
"""Assumptions that every pool rests on."""


def read_usage(values: object, where: str) -> UsageAssumptions:
    """Assumptions as a configuration holds them: a mapping of `UsageArgs`, or None for the defaults.

    where: the file or key that the lines begin with. Errors: UsageError for an unknown key, an invalid, negative or
    infinite number, or more hours than a month has.
    """
    if values is None:
        return UsageAssumptions()
    if not isinstance(values, Mapping):
        raise UsageError(
            f"{where}={format_value(values)}: must be a mapping; write keys under it, such as nat_gb: 500 [cost-usage]"
        )
    lines = [f"{where}.{line} [cost-usage]" for key, value in values.items() for line in _faults(str(key), value)]
    if lines:
        raise UsageError("\n".join(lines))
    amounts = {key: float(value) for key, value in values.items() if key in AMOUNTS and value is not None}
    return UsageAssumptions(
        **amounts, busy_nodes=tuple((name, int(n)) for name, n in (values.get("busy_nodes") or {}).items())
    )


def read_usage_file(file: Path) -> UsageAssumptions:
    """Assumptions from a YAML file of `UsageArgs`. Errors: UsageError."""
    return read_usage(read_yaml(file, "give a YAML file such as `nat_gb: 500` [cost-usage]"), str(file))


def _faults(key: str, value: object) -> list[str]:
    """What is wrong with one key, each as `key=value: problem; fix`."""
    if key not in UsageArgs.__annotations__:
        near = nearest(key, UsageArgs.__annotations__)
        known = f"did you mean {near}?" if near else f"known: {', '.join(UsageArgs.__annotations__)}"
        return [f"{key}: unknown key; {known}"]
    if value is None:
        return []
    if key != "busy_nodes":
        most = HOURS if key == "busy_hours" else math.inf
        return [] if _is_amount(value, most) else [f"{key}={format_value(value)}: {_wanted(key, most)}"]
    if not isinstance(value, Mapping):
        return [f"busy_nodes={format_value(value)}: must be a mapping; write {{<pool>: <nodes>}}"]
    return [
        f"busy_nodes.{pool}={format_value(nodes)}: must be a whole number, 0 or more"
        for pool, nodes in value.items()
        if not _is_amount(nodes, math.inf) or float(nodes) != int(nodes)
    ]


def _is_amount(value: object, most: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= most and math.isfinite(value)


def _wanted(key: str, most: float) -> str:
    if key == "busy_hours":
        return f"must be 0 to {most:g} hours"
    return f"must be a number of {AMOUNTS[key][0]}, 0 or more"
