"""A hub for each team of an environment on a cluster, where `gpufleet:notebooks` asks for them."""

from collections.abc import Mapping
from typing import Any, cast

import pulumi

import teams
from cluster_settings import OnClusterSettings
from gpufleet.kubernetes.notebooks import Notebooks, NotebooksArgs
from gpufleet.rules.judged import Judged
from gpufleet.rules.kubernetes.notebooks import judge_notebooks
from notebook_settings import notebook_args
from parts import labels as ownership


def plan(
    environment: str, settings: OnClusterSettings, namespace: str, told: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The plain arguments of one team's notebooks. told: every pool as jobs are told of it."""
    # Of pods too, which no move of the end restarts: whose it is says `object_labels`.
    labels = {"gpufleet.dev/environment": environment}
    team = {**teams.every(settings)[namespace], "namespace": namespace}
    return notebook_args(
        settings.notebooks,
        environment,
        {**team, "labels": teams.labels_of(settings, namespace, labels)},
        _jobs(settings, namespace, {}, told)["pools"],
        several=bool(settings.teams),
        cloud=settings.cloud,
        region=settings.priced_in,
        purpose=settings.purpose,
        usd_per_gpu_hour=settings.usd_per_gpu_hour,
    )


def judge(environment: str, settings: OnClusterSettings, told: Mapping[str, Mapping[str, Any]]) -> list[Judged]:
    """Findings on every team's notebooks."""
    if settings.notebooks is None:
        return []
    return [
        Judged(f"{environment}-notebooks{teams.suffix(settings, namespace)}", finding)
        for namespace in teams.every(settings)
        for finding in judge_notebooks(plan(environment, settings, namespace, told))
    ]


def install(
    environment: str,
    settings: OnClusterSettings,
    namespace: str,
    made: Mapping[str, Any],
    told: Mapping[str, Mapping[str, Any]],
    options: pulumi.ResourceOptions,
) -> None:
    """One team's hub. made: what its namespace has, as its jobs are told. options: of what is in the namespace."""
    if settings.notebooks is None:
        return
    args = plan(environment, settings, namespace, told) | {
        "object_labels": ownership(environment, settings),
        "volume_claim": made["volume_claim"],
        "jobs": _jobs(settings, namespace, made, told),
    }
    if teams.every(settings)[namespace].get("docker_config"):
        args["pull_secret"] = made["image_pull_secret"]
    Notebooks(f"{environment}-notebooks{teams.suffix(settings, namespace)}", cast(NotebooksArgs, args), options)


def _jobs(
    settings: OnClusterSettings, namespace: str, made: Mapping[str, Any], told: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """What one team's jobs are told, as `gpufleet.jobs.output.JobsOutput`."""
    output = teams.output(settings, {namespace: made}, told)
    several = output.pop("teams", None)
    return output | several[namespace] if several else output
