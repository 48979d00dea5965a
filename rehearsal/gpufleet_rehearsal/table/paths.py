"""The path language in which the cloud's table speaks of properties.

A path gives a **list** of values (empty when nothing is there):

    name                      a property, by its wire name (camelCase)
    vpcConfig.subnetIds       a property inside another
    subnetIds[0]              one element; negative numbers count from the end
    subnetIds[*]              every element (of an object: every value; of a plain value: itself)
    tags["kubernetes.io/x"]   a key that is not a plain word
    policy.$json.Statement[*] inside of a text that is JSON (what is an object already is taken as it is)
    subnetId -> vpcId         each value of `subnetId` is taken for a resource of the cloud, found by its id, arn or
                              name, and the path continues there. A row's `references` say which types a path may lead
                              to; without one, every type is searched
    $id $name $region $account $version   of the resource: its id, its logical name in the program, the cloud's region
                              and account, 1 + the number of its updates
    $partition                of ARNs of AWS's region: aws, aws-cn, aws-us-gov
    $zones[*]                 names of the zones of the cloud's region, as the simulated account calls them
    $limits.x                 how many of x the account may hold (`limits` of cloud.yaml, or the account's file)
    $it                       inside the operators `some` and `every`: the value looked at
    $self.x                   inside `exists`: property x of the resource that is being asked for
    $old.x                    on an update: property x as it was before
    userData | text           a filter, see FILTERS
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeAlias, cast

from gpufleet.aws.partition import partition
from gpufleet_rehearsal.table.service_roles import service_role
from gpufleet_rehearsal.table.zone_names import zone_area, zone_id, zone_letter

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A property's value as it goes over the wire."""


class PathError(ValueError):
    """A path or template of the table that cannot be read; the text says which and why."""


class ResourceView(Protocol):
    """What a path is asked of: a resource that the cloud holds, or one that is being asked for."""

    @property
    def type(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def view(self) -> Mapping[str, Json]: ...


class CloudState(Protocol):
    """The rest of the cloud, as far as paths and conditions look at it."""

    @property
    def region(self) -> str: ...
    @property
    def account(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def limits(self) -> Mapping[str, int]:
        """How many of a thing the account may hold, by the name of the limit."""
        ...

    def find(self, handle: str, types: Sequence[str]) -> Sequence[ResourceView]:
        """Resources whose id, arn or name is `handle`; of any type when `types` is empty."""
        ...

    def resources_of(self, type_: str) -> Sequence[ResourceView]:
        """Every resource of a type that the cloud holds."""
        ...

    def path_targets(self, thing: ResourceView, path: str, value: str) -> Sequence[ResourceView]:
        """Resources that `value`, found at `path` of `thing`, leads to: by the row's references, of any type when they
        name none."""
        ...

    def age(self, thing: ResourceView) -> float:
        """Simulated seconds since the resource was made; infinite where time does not count (latency scale 0)."""
        ...

    def status(self, thing: ResourceView) -> str:
        """creating, available, failed, deleting."""
        ...

    def offered(self, instance_type: str, zone: str | None) -> bool | None:
        """Whether the catalog offers the instance type in a zone id (or the region); None when it does not know."""
        ...

    def no_capacity(self, instance_type: str, zone: str) -> bool:
        """Whether a injected fault says that there is none in the zone id."""
        ...

    def restricted(self, instance_type: str, zone: str) -> bool:
        """Whether the account may not use the type in the zone (eastus-1), by its file."""
        ...

    def vcpus(self, instance_type: str) -> int | None:
        """vCPUs of one instance; None when the catalog does not know the type."""
        ...

    def family(self, instance_type: str) -> str | None:
        """The family whose quota an instance type counts against; None when the catalog does not know it."""
        ...

    def zone(self, name: str) -> str:
        """The zone id of a zone that is given by its name or id."""
        ...

    @property
    def zones(self) -> Sequence[str]:
        """Names of the zones of the region, sorted; empty when the catalog does not know it."""
        ...

    def quota(self, family: str) -> int | None:
        """On-demand vCPUs at most of a family; None without a limit."""
        ...

    def free_addresses(self, subnet: ResourceView, without: ResourceView) -> int | None:
        """Addresses that a subnet can still hand out if `without` held none; None if that has no range."""
        ...

    def file_count(self, thing: ResourceView) -> int:
        """How many files, images or objects lie in the resource."""
        ...


@dataclass(frozen=True)
class Scope:
    """Where a path is read: `here`, in `cloud`, for the request `request` (default: `here` itself)."""

    here: ResourceView
    cloud: CloudState
    request: ResourceView | None = None
    old: Mapping[str, Json] | None = None
    it: Json = None

    def at(self, thing: ResourceView) -> Scope:
        """The same request, looked at from another resource."""
        return Scope(thing, self.cloud, self.request or self.here, self.old, self.it)

    def with_item(self, value: Json) -> Scope:
        """The same place, with `$it` bound to `value`."""
        return Scope(self.here, self.cloud, self.request, self.old, value)


@dataclass(frozen=True)
class Hop:
    """One stretch of a path between two arrows: a root (`$id`, or empty) and steps (a key, an index or `*`)."""

    root: str
    steps: tuple[str | int, ...]
    text: str


@dataclass(frozen=True)
class PropertyPath:
    """A path that has been read; `values` gives what is there."""

    hops: tuple[Hop, ...]
    filters: tuple[str, ...]

    def values(self, scope: Scope) -> list[Json]:
        """Everything the path leads to, flattened; values that are null or absent are left out."""
        here = [scope.here]
        for hop in self.hops[:-1]:
            met = [(thing, value) for thing in here for value in _walk(hop, scope.at(thing))]
            here = [led for t, v in met if isinstance(v, str) for led in scope.cloud.path_targets(t, hop.text, v)]
        last = self.hops[-1]
        found = [value for thing in here for value in _walk(last, scope.at(thing))]
        for name in self.filters:
            found = [value for item in found if (value := FILTERS[name](item)) is not None]
        return found


STAR = "*"
JSON = "$json"
ROOTS = ("$id", "$name", "$region", "$partition", "$account", "$version", "$zones", "$limits", "$it", "$self", "$old")
_STEP = re.compile(r'\.(?P<json>\$json)|\.?(?P<name>[A-Za-z_][\w-]*)|\[(?P<index>-?\d+|\*)\]|\["(?P<key>[^"]*)"\]')


@cache
def parse_path(text: str) -> PropertyPath:
    """Read a path. PathError says what is wrong with it."""
    whole, *filters = (part.strip() for part in text.split("|"))
    for name in filters:
        if name not in FILTERS:
            raise PathError(f"path {text!r}: unknown filter {name!r}; known are {', '.join(sorted(FILTERS))}")
    return PropertyPath(tuple(_hop(part.strip(), text) for part in whole.split("->")), tuple(filters))


def _hop(part: str, whole: str) -> Hop:
    root, rest = "", part
    if part.startswith("$"):
        root = next((r for r in ROOTS if part == r or part.startswith((f"{r}.", f"{r}["))), "")
        if not root:
            raise PathError(f"path {whole!r}: {part!r} starts with none of {' '.join(ROOTS)}")
        rest = part[len(root) :]
    steps: list[str | int] = []
    at = 0
    while at < len(rest):
        match = _STEP.match(rest, at)
        if match is None:
            raise PathError(f"path {whole!r}: cannot read {rest[at:]!r}")
        index, at = match["index"], match.end()
        steps.append(match["json"] or match["name"] or match["key"] or (STAR if index == STAR else int(index)))
    if not root and not steps:
        raise PathError(f"path {whole!r}: a part of it is empty")
    return Hop(root, tuple(steps), part)


def _walk(hop: Hop, scope: Scope) -> list[Json]:
    found: list[Json] = [_root(hop.root, scope) if hop.root else scope.here.view]
    for step in hop.steps:
        if isinstance(step, str) and step not in (STAR, JSON):
            # The usual case, and many paths are read of many resources.
            found = [item[step] for item in found if isinstance(item, (dict, Mapping)) and step in item]
            continue
        found = [value for item in found for value in _take(item, step)]
    return [value for value in found if value is not None]


def _root(root: str, scope: Scope) -> Json:
    here = scope.here
    match root:
        case "$id":
            return here.id
        case "$name":
            return here.name
        case "$version":
            return here.version
        case "$region":
            return scope.cloud.region
        case "$partition":
            return partition(scope.cloud.region)
        case "$account":
            return scope.cloud.account
        case "$zones":
            return scope.cloud.zones
        case "$limits":
            return scope.cloud.limits
        case "$it":
            return scope.it
        case "$self":
            return (scope.request or here).view
        case "$old":
            return scope.old
        case _:
            return here.view


def _take(item: Json, step: str | int) -> Iterator[Json]:
    if step == STAR:
        if isinstance(item, Mapping):
            yield from item.values()
        elif isinstance(item, Sequence) and not isinstance(item, str):
            yield from item
        else:
            yield item
    elif step == JSON:
        yield _parsed(item)
    elif isinstance(step, int):
        if isinstance(item, Sequence) and not isinstance(item, str) and -len(item) <= step < len(item):
            yield item[step]
    elif isinstance(item, Mapping) and step in item:
        yield item[step]


def json_items(value: Json) -> Sequence[Json]:
    """The items of a list; none of anything else."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def json_objects(value: Json) -> list[Mapping[str, Json]]:
    """The objects in a list; none of anything else."""
    return [each for each in json_items(value) if isinstance(each, Mapping)]


def plain(value: Json) -> str:
    """A value as it stands in the middle of a text (a number that is whole has no point)."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _parsed(value: Json) -> Json:
    """What a JSON text says; nothing where it is none."""
    if not isinstance(value, str):
        return value
    try:
        return cast("Json", json.loads(value))
    except ValueError:
        return None


def _decoded(value: Json) -> Json:
    try:
        return base64.b64decode(str(value), validate=True).decode("latin-1")
    except (binascii.Error, ValueError):
        return str(value)


NODE_SKEW = 3
"""Minor versions by which a node may be older than its control plane: kubernetes.io/releases/version-skew-policy."""


def _minor(value: Json) -> int | None:
    found = re.match(r"1\.(\d+)(\.|$)", str(value))
    return int(found[1]) if found else None


def _tenth(value: Json) -> str | None:
    try:
        return str(ipaddress.ip_network(str(value), strict=False).network_address + 10)
    except ValueError:
        return None


FILTERS: dict[str, Callable[[Json], Json]] = {
    "text": _decoded,
    "lower": lambda value: str(value).lower(),
    "size": lambda value: len("".join(plain(value).split())),
    "length": lambda value: len(value) if isinstance(value, (str, Sequence, Mapping)) else None,
    "host": lambda value: str(value).partition("://")[2].partition("/")[0] or str(value),
    "base": lambda value: str(value).rpartition("/")[2],
    "parent": lambda value: str(value).split("/")[-2] if "/" in str(value) else None,
    "keys": lambda value: "\n".join(value) if isinstance(value, Mapping) else None,
    "family": lambda value: str(value).partition(".")[0],
    "zone-id": lambda value: zone_id(str(value)),
    "zone-area": lambda value: zone_area(str(value)),
    "zone-letter": lambda value: zone_letter(str(value)),
    "str": plain,
    "bucket": lambda value: str(value).partition(":::")[2].partition("/")[0] or str(value),
    "location": lambda value: str(value).replace(" ", "").lower(),
    "minor": lambda value: _minor(value),
    "oldest-minor": lambda value: None if (minor := _minor(value)) is None else minor - NODE_SKEW,
    "tenth": lambda value: _tenth(value),
    "load-balancer": lambda value: {"network": "net", "gateway": "gwy"}.get(str(value), "app"),
    "service-role": lambda value: service_role(str(value)),
    "after-bar": lambda value: str(value).rpartition("|")[2],
    "underscored": lambda value: f"_{value}" if value else "",
}
"""text: base64 decoded (as it is when it is none; bytes as latin-1, so gzip begins with \\x1f\\x8b) · lower · length
of text, list or object · size: of a text without white space, as IAM counts policies · host of an address · base:
after the last slash · parent: between the last two slashes · keys of an object, a line each · family: g5.8xlarge
-> g5 · zone-id: of a zone's name · zone-area: of a region or a zone, what the region's zone ids begin with,
us-east-1a -> use1 · zone-letter: of a zone id, its name's last letter · str: as text · bucket: of the ARN of a
bucket or of objects in it, the bucket's name · location: East US -> eastus · minor: of a version of Kubernetes,
1.34.2 -> 34 · oldest-minor: the oldest minor version that its nodes may have · tenth: of a range of addresses, the
tenth, which DNS of Kubernetes has · load-balancer: its kind as ARNs have it, network -> net · service-role: of the
name of an AWS service, its service-linked role's · after-bar: after the last | · underscored: an underscore before
what is not empty."""
