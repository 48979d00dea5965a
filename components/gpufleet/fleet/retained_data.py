"""What of a stack outlives it: its data, and what that needs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# Of the components of ours that protect what they hold. Such a thing may be from an earlier life of its environment.
_DATA = ("aws:efs/", "aws:ecr/", "aws:s3/", "azure-native:storage", "azure-native:containerregistry")
_WITH_DATA = ("azure-native:resources:ResourceGroup",)

Resources = Sequence[Mapping[str, Any]]


def is_real(resource: Mapping[str, Any]) -> bool:
    """Whether a cloud knows it: neither a component nor a provider."""
    return bool(resource.get("custom")) and not str(resource.get("type")).startswith("pulumi:")


def kept(resources: Resources) -> frozenset[str]:
    """URNs of what `pulumi destroy --exclude-protected` leaves: what is protected, and all that it stands on."""
    by_urn = {str(each["urn"]): each for each in resources}
    found: set[str] = set()
    left = [urn for urn, each in by_urn.items() if each.get("protect")]
    while left:
        urn = left.pop()
        if urn in by_urn and urn not in found:
            found.add(urn)
            left += _stands_on(by_urn[urn])
    return frozenset(found)


def ending(resources: Resources) -> Resources:
    """What really ends with its stack: everything that a cloud knows and that is not kept."""
    stays = kept(resources)
    return [each for each in resources if is_real(each) and each["urn"] not in stays]


def without_data(resources: Resources) -> Resources:
    """What an environment makes anew in each of its lives: by it one sees when this one has begun."""
    return [
        each
        for each in resources
        if is_real(each) and not (str(each["type"]).startswith(_DATA) or str(each["type"]) in _WITH_DATA)
    ]


def _stands_on(resource: Mapping[str, Any]) -> Iterator[str]:
    yield str(resource.get("parent", ""))
    yield from map(str, resource.get("dependencies") or [])
    # A provider is named by its URN and its id.
    yield str(resource.get("provider", "")).rpartition("::")[0]
