"""Rules on private endpoints of Azure."""

from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule


@rule("azure-private-endpoint-place", Severity.ERROR)
def endpoint_place(*, argument: str, given: bool) -> Outcome:
    """A private endpoint has a subnet to lie in and a virtual network that finds it by name; `argument` is either.

    Source: https://learn.microsoft.com/azure/private-link/private-endpoint-overview: an endpoint is an address of a
    subnet; https://learn.microsoft.com/azure/private-link/private-endpoint-dns: without a zone linked to the network
    the service's name still leads to its public address, which is closed.
    """
    if given:
        return passed()
    what = "subnet" if argument == "endpoint_subnet_id" else "virtual network"
    return failed(argument, None, f"a private endpoint needs a {what}", f"give the id of the {what}")


STORAGE_GROUPS = ("blob", "dfs", "file", "queue", "table", "web")
_SECONDARY = tuple(f"{each}_secondary" for each in STORAGE_GROUPS if each != "file")
GROUPS = {
    "storage:StorageAccount": (*STORAGE_GROUPS, *_SECONDARY),
    "containerregistry:Registry": ("registry",),
    "batch:BatchAccount": ("batchAccount", "nodeManagement"),
    "containerservice:ManagedCluster": ("management",),
}
"""What an endpoint may lead to, by the kind of service."""


@rule("azure-private-endpoint-group", Severity.ERROR)
def endpoint_group(*, kind: str, groups: Sequence[str]) -> Outcome:
    """A private endpoint names one part of the service that it leads to; `kind` is the service's.

    Source: https://learn.microsoft.com/azure/private-link/private-endpoint-overview#private-link-resource;
    Azure/azure-cli#16750 (Values for request parameters are invalid: GroupId),
    DFE-Digital/terraform-azurerm-container-apps-hosting#352 (OnlyOneGroupIdPermitted).
    """
    legal = GROUPS.get(kind)
    if legal is None:
        return passed()
    if len(groups) > 1:
        return failed("group_ids", list(groups), "is more than one part of a service", "make an endpoint for each")
    if groups and groups[0] not in legal:
        shown = legal[: len(STORAGE_GROUPS)]
        return failed("group_ids", list(groups), "does not belong to that service", f"use {join_words(shown)}")
    return passed()


@rule("azure-private-endpoint-registry", Severity.ERROR)
def endpoint_of_premium(*, sku: str) -> Outcome:
    """A container registry with a private endpoint is of the tier Premium.

    Source: https://learn.microsoft.com/azure/container-registry/container-registry-private-link
    """
    if sku not in ("Basic", "Standard"):
        return passed()
    problem = f"a registry of the tier {sku} has no private endpoints"
    return failed("private_link_service_id", "(a registry)", problem, "give the registry sku.name=Premium")
