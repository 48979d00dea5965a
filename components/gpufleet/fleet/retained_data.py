"""What remains after a stack is destroyed: its data, and what that depends on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# Of the components of ours that protect what they hold. Such a thing may be from an earlier life of its environment.
_DATA = ("aws:efs/", "aws:ecr/", "aws:s3/", "azure-native:storage", "azure-native:containerregistry")
_WITH_DATA = ("azure-native:resources:ResourceGroup",)

Resources = Sequence[Mapping[str, Any]]


def is_cloud_resource(resource: Mapping[str, Any]) -> bool:
    """Whether it is a cloud resource: neither a component nor a provider."""
    return bool(resource.get("custom")) and not str(resource.get("type")).startswith("pulumi:")


def retained_urns(resources: Resources) -> frozenset[str]:
    """URNs that `pulumi destroy --exclude-protected` leaves: protected resources and all that they depend on."""
    by_urn = {str(each["urn"]): each for each in resources}
    found: set[str] = set()
    left = [urn for urn, each in by_urn.items() if each.get("protect")]
    while left:
        urn = left.pop()
        if urn in by_urn and urn not in found:
            found.add(urn)
            left += _stands_on(by_urn[urn])
    return frozenset(found)


def deletable_resources(resources: Resources) -> Resources:
    """Cloud resources that are deleted with their stack."""
    stays = retained_urns(resources)
    return [each for each in resources if is_cloud_resource(each) and each["urn"] not in stays]


def resources_without_data(resources: Resources) -> Resources:
    """Resources that each life of an environment creates again; they tell when the current one began."""
    return [
        each
        for each in resources
        if is_cloud_resource(each) and not (str(each["type"]).startswith(_DATA) or str(each["type"]) in _WITH_DATA)
    ]


def _stands_on(resource: Mapping[str, Any]) -> Iterator[str]:
    yield str(resource.get("parent", ""))
    yield from map(str, resource.get("dependencies") or [])
    # A provider is named by its URN and its id.
    yield str(resource.get("provider", "")).rpartition("::")[0]
