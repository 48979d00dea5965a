"""The rows of `<cloud>/calls/<service>.yaml`: which call each input property of a resource type goes into.

A row maps one type. Names are matched without regard to case, structures recursively; `rename` bridges the rest, and
what no member takes is listed in `local` with the reason. No input property can be missed: `MatchResult.loose` names
those that are neither matched nor listed. What a call demands is read from the cloud's own models: `aws_calls`,
`azure_models`.
"""

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

DATA = Path(__file__).parent.parent

Shape = dict[str, Any]


class CallRow(BaseModel):
    """One type's row. Property paths are written without list marks: `networkInterfaces.interfaceType`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: list[str]
    """AWS: `service:Operation`, or `service:Operation.Member.Member` to start inside its input. Azure:
    `package[.version]:Operations.method`, see azure_models. The first that fits a property wins."""
    rename: dict[str, str] = Field(default_factory=dict)
    """property path -> member, seen from its parent's structure (`a.b` continues inside; lists are entered)."""
    local: dict[str, str] = Field(default_factory=dict)
    """property path -> why no member takes it; holds for what is below the path as well."""
    documents: list[str] = Field(default_factory=list)
    """property path -> a string that holds its member, a structure, as JSON text"""
    rules: list[dict[str, Any]] = Field(default_factory=list)
    """What the provider or the cloud demands beyond the model: see rules.py."""


class CallTable(BaseModel):
    """One file of calls/."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    types: dict[str, CallRow] = Field(default_factory=dict)
    everywhere: dict[str, str] = Field(default_factory=dict)
    """property -> why no member takes it, on every type"""
    open_enums: dict[Annotated[str, Field(pattern=r"^[a-z0-9]+\.\w+$")], str] = Field(default_factory=dict)
    """service.Shape (Azure: module.Enum of the SDK) -> why values beyond the list are legal"""
    corrections: dict[str, dict[Literal["pattern", "min", "max", "required", "form", "why"], Any]] = Field(
        default_factory=dict
    )
    """service.Shape (Azure: package.Model.attribute or package.parameter) -> what the model says otherwise than the
    service does"""
    words: dict[str, str] = Field(default_factory=dict)
    """keys as of `corrections` -> its pattern in words"""


@dataclass
class MatchResult:
    """What matching one type gave."""

    loose: list[str] = field(default_factory=list[str])
    """property paths neither matched nor listed in `local`"""
    unused: set[str] = field(default_factory=set[str])
    """paths of `rename` and `local` that name no property"""


@functools.cache
def call_table(cloud: str) -> CallTable:
    """All of <cloud>/calls/*.yaml as one table; a type in two files is an error."""
    whole = CallTable()
    for path in sorted((DATA / cloud / "calls").glob("*.yaml")):
        part = CallTable.model_validate(yaml.safe_load(path.read_text()))
        for ours, theirs in ((whole.types, part.types), (whole.everywhere, part.everywhere)):
            if twice := ours.keys() & theirs.keys():
                raise ValueError(f"{path.name}: listed twice: {', '.join(sorted(twice))}")
        whole.types.update(part.types)
        whole.everywhere.update(part.everywhere)
        whole.open_enums.update(part.open_enums)
        whole.corrections.update(part.corrections)
        whole.words.update(part.words)
    return whole
