"""Rules on a container registry (ECR)."""

from collections.abc import Mapping

from gpufleet.rules.rule import Finding


def judge_registry(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a registry.

    Reads repositories (names), mutable_tags (exclusions from immutability, for instance dev*), pull_through (prefix to
    upstream host, for instance ghcr.io), credentials (prefix to secret ARN), tags.
    """
    return []
