"""Azure's resources in a plan: their types, whatever API version, and what they refer to."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from gpufleet.plan.property_values import value_of
from gpufleet.plan.resource import Plan, Resource

# azure-native:batch:Pool is of the SDK's default API version; azure-native:batch/v20240701:Pool (version 2 of the SDK)
# and azure-native_batch_v20240701:batch:Pool (a package generated for one version, since version 3) name theirs.
_TOKEN = re.compile(
    r"azure-native(?:_[a-z]+_v(?P<package>\d{8}\w*))?:(?P<module>[a-z]+)(?:/v(?P<path>\d{8}\w*))?:(?P<name>\w+)"
)


@dataclass(frozen=True, slots=True)
class AzureResourceType:
    """A type of azure-native. kind: module and name, such as batch:Pool. version: such as 2024-07-01, None for the
    SDK's default."""

    kind: str
    version: str | None


def azure_type(token: str) -> AzureResourceType | None:
    """What a type token means; None when it is not one of azure-native."""
    found = _TOKEN.fullmatch(token)
    if not found:
        return None
    said = found["package"] or found["path"]
    version = f"{said[:4]}-{said[4:6]}-{said[6:8]}{'-' + said[8:] if said[8:] else ''}" if said else None
    return AzureResourceType(f"{found['module']}:{found['name']}", version)


@dataclass(frozen=True)
class AzureGraph:
    """A plan's Azure resources, by kind and by what they refer to."""

    plan: Plan

    @cached_property
    def types(self) -> Mapping[str, AzureResourceType]:
        """Type by type token, for those of azure-native."""
        tokens = {resource.type for resource in self.plan.resources}
        return {token: found for token in tokens if (found := azure_type(token))}

    @cached_property
    def _given(self) -> dict[str, Mapping[str, object]]:
        return {}

    @cached_property
    def _by_kind(self) -> Mapping[str, list[Resource]]:
        found: dict[str, list[Resource]] = {}
        for resource in self.plan.resources:
            if resource.type in self.types:
                found.setdefault(self.types[resource.type].kind, []).append(resource)
        return found

    def kind(self, resource: Resource) -> str:
        """Such as batch:Pool; empty for what is not of azure-native."""
        return self.types[resource.type].kind if resource.type in self.types else ""

    def of(self, *kinds: str) -> list[Resource]:
        """The resources of these kinds."""
        return [resource for kind in kinds for resource in self._by_kind.get(kind, ())]

    def props(self, resource: Resource) -> Mapping[str, object]:
        """What a program has given a resource, `UNKNOWN` where another resource makes it.

        A policy pack sees what Azure says of a resource that exists, without its secrets; the provider keeps the
        program's own words beside that, under __inputs.
        """
        if resource.urn not in self._given:
            said = resource.inputs.get("__inputs")
            if isinstance(said, Mapping) and said:
                found = {str(name): value for name, value in said.items() if value is not None}
            else:
                found = {name: value for name in resource.inputs if (value := value_of(resource, name)) is not None}
            self._given[resource.urn] = found
        return self._given[resource.urn]

    def read_from_azure(self, resource: Resource) -> bool:
        """Whether all that is known of a resource is what Azure says of it, so that secrets are missing."""
        return "__inputs" not in resource.inputs and isinstance(resource.inputs.get("provisioningState"), str)

    def behind(self, resource: Resource, name: str, kind: str) -> list[Resource]:
        """The resources of a kind that the value of the property `name` was made from."""
        found = (self.plan.by_urn.get(urn) for urn in resource.depends.get(name, ()))
        return [each for each in found if each is not None and self.kind(each) == kind]

    def named(self, resource: Resource, name: str, kind: str, own_name: str) -> Resource | None:
        """The one resource of a kind that the property `name` points to: by its output, or by its plain name.

        own_name: the property under which that kind has its name. None when nothing in the plan fits, or several do.
        """
        behind = self.behind(resource, name, kind)
        if len(behind) == 1:
            return behind[0]
        said = self.props(resource).get(name)
        same = [each for each in self.of(kind) if isinstance(said, str) and self.props(each).get(own_name) == said]
        return same[0] if len(same) == 1 and not behind else None

    def location(self, resource: Resource) -> str | None:
        """Where a resource lies, such as eastus: its own word, else the provider's, else its resource group's.

        That is the order in which azure-native fills a location in. None where it is not known.
        """
        said = self.props(resource).get("location")
        if said is None:
            group = self.named(resource, "resourceGroupName", "resources:ResourceGroup", "resourceGroupName")
            said = resource.provider_region or (self.props(group).get("location") if group else None)
        return region_of(said)


def region_of(location: object) -> str | None:
    """A location under the name that Azure's interfaces use: East US is eastus."""
    return location.replace(" ", "").lower() if isinstance(location, str) and location.strip() else None
