"""`gpufleet jobs submit|list|status|logs|cancel`."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gpufleet.cli.environments import api_of, settings_of
from gpufleet.cli.exits import for_the_user
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.jobs.event import Event
    from gpufleet.jobs.kubernetes.api import KubernetesApi
    from gpufleet.jobs.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])

INTERRUPTED = 130
"""128 + SIGINT, as shells say it."""

as_json = click.option("--json", "as_json", is_flag=True, help="For a program: JSON, one line for each event.")


def of_environment(command: F) -> F:
    """The argument and the options that say which environment is meant."""
    for option in (
        click.option("--outputs", type=click.Path(path_type=Path),
                     help="Output of `pulumi stack output --json --show-secrets`. Default: asked of the stack."),
        click.option("--program", default=".", type=click.Path(path_type=Path),
                     help="Pulumi project. Default: here or above."),
        click.argument("environment"),
    ):  # fmt: skip
        command = option(command)
    return command


@click.group()
def jobs() -> None:
    """MPI jobs on an environment's GPU nodes."""


@jobs.command()
@of_environment
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--file", type=click.Path(path_type=Path), help="A job's YAML file; options win over what it says.")
@click.option("--workers", type=int, metavar="N", help="Pods with GPUs, all in one zone.")
@click.option("--gpus", type=int, metavar="N", help="GPUs of each worker. Default: all of a node.")
@click.option("--pool", metavar="NAME", help="Default: the environment's only one.")
@click.option(
    "--image",
    metavar="NAME[:TAG]",
    help="NAME alone: what `images build` pushed last. Default: that of the only repository.",
)
@click.option("--name", metavar="NAME", help="Default: made from the command and the time.")
@click.option("--env", "variables", multiple=True, metavar="KEY=VALUE", help="For every rank.")
@click.option("--queue", metavar="NAME", help="Default: the environment's.")
@click.option("--retries", type=int, metavar="N", help="How often the launcher may fail. Default 0.")
@click.option(
    "--grace",
    "grace_seconds",
    type=int,
    metavar="SECONDS",
    help="For ranks to save, after notice that their node will be taken. Default 100, 25 on Azure's.",
)
@click.option("--time-limit", "time_limit_minutes", type=int, metavar="MINUTES", help="Default: none.")
@click.option("--image-pull-secret", metavar="NAME", help="Default: the environment's.")
@click.option("--volume-claim", metavar="NAME", help="Mounted at /mnt. Default: the environment's shared volume.")
@click.option("--after", metavar="JOB", help="Wait here until JOB has succeeded, and submit only then.")
@click.option("--wait", is_flag=True, help="Report states until the job has ended; exit with the launcher's code.")
@click.option("--follow", is_flag=True, help="The same, with the launcher's log.")
@click.option("--dry-run", is_flag=True, help="Only print the manifest.")
@as_json
@for_the_user
def submit(
    environment: str,
    command: tuple[str, ...],
    program: Path,
    outputs: Path | None,
    file: Path | None,
    variables: tuple[str, ...],
    wait: bool,
    follow: bool,
    dry_run: bool,
    as_json: bool,
    **options: object,
) -> int:
    """Submit an MPI job: COMMAND runs as one rank on each GPU.

    \b
    gpufleet jobs submit aws-dev --workers 2 -- python3 train.py
    gpufleet jobs submit aws-dev --workers 2 --gpus 1 --follow -- python3 train.py
    gpufleet jobs submit aws-dev --file train.yaml --workers 64
    """
    from gpufleet.jobs.kubernetes import submit as submitting
    from gpufleet.jobs.kubernetes.planned import planned
    from gpufleet.jobs.request import checked, read_request

    request = read_request(file) if file else {}
    request |= {key: value for key, value in options.items() if value is not None}
    if command:
        request["command"] = list(command)
    if variables:
        request["env"] = dict(_pair(each) for each in variables)
    job = checked(request, str(file or "job"))
    settings = settings_of(environment, program, outputs)
    cluster = cache(lambda: api_of(settings))
    plan = planned(settings, job, lambda: _images(cluster(), settings))
    name = plan.manifest["metadata"]["name"]
    for line in plan.advice:
        _note(f"note: {line}")
    if dry_run:
        click.echo(_manifest(plan.manifest, as_json), nl=False)
        return 0
    api = cluster()
    if "after" in job:
        earlier = job["after"]
        again = "run the same command again"
        if _follow(api, settings, earlier, logs=False, as_json=as_json, resume=again, left=f"{name} is not submitted"):
            raise UserError(f"{name}: not submitted: {earlier}, which it comes after, has not succeeded")
    made = submitting.submit(api, plan.manifest, lambda text: _note(f"note: {text}"))
    resume = _resume(environment, name)
    if as_json:
        click.echo(json.dumps({"event": "submitted", "name": name, "uid": made["metadata"].get("uid")}))
    elif not (wait or follow):
        click.echo(f"{name}: submitted; follow it with `{resume}`")
    else:
        _note(f"{name}: submitted")
    if not (wait or follow):
        return 0
    return _follow(api, settings, name, logs=follow, as_json=as_json, resume=resume)


@jobs.command("list")
@of_environment
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@for_the_user
def list_(environment: str, program: Path, outputs: Path | None, as_json: bool) -> int:
    """The environment's jobs, newest first."""
    from gpufleet.jobs.kubernetes.listing import listed_jobs
    from gpufleet.jobs.times import age

    settings = settings_of(environment, program, outputs)
    found = listed_jobs(api_of(settings), settings.namespace)
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return 0
    if not found:
        click.echo(f"no jobs in namespace {settings.namespace}")
    width = max((len(str(each["name"])) for each in found), default=0)
    for each in found:
        size = f"{each['workers']} x {each['gpusPerWorker']} GPU"
        click.echo(f"{each['name']:<{width}}  {each['state']:<10}  {size:<12}  {age(str(each['created']))} ago")
    return 0


@jobs.command()
@of_environment
@click.argument("job")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@for_the_user
def status(environment: str, job: str, program: Path, outputs: Path | None, as_json: bool) -> int:
    """The state of one job, what it waits for, and its launcher's exit code."""
    from gpufleet.jobs.kubernetes.listing import details

    settings = settings_of(environment, program, outputs)
    found = details(api_of(settings), settings.namespace, job)
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return 0
    why = ": ".join(str(found[key]) for key in ("reason", "message") if found[key])
    code = "" if found["exitCode"] is None else f", the launcher's exit code is {found['exitCode']}"
    click.echo(f"{job}: {found['state']}{code}" + (f" ({why})" if why else ""))
    waiting = found["waiting"]
    for line in waiting if isinstance(waiting, list) else []:
        click.echo(f"  {line}")
    return 0


@jobs.command()
@of_environment
@click.argument("job")
@click.option("--follow", is_flag=True, help="Go on until the job has ended; exit with the launcher's code.")
@as_json
@for_the_user
def logs(environment: str, job: str, program: Path, outputs: Path | None, follow: bool, as_json: bool) -> int:
    """The log of a job's launcher, from its beginning."""
    settings = settings_of(environment, program, outputs)
    api = api_of(settings)
    if follow:
        return _follow(api, settings, job, logs=True, as_json=as_json, resume=_resume(environment, job))
    from gpufleet.jobs.kubernetes.listing import found_job
    from gpufleet.jobs.kubernetes.log_reader import written_so_far

    found_job(api, settings.namespace, job)
    for event in written_so_far(api, settings.namespace, job):
        _show(event, as_json)
    return 0


@jobs.command()
@of_environment
@click.argument("job")
@for_the_user
def cancel(environment: str, job: str, program: Path, outputs: Path | None) -> int:
    """End a job and delete it, with its pods and their logs. Files on the shared volume stay."""
    from gpufleet.jobs.kubernetes.listing import cancel

    settings = settings_of(environment, program, outputs)
    cancel(api_of(settings), settings.namespace, job)
    click.echo(f"{job}: cancelled; its pods and their logs are deleted, files on the shared volume stay")
    return 0


def _follow(
    api: "KubernetesApi",
    settings: "Settings",
    name: str,
    *,
    logs: bool,
    as_json: bool,
    resume: str,
    left: str = "",
) -> int:
    """Follow a job to its end and return its exit code. left: what an interruption leaves undone, for the message."""
    from gpufleet.jobs.event import Kind
    from gpufleet.jobs.kubernetes.follow import Following

    code = 0
    try:
        for event in Following(api, settings.namespace, name, resume, logs=logs).events():
            _show(event, as_json)
            if event.kind is Kind.END:
                code = event.code or 0
    except KeyboardInterrupt:
        stop = f"; stop it with `gpufleet jobs cancel {settings.environment} {name}`"
        _note(f"\n{name}: goes on; " + (f"{left}, {resume}" if left else f"follow it again with `{resume}`{stop}"))
        raise SystemExit(INTERRUPTED) from None
    return code


def _images(api: "KubernetesApi", settings: "Settings") -> dict[str, str]:
    from gpufleet.images.recorded import pinned_images

    return pinned_images(api, settings.namespace)


def _show(event: "Event", as_json: bool) -> None:
    """The log goes to the standard output, all else beside it."""
    if as_json:
        click.echo(json.dumps(event.as_json()))
    elif event.kind.value == "line":
        click.echo(event.text)
    else:
        _note(event.text)


def _note(text: str) -> None:
    click.echo(text, err=True)


def _resume(environment: str, name: str) -> str:
    return f"gpufleet jobs logs {environment} {name} --follow"


def _pair(text: str) -> tuple[str, str]:
    key, mark, value = text.partition("=")
    if not key or not mark:
        raise UserError(f"job: env={text}: is no variable; write --env KEY=VALUE")
    return key, value


def _manifest(manifest: dict[str, object], as_json: bool) -> str:
    import yaml

    if as_json:
        return json.dumps(manifest, indent=2) + "\n"
    return yaml.safe_dump(manifest, sort_keys=False, width=120)
