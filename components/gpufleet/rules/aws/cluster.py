"""Rules on an EKS control plane."""

import ipaddress
import re
from collections.abc import Mapping, Sequence

from gpufleet.catalog import aws, eks_zones
from gpufleet.catalog.eks_versions import eks_versions, minor_of
from gpufleet.rules import coerce
from gpufleet.rules.aws.log_retention import retention
from gpufleet.rules.aws.zones import validate_zones
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.messages import join_words
from gpufleet.rules.private_ranges import RESERVED, RFC_1918
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified
from gpufleet.rules.tags import is_day, validate_tags

LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")
_VERSION = re.compile(r"1\.\d{2}")
_VERSIONS_PER_YEAR = 3
"""Minor versions of Kubernetes in a year: https://kubernetes.io/releases/release. More than so many above the newest
one in the catalog do not exist, or the catalog is more than a year old."""


@rule("aws-cluster-two-zones", Severity.ERROR)
def two_zones(*, zones: Sequence[str], argument: str = "subnet_ids", left_out: Sequence[str] = ()) -> Outcome:
    """The control plane has subnets in at least two zones; `left_out`: zones of the network that EKS does not accept.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html: Subnets specified must be in at least
    two different AZs (InvalidParameterException).
    """
    if len(set(zones)) >= 2:
        return passed()
    what = "subnet in a second zone" if argument == "subnet_ids" else "second zone to the network"
    why = f" and places none in {join_words(left_out)}" if left_out else ""
    problem = f"EKS requires its control plane in two zones{why}"
    return failed(argument, list(zones), problem, f"add a {what}; nodes may still lie in one")


@rule("aws-cluster-zone-accepted", Severity.ERROR)
def zone_accepted(*, zone: str, accepted: bool | None, others: Sequence[str], argument: str = "subnet_ids") -> Outcome:
    """EKS accepts subnets of the zone for a control plane; `accepted` is None for a zone that the catalog lacks.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html: not in use1-az3, usw1-az2, cac1-az3;
    UnsupportedAvailabilityZoneException (eksctl-io/eksctl#5107).
    """
    if accepted:
        return passed()
    legal = f"use {join_words(others)}" if others else "ask aws ec2 describe-availability-zones"
    if accepted is None:
        return unverified(argument, zone, "the catalog does not know whether EKS accepts this zone", legal)
    return failed(argument, zone, "EKS does not place control planes in this zone", f"{legal}; nodes may lie in it")


@rule("aws-cluster-version", Severity.ERROR)
def version_legal(*, version: str) -> Outcome:
    """The version is a minor version of Kubernetes, since EKS chooses the patch.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html; a float such as 1.3 for "1.30"
    loses its zero in YAML.
    """
    if _VERSION.fullmatch(version):
        return passed()
    return failed(
        "version", version, "is not a Kubernetes version of EKS", 'give major.minor in quotes, such as "1.34"'
    )


@rule("aws-cluster-version-offered", Severity.ERROR)
def version_offered(*, version: str, offered: bool | None, others: Sequence[str]) -> Outcome:
    """EKS creates clusters with this version, under standard or extended support.

    `offered` is None for a version that the catalog lacks and that may have come since.
    Source: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, as the catalog has it; others:
    InvalidParameterException: unsupported Kubernetes version (hashicorp/terraform-provider-aws#21410).
    """
    if offered:
        return passed()
    if offered is None:
        fix = f"ask aws eks describe-cluster-versions, or use {join_words(others)}"
        return unverified("version", version, "the catalog does not know whether EKS offers it", fix)
    return failed("version", version, "EKS makes no cluster with it", f"use {join_words(others)}")


@rule("aws-cluster-version-supported", Severity.WARNING)
def supported_to_the_end(
    *, version: str, until: str, expires: str, support: str, others: Sequence[str], extra_usd: float | None
) -> Outcome:
    """Standard support of the version does not end before the environment does; both days as 2027-01-31.

    `others`: versions whose support lasts long enough. `support`: STANDARD or EXTENDED, of which the second costs
    `extra_usd` more an hour, None where that is not known.
    Source: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html: after 14 months extended support
    is paid for, or EKS upgrades the control plane, and no node groups.
    """
    if expires <= until:
        return passed()
    usd = "more" if extra_usd is None else f"{extra_usd:.2f} USD an hour more"
    then = f"the cluster costs {usd}" if support == "EXTENDED" else "EKS upgrades the control plane, and no nodes"
    problem = f"standard support ends on {until}, before the environment does on {expires}; from then on {then}"
    later = "raise it by then, one minor version at a time; no version lasts so long yet"
    fix = f"use {join_words(others)}" if others else later
    return failed("version", version, problem, fix)


@rule("aws-cluster-endpoint", Severity.ERROR)
def some_endpoint(*, private: bool, public: bool) -> Outcome:
    """The API server is reachable, inside the VPC or from outside.

    Source: EKS CreateCluster: Private and public endpoint access cannot be false.
    """
    if private or public:
        return passed()
    return failed("private_endpoint", False, "leaves the cluster without an endpoint", "set private_endpoint=true")


@rule("aws-cluster-public-cidrs", Severity.ERROR)
def public_limited(*, public: bool, cidrs: Sequence[str]) -> Outcome:
    """A public endpoint is open to listed ranges only.

    Source: https://docs.aws.amazon.com/eks/latest/best-practices/cluster-authentication.html; EKS opens a public
    endpoint to 0.0.0.0/0 when no range is given.
    """
    fix = "list the ranges that you work from, such as 203.0.113.0/24, or keep the endpoint private"
    if public and not cidrs:
        return failed("public_access_cidrs", [], "opens the endpoint to everybody, as EKS does without a list", fix)
    if any(cidr.strip().endswith("/0") for cidr in cidrs):
        return failed("public_access_cidrs", list(cidrs), "opens the endpoint to everybody", fix)
    return passed()


@rule("aws-cluster-public-cidr", Severity.ERROR)
def cidr_public(*, cidr: str) -> Outcome:
    """A range that may reach the public endpoint is a public IPv4 range.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html: no reserved addresses; seen for
    10.1.0.128/27 and 203.0.113.0/24 (InvalidParameterException: The following CIDRs are not allowed in
    publicAccessCidrs).
    """
    try:
        network = ipaddress.IPv4Network(cidr)
    except ValueError:
        return failed("public_access_cidrs", cidr, "is not an IPv4 range", "use one such as 203.0.113.0/24")
    if any(network.subnet_of(private) for private in RFC_1918):
        fix = "leave it out: inside the VPC the private endpoint answers"
        return failed("public_access_cidrs", cidr, "is a private range, which EKS rejects here", fix)
    if any(network.subnet_of(reserved) for reserved in RESERVED):
        fix = "give the address that the internet sees: curl https://checkip.amazonaws.com"
        return failed("public_access_cidrs", cidr, "is a reserved range, which EKS rejects here", fix)
    return passed()


@rule("aws-cluster-zone-of-network", Severity.ERROR)
def zone_of_network(*, zone: str, network: Sequence[str]) -> Outcome:
    """The control plane lies in zones of the environment's network.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html: a control plane is placed by subnets.
    """
    if zone in network:
        return passed()
    return failed(
        "zones", zone, "is not a zone of the network", f"add it to network.zones, or use {join_words(network)}"
    )


def rejected_zones(region: str, zones: Sequence[str]) -> list[str]:
    """Those of the zones in which EKS puts no control planes, as far as the catalog knows them."""
    known = eks_zones(region)
    return [zone for zone in zones if known.get(zone) is False]


def validate_control_zones(zones: Sequence[str], network: Sequence[str]) -> list[Finding]:
    """Every finding on the zones of a control plane that a configuration chooses among those of its network."""
    return [zone_of_network(zone=zone, network=network) for zone in zones]


def validate_cluster(
    args: Mapping[str, object], argument: str = "subnet_ids", left_out: Sequence[str] = ()
) -> list[Finding]:
    """Every finding on an EKS cluster. argument: what gives its zones. left_out: zones of its network without it.

    Reads region, zones (zone ids of the control plane's subnets), version (1.34), private_endpoint (default true),
    public_endpoint (default: whether there are public_access_cidrs), public_access_cidrs, log_types,
    log_retention_days, support (default STANDARD), tags.
    """
    zones = coerce.texts(args, "zones")
    region = coerce.text(args, "region")
    cidrs = coerce.texts(args, "public_access_cidrs")
    public = coerce.flag(args, "public_endpoint", bool(cidrs))
    known = eks_zones(region)
    accepting = tuple(zone for zone, accepted in known.items() if accepted)
    findings = [
        *validate_zones(region, zones, argument),
        two_zones(zones=zones, argument=argument, left_out=left_out),
        some_endpoint(private=coerce.flag(args, "private_endpoint", True), public=public),
        public_limited(public=public, cidrs=cidrs),
        *(cidr_public(cidr=cidr) for cidr in cidrs if not cidr.strip().endswith("/0")),
        *(allowed_choice(argument="log_types", word=word, legal=LOG_TYPES) for word in coerce.texts(args, "log_types")),
        retention(argument="log_retention_days", days=coerce.whole(args, "log_retention_days", 30)),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    for zone in zones:
        if zone in known or not known:
            findings.append(zone_accepted(zone=zone, accepted=known.get(zone), others=accepting, argument=argument))
    if isinstance(version := args.get("version"), str):
        tags = coerce.mapping(args, "tags")
        findings += validate_version(version, region, coerce.text(args, "support", "STANDARD"), tags.get("expires-at"))
    return findings


def validate_version(version: str, region: str, support: str, expires: object) -> list[Finding]:
    """Every finding on a cluster's Kubernetes version. expires: the tag expires-at; only a day is compared."""
    if not _VERSION.fullmatch(version):
        return [version_legal(version=version)]
    known = eks_versions()
    offered = [name for name, record in known.items() if record.offered]
    record = known.get(version)
    may_have_come = 0 < minor_of(version) - max(map(minor_of, known)) <= _VERSIONS_PER_YEAR
    answer = record.offered if record else None if may_have_come else False
    findings = [version_legal(version=version), version_offered(version=version, offered=answer, others=offered)]
    if record is not None and record.offered and isinstance(expires, str) and is_day(expires):
        prices = [aws().service_prices.get(("eks", item, region)) for item in ("cluster", "cluster-extended-support")]
        usd = [price.usd for price in prices if price is not None and price.usd is not None]
        findings.append(
            supported_to_the_end(
                version=version,
                until=record.standard_until,
                expires=expires,
                support=support,
                others=[name for name in offered if known[name].standard_until >= expires],
                extra_usd=usd[1] - usd[0] if len(usd) == 2 else None,
            )
        )
    return findings
