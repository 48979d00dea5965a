"""Rules on an EKS control plane."""

from collections.abc import Mapping

from gpufleet.rules.rule import Finding


def judge_cluster(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on an EKS cluster.

    Reads region, zones (zone ids of the control plane's subnets), version (1.33), private_endpoint, public_endpoint,
    public_access_cidrs, log_types, log_retention_days, tags.
    """
    return []
