"""Rules on the virtual network of a fleet: new, or one that exists."""

import ipaddress
import re
from collections.abc import Collection, Mapping, Sequence

from gpufleet.azure.subnet_plan import ROLES, SMALLEST
from gpufleet.rules import coerce
from gpufleet.rules.azure.cluster import range_public
from gpufleet.rules.azure.location import validate_azure_location
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.messages import join_words
from gpufleet.rules.private_ranges import CARRIER_GRADE_NAT, RFC_1918
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

DEFAULT_CIDR = "10.60.0.0/16"
NAT = ("gateway", "none")
OF_NEW = ("cidr", "nat", "route_table_id")
"""Arguments that shape a network that is made here."""
OF_CLUSTER = {
    "10.0.0.0/16": "AKS's own for services",
    "10.244.0.0/16": "AKS's own for pods",
    "169.254.0.0/16": "rejected by AKS",
    "172.30.0.0/16": "rejected by AKS",
    "172.31.0.0/16": "rejected by AKS",
    "192.0.2.0/24": "rejected by AKS",
}
"""Ranges that a network with an AKS cluster keeps clear of, and why."""
_WIDEST = 8
_PRIVATE = (*RFC_1918, CARRIER_GRADE_NAT)
_VNET = re.compile(
    r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/virtualNetworks/[^/]+", re.I
)
_SUBNET = re.compile(rf"({_VNET.pattern})/subnets/[^/]+", re.I)


@rule("azure-network-cidr", Severity.ERROR)
def cidr_legal(*, cidr: str) -> Outcome:
    """The range of a virtual network is an IPv4 network of /8 to /24, so that its parts are subnets of use.

    Source: https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq: subnets of /29 and larger, five
    addresses of each are Azure's; a quarter of a /24 has 59.
    """
    try:
        network = ipaddress.IPv4Network(cidr, strict=False)
    except ValueError:
        return failed("cidr", cidr, "is not an IPv4 range", f"use one such as {DEFAULT_CIDR}")
    if "/" not in cidr or not _WIDEST <= network.prefixlen <= SMALLEST:
        return failed("cidr", cidr, f"is not a range of /{_WIDEST} to /{SMALLEST}", f"use one such as {DEFAULT_CIDR}")
    if str(network) != cidr:
        return failed("cidr", cidr, "does not begin where its prefix says", f"use {network}")
    return passed()


@rule("azure-network-cidr-private", Severity.WARNING)
def cidr_private(*, cidr: str) -> Outcome:
    """The range of a virtual network is private.

    Source: RFC 1918 and RFC 6598; https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq
    """
    if any(ipaddress.IPv4Network(cidr).subnet_of(private) for private in _PRIVATE):
        return passed()
    problem = "belongs to others on the internet, whom the nodes then cannot reach"
    return failed("cidr", cidr, problem, f"use a range of {join_words(map(str, _PRIVATE))}")


@rule("azure-network-cidr-cluster", Severity.WARNING)
def cidr_clear_of_cluster(*, cidr: str) -> Outcome:
    """The range of a virtual network overlaps with none that an AKS cluster takes for itself.

    Source: https://learn.microsoft.com/azure/aks/configure-azure-cni (ServiceCidrOverlapExistingSubnetsCidr);
    containerservice.ManagedCluster's defaults of serviceCidr and podCidr.
    """
    network = ipaddress.IPv4Network(cidr)
    met = [f"{each} ({why})" for each, why in OF_CLUSTER.items() if network.overlaps(ipaddress.IPv4Network(each))]
    if not met:
        return passed()
    fix = f"use one such as {DEFAULT_CIDR}, or give the cluster other ranges where they are its own"
    return failed("cidr", cidr, f"overlaps with {join_words(met, 'and')}", fix)


@rule("azure-network-way-out", Severity.ERROR)
def way_out(*, nat: str, route_table: bool) -> Outcome:
    """Nodes reach registries and the services that run them: by NAT, or by the organisation's own routes.

    Source: https://learn.microsoft.com/azure/virtual-network/ip-services/default-outbound-access: new networks have no
    way out of themselves; https://learn.microsoft.com/azure/batch/batch-virtual-network: nodes that do not reach
    BatchNodeManagement and Storage stay unusable.
    """
    if nat != "none" or route_table:
        return passed()
    fix = "use nat=gateway, or give route_table_id with a route to a firewall or a gateway"
    return failed("nat", nat, "nodes would reach neither their registry nor the service that runs them", fix)


@rule("azure-network-existing-subnets", Severity.ERROR)
def existing_subnets_given(*, existing: bool, given: Collection[str]) -> Outcome:
    """An existing virtual network comes with a subnet for nodes, for Batch and for private endpoints.

    Source: components look nothing up in the cloud, so that a preview needs no credentials.
    """
    missing = [each for each in ROLES if each not in given]
    if not existing or not missing:
        return passed()
    what = f"there is no subnet for {join_words(missing, 'and')}"
    return failed("subnet_ids", sorted(given), what, "give the ids of nodes, batch and endpoints; two may be the same")


@rule("azure-network-existing-or-new", Severity.ERROR)
def existing_or_new(*, existing: bool, argument: str) -> Outcome:
    """A network is either an existing one with its subnets, or a new one with its own shape; never a mix.

    Source: gpufleet.azure.network creates nothing in a virtual network that it was given.
    """
    if existing and argument in OF_NEW:
        problem = "shapes a new network and changes nothing in an existing one"
        return failed(argument, "given", problem, "remove it or vnet_id")
    if not existing and argument == "subnet_ids":
        return failed(argument, "given", "belongs to an existing network", "give vnet_id as well, or remove it")
    return passed()


@rule("azure-network-id", Severity.ERROR)
def network_id(*, argument: str, value: str) -> Outcome:
    """Networks and subnets that exist are given by their ids.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules: a name says
    neither group nor subscription.
    """
    if (_VNET if argument == "vnet_id" else _SUBNET).fullmatch(value):
        return passed()
    tail = "" if argument == "vnet_id" else "/subnets/NAME"
    form = f"/subscriptions/.../resourceGroups/.../providers/Microsoft.Network/virtualNetworks/NAME{tail}"
    return failed(argument, value, "is not an Azure resource id", f"use one such as {form}")


@rule("azure-network-subnet-inside", Severity.ERROR)
def subnet_inside(*, subnet: str, vnet: str) -> Outcome:
    """The subnets of an existing network are its own.

    Source: https://learn.microsoft.com/azure/private-link/private-endpoint-dns: names are found in the network that
    the zone is linked to; nodes in another would reach the public address, which is closed.
    """
    found = _SUBNET.fullmatch(subnet)
    if found is None or found[1].lower() == vnet.lower():
        return passed()
    return failed("subnet_ids", subnet, "is a subnet of another network", f"use subnets of {vnet}")


def validate_azure_network(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a virtual network.

    Reads region, resource_group_name, cidr, nat (gateway, none), route_table_id, outbound_addresses, tags; vnet_id and
    subnet_ids (nodes, batch, endpoints) of one that exists. Ids may be anything that is not None.
    """
    existing = args.get("vnet_id") is not None
    given = [name for name in (*OF_NEW, "subnet_ids") if args.get(name) is not None]
    findings = [
        *validate_azure_location(args),
        *(existing_or_new(existing=existing, argument=name) for name in given),
        *(range_public(cidr=each, argument="outbound_addresses") for each in coerce.texts(args, "outbound_addresses")),
    ]
    if existing:
        return [*findings, *_existing(args)]
    nat = coerce.text(args, "nat", NAT[0])
    form = cidr_legal(cidr=coerce.text(args, "cidr", DEFAULT_CIDR))
    findings += [
        form,
        allowed_choice(argument="nat", word=nat, legal=NAT),
        way_out(nat=nat, route_table=args.get("route_table_id") is not None),
    ]
    if not form.rejects:
        cidr = coerce.text(args, "cidr", DEFAULT_CIDR)
        findings += [cidr_private(cidr=cidr), cidr_clear_of_cluster(cidr=cidr)]
    return findings


def _existing(args: Mapping[str, object]) -> list[Finding]:
    """Findings on a network that exists, as far as its ids are plain."""
    subnets = coerce.mapping(args, "subnet_ids")
    plain: Sequence[str] = [each for each in subnets.values() if isinstance(each, str)]
    findings = [
        existing_subnets_given(existing=True, given=tuple(subnets)),
        *(allowed_choice(argument="subnet_ids", word=each, legal=ROLES) for each in subnets),
        *(network_id(argument="subnet_ids", value=each) for each in plain),
    ]
    vnet = args.get("vnet_id")
    if isinstance(vnet, str):
        findings.append(network_id(argument="vnet_id", value=vnet))
        findings += [subnet_inside(subnet=each, vnet=vnet) for each in plain]
    return findings
