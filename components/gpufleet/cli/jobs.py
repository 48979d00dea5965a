"""`gpufleet jobs submit|list|status|logs|cancel`, and `outputs` below it, on every back end."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.event_printer import follow_job, print_event, print_note
from gpufleet.cli.job_options import job_options, named_pair, request_from_options
from gpufleet.cli.job_outputs import job_outputs
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.cli.stack_options import api_of, backend_of, of_environment, on_option, settings_of
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.jobs.request import JobRequest
    from gpufleet.jobs.settings import JobSettings

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, one line per event.")
why_after = click.option(
    "--why-after",
    type=float,
    metavar="MINUTES",
    help="AWS and Azure Batch: show why the job has no node yet after this many minutes. Default 10.",
)


@click.group()
def jobs() -> None:
    """Jobs on an environment's GPU nodes.

    They run on Kubernetes, AWS Batch, Azure Batch, Slurm or your own hosts."""


@jobs.command()
@of_environment
@on_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--file", type=click.Path(path_type=Path), help="YAML file of the job; options override it.")
@click.option(
    "--notebook",
    type=click.Path(path_type=Path),
    help="Kubernetes, Slurm, hosts: run this notebook, in an image that is built of it and of requirements.txt or "
    "environment.yml beside it, on top of --image.",
)
@click.option("--parameter", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of the notebook.")
@job_options
@click.option("--wait", is_flag=True, help="Report states until the job ends; exit with its exit code.")
@click.option("--follow", is_flag=True, help="Like --wait, with the log.")
@why_after
@click.option("--dry-run", is_flag=True, help="Only print the request.")
@as_json
@exit_with_errors
def submit(
    environment: str,
    command: tuple[str, ...],
    program: Path,
    outputs: Path | None,
    on: str | None,
    file: Path | None,
    notebook: Path | None,
    parameters: tuple[str, ...],
    wait: bool,
    follow: bool,
    why_after: float | None,
    dry_run: bool,
    as_json: bool,
    **options: object,
) -> int:
    """Submit a job that runs COMMAND as one rank per GPU.

    \b
    gpufleet jobs submit aws-dev --workers 2 -- python3 train.py
    gpufleet jobs submit aws-dev --workers 2 --gpus 1 --follow -- python3 train.py
    gpufleet jobs submit aws-dev --file train.yaml --workers 64
    gpufleet jobs submit aws-batch-dev --grid lr=0.1,0.01 --grid batch=32,64 -- \\
      python3 train.py --synthetic --learning-rate {lr} --batch {batch}
    gpufleet jobs submit aws-dev --notebook train.ipynb --parameter epochs=90 --gpus 1 --follow
    gpufleet jobs submit azure-dev --on azure-batch --nodes 2 --script train.py -- python3 train.py
    """
    from gpufleet.jobs.request import parse_request, read_request

    request = (read_request(file) if file else {}) | request_from_options(options, command)
    settings = settings_of(environment, program, outputs, on)
    notebook_job = None
    if notebook is not None:
        from gpufleet.images.notebook_job import plan_notebook_job

        given = dict(named_pair("parameter", each) for each in parameters)
        notebook_job = plan_notebook_job(settings, notebook, request, given, print_note)
        request = dict(notebook_job.request)
    elif parameters:
        raise UserError(f"job: parameter={parameters[0]}: is for a notebook; give --notebook, or use the command")
    job = parse_request(request, str(file or "job"), settings.on)
    backend = backend_of(settings, why_after)
    plan = backend.build_submission(job)
    for line in plan.advice:
        print_note(f"note: {line}")
    if dry_run:
        click.echo(_document(plan.document, as_json), nl=False)
        return 0
    for line in _within_budgets(settings, job):
        print_note(f"note: {line}")
    if notebook_job is not None:
        plan = backend.build_submission(parse_request(notebook_job.built(), str(file or "job"), settings.on))
    resume, stop = _again(environment, on, plan.name)
    if "after" in job and backend.waits_for_after:
        earlier, left = job["after"], f"{plan.name} is not submitted"
        again = "run the same command again"
        if follow_job(backend, earlier, logs=False, as_json=as_json, resume=again, stop="", left=left):
            raise UserError(f"{plan.name}: not submitted: {earlier}, which it comes after, has not succeeded")
    elif "after" in job:
        waits = "Slurm" if settings.on == "slurm" else "AWS Batch"
        print_note(
            f"{plan.name}: starts when {job['after']} has succeeded; {waits} waits for it, nothing has to run here"
        )
    uid = backend.submit(plan, lambda text: print_note(f"note: {text}"))
    if as_json:
        click.echo(json.dumps({"event": "submitted", "name": plan.name, "uid": uid}))
    elif not (wait or follow):
        click.echo(f"{plan.name}: submitted; follow it with `{resume}`")
    else:
        print_note(f"{plan.name}: submitted")
    if not (wait or follow):
        return 0
    return follow_job(backend, plan.name, logs=follow, as_json=as_json, resume=resume, stop=stop)


@jobs.command("list")
@of_environment
@on_option
@json_option
@exit_with_errors
def list_(environment: str, program: Path, outputs: Path | None, on: str | None, as_json: bool) -> int:
    """List the environment's jobs, newest first."""
    from gpufleet.durations import format_age

    backend = backend_of(settings_of(environment, program, outputs, on))
    found = backend.list_jobs()
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return 0
    if not found:
        click.echo(f"no jobs in {backend.where}")
    width = max((len(str(each["name"])) for each in found), default=0)
    for each in found:
        row = f"{each['name']:<{width}}  {each['state']:<10}"
        if each["created"]:
            click.echo(f"{row}  {backend.size(each):<12}  {format_age(str(each['created']))} ago")
        else:
            # A folder that others have written, which holds no job.
            click.echo(f"{row}  {each['message']}")
    return 0


@jobs.command()
@of_environment
@on_option
@click.argument("job")
@json_option
@exit_with_errors
def status(environment: str, job: str, program: Path, outputs: Path | None, on: str | None, as_json: bool) -> int:
    """Show a job's state, pending reasons and exit code."""
    settings = settings_of(environment, program, outputs, on)
    backend = backend_of(settings)
    found = backend.details(job)
    if settings.on == "kubernetes" and found["state"] == "Running":
        found["activity"], found["gpuPercent"] = _activity(settings, job)
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return 0
    why = ": ".join(str(found[key]) for key in ("reason", "message") if found[key])
    process = found.get("process", backend.process)
    code = "" if found["exitCode"] is None else f", the {process}'s exit code is {found['exitCode']}"
    click.echo(f"{job}: {found['state']}{code}" + (f" ({why})" if why else ""))
    waiting, children = found["waiting"], found.get("childrenByState")
    for line in waiting if isinstance(waiting, list) else []:
        click.echo(f"  {line}")
    if isinstance(children, dict) and children:
        click.echo("  children: " + ", ".join(f"{number} {state}" for state, number in children.items()))
    for line in _step_lines(found):
        click.echo(f"  {line}")
    if found.get("activity"):
        click.echo(f"  GPUs: {found['activity']} ({found['gpuPercent']:.0f} % utilization)")
    if found.get("outputs"):
        click.echo(f"  outputs: {found['outputs']}")
    return 0


@jobs.command()
@of_environment
@on_option
@click.argument("job")
@click.option("--follow", is_flag=True, help="Continue until the job ends; exit with its exit code.")
@why_after
@as_json
@exit_with_errors
def logs(
    environment: str,
    job: str,
    program: Path,
    outputs: Path | None,
    on: str | None,
    follow: bool,
    why_after: float | None,
    as_json: bool,
) -> int:
    """Print the log of a job's launcher, container or task, from its beginning.

    On AWS Batch, JOB:7 is a child of an array, JOB#1 a node of a multi-node job.
    """
    backend = backend_of(settings_of(environment, program, outputs, on), why_after)
    if follow:
        resume, stop = _again(environment, on, job)
        return follow_job(backend, job, logs=True, as_json=as_json, resume=resume, stop=stop)
    for event in backend.read_log(job):
        print_event(event, as_json)
    return 0


@jobs.command()
@of_environment
@on_option
@click.argument("job")
@json_option
@exit_with_errors
def cancel(environment: str, job: str, program: Path, outputs: Path | None, on: str | None, as_json: bool) -> int:
    """End a job. Its files on the shared volume or in the bucket stay.

    On Kubernetes, the job is deleted with its pods and their logs. Elsewhere its log stays.
    """
    outcome = backend_of(settings_of(environment, program, outputs, on)).cancel(job)
    click.echo(outcome, err=as_json)
    if as_json:
        print_json({"environment": environment, "job": job, "outcome": outcome})
    return 0


jobs.add_command(job_outputs)


def _again(environment: str, on: str | None, name: str) -> tuple[str, str]:
    """The commands that follow a job again, and that end it."""
    where = f" --on {on}" if on else ""
    return (
        f"gpufleet jobs logs {environment} {name} --follow{where}",
        f"gpufleet jobs cancel {environment} {name}{where}",
    )


def _activity(settings: "JobSettings", job: str) -> tuple[str | None, float | None]:
    """What a running job's GPUs do, and their utilization; None where nobody tells, or not to this user."""
    from gpufleet.fleet.clusters import query_job

    try:
        found = query_job(api_of(settings), settings.namespace, job, seconds=5)
    except UserError:
        return None, None
    return (found.activity, found.percent) if found else (None, None)


def _step_lines(found: Mapping[str, object]) -> list[str]:
    """The pools that a job on Kubernetes has in order, a line each."""
    if "steps" not in found:
        return []
    from gpufleet.jobs.kubernetes.step_states import step_lines

    return step_lines(found["steps"])


def _within_budgets(settings: "JobSettings", job: "JobRequest") -> list[str]:
    """Warnings of budgets that are spent. Errors: UserError where one of them refuses the job."""
    from gpufleet.usage.budgets import budgets_for, month_start, spent_budgets
    from gpufleet.usage.records import known_records, rates_of_pools
    from gpufleet.usage.rows import prices
    from gpufleet.users.team_users import logged_in

    # On Slurm an account is whom a job is counted on.
    account = job.get("share") if settings.on == "slurm" else None
    project = job.get("tags", {}).get("project") or account or settings.project or settings.environment
    mine = budgets_for(settings.budgets, job.get("user") or logged_in(), project)
    if not mine:
        return []
    now, notes, ledger = datetime.now(UTC), list[str](), settings.budgets.get("ledger")
    file = Path(ledger).expanduser() if ledger else None
    names = [settings.namespace]
    records = known_records(settings, names, month_start(now), now, notes.append, ledger=file, write=False)
    price = prices(rates_of_pools(settings, settings.usd_per_gpu_hour))
    spent = list(spent_budgets(settings.environment, mine, records, price, now))
    if any(each.rejects for each in spent):
        raise UserError("\n".join(each.line for each in spent if each.rejects))
    return [*notes, *(each.line for each in spent)]


def _document(document: Mapping[str, object], as_json: bool) -> str:
    import yaml

    if as_json:
        return json.dumps(document, indent=2) + "\n"
    return yaml.safe_dump(dict(document), sort_keys=False, width=120)
