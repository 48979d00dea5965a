"""What holds of every type of a cloud (`<cloud>/cloud.yaml`), and the look-ups that its provider answers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from gpufleet_rehearsal.table.conditions import PathText, TemplateText
from gpufleet_rehearsal.table.model import Evidence, TableRow, Template


class RegionRow(TableRow):
    """Where the provider works."""

    key: str = "region"
    """Key of the provider's configuration that names it."""
    required: bool = True
    """Whether the provider cannot do without (else every resource names its own)."""
    default: str = "us-east-1"
    """Of a rehearsal whose settings name none; also the example in words to the user."""


class AccountRow(TableRow):
    """Whose resources these are, where the rehearsal's settings do not say it."""

    key: str
    """Key of the provider's configuration that names it."""
    default: str


class ErrorMessage(TableRow):
    """An error of the cloud's or its provider's, the same for every type. An empty code: the provider's own words."""

    code: str = ""
    text: TemplateText
    source: str
    evidence: Evidence


UNKNOWN_ERROR = ErrorMessage(
    code="InternalFailure",
    text="The request processing has failed because of an unknown error, exception or failure",
    source="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html",
    evidence="documented",
)
"""AWS's, of the errors that every service has."""


class CloudRow(TableRow):
    """What holds of every type of a cloud. The defaults are those of a provider of the Terraform bridge."""

    ids: Literal["flat", "tree"] = "flat"
    """tree: what has an id that begins with another one's and a slash lies in that one, and goes with it."""
    region: RegionRow = RegionRow()
    account: AccountRow | None = None
    """None: it is in the rehearsal's settings."""
    region_output: bool = True
    """Whether a regional resource has an output `region`."""
    limits: dict[str, int] = {}
    """How many of a thing a new account may hold, for conditions and words to name (`$limits.x`)."""
    fixed_limits: dict[str, int] = {}
    """The same, of what the cloud raises for nobody."""
    default_tags: bool = True
    """Whether there is an output `tagsAll`, with the tags of the provider's configuration below a resource's own."""
    suffix: str = "-{hex:7}"
    """What the provider puts behind the logical name of what has no name (`Autoname`)."""
    longest_name: int | None = 255
    """Characters of the longest name that the provider makes at random, where a type's row (`Autoname.max`) does not
    say less. None: it makes any, and the cloud judges it. Source of 255: pulumi/pulumi-aws, provider/resources.go
    (SetAutonaming)."""
    made_flag: str | None = None
    """An input by which the provider remembers that it made the name at random. Where there is one, everything is
    deleted before its replacement is made, but for what has it."""
    exists: ErrorMessage | None = None
    """The id is there already."""
    unknown_error: ErrorMessage = UNKNOWN_ERROR
    """What the cloud says when it fails for no reason of the user's: a injected fault."""


class Lookup(TableRow):
    """An invoke that the provider answers: from the account alone, or from resources that the simulated account holds.
    Everything else that looks something up is rejected.

    Without `type` it is answered from the account. With `type` and `id` it is about one resource. With `type` alone
    about those that all given arguments select, of which exactly one may be there, or any number with `many`.
    """

    type: str | None = None
    """Of the resource."""
    or_types: list[str] = []
    """Further types of the resource: the same thing under a deprecated name."""
    id: TemplateText | None = None
    """Its id, as a template over the invoke's arguments, all of which are required."""
    other_id: TemplateText | None = None
    """What is tried where `id` leads to nothing (a key by its alias)."""
    optional: list[str] = []
    """Arguments that select nothing."""
    where: dict[str, PathText] = {}
    """Arguments, and the path of a resource that must have the argument's value. An absent argument selects nothing."""
    filters: dict[str, PathText] = {}
    """The same for names of EC2's `filters`, whose values are alternatives; `tag:KEY` and `tag-key` need no row."""
    tags: bool = False
    """Whether the argument `tags` selects, too: all of them must be there."""
    many: bool = False
    """The answer has the ids of all as `ids`, and `answer` is over the arguments."""
    answer: dict[str, Template]
    """Templates over the resource; without `type`, and with `many`, over the arguments."""
    missing: ErrorMessage | None = None
    several: ErrorMessage | None = None
    source: str
    evidence: Evidence = Field("documented")

    @model_validator(mode="after")
    def _has_words(self) -> Lookup:
        if self.type and not self.many and self.missing is None:
            raise ValueError("missing: the words for a resource that is not there")
        if self.type and not self.many and self.id is None and self.several is None:
            raise ValueError("several: the words for more than one resource")
        return self
