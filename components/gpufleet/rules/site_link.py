"""Rules on a line between own servers and a cloud, the same for every cloud: ranges, routes, the device, the rate."""

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network

from gpufleet.rules import coerce
from gpufleet.rules.generic import distinct, not_empty
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

VPN = "vpn"
ENOUGH_GBPS = 10.0
"""Gbit/s from which a line carries 100 GB in under 90 s. Our choice: what shared files on SSDs read in a few nodes."""
NOTED_GB = 100
"""GB whose time the note on the rate says."""
WIDEST = 8
PRIVATE_ASNS = (range(64512, 65535), range(4200000000, 4294967295))
"""https://www.rfc-editor.org/rfc/rfc6996"""
_RESERVED_ASNS = (23456, 65535, 4294967295)
"""https://www.iana.org/assignments/iana-as-numbers-special-registry"""
_NOT_PUBLIC = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "224.0.0.0/3",
        ),
    )
)
"""Ranges in which no device has its public address. Those of documentation (RFC 5737) are let through: examples and
rehearsals use them."""


@rule("any-link-range", Severity.ERROR)
def range_legal(*, argument: str, cidr: str) -> Outcome:
    """A range behind a line is an IPv4 network of /8 to /32 that begins where its prefix says.

    Source: EC2's CreateVpnConnectionRoute and Azure's local network gateways take IPv4 ranges; a wider one than /8
    would draw the cloud's own addresses into the line.
    """
    network = _network(cidr)
    if network is None or network.prefixlen < WIDEST:
        return failed(argument, cidr, f"is not an IPv4 range of /{WIDEST} to /32", "use one such as 192.168.10.0/24")
    if str(network) != cidr:
        return failed(argument, cidr, "does not begin where its prefix says", f"use {network}")
    return passed()


@rule("any-link-overlap", Severity.ERROR)
def ranges_apart(*, argument: str, cidr: str, other: str, whose: str) -> Outcome:
    """Two linked networks share no address; `whose`: whom the other range belongs to.

    Source: https://docs.aws.amazon.com/vpc/latest/userguide/route-tables-priority.html: the local route wins, so that
    packets for the overlap never reach the line; https://learn.microsoft.com/azure/vpn-gateway/vpn-gateway-vpn-faq
    """
    one, two = _network(cidr), _network(other)
    if one is None or two is None or not one.overlaps(two):
        return passed()
    problem = f"overlaps {other}, which is {whose}, so that packets to it never reach the line"
    return failed(argument, cidr, problem, "give one of the two networks another range")


@rule("any-link-public-address", Severity.ERROR)
def public_address(*, address: str) -> Outcome:
    """The on-prem VPN device has a public IPv4 address, by which the cloud reaches it.

    Source: https://docs.aws.amazon.com/vpn/latest/s2svpn/cgw-options.html: a static internet-routable address, behind
    a NAT device the NAT's; https://learn.microsoft.com/azure/vpn-gateway/vpn-gateway-about-vpn-gateway-settings
    """
    try:
        found = IPv4Address(address)
    except ValueError:
        return failed("customer_address", address, "is not an IPv4 address", "use the public one of the own VPN device")
    if any(found in network for network in _NOT_PUBLIC):
        problem = "is not reachable from the internet"
        fix = "use the public address of the VPN device, or of the NAT that it is behind"
        return failed("customer_address", address, problem, fix)
    return passed()


@rule("any-link-asn", Severity.ERROR)
def asn_legal(*, argument: str, asn: int, other: int, reserved: Sequence[int]) -> Outcome:
    """The two ends of a link have valid and different BGP ASNs; `other`: that of the other end, `reserved`: numbers
    that the cloud keeps.

    Source: https://www.rfc-editor.org/rfc/rfc6996; https://docs.aws.amazon.com/vpn/latest/s2svpn/cgw-options.html;
    https://learn.microsoft.com/azure/vpn-gateway/vpn-gateway-vpn-faq. Neighbours of one number speak internal BGP,
    which the gateways of both clouds do not.
    """
    fix = "use one that is private to you, 64512 to 65534, for instance 65010"
    if not 1 <= asn <= _RESERVED_ASNS[-1] or asn in _RESERVED_ASNS:
        return failed(argument, asn, "is not a BGP ASN", fix)
    if asn in reserved:
        return failed(argument, asn, "is reserved by the cloud", fix)
    if asn == other:
        return failed(argument, asn, "is the number of the cloud's end, too", fix)
    if not any(asn in private for private in PRIVATE_ASNS):
        return unverified(argument, asn, "is a public number, and nothing here says that it is yours", fix)
    return passed()


@rule("any-link-routing", Severity.ERROR)
def routed_one_way(*, bgp: bool, static: bool) -> Outcome:
    """The routes through a VPN are either learned by BGP or static.

    Source: EC2's VpnConnectionOptions.StaticRoutesOnly is one or the other: a connection with BGP rejects static routes
    (https://docs.aws.amazon.com/vpn/latest/s2svpn/vpn-static-dynamic.html); Azure's EnableBgp likewise.
    """
    if bgp and static:
        problem = "are static routes, and customer_asn says BGP"
        return failed("static_routes", "given", problem, "remove static_routes, or customer_asn")
    if not bgp and not static:
        problem = "is not given, nor are static_routes: no route to the other end would exist"
        return failed("customer_asn", None, problem, "give customer_asn for BGP, or static_routes")
    return passed()


@rule("any-link-of-kind", Severity.ERROR)
def argument_of_kind(*, kind: str, argument: str, of: str) -> Outcome:
    """A link is of one kind, and has the arguments of that kind; `of`: the kind that the argument belongs to.

    Source: the components make one line each; two lines are two components.
    """
    if kind == of:
        return passed()
    return failed(argument, "given", f"belongs to kind={of}, and this line is kind={kind}", f"remove it, or use {of}")


@rule("any-link-needs", Severity.ERROR)
def kind_needs(*, kind: str, argument: str, given: bool, what: str) -> Outcome:
    """A link has what its kind needs; `what`: a description of the argument.

    Source: the docstrings of the components' arguments.
    """
    if given:
        return passed()
    return failed(argument, None, f"is not given, and kind={kind} needs {what}", f"give {argument}")


@rule("any-link-existing", Severity.ERROR)
def existing_or_new(*, argument: str, existing: str) -> Outcome:
    """An existing resource is used as it is: an argument that would shape it is rejected; `existing`: the argument
    that names what exists, empty without one.

    Source: components change nothing in what they were given.
    """
    if not existing:
        return passed()
    return failed(argument, "given", f"shapes what {existing} says is there already", f"remove it, or {existing}")


@rule("any-link-rate", Severity.INFO)
def rate_enough(*, argument: str, value: object, gbps: float | None, line: str) -> Outcome:
    """A link over which jobs read training data carries 10 Gbit/s; `line`: what limits it, `gbps` None where unknown.

    argument, value: what decides the rate.

    Source: 100 GB x 8 / rate; https://docs.aws.amazon.com/vpn/latest/s2svpn/vpn-limits.html: 1.25 Gbit/s a tunnel;
    https://learn.microsoft.com/azure/vpn-gateway/about-gateway-skus
    """
    if gbps is None:
        return unverified(
            argument, value, f"nothing says how fast {line} is", "give its Gbit/s, for an estimate of time"
        )
    if gbps >= ENOUGH_GBPS:
        return passed()
    seconds = NOTED_GB * 8 / gbps
    problem = f"{line} carries {gbps:g} Gbit/s at most, so {NOTED_GB} GB take {seconds:,.0f} s or more, for all jobs"
    fix = "sync the data to where the GPUs are before the job, or use a line of 10 Gbit/s"
    return failed(argument, value, problem, fix)


def validate_ranges(argument: str, cidrs: Sequence[str], others: Sequence[tuple[str, str]]) -> list[Finding]:
    """Every finding on ranges behind a line. others: (range on this side, whose it is)."""
    findings: list[Finding] = []
    for cidr in cidrs:
        form = range_legal(argument=argument, cidr=cidr)
        findings.append(form)
        if not form.rejects:
            findings += [
                ranges_apart(argument=argument, cidr=cidr, other=other, whose=whose) for other, whose in others
            ]
    return findings


@rule("any-link-static-covers", Severity.ERROR)
def static_covers(*, cidr: str, routes: Sequence[str]) -> Outcome:
    """Each on-prem network is in one of the static routes, else replies to it use the internet or are lost.

    Source: https://docs.aws.amazon.com/vpn/latest/s2svpn/vpn-static-dynamic.html
    """
    network = _network(cidr)
    there = [each for each in map(_network, routes) if each is not None]
    if network is None or any(network.subnet_of(each) for each in there):
        return passed()
    return failed("site_cidrs", cidr, f"is in none of static_routes={join_words(routes, 'and')}", f"add {cidr} to them")


def validate_both_sides(argument: str, here: str, whose: str, site: Sequence[str]) -> list[Finding]:
    """Every finding on the two networks of a line. argument: of this side's range, `here`, which is `whose`."""
    return [
        range_legal(argument=argument, cidr=here),
        not_empty(argument="site_cidrs", values=site, holds="range of the own network"),
        distinct(argument="site_cidrs", values=site),
        *validate_ranges("site_cidrs", site, [(here, whose)]),
    ]


def validate_device(
    args: Mapping[str, object], here: str, whose: str, other_asn: int, reserved: Sequence[int]
) -> list[Finding]:
    """Every finding on the own device of a VPN and on what it is to route. here: this side's range, which is `whose`.

    Reads customer_address, customer_asn, static_routes, site_cidrs. other_asn: of this side's gateway. reserved:
    numbers that the cloud keeps.
    """
    routes, asn = coerce.texts(args, "static_routes"), args.get("customer_asn")
    findings: list[Finding] = []
    if isinstance(args.get("customer_address"), str):
        findings.append(public_address(address=coerce.text(args, "customer_address")))
    if coerce.is_whole(asn):
        findings.append(asn_legal(argument="customer_asn", asn=int(asn), other=other_asn, reserved=reserved))
    if routes:
        findings += [
            distinct(argument="static_routes", values=routes),
            *validate_ranges("static_routes", routes, [(here, whose)]),
            *(static_covers(cidr=each, routes=routes) for each in coerce.texts(args, "site_cidrs")),
        ]
    return findings


def _network(cidr: str) -> IPv4Network | None:
    """The range, or None for what is none; a lone address is none."""
    try:
        return IPv4Network(cidr, strict=False) if "/" in cidr else None
    except ValueError:
        return None
