"""One resource of a plan, and the plan as a graph."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal


class Unknown(enum.Enum):
    """The kind of `UNKNOWN`."""

    UNKNOWN = "not known before deployment"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final[Literal[Unknown.UNKNOWN]] = Unknown.UNKNOWN
"""A value that the engine does not know at preview. It takes the value's place, inside lists and objects too."""


@dataclass(frozen=True)
class Resource:
    """One resource as the engine is about to make it, from our components or from any other program.

    inputs: plain values under the provider's own names (camelCase), `UNKNOWN` where a value is not known yet.
    depends: property -> URNs of the resources that its value was made from. parent: URN, "" for none.
    provider_region: the region of its provider, None where that is not known.
    """

    urn: str
    type: str
    inputs: Mapping[str, object]
    depends: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parent: str = ""
    provider_region: str | None = None
    operation: str = "create"
    """What is to happen to it: create, update, replace, same, import ...; a plan holds nothing that is deleted."""
    ignored: frozenset[str] = frozenset()
    """Properties whose changes the program ignores, as a policy pack knows them: an update has the state's values."""
    waits_for: frozenset[str] = frozenset()
    """URNs of all resources that must be there before it, those of `depends` and those of the option dependsOn."""

    @cached_property
    def name(self) -> str:
        """Its logical name: the last part of the URN."""
        return self.urn.rsplit("::", 1)[-1]


@dataclass(frozen=True)
class Plan:
    """All resources of a stack as it will be, in the engine's order. `stack` is its name."""

    stack: str
    resources: Sequence[Resource]

    @cached_property
    def by_urn(self) -> Mapping[str, Resource]:
        return {resource.urn: resource for resource in self.resources}

    @cached_property
    def _by_type(self) -> Mapping[str, Sequence[Resource]]:
        found: dict[str, list[Resource]] = {}
        for resource in self.resources:
            found.setdefault(resource.type, []).append(resource)
        return found

    @cached_property
    def derived(self) -> dict[object, object]:
        """What was worked out from it, by what worked it out: a plan never changes."""
        return {}

    def of_type(self, *types: str) -> list[Resource]:
        """The resources of these types."""
        return [resource for kind in types for resource in self._by_type.get(kind, ())]

    def behind(self, resource: Resource, name: str, kind: str) -> list[Resource]:
        """The resources of type `kind` that the value of the property `name` was made from.

        An output may come along with others that it merely waited for: `kind` tells them apart.
        """
        found = (self.by_urn.get(urn) for urn in resource.depends.get(name, ()))
        return [each for each in found if each is not None and each.type == kind]
