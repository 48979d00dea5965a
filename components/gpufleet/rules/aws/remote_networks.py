"""Rules on the networks of own servers that join an EKS cluster (hybrid nodes), and on the cluster that they join."""

import ipaddress
from collections.abc import Mapping, Sequence
from itertools import combinations

from gpufleet.rules import coerce
from gpufleet.rules.aws.network import SERVICES
from gpufleet.rules.generic import not_empty
from gpufleet.rules.messages import join_words
from gpufleet.rules.private_ranges import CARRIER_GRADE_NAT, RFC_1918
from gpufleet.rules.rule import Finding, Outcome, Severity, Status, failed, passed, rule, unverified

MOST_RANGES = 15
MODES = ("API", "API_AND_CONFIG_MAP")
_KINDS = ("nodes", "pods")


@rule("aws-hybrid-range", Severity.ERROR)
def range_legal(*, argument: str, cidr: str) -> Outcome:
    """A range of on-prem servers or of their pods is an IPv4 network of /8 to /32.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_RemoteNodeNetwork.html: minimum /32, maximum /8;
    https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cluster-update.html: the cluster is of IPv4.
    """
    example = "use one such as 10.80.0.0/16"
    try:
        network = ipaddress.ip_network(cidr, strict=False)
    except ValueError:
        return failed(argument, cidr, "is not an IPv4 range", example)
    if network.version != 4:
        return failed(argument, cidr, "is IPv6, which hybrid nodes do not have", example)
    if str(network) != cidr:
        return failed(argument, cidr, "does not begin where its prefix says", f"use {network}")
    if network.prefixlen < 8:
        return failed(argument, cidr, "is larger than the /8 that EKS allows", example)
    return passed()


@rule("aws-hybrid-range-private", Severity.ERROR)
def range_private(*, argument: str, cidr: str) -> Outcome:
    """A range of on-prem servers or of their pods is private.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_RemoteNodeNetwork.html: within RFC 1918. AWS's blog
    on hybrid nodes takes CGNAT (100.64.0.0/10) too, its API reference does not say so.
    """
    network = ipaddress.IPv4Network(cidr)
    fix = f"use a range of {join_words(map(str, RFC_1918))}"
    if any(network.subnet_of(private) for private in RFC_1918):
        return passed()
    if network.subnet_of(CARRIER_GRADE_NAT):
        return unverified(argument, cidr, "AWS's pages do not agree on whether EKS accepts carrier-grade NAT here", fix)
    return failed(argument, cidr, "is not a private range, which EKS requires here", fix)


@rule("aws-hybrid-ranges-apart", Severity.ERROR)
def ranges_apart(*, argument: str, cidr: str, other: str, other_cidr: str, sure: bool = True) -> Outcome:
    """No address is at once a server's, a server's pod's, the VPC's and a service's; `sure`: `other_cidr` is in use.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-networking.html: not overlap with each other,
    the VPC CIDR, or the Kubernetes service IPv4 CIDR, which without a choice is 10.100.0.0/16 or 172.20.0.0/16
    (API_KubernetesNetworkConfigRequest.html).
    """
    if not ipaddress.IPv4Network(cidr).overlaps(ipaddress.IPv4Network(other_cidr)):
        return passed()
    problem = f"overlaps {other}={other_cidr}"
    if sure:
        return failed(argument, cidr, problem, "give each its own range")
    return unverified(argument, cidr, f"{problem}, which EKS may choose", "use another range")


@rule("aws-hybrid-ranges-few", Severity.ERROR)
def few_ranges(*, argument: str, count: int) -> Outcome:
    """A cluster has at most fifteen ranges of on-prem servers, and fifteen of their pods.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-overview.html#hybrid-node-limits
    """
    if count <= MOST_RANGES:
        return passed()
    return failed(argument, count, f"is more ranges than the {MOST_RANGES} that EKS allows", "join neighbours to one")


@rule("aws-hybrid-endpoint", Severity.ERROR)
def one_endpoint(*, private: bool, public: bool) -> Outcome:
    """On-prem servers find the API of their cluster at one address: its endpoint is private or public, not both.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cluster-update.html: with both, the name
    always resolves to public addresses outside of the VPC, which can keep hybrid nodes from joining. EKS itself takes
    both.
    """
    if not (private and public):
        return passed()
    problem = "opens a public endpoint beside the private one, and own servers then never find the private one"
    fix = "leave public_access_cidrs out and deploy from inside of the VPC or the site, or set private_endpoint=false"
    return failed("public_access_cidrs", "given", problem, fix)


@rule("aws-hybrid-endpoint-way-out", Severity.WARNING)
def public_only(*, private: bool, cidrs: Sequence[str]) -> Outcome:
    """With a public endpoint alone, every node that joins is among the ranges that reach it: the VPC's NAT, and the
    site.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html: with private access disabled, the
    CIDR blocks include the addresses that nodes and pods come from.
    """
    if private:
        return passed()
    problem = "whether the VPC's NAT and the site's own way out are in them is not known; nodes outside never join"
    return unverified("public_access_cidrs", list(cidrs), problem, "list the public addresses of both, each as a /32")


@rule("aws-hybrid-authentication", Severity.ERROR)
def mode_with_entries(*, mode: str) -> Outcome:
    """A cluster that on-prem servers join identifies them by an access entry.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cluster-update.html: authentication mode API
    or API_AND_CONFIG_MAP; EKS's API takes CONFIG_MAP by default.
    """
    if mode in MODES:
        return passed()
    problem = "is an authentication mode without access entries, by which own servers are known"
    return failed("authentication_mode", mode, problem, f"use {join_words(MODES)}")


def validate_remote_networks(args: Mapping[str, object], argument: str = "remote_networks") -> list[Finding]:
    """Every finding on the networks of own servers; none where there are none.

    Reads remote_networks ({nodes, pods}: IPv4 ranges), vpc_cidr and service_cidr (IPv4 ranges, where they are known).
    """
    networks = args.get("remote_networks")
    if not isinstance(networks, Mapping):
        return []
    findings: list[Finding] = []
    if coerce.is_texts(networks.get("nodes")):
        findings.append(not_empty(argument=f"{argument}.nodes", values=coerce.texts(networks, "nodes"), holds="range"))
    legal: list[tuple[str, str]] = []
    for kind in _KINDS:
        name = f"{argument}.{kind}"
        cidrs = coerce.texts(networks, kind)
        findings.append(few_ranges(argument=name, count=len(cidrs)))
        for cidr in cidrs:
            form = range_legal(argument=name, cidr=cidr)
            findings.append(form)
            if form.status is Status.PASS:
                legal.append((name, cidr))
                findings.append(range_private(argument=name, cidr=cidr))
    return [*findings, *_apart(args, legal)]


def validate_joined_cluster(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a cluster that own servers join; none where there are no remote_networks.

    Reads remote_networks, private_endpoint (default true), public_access_cidrs.
    """
    if not isinstance(args.get("remote_networks"), Mapping):
        return []
    cidrs = coerce.texts(args, "public_access_cidrs")
    private = coerce.flag(args, "private_endpoint", True)
    return [
        *validate_remote_networks(args),
        one_endpoint(private=private, public=bool(cidrs)),
        public_only(private=private, cidrs=cidrs),
    ]


def _apart(args: Mapping[str, object], legal: Sequence[tuple[str, str]]) -> list[Finding]:
    """Each range against each other one, the VPC's and the services'."""
    findings = [
        ranges_apart(argument=name, cidr=cidr, other=other, other_cidr=other_cidr)
        for (other, other_cidr), (name, cidr) in combinations(legal, 2)
    ]
    for name, cidr in legal:
        for known in ("vpc_cidr", "service_cidr"):
            if (taken := coerce.text(args, known)) and _is_range(taken):
                findings.append(ranges_apart(argument=name, cidr=cidr, other=known, other_cidr=taken))
        if not coerce.text(args, "service_cidr"):
            findings += [
                ranges_apart(argument=name, cidr=cidr, other="service_cidr", other_cidr=chosen, sure=False)
                for chosen in SERVICES
            ]
    return findings


def _is_range(cidr: str) -> bool:
    """Whether it is an IPv4 network: what is wrong with the VPC's or the services', others say."""
    try:
        return bool(ipaddress.IPv4Network(cidr))
    except ValueError:
        return False
