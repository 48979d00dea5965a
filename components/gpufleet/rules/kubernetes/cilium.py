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


@rule("any-cilium-asn", Severity.ERROR)
def bgp_number(*, argument: str, asn: int) -> Outcome:
    """A BGP speaker has a number from 1 to 4294967294 that is not reserved. One number on both sides is internal BGP.

    Source: https://www.rfc-editor.org/rfc/rfc6996, https://www.rfc-editor.org/rfc/rfc7300 (the last of each range);
    https://www.rfc-editor.org/rfc/rfc6793 (23456).
    """
    if 1 <= asn <= 4294967294 and asn not in (23456, 65535):
        return passed()
    return failed(argument, asn, "is not a BGP number", "use a private one, 64512 to 65534, such as 65020")


@rule("any-cilium-peer", Severity.ERROR)
def peer_address(*, argument: str, address: str) -> Outcome:
    """A router is given by the IPv4 address to which servers open their BGP session.

    Source: https://docs.cilium.io/en/v1.17/network/bgp-control-plane/bgp-control-plane-v2 (peerAddress); pods on own
    servers have IPv4 only.
    """
    try:
        ipaddress.IPv4Address(address)
    except ValueError:
        return failed(argument, address, "is not an IPv4 address", "use the router's, such as 10.80.0.1")
    return passed()


def validate_bgp(bgp: Mapping[str, object]) -> list[Finding]:
    """Every finding on how servers announce the ways to their pods. Reads asn, peers ({address, asn})."""
    given = bgp.get("peers")
    peers = [peer for peer in given if isinstance(peer, Mapping)] if isinstance(given, list | tuple) else []
    addresses = [coerce.text(peer, "address") for peer in peers]
    findings = [
        bgp_number(argument="bgp.asn", asn=coerce.whole(bgp, "asn", 1)),
        not_empty(argument="bgp.peers", values=addresses, holds="router"),
    ]
    for number, (peer, address) in enumerate(zip(peers, addresses, strict=True)):
        findings.append(peer_address(argument=f"bgp.peers[{number}].address", address=address))
        findings.append(bgp_number(argument=f"bgp.peers[{number}].asn", asn=coerce.whole(peer, "asn", 1)))
    return findings


def validate_cilium(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on Cilium. Reads pod_cidrs, mask_size, version, labels, bgp ({asn, peers})."""
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
    if isinstance(args.get("bgp"), Mapping):
        findings += validate_bgp(coerce.mapping(args, "bgp"))
    return [*findings, *validate_object_labels(args)]
