"""Checks of the teams of an environment on a cluster, by what its configuration tells besides their arguments."""

from collections.abc import Mapping
from typing import Any, TypeVar

import pulumi

from gpufleet.config.environment import Environment
from gpufleet.platform.config import PlatformConfig
from gpufleet.platform.teams import suffix, teams_of
from gpufleet.rules.kubernetes.ngc import validate_ngc_secret
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.typed_dicts import pick
from gpufleet.validation import validate_stack

_KEYS = ("gpufleet:team", "gpufleet:teams")
"""Of which an environment has one. The engine tells of a whole key whether there is a secret in it."""

C = TypeVar("C", bound=Mapping[str, Any])


def check_teams(env: Environment[C]) -> None:
    """Whether the keys of NGC are secrets of the configuration."""
    config = pick(PlatformConfig, env.config)
    secret = any(map(pulumi.runtime.is_config_secret, _KEYS))
    for namespace, team in teams_of(config).items():
        if "ngc_key" in team:
            name = env.part(f"team{suffix(config, namespace)}")
            validate_stack(ResourceFinding(name, finding) for finding in validate_ngc_secret(secret))
