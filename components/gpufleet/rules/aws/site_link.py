"""Rules on a link between on-prem servers and a VPC, and their validation."""

import re
from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice, not_empty
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.site_link import (
    PRIVATE_ASNS,
    VPN,
    argument_of_kind,
    existing_or_new,
    kind_needs,
    rate_enough,
    routed_one_way,
    validate_both_sides,
    validate_device,
    validate_ranges,
)
from gpufleet.rules.tags import validate_tags

DIRECT_CONNECT = "direct-connect"
KINDS = (VPN, DIRECT_CONNECT)
GATEWAY_ASN = 64512
"""Number of a virtual private gateway that is given none: EC2's CreateVpnGateway."""
TUNNEL_GBPS = 1.25
"""Gbit/s of a tunnel to a virtual private gateway, which uses one tunnel at a time towards the own network:
https://docs.aws.amazon.com/vpn/latest/s2svpn/vpn-limits.html; 5 Gbit/s are for transit gateways."""
KEPT_ASNS = (7224, 9059, 10124, 17943)
"""https://docs.aws.amazon.com/vpn/latest/s2svpn/cgw-options.html"""
_OF_VPN = ("customer_address", "customer_asn", "static_routes", "customer_gateway_id")
_OF_DIRECT_CONNECT = ("direct_connect_gateway_id", "gbps")
_OF_NEW_CUSTOMER = ("customer_address", "customer_asn")
_DX_GATEWAY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MOST_PREFIXES = 20
_OF_VPC = "the VPC's"


@rule("aws-link-gateway-asn", Severity.ERROR)
def gateway_asn(*, asn: int) -> Outcome:
    """The BGP ASN of a virtual private gateway is private.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateVpnGateway.html: 64512 to 65534, or
    4200000000 to 4294967294.
    """
    if any(asn in private for private in PRIVATE_ASNS):
        return passed()
    fix = "use 64512 to 65534 or 4200000000 to 4294967294, or leave it out for 64512"
    return failed("gateway_asn", asn, "is not a private BGP ASN", fix)


@rule("aws-link-direct-connect-gateway", Severity.ERROR)
def direct_connect_gateway(*, id_: str) -> Outcome:
    """A Direct Connect gateway is given by its id, not by an ARN or the id of a connection.

    Source: https://docs.aws.amazon.com/directconnect/latest/APIReference/API_DirectConnectGateway.html
    """
    if _DX_GATEWAY.fullmatch(id_):
        return passed()
    problem = "is not the id of a Direct Connect gateway"
    fix = "use one such as 1b4d5f7a-0c3e-4c8a-9f27-5ad0b1c2d3e4: aws directconnect describe-direct-connect-gateways"
    return failed("direct_connect_gateway_id", id_, problem, fix)


@rule("aws-link-prefixes", Severity.ERROR)
def few_prefixes(*, count: int) -> Outcome:
    """At most 20 ranges are announced through one association with a Direct Connect gateway.

    Source: https://docs.aws.amazon.com/directconnect/latest/UserGuide/limits.html
    """
    if count <= _MOST_PREFIXES:
        return passed()
    return failed("announced_cidrs", count, f"are more than {_MOST_PREFIXES} ranges", "announce wider ones")


def validate_site_link(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a line to a VPC, passes included.

    Reads kind, vpc_cidr, route_table_ids, site_cidrs, customer_address, customer_asn, static_routes,
    customer_gateway_id, direct_connect_gateway_id, gbps, announced_cidrs, vpn_gateway_id, gateway_asn, tags. Ids may be
    anything that is not None.
    """
    kind = coerce.text(args, "kind", VPN)
    given = {name for name in args if args.get(name) is not None}
    vpc = coerce.text(args, "vpc_cidr")
    of_kind = [(name, VPN) for name in _OF_VPN] + [
        (name, DIRECT_CONNECT) for name in (*_OF_DIRECT_CONNECT, "announced_cidrs")
    ]
    findings = [
        allowed_choice(argument="kind", word=kind, legal=KINDS),
        *validate_both_sides("vpc_cidr", vpc, _OF_VPC, coerce.texts(args, "site_cidrs")),
        not_empty(
            argument="route_table_ids", values=tuple(coerce.mapping(args, "route_table_ids")), holds="route table"
        ),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    if kind not in KINDS:
        return findings
    findings += [argument_of_kind(kind=kind, argument=name, of=of) for name, of in of_kind if name in given]
    findings += _gateway(args, given)
    return [*findings, *(_vpn(args, given, vpc) if kind == VPN else _direct_connect(args, given))]


def _gateway(args: Mapping[str, object], given: set[str]) -> list[Finding]:
    asn = args.get("gateway_asn")
    if not coerce.is_whole(asn):
        return []
    existing = "vpn_gateway_id" if "vpn_gateway_id" in given else ""
    return [existing_or_new(argument="gateway_asn", existing=existing), gateway_asn(asn=int(asn))]


def _vpn(args: Mapping[str, object], given: set[str], vpc: str) -> list[Finding]:
    known = "customer_gateway_id" in given
    existing = "customer_gateway_id" if known else ""
    findings = [existing_or_new(argument=name, existing=existing) for name in _OF_NEW_CUSTOMER if name in given]
    findings.append(rate_enough(argument="kind", value=VPN, gbps=TUNNEL_GBPS, line="a VPN tunnel"))
    if not known:
        address = "customer_address" in given
        what = "the public address of the own VPN device"
        findings.append(kind_needs(kind=VPN, argument="customer_address", given=address, what=what))
        findings.append(routed_one_way(bgp="customer_asn" in given, static=bool(coerce.texts(args, "static_routes"))))
    return [*findings, *validate_device(args, vpc, _OF_VPC, coerce.whole(args, "gateway_asn", GATEWAY_ASN), KEPT_ASNS)]


def _direct_connect(args: Mapping[str, object], given: set[str]) -> list[Finding]:
    id_, gbps = args.get("direct_connect_gateway_id"), args.get("gbps")
    rate = float(gbps) if coerce.is_number(gbps) and gbps > 0 else None
    named = "direct_connect_gateway_id" in given
    what = "the Direct Connect gateway that the line's virtual interface is on"
    findings = [
        kind_needs(kind=DIRECT_CONNECT, argument="direct_connect_gateway_id", given=named, what=what),
        rate_enough(argument="gbps", value=gbps, gbps=rate, line="the connection"),
        few_prefixes(count=len(coerce.texts(args, "announced_cidrs"))),
        *validate_ranges("announced_cidrs", coerce.texts(args, "announced_cidrs"), []),
    ]
    if isinstance(id_, str):
        findings.append(direct_connect_gateway(id_=id_))
    return findings
