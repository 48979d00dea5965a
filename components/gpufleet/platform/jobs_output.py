"""The stack output `jobs` of a platform: what jobs need to know of its pools and teams."""

from collections.abc import Mapping
from typing import Any

import pulumi

from gpufleet.jobs.stack_output import PoolOutput
from gpufleet.platform.arguments import TrainingPlatformArgs
from gpufleet.platform.pools import pools_for, pools_of_jobs
from gpufleet.platform.teams import owners_of, teams_of, users_of


def jobs_output(args: TrainingPlatformArgs, made: Mapping[str, Mapping[str, pulumi.Input[Any]]]) -> dict[str, Any]:
    """The output `jobs`: see `gpufleet.jobs.stack_output.JobsOutput`. made: values of each team, by namespace."""
    if not args.get("teams"):
        [(namespace, own)] = made.items()
        return jobs_of_team(args, namespace, own)
    shared = _shared(args, pools_of_jobs(args["pools"]))
    own_keys = {namespace: _own(args, namespace, own) for namespace, own in made.items()}
    return {**shared, "teams": own_keys}


def jobs_of_team(args: TrainingPlatformArgs, namespace: str, made: Mapping[str, pulumi.Input[Any]]) -> dict[str, Any]:
    """The output `jobs` of one team."""
    own = _own(args, namespace, made)
    return {**_shared(args, own["pools"]), **own}


def _shared(args: TrainingPlatformArgs, pools: Mapping[str, PoolOutput]) -> dict[str, Any]:
    rates = args.get("usd_per_gpu_hour")
    return {"pools": pools, "project": args["project"], **({"usd_per_gpu_hour": dict(rates)} if rates else {})}


def _own(args: TrainingPlatformArgs, namespace: str, made: Mapping[str, pulumi.Input[Any]]) -> dict[str, Any]:
    pools = pools_for(namespace, pools_of_jobs(args["pools"]), owners_of(args))
    return {**made, **users_of(teams_of(args)[namespace]), "pools": pools}
