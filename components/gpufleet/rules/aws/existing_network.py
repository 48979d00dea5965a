"""Rules on a network that exists already and is used as it is."""

from collections.abc import Mapping, Sequence

from gpufleet.rules.coerce import mapping, texts
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

OF_EXISTING = ("private_subnet_ids", "public_subnet_ids")
"""Arguments that describe an existing VPC."""

OF_NEW = ("nat", "max_zones", "interface_endpoints", "flow_logs", "flow_log_retention_days", "flow_log_kms_key_arn")
"""Arguments that shape a VPC that is made here."""


@rule("aws-network-existing-subnets", Severity.ERROR)
def existing_subnets_given(*, vpc_given: bool, zones: Sequence[str], zones_with_subnet: Sequence[str]) -> Outcome:
    """An existing VPC comes with a private subnet for each zone of the fleet.

    Source: components look nothing up in the cloud, so that a preview needs no credentials.
    """
    missing = [zone for zone in zones if zone not in zones_with_subnet]
    if not vpc_given or not missing:
        return passed()
    return failed(
        "private_subnet_ids",
        sorted(zones_with_subnet),
        f"the existing VPC has no subnet for {join_words(missing, 'and')}",
        f"give a private subnet for {join_words(missing, 'and')}, or take it out of zones",
    )


@rule("aws-network-existing-or-new", Severity.ERROR)
def existing_or_new(*, vpc_given: bool, given: Sequence[str]) -> Outcome:
    """A network is either an existing VPC with its subnets, or a new one with its own shape; never a mix.

    Source: gpufleet.aws.network creates nothing in a VPC that it was given.
    """
    stray = [name for name in given if name in (OF_NEW if vpc_given else OF_EXISTING)]
    if not stray:
        return passed()
    if vpc_given:
        return failed(
            stray[0], "given", "shapes a new VPC and changes nothing in an existing one", "remove it or vpc_id"
        )
    return failed(stray[0], "given", "belongs to an existing VPC", "give vpc_id as well, or remove it")


def validate_existing_network(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on new against existing. Reads vpc_id, zones, private_subnet_ids and which others are given."""
    vpc_given = args.get("vpc_id") is not None
    given = [name for name in (*OF_EXISTING, *OF_NEW) if args.get(name) is not None]
    return [
        existing_subnets_given(
            vpc_given=vpc_given,
            zones=texts(args, "zones"),
            zones_with_subnet=sorted(mapping(args, "private_subnet_ids")),
        ),
        *(existing_or_new(vpc_given=vpc_given, given=[name]) for name in given),
    ]
