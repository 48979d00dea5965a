"""The teams of a cluster: one under `team`, or several under `teams`, each in its own namespace."""

from collections.abc import Mapping
from typing import TypedDict

from gpufleet.kubernetes.team import UserArgs
from gpufleet.platform.config import PlatformConfig, TeamBudgetConfig, TeamOfSeveralConfig
from gpufleet.platform.pools import Pools, counted
from gpufleet.rules.generic import allowed_choice, at_least
from gpufleet.rules.kubernetes.team_quotas import validate_teams, validate_users_of_files
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.typed_dicts import pick

DEFAULT_NAMESPACE = "training"
_NOT_OF_TEAM = ("namespace", "quota", "pools", "budget")
"""Keys of a team that its namespace knows nothing of."""


def teams_of(config: PlatformConfig) -> Mapping[str, TeamOfSeveralConfig]:
    """What is configured of each team, by its namespace."""
    if several := config.get("teams"):
        return several
    team = config.get("team", {})
    return {team.get("namespace", DEFAULT_NAMESPACE): pick(TeamOfSeveralConfig, team)}


def team_option(config: PlatformConfig) -> str:
    """What a command on jobs says of the team: nothing, where there is one only."""
    several = config.get("teams")
    return f" --team {next(iter(several))}" if several else ""


def suffix(config: PlatformConfig, namespace: str) -> str:
    """What names of a team's objects end with: nothing, where there is one team only."""
    return f"-{namespace}" if config.get("teams") else ""


def labels_of(config: PlatformConfig, namespace: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of a team's objects."""
    return {**labels, **({"gpufleet.dev/team": namespace} if config.get("teams") else {})}


def owners_of(config: PlatformConfig) -> dict[str, str]:
    """The team whose own a pool is, by pool; shared pools are not among them."""
    return {pool: namespace for namespace, team in teams_of(config).items() for pool in team.get("pools", ())}


def team_tag(environment: str, team: str) -> str:
    """Value of the tag `team` on what is one team's own: the same name may be a team of another environment too."""
    return f"{environment}.{team}"


def pool_tags(environment: str, config: PlatformConfig, pool: str) -> dict[str, str]:
    """The tag of the team on the nodes of its own pool."""
    owner = owners_of(config).get(pool)
    return {} if owner is None else {"team": team_tag(environment, owner)}


def budgets_of(config: PlatformConfig) -> dict[str, TeamBudgetConfig]:
    """Each team's budget, by its namespace."""
    return {namespace: team["budget"] for namespace, team in teams_of(config).items() if "budget" in team}


def quotas_of(config: PlatformConfig, whole: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """GPUs of each team in each pool. whole: all GPUs of each pool, which a single team has."""
    if not config.get("teams"):
        return {namespace: dict(whole) for namespace in teams_of(config)}
    quotas = {namespace: team.get("quota", {}) for namespace, team in teams_of(config).items()}
    return {name: {pool: gpus for pool, gpus in own.items() if pool in whole} for name, own in quotas.items()}


class TeamUsers(TypedDict, total=False):
    """A team's people, if it has any."""

    users: Mapping[str, UserArgs]
    gid: int


def users_of(team: TeamOfSeveralConfig) -> TeamUsers:
    """The users of a team, and the group of its own files."""
    return pick(TeamUsers, {key: value for key, value in team.items() if value})


def findings_of_teams(
    environment: str, config: PlatformConfig, pools: Pools, *, access_point: bool
) -> list[ResourceFinding]:
    """Findings on the teams together. access_point: whether the shared files are reached by one."""
    teams = teams_of(config)
    findings = validate_users_of_files(teams, access_point)
    for pool, usd in config.get("usd_per_gpu_hour", {}).items():
        findings.append(allowed_choice(argument="usd_per_gpu_hour", word=pool, legal=list(pools)))
        findings.append(at_least(argument=f"usd_per_gpu_hour.{pool}", value=usd, least=0))
    if config.get("teams"):
        gpus = {name: known.gpus for name, pool in pools.items() if (known := counted(pool))}
        clouds = [name for name, pool in pools.items() if "gpu" not in pool]
        findings += validate_teams(teams, "team" in config, gpus if "queue" in config else None, clouds)
    return [ResourceFinding(environment, finding) for finding in findings]
