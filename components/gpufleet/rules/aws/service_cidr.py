"""Rules on the addresses of Kubernetes services in an EKS cluster, where somebody chooses them."""

import ipaddress
from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.messages import join_words
from gpufleet.rules.private_ranges import RFC_1918
from gpufleet.rules.rule import Finding, Outcome, Severity, Status, failed, passed, rule

SHORTEST, LONGEST = 12, 24


@rule("aws-cluster-services", Severity.ERROR)
def services_legal(*, service_cidr: str) -> Outcome:
    """The range of Kubernetes services is private and of /12 to /24.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html: within
    10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16, between /24 and /12.
    """
    example = "use one such as 10.200.0.0/16"
    try:
        network = ipaddress.IPv4Network(service_cidr, strict=False)
    except ValueError:
        return failed("service_cidr", service_cidr, "is not an IPv4 range", example)
    if not SHORTEST <= network.prefixlen <= LONGEST:
        return failed("service_cidr", service_cidr, f"is not a range of /{SHORTEST} to /{LONGEST}", example)
    if str(network) != service_cidr:
        return failed("service_cidr", service_cidr, "does not begin where its prefix says", f"use {network}")
    if not any(network.subnet_of(private) for private in RFC_1918):
        fix = f"use a range of {join_words(map(str, RFC_1918))}"
        return failed("service_cidr", service_cidr, "is not a private range, which EKS requires here", fix)
    return passed()


@rule("aws-cluster-services-apart", Severity.ERROR)
def services_apart_from_vpc(*, service_cidr: str, vpc_cidr: str) -> Outcome:
    """The range of Kubernetes services does not overlap the VPC's.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html: does not
    overlap with any CIDR block assigned to the VPC.
    """
    if not ipaddress.IPv4Network(service_cidr).overlaps(ipaddress.IPv4Network(vpc_cidr)):
        return passed()
    return failed("service_cidr", service_cidr, f"overlaps vpc_cidr={vpc_cidr}", "give each its own range")


def validate_services(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the services' range; none where EKS chooses it. Reads service_cidr, vpc_cidr (where known)."""
    chosen = coerce.text(args, "service_cidr")
    if not chosen:
        return []
    form = services_legal(service_cidr=chosen)
    vpc = coerce.text(args, "vpc_cidr")
    if form.status is not Status.PASS or not vpc:
        return [form]
    try:
        ipaddress.IPv4Network(vpc)
    except ValueError:
        # What is wrong with the VPC's range, its own rules say.
        return [form]
    return [form, services_apart_from_vpc(service_cidr=chosen, vpc_cidr=vpc)]


def validate_service_overlap(service_cidr: str, vpc_cidr: str) -> list[Finding]:
    """Findings that a cluster lacks which does not know the range of its VPC; either is empty where it is not known."""
    return validate_services({"service_cidr": service_cidr, "vpc_cidr": vpc_cidr})[1:]
