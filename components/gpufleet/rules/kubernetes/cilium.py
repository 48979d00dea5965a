"""Rules on the network of pods on own servers."""

import ipaddress
from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.aws.remote_networks import range_legal
from gpufleet.rules.generic import not_empty
from gpufleet.rules.kubernetes.device_plugins import validate_object_labels
from gpufleet.rules.kubernetes.version import version_pinned
from gpufleet.rules.rule import Finding, Outcome, Severity, Status, failed, passed, rule

MASK_SIZE = 25


@rule("any-cilium-mask", Severity.ERROR)
def mask_fits(*, cidr: str, mask_size: int) -> Outcome:
    """Each server gets a part of the pods' range that is smaller than the range and has addresses.

    Source: https://docs.cilium.io/en/stable/network/concepts/ipam/cluster-pool/ (clusterPoolIPv4MaskSize)
    """
    prefix = ipaddress.IPv4Network(cidr).prefixlen
    if prefix <= mask_size <= 29:
        return passed()
    fix = f"use {max(prefix, 24)} to 29, or a greater range" if prefix <= 29 else "use a greater range, such as a /16"
    return failed("mask_size", mask_size, f"does not give a server's pods a part of {cidr}", fix)


def validate_cilium(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on Cilium. Reads pod_cidrs, mask_size, version, labels."""
    cidrs = coerce.texts(args, "pod_cidrs")
    findings: list[Finding] = []
    if coerce.is_texts(args.get("pod_cidrs")):
        findings.append(not_empty(argument="pod_cidrs", values=cidrs, holds="range"))
    for cidr in cidrs:
        form = range_legal(argument="pod_cidrs", cidr=cidr)
        findings.append(form)
        if form.status is Status.PASS:
            findings.append(mask_fits(cidr=cidr, mask_size=coerce.whole(args, "mask_size", MASK_SIZE)))
    if isinstance(args.get("version"), str):
        findings.append(version_pinned(argument="version", version=coerce.text(args, "version")))
    return [*findings, *validate_object_labels(args)]
