"""The rows of a cloud's table: one pydantic model each, extra keys forbidden.

Durations are simulated seconds of wall clock, as a deployment engine sees them. Where a row wants a *path*, see
`paths.py`; a *template*, `templates.py`; a *condition*, `conditions.py`.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from gpufleet_rehearsal.table import (  # noqa: F401 - register their operators
    address_conditions,
    cloud_conditions,
    range_conditions,
)
from gpufleet_rehearsal.table.conditions import PathText, Pattern, TemplateText, When
from gpufleet_rehearsal.table.paths import parse_path
from gpufleet_rehearsal.table.templates import parse_template

Evidence: TypeAlias = Literal["observed", "documented", "modelled", "assumed"]
"""observed: users pasted it, or it was measured · documented: the cloud's docs say so · modelled: the service's API
model declares the code for the call (perhaps among others), and the words are ours, or of another call; the source
then begins "botocore, <service> <API version>, <Operation>[, <Operation>]: <code>" · assumed: nobody was found."""
Operation: TypeAlias = Literal["create", "update", "delete"]


def _readable(value: JsonValue) -> JsonValue:
    """Every text inside is a readable template, and `$each` a readable path."""
    if isinstance(value, str):
        parse_template(value)
    if isinstance(value, dict) and "$each" in value:
        parse_path(str(value["$each"]))
        if value.keys() != {"$each", "$as"}:
            raise ValueError("$each stands with $as, and with nothing else")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _readable(inner)
    return value


Template: TypeAlias = Annotated[JsonValue, AfterValidator(_readable)]
"""A value, or a structure of values, whose texts are templates (paths.py)."""


class TableRow(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Autoname(TableRow):
    """Where the provider makes a name when none is given.

    random: the logical name and the cloud's suffix (`CloudRow.suffix`). copy: the logical name as it is. uuid: made at
    random. `endings`: flags among the inputs, and what the provider puts behind the name if one is true (`.fifo`),
    beyond `max`.
    """

    property: str
    kind: Literal["random", "copy", "uuid"] = "random"
    max: int | None = None
    """Characters of the longest name that the provider makes at random; a longer one it refuses. Default:
    `CloudRow.longest_name`."""
    lower: bool = False
    """Whether the provider writes the logical name in lower case."""
    beginning: str = ""
    """What the provider puts before a logical name that does not begin with it."""
    endings: dict[str, str] = {}


ASSUMED = "assumed: that it is refused is sure, the words are as moto has them or from memory"
"""Source of a text that nobody was found to have pasted."""


class Reference(TableRow):
    """Another resource that must exist, be fully created and not be going when this one is created or updated.

    `by` is the path of the target's property that the value must equal (`id`, `arn`, `name`: any handle of it will
    do). With `id` the target's id is made of several properties of this one, as a parent's that is given by its name;
    the arrow of a path then leads there, too. A value for which `unless` (a pattern) matches is not looked up: things
    the cloud has by itself.
    """

    to: list[str]
    by: str = "id"
    id: TemplateText | None = None
    code: str
    text: TemplateText
    """May use {value}, with filters as any path: {value | base}."""
    unless: Pattern | None = None
    any_region: bool = False
    """Whether the target may lie in another region. Else one of another region is not there, as regional services see
    only their own."""
    source: str = ASSUMED
    evidence: Evidence = "assumed"

    def unless_matches(self, value: str) -> bool:
        return self.unless is not None and re.search(self.unless, value) is not None


class DeletionBlocker(TableRow):
    """A row of the *target*: it cannot be deleted while a resource of `type` names it by its path `by`.

    A resource that this one made itself (see `implicit_resources`) does not hold it. `settles`: so many simulated
    seconds after the holder's deletion returned it still holds. `lingers`: so many after an update of the holder that
    took the name out of it. `retries`: for so long the genuine provider repeats the call.
    """

    type: str
    by: PathText
    code: str
    text: TemplateText
    when: When | None = None
    """Asked of the holder: only then does it hold."""
    settles: float = 0
    lingers: float = 0
    retries: float = 0
    nested: bool = False
    """Whether it holds the target even where it lies in it (`CloudRow.ids`), and so would go along."""
    source: str
    evidence: Evidence


class ImmutableWhen(TableRow):
    """Properties (as in `immutable`) whose change replaces the resource only if `when` holds, asked of the new inputs,
    with `$old.x` for the old ones. A value that is not known yet meets no condition but `present`."""

    properties: list[str]
    when: When
    source: str


class Requirement(TableRow):
    """What the cloud itself demands before create works, beyond references: an edge of the lower bound.

    Every resource of `type` whose path equals a path of this one (`where`: theirs = ours), when `when` holds here;
    `only`, asked of the other one (with `$self.x` for this one), says which of them count.
    """

    type: str
    where: dict[PathText, PathText] = {}
    when: When | None = None
    only: When | None = None
    why: str


class Leftover(TableRow):
    """A hidden leftover of the deletion, when `when` holds at that moment: a resource of `type` that nobody owns."""

    when: When
    type: str
    inputs: dict[str, Template] = {}
    why: str


class ImplicitResource(TableRow):
    """A hidden resource that the cloud makes along with this one and takes along when this one is deleted (the cluster
    security group of an EKS cluster, the default security group of a VPC). Its id becomes the output `output`."""

    type: str
    inputs: dict[str, Template] = {}
    output: str | None = None
    """Dotted name of the output of this resource: `vpcConfig.clusterSecurityGroupId`."""
    when: When | None = None


class OutputsWhen(TableRow):
    """Outputs that only those resources have of which `when` holds."""

    when: When
    outputs: dict[str, Template]


class Settle(TableRow):
    """Seconds after creation before *others* may use it (IAM propagation): the genuine provider retries, so the
    simulated cloud waits and the wait counts."""

    seconds: float
    source: str


class Duration(TableRow):
    """How long an operation takes. `sure` is A (many logs) to D (assumed), as docs/latencies.md explains."""

    seconds: float
    low: float | None = None
    high: float | None = None
    source: str
    sure: Literal["A", "B", "C", "D"]


class DurationCase(Duration):
    """A duration that goes for resources of which `when` holds."""

    when: When


class Timing(Duration):
    """A duration, with cases: the first whose `when` holds goes before it."""

    cases: list[DurationCase] = []


class Latency(TableRow):
    """Durations of a type's operations. Create and delete are always given; without `update`, an update takes 1 s."""

    create: Timing
    update: Timing | None = None
    delete: Timing


class AddressHolding(TableRow):
    """Private addresses that a resource holds in subnets: one in each, or one for each of its nodes, which are spread
    evenly over the subnets."""

    subnets: PathText
    nodes: PathText | None = None
    when: When | None = None


class UniqueConstraint(TableRow):
    """The id, or what `by` (paths) leads to, can only be there once: code and words of the cloud if it is."""

    by: list[PathText] = []
    """Empty: the id itself."""
    when: When | None = None
    """Asked of what is asked for: only then is it refused (not where it says that it overwrites)."""
    code: str
    text: TemplateText
    source: str = ASSUMED
    evidence: Evidence = "assumed"


class TypeRow(TableRow):
    """What the simulated cloud knows of a resource type."""

    id: TemplateText
    import_id: TemplateText | None = None
    """What `pulumi import` takes when that is not the id."""
    scope: Literal["regional", "global"] = "regional"
    """A regional resource has an output `region`."""
    taggable: bool = True
    """Has inputs `tags` and an output `tagsAll` (the provider's default tags below them)."""
    autoname: Autoname | None = None
    outputs: dict[str, Template] = {}
    """Computed outputs, in the order in which they may use each other."""
    outputs_when: list[OutputsWhen] = []
    """Further ones, computed after those."""
    defaults: dict[str, Template] = {}
    """What the cloud fills in for absent inputs; shows in outputs."""
    references: dict[PathText, Reference] = {}
    deletion_blockers: list[DeletionBlocker] = []
    immutable: list[str] = []
    """Properties (dotted, `vpcConfig.subnetIds`) whose change, or a change inside of them, replaces the resource."""
    immutable_when: list[ImmutableWhen] = []
    unread: list[str] = []
    """Properties (dotted) that the cloud does not return, so that an import lacks them."""
    unordered: list[str] = []
    """Lists in which the order means nothing (dotted; `a[*].b` for inner ones)."""
    delete_before_replace: bool = False
    """Always; else only if its name is fixed by the program."""
    unique: list[UniqueConstraint] = []
    idempotent: bool = False
    """A put: creating what is there already sets it again, and the cloud says nothing. Else the id can be there
    once."""
    needs: list[Requirement] = []
    leftovers: list[Leftover] = []
    implicit_resources: list[ImplicitResource] = []
    settle: Settle | None = None
    range: PathText | None = None
    """Of a subnet: the IPv4 range whose addresses it hands out, but for the five that AWS keeps."""
    addresses: list[AddressHolding] = []
    """What it holds of the addresses of subnets."""
    latency: Latency
    hidden: bool = False
    """No program makes it: only `implicit_resources` and `leftovers` do."""


class Trigger(TableRow):
    """One request: create with `inputs` (update: then change the properties of `then`, null removes one; delete: of
    the scenario's resource `delete`, whose inputs first become those of `inputs`)."""

    inputs: dict[str, JsonValue] = {}
    then: dict[str, JsonValue] = {}
    between: list[ScenarioResource] = []
    """Resources made after `inputs` and before `then`; of a create, just before it."""
    delete: str | None = None
    before: list[str] = []
    """Scenario resources deleted first (in this order)."""
    faults: list[str] = []
    """Injected faults (faults.py) in force."""
    quotas: dict[str, int] = {}
    """vCPU quotas in force."""
    restricted_zones: dict[str, list[str]] = {}
    """Zones that are restricted for the account, by size."""
    limits: dict[str, int] = {}
    """Limits of numbers of resources in force (`$limits.x`), where they differ from a new account's."""


class Refusal(TableRow):
    """Something that the cloud rejects, with its words."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    type: str
    operation: Operation = "create"
    when: When
    code: str
    text: TemplateText
    comes: Literal["at-once", "in-status"] = "at-once"
    after: float = 0
    """in-status: so many seconds after acceptance; it is only rejected if `when` still holds then."""
    retries: float = 0
    """at-once: for so long the genuine provider repeats the call before it gives up."""
    status: str = "CREATE_FAILED"
    """in-status: the cloud's name of the failed state."""
    source: str
    evidence: Evidence
    date: str = Field(pattern=r"^\d{4}-\d{2}$")
    scenario: str | None = None
    trigger: Trigger
    neighbour: Trigger


class ScenarioResource(TableRow):
    """A resource made before a refusal is tried; `${name.id}`, `${name.<output path>}` lead to earlier ones."""

    name: str
    type: str
    inputs: dict[str, JsonValue] = {}
