"""A team's arguments judged with what its configuration tells besides: whether the key of NGC is a secret of it."""

from collections.abc import Mapping
from typing import Any

import pulumi

from gpufleet.rules.kubernetes.ngc import judge_ngc_secret
from gpufleet.rules.kubernetes.team import judge_team
from gpufleet.rules.rule import Finding

_KEYS = ("gpufleet:team", "gpufleet:teams")
"""Of which an environment has one. The engine tells of a whole key whether there is a secret in it."""


def judge_configured_team(args: Mapping[str, Any]) -> list[Finding]:
    """Every finding on a team of the stack's configuration."""
    findings = judge_team(args)
    if args.get("ngc_key") is not None:
        findings += judge_ngc_secret(any(map(pulumi.runtime.is_config_secret, _KEYS)))
    return findings
