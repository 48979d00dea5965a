"""The line between the VPC of an AWS environment and the network of one's own servers."""

from typing import Any, cast

import pulumi

from aws_settings import AwsSettings
from gpufleet.aws.network import DEFAULT_CIDR, Network
from gpufleet.aws.site_link import SiteLink, SiteLinkArgs
from gpufleet.rules.aws.site_link import judge_site_link
from gpufleet.rules.rule import Finding
from parts import tags
from settings import given

PART = "link"
MADE_LATER = "made later"


def judge(settings: AwsSettings) -> dict[str, list[Finding]]:
    """Findings on the line by its part's name; none where there is none."""
    if settings.link is None:
        return {}
    tables = dict.fromkeys(settings.network.zones, MADE_LATER)
    findings = judge_site_link({"route_table_ids": {} if settings.network.vpc_id else tables} | link_of(settings))
    # What is wrong with the servers' own networks is said where they are given.
    said = () if settings.link.site_cidrs else ("site_cidrs",)
    return {PART: [each for each in findings if each.argument not in said or settings.own_servers is None]}


def link_of(settings: AwsSettings) -> dict[str, Any]:
    """The line's arguments but ids of what the environment makes: it leads to the servers and their pods."""
    assert settings.link is not None
    networks = {} if settings.own_servers is None else given(settings.own_servers.networks)
    servers = [cidr for kind in ("nodes", "pods") for cidr in networks.get(kind, ())]
    return {"vpc_cidr": settings.network.cidr or DEFAULT_CIDR, "site_cidrs": servers} | given(settings.link)


def linked(environment: str, settings: AwsSettings, network: Network) -> dict[str, pulumi.Input[Any]]:
    """Make the line, if there is one; the stack's outputs of it, for whoever sets up the own device."""
    if settings.link is None:
        return {}
    args = {"route_table_ids": network.private_route_table_ids} | link_of(settings)
    args |= {"vpc_id": network.vpc_id, "tags": tags(environment, settings)}
    link = SiteLink(f"{environment}-{PART}", cast(SiteLinkArgs, args))
    return {"link_addresses": link.tunnel_addresses, "link_device_configuration": link.device_configuration}
