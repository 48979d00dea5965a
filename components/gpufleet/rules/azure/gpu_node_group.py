"""Validation of an AKS pool of GPU nodes: names and kinds of its arguments, then every rule on their values."""

import re
from collections.abc import Mapping

from gpufleet.pools.aks_pool import AksPool
from gpufleet.rules import coerce
from gpufleet.rules.arguments import validate_arguments
from gpufleet.rules.aws.pool_arguments import TAINT_EFFECTS
from gpufleet.rules.azure.aks_agent_pool import driver, most_nodes, spot_options
from gpufleet.rules.azure.location import validate_azure_location
from gpufleet.rules.azure.node_labels import validate_node_labels
from gpufleet.rules.azure.pool_arguments import validate_azure_pool_arguments
from gpufleet.rules.azure.zones import zone_number
from gpufleet.rules.generic import allowed_choice, distinct
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

DRIVERS = ("install", "none")
OS_SKUS = ("Ubuntu", "Ubuntu2204", "AzureLinux")
SCALE_DOWNS = ("delete", "deallocate")
LEAST_DISK_GIB, MOST_DISK_GIB = 30, 2048
_ID = re.compile(r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/([^/]+/[^/]+)/[^/]+", re.IGNORECASE)
_OF_AWS = {
    "image": "choose os_sku and driver",
    "key_pair": "leave it out (kubectl debug node/<name> opens a shell on a node)",
    "public_addresses": "leave it out (nodes get out through the network's NAT gateway)",
    "cuda": "leave it out (AKS chooses the driver, or the GPU operator with driver=none)",
    "strategy": "leave it out (an agent pool has one size, so nothing chooses)",
}


@rule("azure-agent-pool-word", Severity.ERROR)
def argument_of_azure(*, name: str, value: object) -> Outcome:
    """The arguments of an agent pool are those that AKS has, not those that only AWS has.

    Source: gpufleet.pools.eks_pool.EksPool against properties of Microsoft.ContainerService/managedClusters/agentPools
    2025-09-01
    """
    return failed(name, value, "is for pools on AWS only", _OF_AWS[name]) if name in _OF_AWS else passed()


@rule("azure-agent-pool-one-size", Severity.ERROR)
def one_size(*, types: tuple[str, ...]) -> Outcome:
    """An agent pool has exactly one VM size.

    Source: vmSize of Microsoft.ContainerService/managedClusters/agentPools 2025-09-01 is one string.
    """
    if len(types) == 1:
        return passed()
    if types:
        return failed("types", list(types), "an agent pool has one VM size", "keep one, or make a pool for each")
    return failed("types", [], "names no VM size", "give one, such as Standard_ND96isr_H100_v5")


@rule("azure-agent-pool-disk", Severity.ERROR)
def disk_size(*, disk_gib: int) -> Outcome:
    """The system disk of a node has 30 to 2048 GiB.

    Source: az aks nodepool add --node-osdisk-size: minimum 30; osDiskSizeGB of
    Microsoft.ContainerService/managedClusters/agentPools 2025-09-01: maximum 2048.
    """
    if LEAST_DISK_GIB <= disk_gib <= MOST_DISK_GIB:
        return passed()
    return failed(
        "disk_gib", disk_gib, "is not a disk size that AKS supports", f"use {LEAST_DISK_GIB} to {MOST_DISK_GIB}"
    )


@rule("azure-agent-pool-spot-price", Severity.ERROR)
def spot_price(*, price: float) -> Outcome:
    """The maximum price of a Spot node is above zero, or -1 for the on-demand price.

    Source: spotMaxPrice of Microsoft.ContainerService/managedClusters/agentPools 2025-09-01
    """
    if price > 0 or price == -1:
        return passed()
    fix = "use dollars by the hour above 0, or -1 for the on-demand price"
    return failed("spot_max_price", price, "is not a valid price", fix)


@rule("azure-agent-pool-linked", Severity.ERROR)
def linked(*, argument: str, value: str, kind: str, needs: str, wanted: bool) -> Outcome:
    """A proximity placement group or capacity reservation group is given by its id where it is used, and only there.

    `kind` is its type in Azure, `needs` the word that asks for it, `wanted` whether that word is chosen.
    Source: proximityPlacementGroupID and capacityReservationGroupID of
    Microsoft.ContainerService/managedClusters/agentPools 2025-09-01 are resource ids.
    """
    form = f"/subscriptions/<id>/resourceGroups/<group>/providers/{kind}/<name>"
    if not value:
        word, _, chosen = needs.partition("=")
        return failed(word, chosen, "does not say which one", f"set {argument} to {form}") if wanted else passed()
    if not wanted:
        return failed(argument, value, f"is used with {needs} only", f"set {needs}, or leave it out")
    found = _ID.fullmatch(value)
    if found and found[1].lower() == kind.lower():
        return passed()
    return failed(argument, value, f"is not the id of a {kind.partition('/')[2][:-1]}", f"use {form}")


@rule("azure-agent-pool-reserved-placed", Severity.ERROR)
def not_reserved_and_placed(*, capacity: str, placement: str) -> Outcome:
    """A pool from a capacity reservation group is in no proximity placement group.

    Source: https://learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview#limitations-and-restrictions;
    CRGConflictWithPPG of AKS
    """
    if capacity != "reservation" or placement == "none":
        return passed()
    problem = "reserved capacity does not go into a proximity placement group"
    return failed("placement", placement, problem, "set placement=none, or buy on demand")


@rule("azure-infiniband-on-aks", Severity.ERROR)
def infiniband_on_aks(*, network: str) -> Outcome:
    """A pool of AKS does not ask for InfiniBand: gpufleet installs nothing there that gives pods the adapters.

    Source: https://azure.github.io/aks-rdma-infiniband: pods reach them through NVIDIA's network operator with its
    driver and an RDMA device plugin, with the GPU operator's own drivers, and a raised memlock limit on each node.
    """
    if network != "infiniband":
        return passed()
    problem = "no pod on AKS reaches a node's InfiniBand, as gpufleet installs no RDMA device plugin there"
    return failed("network", network, problem, "make it a pool of batch.pools, or set network=plain")


def validate_azure_pool(pool: Mapping[str, object], region: str) -> list[Finding]:
    """Every finding on an agent pool of GPU nodes, passes included. Never raises, whatever the values."""
    own = {name: value for name, value in pool.items() if name not in _OF_AWS}
    return [*validate_arguments(own, AksPool), *validate_agent_pool(pool, region)]


def validate_agent_pool(pool: Mapping[str, object], region: str) -> list[Finding]:
    """The same without those on names and kinds of the arguments."""
    findings = [argument_of_azure(name=name, value=value) for name, value in pool.items()]
    if coerce.is_texts(pool.get("types")):
        findings.append(one_size(types=coerce.texts(pool, "types")))
    fabric = infiniband_on_aks(network=coerce.text(pool, "network", "plain"))
    words = {name: value for name, value in pool.items() if name != "network" or not fabric.rejects}
    findings += [*validate_azure_pool_arguments(words, region or None, networks=("plain",)), fabric]
    findings += [*_zones(pool), *_choices(pool), *_links(pool), *_spot(pool), *validate_node_labels(pool)]
    # A region that is missing has been reported.
    return [*findings, *validate_azure_location({**pool, "region": region})] if region else findings


def _zones(pool: Mapping[str, object]) -> list[Finding]:
    zones = coerce.texts(pool, "zones")
    return [distinct(argument="zones", values=zones), *(zone_number(zone=zone) for zone in zones)]


def _choices(pool: Mapping[str, object]) -> list[Finding]:
    chosen = coerce.text(pool, "driver", "install")
    taints = pool.get("taints")
    given = [each for each in taints if isinstance(each, Mapping)] if isinstance(taints, list | tuple) else []
    findings = [
        allowed_choice(argument="driver", word=chosen, legal=DRIVERS),
        allowed_choice(argument="os_sku", word=coerce.text(pool, "os_sku", "Ubuntu"), legal=OS_SKUS),
        allowed_choice(argument="scale_down", word=coerce.text(pool, "scale_down", "delete"), legal=SCALE_DOWNS),
        *(
            allowed_choice(argument="taints.effect", word=str(each.get("effect")), legal=TAINT_EFFECTS)
            for each in given
        ),
        disk_size(disk_gib=coerce.whole(pool, "disk_gib", 128)),
        driver(choice="None" if chosen == "none" else "Install"),
    ]
    if coerce.is_whole(pool.get("max")):
        findings.append(most_nodes(most=coerce.whole(pool, "max", 0)))
    return findings


def _links(pool: Mapping[str, object]) -> list[Finding]:
    placement = coerce.text(pool, "placement", "none")
    return [
        linked(
            argument="placement_group",
            value=coerce.text(pool, "placement_group"),
            kind="Microsoft.Compute/proximityPlacementGroups",
            needs="placement=existing",
            wanted=placement == "existing",
        ),
        linked(
            argument="reservation_id",
            value=coerce.text(pool, "reservation_id"),
            kind="Microsoft.Compute/capacityReservationGroups",
            needs="capacity=reservation",
            wanted=coerce.text(pool, "capacity") == "reservation",
        ),
        not_reserved_and_placed(capacity=coerce.text(pool, "capacity", "on-demand"), placement=placement),
    ]


def _spot(pool: Mapping[str, object]) -> list[Finding]:
    capacity = coerce.text(pool, "capacity", "on-demand")
    price = pool.get("spot_max_price")
    if not coerce.is_number(price):
        return []
    options = spot_options(argument="spot_max_price", value=price, capacity=capacity)
    return [options, spot_price(price=float(price))] if capacity == "spot" else [options]
