"""Rules on workspaces of Amazon Managed Service for Prometheus."""

from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.aws.zones import validate_region
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

MOST_DAYS = 1095
SERVICE = "aps-workspaces"
"""Name of the service behind an interface endpoint."""


@rule("aws-prometheus-retention", Severity.ERROR)
def retention_in_range(*, days: int) -> Outcome:
    """A workspace keeps metrics for 1 to 1095 days.

    Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-workspace-configuration.html
    """
    if 1 <= days <= MOST_DAYS:
        return passed()
    return failed("retention_days", days, "is not a retention of Amazon's Prometheus", f"use 1 to {MOST_DAYS}")


@rule("aws-prometheus-written", Severity.ERROR)
def workspace_written(*, software: Sequence[str]) -> Outcome:
    """A workspace has what writes to it: the Prometheus that `monitoring` installs.

    Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-ingest-methods.html
    """
    if "monitoring" in software:
        return passed()
    return failed("software", list(software), "lacks monitoring: nothing writes to the workspace", "add monitoring")


@rule("aws-prometheus-reached", Severity.ERROR)
def workspace_reached(*, nat: str, endpoints: Sequence[str]) -> Outcome:
    """Prometheus reaches its workspace by NAT, or by an interface endpoint. endpoints: those of the network.

    Source: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-interface-VPC.html
    """
    if nat != "none" or SERVICE in endpoints:
        return passed()
    problem = f"lacks {SERVICE}: without NAT, Prometheus does not reach its workspace"
    return failed(
        "network.interface_endpoints",
        list(endpoints),
        problem,
        f"list {SERVICE} beside what EKS needs, or set network.nat=single",
    )


def validate_managed_prometheus(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a workspace. Reads retention_days, region, tags."""
    return [
        retention_in_range(days=coerce.whole(args, "retention_days", 150)),
        validate_region(coerce.text(args, "region")),
        *validate_tags(coerce.mapping(args, "tags")),
    ]


def validate_prometheus_environment(software: Sequence[str], nat: str, endpoints: Sequence[str]) -> list[Finding]:
    """Findings on an environment with a workspace: what its cluster and its network need to have."""
    return [workspace_written(software=software), workspace_reached(nat=nat, endpoints=endpoints)]
