"""`gpufleet stop ENV`: scale the GPU pools to zero, and list what still costs money."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.confirmation import confirm, confirmation_options
from gpufleet.cli.environment_argument import environment_argument
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.cli.stack_options import any_team, engine_of, outputs_of, settings_of
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.fleet.gpu_jobs import GpuJob
    from gpufleet.fleet.stack_state import StackState
    from gpufleet.plan.planned_pool import PlannedPool
    from gpufleet.plan.resource import Plan
    from gpufleet.pulumi_cli import PulumiCli

_SHOWN = 12


@click.command()
@environment_argument()
@click.option("--undo", is_flag=True, help="Start the pools again, with the configured nodes. Asks nothing.")
@confirmation_options
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@json_option
@exit_with_errors
def stop(environment: str, undo: bool, yes: bool, dry_run: bool, program: Path, as_json: bool) -> int:
    """Scale ENVIRONMENT's GPU pools to 0.

    Jobs on their nodes end; data stays.

    It lists the pools, the jobs that run on them, and what still costs money afterwards, and asks.

    It runs an `up` of the pools in the stack's state, and of their flavors in a queue, but not your program or its
    configuration. Your own `up` starts the pools again, as does --undo. On AWS Batch, running jobs can finish.

    \b
    gpufleet stop aws-dev --dry-run
    gpufleet stop aws-dev --yes
    gpufleet stop aws-dev --undo
    """
    if undo and dry_run:
        raise click.UsageError("--undo has no dry run; `pulumi preview` shows what the configuration says")
    from gpufleet.fleet.onprem_nodes import onprem_gpus
    from gpufleet.fleet.pool_inputs import is_stopped
    from gpufleet.fleet.scale_to_zero import flavors_of, gpu_pools, scale_pools, unchanged_pools, update_queue

    engine = engine_of(environment, program)
    if as_json:
        engine = replace(engine, output=sys.stderr)
    state, plan = _there(engine, environment)
    pools, others = gpu_pools(plan)
    flavors = flavors_of(plan, pools)
    own = bool(onprem_gpus(state))
    if not pools and not others:
        raise UserError(
            f"{environment}: its GPUs are in own servers, which are not stopped; `gpufleet jobs cancel` ends a job"
            if own
            else f"{environment}: has no GPU pool; `gpufleet ps` lists what there is"
        )
    _check_owner(state, pools)
    if undo:
        # One that runs has the autoscaler's nodes, and keeps them.
        pools, others = [pool for pool in pools if is_stopped(pool.resource.type, pool.resource.inputs)], []
        flavors = [each for each in flavors if is_stopped(each.type, each.inputs)]
        if not pools and not flavors:
            raise UserError(f"{environment}: none of its GPU pools is stopped")
    names = ", ".join(pool.resource.name for pool in pools) or "none"
    queue = "; its queue gives them to no job" if flavors and not undo else ""
    found: dict[str, object] = {"environment": environment, "action": "start" if undo else "stop"}
    found["pools"] = [pool.resource.name for pool in pools]
    if not undo:
        click.echo(f"would be stopped: {names}{queue}", err=as_json)
        found["jobs"] = _say_jobs(environment, program, pools, as_json)
        found["still_costs"] = _say_costs(state, plan, pools, as_json)
        if own:
            click.echo("own servers are not stopped, nor the jobs on them", err=as_json)
    agreed = undo or not pools or confirm(f"{environment}: stop {names}", yes=yes, dry_run=dry_run)
    if pools and agreed:
        scale_pools(engine, state, pools, stop=not undo)
        _, plan = _there(engine, environment)
        if left := unchanged_pools(plan, pools, stop=not undo):
            raise UserError(
                f"{environment}: {', '.join(left)}: the `up` has changed nothing; run this again"
                if not undo
                else f"{environment}: its program leaves {', '.join(left)} without nodes; call "
                "gpufleet.fleet.stop_transform.apply_stop_mode() in it, before its first resource"
            )
    queue_told = not agreed or update_queue(engine, state, flavors, stop=not undo)
    if agreed:
        click.echo(f"{'started' if undo else 'stopped'}: {names}{queue if queue_told else ''}", err=as_json)
    if not queue_told:
        so = "no job is given to a pool that runs again" if undo else "a job may be given to a stopped pool"
        names = ", ".join(each.name for each in flavors)
        click.echo(f"Error: {names}: its `up` failed, for the reason above, so {so}; run this again", err=True)
    for pool in others:
        click.echo(
            f"Error: {pool.resource.name}: a {pool.kind} is not stopped by this; do it by its own means", err=True
        )
    if as_json:
        left = [pool.resource.name for pool in others]
        print_json({**found, "changed": bool(agreed and (pools or flavors)), "queue": queue_told, "not_stopped": left})
    return 1 if others or not queue_told else 0


def _check_owner(state: "StackState", pools: "Sequence[PlannedPool]") -> None:
    """Errors: UserError for a pool that has the mark of another stack: the state must not name it."""
    from gpufleet.fleet.ownership_tags import OwnershipTags
    from gpufleet.ownership import STACK_TAG
    from gpufleet.urn import stack_of_urn

    project, stack = stack_of_urn(str(state.resources[0]["urn"]))
    ours = OwnershipTags(replace(state, name=stack, project=project), {})
    names = {pool.resource.name for pool in pools}
    for each in ours.others:
        if each.name in names:
            raise UserError(
                f"{state.name}: {each.name}: {STACK_TAG}={each.ownership.stack}: is the mark of another stack; "
                "remove the pool from the state of this one (`pulumi state delete`)"
            )


def _say_jobs(
    environment: str, program: Path, pools: "Sequence[PlannedPool]", err: bool
) -> list[dict[str, object]] | None:
    """The jobs that run on the pools, a line each, or why they are not known; the same as data, None for not known."""
    from gpufleet.fleet.pool_inputs import COMPUTE_ENVIRONMENT
    from gpufleet.fleet.pool_jobs import job_words, jobs_on_pools
    from gpufleet.fleet.scale_to_zero import labels_of

    try:
        team = any_team(outputs_of(environment, program, None))
        jobs = jobs_on_pools(settings_of(environment, program, None, team=team), labels_of(pools), datetime.now(UTC))
    except UserError as error:
        click.echo(f"which jobs run on them is not known: {str(error).removeprefix(f'{environment}: ')}", err=err)
        return None
    except ModuleNotFoundError as error:
        click.echo(f"which jobs run on them is not known: {error.name} is not installed", err=err)
        return None
    finish = all(pool.resource.type == COMPUTE_ENVIRONMENT for pool in pools)
    what = "running jobs, which may finish" if finish else "running jobs, which end"
    click.echo(f"{what}: {len(jobs) or 'none'}", err=err)
    for job in jobs[:_SHOWN]:
        click.echo(f"  {job_words(job)}", err=err)
    if len(jobs) > _SHOWN:
        click.echo(f"  and {len(jobs) - _SHOWN} more: `gpufleet jobs list {environment}`", err=err)
    return [_job_to_dict(job, may_finish=finish) for job in jobs]


def _job_to_dict(job: "GpuJob", *, may_finish: bool) -> dict[str, object]:
    names = {"namespace": job.namespace or None, "name": job.name, "user": job.user or None}
    return {**names, "gpus": job.gpus, "may_finish": may_finish}


def _there(engine: "PulumiCli", environment: str) -> "tuple[StackState, Plan]":
    """The stack as it is. Errors: UserError when there is none, or nothing in it."""
    from gpufleet.fleet.environment import plan_of_state
    from gpufleet.fleet.stack_state import StackState

    resources = [each for each in engine.state(environment) if not each.get("delete")]
    if not resources:
        raise UserError(f"{environment}: nothing is up; `gpufleet ps` lists what there is")
    state = StackState(environment, resources=resources, config=engine.config(environment))
    return state, plan_of_state(state)


def _say_costs(state: "StackState", plan: "Plan", pools: "Sequence[PlannedPool]", err: bool) -> dict[str, object]:
    """What still costs money, a line each; the same as data, with all of the lines."""
    from gpufleet.cost.line_item import total_of
    from gpufleet.cost.usage_assumptions import HOURS
    from gpufleet.fleet.environment import estimate_state
    from gpufleet.fleet.scale_to_zero import remaining_costs
    from gpufleet.rules.messages import plural

    costs, notes = estimate_state(plan, state, date.today())
    lines = remaining_costs(costs, pools)
    sum_ = total_of((line for _, line in lines), "floor")
    more = f", and {plural(sum_.unknown, 'line')} of which no price or amount is known" if sum_.unknown else ""
    click.echo(f"still costs ${sum_.hour:,.3f}/h, ${sum_.month:,.2f} a month{more} (list prices):", err=err)
    for pool, line in lines[:_SHOWN]:
        month = line.month("floor")
        cost = "     ?/h" if month is None else f"${month / HOURS:7,.3f}/h"
        bought = "; paid for whether it runs or not" if line.committed else ""
        click.echo(f"  {cost}  {line.what} ({pool or ', '.join(line.resources)}){bought}", err=err)
    if len(lines) > _SHOWN:
        click.echo(f"  and {len(lines) - _SHOWN} smaller ones: `gpufleet cost {state.name}`", err=err)
    for note in notes:
        click.echo(note, err=err)
    rows = [
        {"pool": pool or None, "what": line.what, "usd_per_month": line.month("floor"), "committed": line.committed}
        for pool, line in lines
    ]
    return {"usd_per_month": sum_.month, "unknown_lines": sum_.unknown, "lines": rows}
