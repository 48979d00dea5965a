"""Rules on the network of a fleet."""

import ipaddress
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.aws.log_retention import retention
from gpufleet.rules.aws.zones import validate_zones
from gpufleet.rules.generic import allowed_choice, not_empty
from gpufleet.rules.messages import join_words
from gpufleet.rules.private_ranges import CARRIER_GRADE_NAT, RFC_1918
from gpufleet.rules.rule import Finding, Outcome, Severity, Status, failed, passed, rule, unverified
from gpufleet.rules.tags import validate_tags

NAT = ("none", "single", "per-zone")
NODE_SERVICES = ("ec2", "ecr.api", "ecr.dkr", "eks", "sts")
SERVICES = ("10.100.0.0/16", "172.20.0.0/16")
"""Ranges of which EKS allows one for Kubernetes services when nobody chooses."""
_PRIVATE = (*RFC_1918, CARRIER_GRADE_NAT)


@rule("aws-network-cidr", Severity.ERROR)
def cidr_legal(*, cidr: str) -> Outcome:
    """The range of a VPC is an IPv4 network of /16 to /28.

    Source: https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html (InvalidVpc.Range)
    """
    try:
        network = ipaddress.IPv4Network(cidr, strict=False)
    except ValueError:
        return failed("cidr", cidr, "is not an IPv4 range", "use one such as 10.0.0.0/16")
    if "/" not in cidr or not 16 <= network.prefixlen <= 28:
        return failed("cidr", cidr, "is not a range of /16 to /28", f"use one such as {network.network_address}/16")
    if str(network) != cidr:
        return failed("cidr", cidr, "does not begin where its prefix says", f"use {network}")
    return passed()


@rule("aws-network-cidr-private", Severity.WARNING)
def cidr_private(*, cidr: str) -> Outcome:
    """The range of a VPC is private.

    Source: RFC 1918 and RFC 6598; https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html
    """
    if any(ipaddress.IPv4Network(cidr).subnet_of(private) for private in _PRIVATE):
        return passed()
    problem = "belongs to others on the internet, whom the nodes then cannot reach"
    return failed("cidr", cidr, problem, f"use a range of {join_words(map(str, _PRIVATE))}")


@rule("aws-network-way-out", Severity.ERROR)
def way_out(*, nat: str, endpoints: Sequence[str]) -> Outcome:
    """Private nodes reach EKS, ECR and EC2, by NAT or by interface endpoints.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html; without them nodes never join:
    NodeCreationFailure after 20 minutes and more (terraform-aws-modules/terraform-aws-eks#2474 and #1910).
    """
    missing = [service for service in NODE_SERVICES if service not in endpoints]
    if nat != "none" or not missing:
        return passed()
    problem = f"without NAT nodes cannot reach {join_words(missing, 'and')}, and never join"
    fix = "set nat=single, or give these endpoints too (leave the argument out to get all that EKS needs)"
    return failed("interface_endpoints", list(endpoints), problem, fix)


@rule("aws-network-service-range", Severity.WARNING)
def services_apart(*, cidr: str, services: str) -> Outcome:
    """The range of the VPC does not overlap that of the cluster's Kubernetes services; empty: EKS chooses that.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html: the block
    doesn't overlap with any CIDR block assigned to the VPC; without one it is 10.100.0.0/16 or 172.20.0.0/16.
    """
    network = ipaddress.IPv4Network(cidr)
    if not services:
        overlapping = [each for each in SERVICES if network.overlaps(ipaddress.IPv4Network(each))]
        if not overlapping:
            return passed()
        problem = f"overlaps {join_words(overlapping, 'and')}, which EKS may choose for Kubernetes services"
        return unverified("cidr", cidr, problem, "use another range, such as 10.0.0.0/16")
    try:
        overlaps = network.overlaps(ipaddress.IPv4Network(services))
    except ValueError:
        problem = f"whether it overlaps the services is not known: service_cidr={services} is not an IPv4 range"
        return unverified("cidr", cidr, problem, "give the cluster's as EKS shows it, such as 172.20.0.0/16")
    if not overlaps:
        return passed()
    problem = f"overlaps {services}, the range of the cluster's services, so that some addresses are both"
    return failed("cidr", cidr, problem, "use another range for one of them")


def validate_network(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a network.

    Reads region, zones, cidr, nat (none, single, per-zone), interface_endpoints, flow_log_retention_days, vpc_id, tags.
    With vpc_id, what would be created is not checked.
    """
    zones = coerce.texts(args, "zones")
    findings = [*validate_zones(coerce.text(args, "region"), zones), *validate_tags(coerce.mapping(args, "tags"))]
    if coerce.is_texts(args.get("zones")):
        findings.append(not_empty(argument="zones", values=zones, holds="zone id"))
    if args.get("vpc_id") is not None:
        return findings
    nat = coerce.text(args, "nat", "single")
    findings += [
        allowed_choice(argument="nat", word=nat, legal=NAT),
        retention(argument="flow_log_retention_days", days=coerce.whole(args, "flow_log_retention_days", 30)),
    ]
    if coerce.is_texts(args.get("interface_endpoints")):
        findings.append(way_out(nat=nat, endpoints=coerce.texts(args, "interface_endpoints")))
    cidr = coerce.text(args, "cidr", "10.0.0.0/16")
    findings.append(cidr_legal(cidr=cidr))
    if findings[-1].status is Status.FAIL:
        return findings
    return [*findings, cidr_private(cidr=cidr), services_apart(cidr=cidr, services="")]
