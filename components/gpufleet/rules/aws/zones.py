"""Rules on regions and zone ids."""

import re
from collections.abc import Collection, Mapping, Sequence

from gpufleet.catalog import aws
from gpufleet.rules.generic import distinct
from gpufleet.rules.messages import join_words, nearest
from gpufleet.rules.rule import Finding, Outcome, Severity, Status, failed, passed, rule, unverified

_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d")
_ZONE_NAME = re.compile(r"[a-z]{2}(-[a-z]+)+-\d[a-z]")


@rule("aws-region-known", Severity.ERROR)
def region_known(*, region: str, known: Collection[str]) -> Outcome:
    """The region is in the catalog; another region is not verified.

    Source: regions and zones of DescribeInstanceTypeOfferings, as the catalog has them.
    """
    if region in known:
        return passed()
    if _REGION.fullmatch(region):
        fix = "make sure that it exists and offers the instance types"
        return unverified("region", region, "the catalog has no facts about this region", fix)
    near = nearest(region, sorted(known))
    fix = f"did you mean {near}?" if near else "use a region code such as us-east-1"
    return failed("region", region, "is not a region code", fix)


@rule("aws-region-of-provider", Severity.ERROR)
def region_of_provider(*, region: str | None, provider: str | None) -> Outcome:
    """A component's region is that of the provider that creates its resources.

    provider: None if it is not known, as that of a provider that the program itself creates.

    Source: https://www.pulumi.com/registry/packages/aws/installation-configuration/: aws:region, AWS_REGION or
    AWS_DEFAULT_REGION decides where resources are created, not an argument of a component.
    """
    if region is None:
        where = "set aws:region, or write region where the program creates its own provider"
        return failed("region", region, "is missing, and the region of the provider is not known", where)
    if provider in (None, region):
        return passed()
    fix = f"leave region out, or set aws:region to {region}"
    return failed("region", region, f"is not the region of the provider, {provider}", fix)


def validate_provider_region(region: str | None, provider: str | None) -> list[Finding]:
    """Every finding on a component's region beside that of the provider, which is None if it is not known."""
    return [region_of_provider(region=region, provider=provider)]


@rule("aws-zone-known", Severity.ERROR)
def zone_known(*, argument: str, zone: str, region: str, regions: Mapping[str, Collection[str]]) -> Outcome:
    """A zone is given by its id, not by its name, and is one of the region's.

    Source: https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html: names such as us-east-1a are
    mapped to zones account by account, ids such as use1-az1 are the same in every account.
    """
    ids = sorted(regions.get(region, ()))
    legal = f"use {join_words(ids)}" if ids else "use a zone id such as use1-az1"
    if zone in ids:
        return passed()
    if _ZONE_NAME.fullmatch(zone):
        return failed(argument, zone, "is a zone name, which means another zone in another account", legal)
    home = next((name for name, zones in regions.items() if zone in zones), None)
    if home:
        return failed(argument, zone, f"is a zone of {home}, not of {region}", legal)
    if ids:
        return failed(argument, zone, f"is not a zone of {region}", legal)
    return unverified(argument, zone, f"the catalog has no zones of {region}", legal)


def validate_region(region: str) -> Finding:
    """The finding on a region of AWS."""
    return region_known(region=region, known=aws().regions)


def validate_zones(region: str, zones: Sequence[str], argument: str = "zones") -> list[Finding]:
    """Every finding on a region and the zones given there."""
    findings = [validate_region(region), distinct(argument=argument, values=zones)]
    if findings[0].status is Status.FAIL:
        return findings
    known = [zone_known(argument=argument, zone=zone, region=region, regions=aws().regions) for zone in zones]
    return findings + known
