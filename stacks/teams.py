"""The teams of an environment on a cluster: one under `team`, or several under `teams`, each in a namespace."""

from collections.abc import Mapping
from typing import Any

import queueing
from cluster_settings import OnClusterSettings
from gpufleet.rules.judged import Judged
from gpufleet.rules.kubernetes.teams import judge_teams, judge_users_of_files
from gpufleet.rules.plain import legal_word
from settings import given

_OF_THE_STACK = ("namespace", "quota", "pools", "budget")
"""Keys of a team that its namespace knows nothing of."""


def every(settings: OnClusterSettings) -> dict[str, dict[str, Any]]:
    """What is configured of each team, by its namespace."""
    if settings.teams:
        return {namespace: given(team) for namespace, team in settings.teams.items()}
    return {settings.team.namespace: given(settings.team)}


def option(settings: OnClusterSettings) -> str:
    """What a command on jobs says of the team: nothing, where there is one only."""
    return f" --team {next(iter(settings.teams))}" if settings.teams else ""


def suffix(settings: OnClusterSettings, namespace: str) -> str:
    """What names of a team's objects end with: nothing, where there is one team only."""
    return f"-{namespace}" if settings.teams else ""


def team_args(settings: OnClusterSettings, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of a team's namespace."""
    own = {key: value for key, value in every(settings)[namespace].items() if key not in _OF_THE_STACK}
    claim = {"volume_claim": settings.volume.claim} if settings.volume.claim else {}
    return own | claim | {"namespace": namespace, "labels": labels_of(settings, namespace, labels)}


def labels_of(settings: OnClusterSettings, namespace: str, labels: Mapping[str, str]) -> dict[str, str]:
    """Labels of a team's objects."""
    return {**labels} | ({"gpufleet.dev/team": namespace} if settings.teams else {})


def judge(
    environment: str, settings: OnClusterSettings, told: Mapping[str, Mapping[str, Any]], *, access_point: bool
) -> list[Judged]:
    """Findings on the teams together. told: every pool as jobs are told of it. access_point: of the shared files."""
    found = judge_users_of_files(every(settings), access_point)
    found += [
        legal_word(argument="usd_per_gpu_hour", word=pool, legal=list(told)) for pool in settings.usd_per_gpu_hour
    ]
    if settings.teams:
        counted = {name: pool.gpus for name, each in told.items() if (pool := queueing.counted(each))}
        clouds = [name for name, pool in told.items() if "gpu" not in pool]
        single = "team" in settings.model_fields_set
        found += judge_teams(every(settings), single, counted if settings.queue is not None else None, clouds)
    return [Judged(environment, each) for each in found]


def tag_of(environment: str, team: str) -> str:
    """Value of the tag `team` on what is one team's own: the same name may be a team of another environment too."""
    return f"{environment}.{team}"


def owner_of(settings: OnClusterSettings, pool: str) -> str | None:
    """The team whose own a pool is."""
    return next((name for name, team in every(settings).items() if pool in (team.get("pools") or ())), None)


def pool_tags(environment: str, settings: OnClusterSettings, pool: str) -> dict[str, str]:
    """The tag of the team on the nodes of its own pool."""
    owner = owner_of(settings, pool)
    return {} if owner is None else {"team": tag_of(environment, owner)}


def budgets(environment: str, settings: OnClusterSettings) -> dict[str, dict[str, Any]]:
    """The arguments of each team's budget, by its namespace."""
    return {
        name: team["budget"] | {"environment": environment, "team": tag_of(environment, name)}
        for name, team in every(settings).items()
        if team.get("budget")
    }


def output(
    settings: OnClusterSettings, made: Mapping[str, Mapping[str, Any]], told: Mapping[str, Any]
) -> dict[str, Any]:
    """The stack's output `jobs`. made: what each team's namespace has, by its name. told: pools."""
    shared: dict[str, Any] = {"pools": told, "project": settings.project}
    shared |= {"usd_per_gpu_hour": dict(settings.usd_per_gpu_hour)} if settings.usd_per_gpu_hour else {}
    people = {name: _people(team) for name, team in every(settings).items()}
    if not settings.teams:
        [(namespace, own)] = made.items()
        return {**own, **people[namespace], **shared}
    pools = {name: _pools(settings, name, told) for name in made}
    teams = {name: {**own, **people[name], "pools": pools[name]} for name, own in made.items()}
    return {**shared, "teams": teams}


def _people(team: Mapping[str, Any]) -> dict[str, Any]:
    return {key: team[key] for key in ("users", "gid") if team.get(key)}


def _pools(settings: OnClusterSettings, team: str, told: Mapping[str, Any]) -> dict[str, Any]:
    """The pools that a team may use: all but the other teams' own."""
    return {name: pool for name, pool in told.items() if owner_of(settings, name) in (None, team)}
