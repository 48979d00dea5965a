"""Rules on an AKS control plane: its version, who reaches it and who administers it."""

import ipaddress
import re
from collections.abc import Mapping, Sequence

from gpufleet.catalog.aks_versions import aks_versions
from gpufleet.rules import coerce
from gpufleet.rules.azure.location import validate_azure_location
from gpufleet.rules.azure.system_pool import validate_system_pool
from gpufleet.rules.generic import allowed_choice, at_least
from gpufleet.rules.messages import join_words
from gpufleet.rules.private_ranges import RFC_1918
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

OUTBOUND = ("nat-gateway", "load-balancer", "routes", "none")
TIERS = ("Free", "Standard")
UPGRADES = ("none", "patch")
MOST_RANGES = 200
_WIDEST = 8
"""Prefix of the largest range that one organisation holds: larger ones are of many."""
_VERSION = re.compile(r"(1\.\d{2})(\.\d{1,3})?")
_NAME = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?")
_OBJECT_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@rule("azure-cluster-version", Severity.ERROR)
def version_legal(*, version: str) -> Outcome:
    """The version is a minor version of Kubernetes, or one with its patch.

    Source: kubernetesVersion of Microsoft.ContainerService/managedClusters 2025-09-01: both are supported; a float such
    as 1.4 for "1.40" loses its zero in YAML.
    """
    if _VERSION.fullmatch(version):
        return passed()
    return failed(
        "version", version, "is not a Kubernetes version of AKS", 'give major.minor in quotes, such as "1.36"'
    )


@rule("azure-cluster-version-offered", Severity.ERROR)
def version_offered(*, version: str, offered: bool | None, others: Sequence[str]) -> Outcome:
    """AKS creates clusters with this version: the newest generally available one, or one of the two before.

    `offered` is None for a version that the catalog lacks or that was still to come.
    Source: https://learn.microsoft.com/azure/aks/supported-kubernetes-versions (N-2), as the catalog has it; later
    without long-term support: K8sVersionNotSupported (github.com/IABTechLab/uid2docs/pull/1050).
    """
    if offered:
        return passed()
    if offered is None:
        fix = f"ask az aks get-versions, or use {join_words(others)}"
        return unverified("version", version, "the catalog does not know whether AKS offers it", fix)
    return failed("version", version, "AKS makes no cluster with it any more", f"use {join_words(others)}")


@rule("azure-cluster-reached", Severity.ERROR)
def api_limited(*, private: bool, ranges: Sequence[str]) -> Outcome:
    """The API server is either private or open to listed ranges, never open to everybody.

    Source: https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges: without a list the public endpoint
    answers everybody, and the list does not go with private clusters.
    """
    if private and ranges:
        problem = "ranges are for public API servers, and this one is private"
        return failed("authorized_ranges", list(ranges), problem, "set private=false, or leave the ranges out")
    fix = "list the ranges that you work from, such as 203.0.113.0/24, or set private=true"
    if not private and not ranges:
        return failed("private", False, "opens the API server to everybody, as AKS does without ranges", fix)
    open_ = [each for each in ranges if _width(each) < _WIDEST]
    if any(_width(each) == 0 for each in open_):
        return failed("authorized_ranges", list(ranges), "opens the API server to everybody", fix)
    if open_:
        return failed("authorized_ranges", open_, "opens the API server to a large part of the internet", fix)
    return passed()


@rule("azure-cluster-range", Severity.ERROR)
def range_public(*, cidr: str, argument: str = "authorized_ranges") -> Outcome:
    """A range that may reach the API server is a public IPv4 range.

    Source: https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges: public addresses in CIDR form
    """
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError:
        return failed(argument, cidr, "is not an IPv4 range", "use one such as 203.0.113.0/24")
    if any(network.subnet_of(private) for private in RFC_1918):
        fix = "give the address that the internet sees, or set private=true"
        return failed(argument, cidr, "is a private range, from which nobody reaches the API server", fix)
    return passed()


@rule("azure-cluster-nodes-reach-api", Severity.ERROR)
def nodes_reach_api(
    *, ranges: Sequence[str], outbound: str, included: bool | None, missing: Sequence[str] = ()
) -> Outcome:
    """The ranges that reach a public API server include the addresses through which its nodes reach the internet.

    AKS itself adds the address of its own load balancer, and no other. `included` is None where it is not known;
    `missing` are the addresses that are not included, where they are known.
    Source: https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges (the load balancer);
    MicrosoftDocs/azure-docs#111834, #97437 (a NAT gateway's), Azure/AKS-Construction#344: without it no node registers.
    """
    if not ranges or outbound not in ("nat-gateway", "routes") or included:
        return passed()
    if included is None:
        problem = "whether the public address through which the nodes reach the API server is included is not known"
        fix = "give the address of the NAT gateway or firewall in outbound_addresses of the network"
        return unverified("authorized_ranges", list(ranges), problem, fix)
    problem = "the nodes reach the API server through a NAT gateway whose address is not included, and cannot register"
    fix = f"add the public address of the NAT gateway{': ' if missing else ''}{join_words(missing, 'and')}"
    return failed("authorized_ranges", list(ranges), problem, fix)


@rule("azure-cluster-ranges-most", Severity.ERROR)
def ranges_few(*, number: int) -> Outcome:
    """At most 200 ranges may reach the API server.

    Source: https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges
    """
    if number <= MOST_RANGES:
        return passed()
    return failed("authorized_ranges", number, "is more ranges than AKS allows", f"use at most {MOST_RANGES}")


@rule("azure-cluster-administered", Severity.ERROR)
def administered(*, admins: Sequence[str]) -> Outcome:
    """The cluster has an administrator: it has no local accounts, and its creator gets no permissions in it.

    Source: https://learn.microsoft.com/azure/aks/manage-local-accounts-managed-azure-ad
    """
    if admins:
        return passed()
    fix = "name a group of Microsoft Entra ID: az ad group show --group <name> --query id"
    return failed("admins", {}, "nobody would administer the cluster", fix)


@rule("azure-cluster-admin-group", Severity.ERROR)
def admin_is_group(*, name: str, group: str) -> Outcome:
    """An administrator is a group of Microsoft Entra ID, by its object id.

    Source: aadProfile.adminGroupObjectIDs of Microsoft.ContainerService/managedClusters 2025-09-01
    """
    if _OBJECT_ID.fullmatch(group):
        return passed()
    fix = "use the id that az ad group show --group <name> --query id shows"
    return failed(f"admins.{name}", group, "is not the object id of a group", fix)


@rule("azure-cluster-name", Severity.ERROR)
def name_legal(*, cluster_name: str) -> Outcome:
    """A cluster's name has 1 to 63 letters, digits, hyphens and underscores, with a letter or digit at both ends.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
    """
    if _NAME.fullmatch(cluster_name):
        return passed()
    fix = "use up to 63 letters, digits, - and _, with a letter or digit at both ends"
    return failed("cluster_name", cluster_name, "is not a valid AKS cluster name", fix)


@rule("azure-cluster-addresses", Severity.ERROR)
def addresses_apart(*, pods: str, services: str) -> Outcome:
    """Pods and services have separate IPv4 ranges.

    Source: https://learn.microsoft.com/azure/aks/azure-cni-overlay: podCidr and serviceCidr must not overlap; the
    services' range is smaller than /12.
    """
    ranges: list[ipaddress.IPv4Network] = []
    for argument, cidr in (("pod_cidr", pods), ("service_cidr", services)):
        try:
            ranges.append(ipaddress.IPv4Network(cidr))
        except ValueError:
            return failed(argument, cidr, "is not an IPv4 range", "use one such as 10.244.0.0/16")
    if ranges[0].overlaps(ranges[1]):
        fix = "use two ranges that share no address"
        return failed("service_cidr", services, f"overlaps pod_cidr={pods}", fix)
    if ranges[1].prefixlen < 12 or ranges[1].prefixlen > 28:
        return failed("service_cidr", services, "is not a valid size of the service range", "use a range of /12 to /28")
    return passed()


@rule("azure-cluster-dns", Severity.ERROR)
def dns_inside(*, dns: str, services: str) -> Outcome:
    """The address of DNS lies in the range of services, and is not its first.

    Source: dnsServiceIP of Microsoft.ContainerService/managedClusters 2025-09-01: within the service address range;
    Azure/bicep-registry-modules#1469, Azure/AKS#2579 (network address).
    """
    try:
        address, network = ipaddress.IPv4Address(dns), ipaddress.IPv4Network(services)
    except ValueError:
        return failed(
            "dns_service_ip", dns, "is not an IPv4 address", "use one in the range of services, such as 10.0.0.10"
        )
    usual = network.network_address + 10
    if address in network and address > network.network_address + 1:
        return passed()
    return failed("dns_service_ip", dns, f"is not an address for a service in {services}", f"use one such as {usual}")


@rule("azure-cluster-workload-identity", Severity.ERROR)
def workload_identity_issued(*, enabled: bool, issuer: bool) -> Outcome:
    """A cluster with workload identity has an OIDC issuer, which signs what pods show to Entra.

    Source: https://learn.microsoft.com/azure/aks/workload-identity-deploy-cluster; Azure/azure-cli: Enabling workload
    identity requires enabling OIDC issuer.
    """
    if not enabled or issuer:
        return passed()
    fix = "set oidc_issuer_profile.enabled=true"
    return failed("security_profile.workload_identity", True, "needs the cluster's OIDC issuer, which is off", fix)


def _width(cidr: str) -> int:
    """The length of a range's prefix, of either version of IP; of what is not a range, that of one address."""
    try:
        return ipaddress.ip_network(cidr.strip(), strict=False).prefixlen
    except ValueError:
        return 32


def validate_azure_cluster(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on an AKS cluster, passes included. Never raises, whatever the values.

    Reads region, version (1.36 or 1.36.2), private (default: whether there are no authorized_ranges),
    authorized_ranges, outbound_addresses, admins, cluster_name, outbound, tier, upgrade_channel, idle_minutes,
    pod_cidr, service_cidr, the words of the system pool, tags.
    """
    ranges = coerce.texts(args, "authorized_ranges")
    admins = coerce.mapping(args, "admins")
    findings = [
        api_limited(private=coerce.flag(args, "private", not ranges), ranges=ranges),
        *(range_public(cidr=cidr) for cidr in ranges if not cidr.strip().endswith("/0")),
        nodes_reach_api(
            ranges=ranges,
            outbound=coerce.text(args, "outbound", "nat-gateway"),
            included=True if args.get("outbound_addresses") else None,
        ),
        ranges_few(number=len(ranges)),
        administered(admins=sorted(admins)),
        *(admin_is_group(name=name, group=group) for name, group in sorted(admins.items()) if isinstance(group, str)),
        allowed_choice(argument="outbound", word=coerce.text(args, "outbound", "nat-gateway"), legal=OUTBOUND),
        allowed_choice(argument="tier", word=coerce.text(args, "tier", "Free"), legal=TIERS),
        allowed_choice(argument="upgrade_channel", word=coerce.text(args, "upgrade_channel", "none"), legal=UPGRADES),
        at_least(argument="idle_minutes", value=coerce.whole(args, "idle_minutes", 10), least=1),
        addresses_apart(
            pods=coerce.text(args, "pod_cidr", "10.244.0.0/16"),
            services=coerce.text(args, "service_cidr", "10.0.0.0/16"),
        ),
        *validate_system_pool(args),
    ]
    if args.get("region"):
        findings += validate_azure_location(args)
    if isinstance(name := args.get("cluster_name"), str):
        findings.append(name_legal(cluster_name=name))
    if isinstance(version := args.get("version"), str):
        findings += validate_version(version)
    return findings


def validate_version(version: str) -> list[Finding]:
    """Form, and whether AKS offers it; of a version with a patch, whether it offers the minor version."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return [version_legal(version=version)]
    known = aks_versions()
    offered = [name for name, record in known.items() if record.offered]
    record = known.get(found[1])
    if record is None and found[1] < min(known):
        return [version_legal(version=version), version_offered(version=version, offered=False, others=offered)]
    answer = record.offered if record else None
    return [version_legal(version=version), version_offered(version=version, offered=answer, others=offered)]
