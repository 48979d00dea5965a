"""What remains after a stack is destroyed: its data, and what that depends on."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gpufleet.cost.resources import kind_of
from gpufleet.documents.json import read_json
from gpufleet.fleet.stack_state import stack_outputs
from gpufleet.ownership import ERASE_OUTPUT
from gpufleet.rules.messages import one_line

# Of our components that protect what they hold. Such a thing may be from an earlier life of its environment.
_DATA = ("aws:efs/", "aws:ecr/", "aws:s3/", "azure-native:storage", "azure-native:containerregistry")
_WITH_DATA = ("azure-native:resources:ResourceGroup",)
_DATA_OF_OTHERS = ("aws:fsx/", "aws:rds/", "azure-native:netapp", "azure-native:keyvault")

Resources = Sequence[Mapping[str, Any]]


def is_cloud_resource(resource: Mapping[str, Any]) -> bool:
    """Whether it is a cloud resource: neither a component nor a provider."""
    return bool(resource.get("custom")) and not str(resource.get("type")).startswith("pulumi:")


def holds_data(type_: str) -> bool:
    """Whether resources of a Pulumi type store data, govern it, or contain what stores it."""
    return type_ in _WITH_DATA or type_.startswith(_DATA + _DATA_OF_OTHERS) or is_data_store({"type": type_})


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


def erases_data(resources: Resources) -> bool:
    """Whether the configuration of the last `up` says so, by the stack's output: an unprotected resource alone does
    not, as `pulumi state unprotect` makes one too."""
    return stack_outputs(resources).get(ERASE_OUTPUT) is True


def is_data_store(resource: Mapping[str, Any]) -> bool:
    """Whether a resource itself stores data that outlives compute, by its type: data_types.json."""
    return kind_of(str(resource["type"])) in _data_types()


def name_of(resource: Mapping[str, Any]) -> str:
    """The logical name of a resource, as one line."""
    return one_line(str(resource["urn"]).rsplit("::", 1)[-1])


@cache
def _data_types() -> frozenset[str]:
    return frozenset(read_json(Path(__file__).with_name("data_types.json")))


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
