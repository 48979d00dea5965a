"""The environment that a command is about: its stack's outputs, real or of the rehearsal that we are inside of."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gpufleet.cli.environment_argument import environment_argument
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.jobs.backend import Backend
    from gpufleet.jobs.kubernetes.api import KubernetesApi
    from gpufleet.jobs.settings import JobSettings
    from gpufleet.pulumi_cli import PulumiCli
    from gpufleet_rehearsal.workspace import Workspace


F = TypeVar("F", bound=Callable[..., Any])

_KEY = "gpufleet.cli"


def _kept(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context.meta[f"{_KEY}.{parameter.name}"] = value


def context_option(option: str) -> str | None:
    """What this command was given for `--team` or `--user`, which no command needs but by the settings below."""
    context = click.get_current_context(silent=True)
    return context.meta.get(f"{_KEY}.{option}") if context else None


team_option = click.option(
    "--team", metavar="NAME", expose_value=False, callback=_kept, help="Team, if several share the cluster."
)
user_option = click.option(
    "--user",
    metavar="NAME",
    expose_value=False,
    callback=_kept,
    help="User whose files to use. Default: you, if the team has users.",
)

on_option = click.option(
    "--on",
    type=click.Choice(["kubernetes", "batch", "azure-batch", "slurm", "hosts"]),
    help="Back end that runs the jobs. Default: from the environment's stack.",
)


def of_environment(command: F) -> F:
    """The argument and the options that say which environment is meant."""
    for option in (
        team_option,
        click.option("--outputs", type=click.Path(path_type=Path),
                     help="Output of `pulumi stack output --json --show-secrets`, or YAML. Default: the stack's."),
        click.option("--program", default=".", type=click.Path(path_type=Path),
                     help="Pulumi project. Default: here or above."),
        environment_argument(),
    ):  # fmt: skip
        command = option(command)
    return command


def settings_of(
    environment: str, program: Path, outputs: Path | None, on: str | None = None, team: str | None = None
) -> "JobSettings":
    """What the environment's jobs need to know.

    program: the Pulumi project. outputs: a file with the stack's outputs, for users without access to its state. on:
    what runs its jobs, one of `gpufleet.jobs.settings.BACKENDS`; default as its stack says. team: default as asked for.
    Errors: UserError.
    """
    from gpufleet.aws.client import AWS_ENDPOINT
    from gpufleet.jobs.azure_batch.login import BATCH_ENDPOINT
    from gpufleet.jobs.settings import read_settings

    home = _rehearsal(program)
    told = _told(home, environment, program, outputs)
    settings = read_settings(told, environment, on, team or context_option("team"))
    if home is None:
        return settings
    if settings.on == "batch":
        # Without it boto3 would find the user's own login in their home and ask the real account.
        _check_played(environment, "AWS Batch", AWS_ENDPOINT)
        return settings
    if settings.on == "azure-batch":
        _check_played(environment, "Azure Batch", BATCH_ENDPOINT)
        plane = home.control_plane.access(start=False)
        own = home.control_plane.instead_of(settings.kubeconfig, environment) if plane and settings.kubeconfig else None
        return replace(settings, kubeconfig=own)
    if settings.on in ("slurm", "hosts"):
        # They are there already: a job would run on the real ones.
        raise UserError(
            f"{environment}: a rehearsal simulates neither Slurm nor hosts; leave it (`exit`), or rehearse jobs on a "
            "cluster, `gpufleet rehearse aws-dev`"
        )
    if settings.on != "kubernetes":
        return settings
    # Asked when a cluster is: what only prints a request, as --dry-run does, needs no control plane.
    return replace(settings, kubeconfig=lambda: home.control_plane.instead_of(settings.kubeconfig, environment))


def engine_of(environment: str, program: Path) -> "PulumiCli":
    """The engine of an environment's stack, real or of the rehearsal that we are inside of. Errors: UserError."""
    return _engine(_rehearsal(program), program, environment)


def outputs_of(environment: str, program: Path, outputs: Path | None) -> Mapping[str, object]:
    """The stack's outputs with their secrets; arguments as of `settings_of`. Errors: UserError."""
    return _told(_rehearsal(program), environment, program, outputs)


def any_team(outputs: Mapping[str, object]) -> str | None:
    """One of the teams that share a cluster, for what all of them see alike; None where it is one team's."""
    jobs = outputs.get("jobs")
    teams = jobs.get("teams") if isinstance(jobs, Mapping) else None
    return min(teams) if isinstance(teams, Mapping) and teams else None


def _told(home: "Workspace | None", environment: str, program: Path, outputs: Path | None) -> Mapping[str, object]:
    return _read(outputs) if outputs else _engine(home, program, environment).outputs(environment, secrets=True)


def _check_played(environment: str, service: str, endpoint: str) -> None:
    """Errors: UserError where the rehearsal that we are inside of plays no such service: it is of another cloud."""
    if not os.environ.get(endpoint):
        raise UserError(
            f"{environment}: this rehearsal plays no {service}; run `gpufleet rehearse {environment} -- gpufleet ...`"
        )


def backend_of(settings: "JobSettings", pending_minutes: float | None = None) -> "Backend":
    """What runs the environment's jobs. pending_minutes: see `AwsBatchBackend`. Errors: UserError."""
    from gpufleet.jobs.follow import PENDING_MINUTES

    minutes = PENDING_MINUTES if pending_minutes is None else pending_minutes
    if settings.on == "batch":
        from gpufleet.jobs.aws_batch.backend import AwsBatchBackend

        return AwsBatchBackend(settings, minutes)
    if settings.on == "azure-batch":
        from gpufleet.jobs.azure_batch.backend import AzureBatchBackend

        return AzureBatchBackend(settings, lambda: _built_for_azure(settings), minutes)
    if settings.on == "slurm":
        from gpufleet.jobs.slurm.backend import SlurmBackend

        return SlurmBackend(settings)
    if settings.on == "hosts":
        from gpufleet.jobs.hosts.backend import HostsBackend

        return HostsBackend(settings)
    from gpufleet.jobs.kubernetes.backend import KubernetesBackend

    return KubernetesBackend(settings)


def _built_for_azure(settings: "JobSettings") -> Mapping[str, str]:
    """The image of each repository that jobs run: as the cluster beside Azure Batch records it, else the newest."""
    if settings.kubeconfig:
        from gpufleet.images.pinned_images import pinned_references

        return pinned_references(api_of(settings), settings.namespace)
    from gpufleet.jobs.azure_batch.latest_image import newest_images

    return {name: image.pinned for name, image in newest_images(settings.repositories).items()}


def api_of(settings: "JobSettings") -> "KubernetesApi":
    """The API of the environment's cluster. Errors: UserError."""
    from gpufleet.jobs.kubernetes.api import KubernetesApi

    return KubernetesApi.of(settings.kubeconfig, settings.environment)


def api_if_reached(told: Mapping[str, object], environment: str, program: Path) -> "tuple[KubernetesApi | None, str]":
    """The API of the cluster in a stack's outputs, and why it does not answer, "" where it does.

    A rehearsal brings up its control plane: a cluster answers from the first. One without has none to ask, and knows
    whether it would answer. Errors: UserError.
    """
    from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesUnreachable

    home, kubeconfig = _rehearsal(program), told["kubeconfig"]
    if home is not None:
        if problem := home.control_plane.line_problem(kubeconfig):
            return None, problem
        if home.control_plane.access(start=True) is None:
            return None, ""
        kubeconfig = home.control_plane.instead_of(kubeconfig, environment)
    api = KubernetesApi.of(kubeconfig, environment)
    try:
        api.get("/version")
    except KubernetesUnreachable as error:
        return None, str(error)
    except KubernetesApiError:
        # It refused this path, and so it answers.
        pass
    return api, ""


def _rehearsal(program: Path) -> "Workspace | None":
    """The rehearsal that we are inside of."""
    rehearsal = os.environ.get("GPUFLEET_REHEARSAL")
    if rehearsal is None:
        return None
    from gpufleet_rehearsal.workspace import Workspace

    home = Workspace.of(program, Path(rehearsal))
    home.prepare()
    return home


def _engine(home: "Workspace | None", program: Path, environment: str) -> "PulumiCli":
    from gpufleet.pulumi_cli import PulumiCli

    return PulumiCli(program.resolve()) if home is None else home.engine(environment)


def _read(file: Path) -> Mapping[str, object]:
    """A file that the engine has written, or, for servers that no stack has made, somebody by hand."""
    from gpufleet.documents.json import check_shape, read_json
    from gpufleet.documents.yaml import read_yaml

    made = "make it with `pulumi stack output --json --show-secrets`"
    if file.suffix not in (".yaml", ".yml"):
        return read_json(file, made, shape=dict[str, object])
    content = read_yaml(file, "write `jobs:` and what it needs, see docs/slurm.md and docs/hosts.md")
    jobs = content.get("jobs") if isinstance(content, dict) else None
    if isinstance(jobs, dict) and True in jobs:
        # To YAML 1.1 the key `on` is the truth.
        jobs["on"] = jobs.pop(True)
    return check_shape(content, dict[str, object], str(file), "write `jobs:` and what it needs")
