"""The options of `gpufleet jobs submit`: each is a key of gpufleet.jobs.request.JobRequest under the same name."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from gpufleet.errors import UserError

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--workers",
        type=int,
        metavar="N",
        help="Number of pods with GPUs, all in one zone. On Batch the same as --nodes.",
    ),
    click.option(
        "--launcher",
        metavar="mpi|torchrun",
        help="What starts the ranks: mpi, or torchrun for PyTorch programs, without OpenMPI. Default mpi.",
    ),
    click.option(
        "--gpus",
        type=int,
        metavar="N",
        help="GPUs, and so processes, per worker. Default: all GPUs of a node; on AWS Batch from the job definition.",
    ),
    click.option(
        "--image",
        metavar="NAME[:TAG]",
        help="A bare NAME is the last image pushed by `images build`. Default: the only repository's. "
        "Slurm, hosts: a .sif file, a URI for Apptainer, or none.",
    ),
    click.option("--name", metavar="NAME", help="Default: derived from the command and the time."),
    click.option("--env", "variables", multiple=True, metavar="KEY=VALUE", help="Environment variable of every rank."),
    click.option(
        "--secret",
        "references",
        multiple=True,
        metavar="KEY=NAME",
        help="Variable of every rank whose value is the secret NAME, stored by `gpufleet secrets put`.",
    ),
    click.option("--queue", metavar="NAME", help="Default: the environment's."),
    click.option("--retries", type=int, metavar="N", help="How often a failed job restarts. Default 0."),
    click.option("--time-limit", "time_limit_minutes", type=int, metavar="MINUTES", help="Default: none."),
    click.option(
        "--after",
        metavar="JOB",
        help="Run after JOB has succeeded. AWS Batch and Slurm wait themselves; otherwise this command waits before "
        "it submits.",
    ),
    click.option("--pool", metavar="NAME", help="Kubernetes, Azure Batch, Slurm. Default: the environment's only one."),
    click.option(
        "--pools",
        metavar="A,B",
        callback=lambda context, option, text: None if text is None else [each.strip() for each in text.split(",")],
        help="Kubernetes, with a queue that overflows: pools in order; when one's capacity does not come in time, the "
        "next. Default: the environment's order.",
    ),
    click.option("--gpu", metavar="MODEL", help="Kubernetes: GPU model of the nodes, such as V100, instead of a pool."),
    click.option(
        "--place",
        metavar="PLACE",
        help="Kubernetes: onprem or another place of on-prem servers, cloud, or any. Default any.",
    ),
    click.option(
        "--prefer",
        metavar="PLACE",
        help="Kubernetes, with --place any and no queue: the place to fill first. Default: on-prem servers.",
    ),
    click.option(
        "--grace",
        "grace_seconds",
        type=int,
        metavar="SECONDS",
        help="Kubernetes: time for ranks to save after notice of a reclaim. Default 100, 25 on Azure.",
    ),
    click.option("--image-pull-secret", metavar="NAME", help="Kubernetes. Default: the environment's."),
    click.option(
        "--volume-claim", metavar="NAME", help="Kubernetes: mounted at /mnt. Default: the environment's shared volume."
    ),
    click.option(
        "--read-claim",
        "read",
        multiple=True,
        metavar="PATH=CLAIM",
        help="Kubernetes: a claim to mount at PATH and only read, such as a bucket's.",
    ),
    click.option(
        "--user",
        metavar="NAME",
        help="Kubernetes: user whose uid the job runs under. Default: you, if the team has users.",
    ),
    click.option("--nodes", type=int, metavar="N", help="Batch, Slurm, hosts: number of nodes. Default 1."),
    click.option(
        "--script",
        metavar="PATH",
        help="AWS and Azure Batch, Slurm, hosts: local file or directory, sent to the job's working directory.",
    ),
    click.option("--array", type=int, metavar="N", help="AWS Batch: number of children, each with its own index."),
    click.option(
        "--params", metavar="FILE.csv", help="AWS Batch: one child per row; {NAME} in the command is its value."
    ),
    click.option(
        "--grid", "axes", multiple=True, metavar="NAME=A,B", help="AWS Batch: one child per combination of values."
    ),
    click.option(
        "--vcpus", type=int, metavar="N", help="AWS Batch, Slurm. Default: in proportion to the GPUs; Slurm's own."
    ),
    click.option("--memory", "memory_gib", type=int, metavar="GIB", help="AWS Batch, Slurm. Default: the same."),
    click.option(
        "--share",
        metavar="TEAM",
        help="AWS Batch: team whose share of the queue to use; Slurm: account. Default: the environment's.",
    ),
    click.option(
        "--tag", "labels", multiple=True, metavar="KEY=VALUE", help="AWS Batch, Azure Batch: a tag of the job."
    ),
)


def job_options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def request_from_options(options: Mapping[str, object], command: tuple[str, ...]) -> dict[str, object]:
    """The job request from the command line. options: by the names of the options above. Errors: UserError."""
    from gpufleet.jobs.aws_batch.parameter_sweep import parse_grid_option

    lists: dict[str, Any] = {key: options[key] for key in ("variables", "references", "read", "axes", "labels")}
    request = {key: value for key, value in options.items() if value is not None and key not in lists}
    for key, name, read in (
        ("env", "variables", lambda text: named_pair("env", text)),
        ("secrets", "references", lambda text: named_pair("secret", text, "NAME")),
        ("read_claims", "read", lambda text: named_pair("read-claim", text, "CLAIM")),
        ("grid", "axes", parse_grid_option),
        ("tags", "labels", lambda text: named_pair("tag", text)),
    ):
        if lists[name]:
            request[key] = dict(read(each) for each in lists[name])
    if command:
        request["command"] = list(command)
    return request


def named_pair(option: str, text: str, value_name: str = "VALUE") -> tuple[str, str]:
    """Name and value of an option NAME=VALUE. Errors: UserError."""
    key, mark, value = text.partition("=")
    if not key or not mark:
        from gpufleet.secret_patterns import mask_patterns

        kind = "variable" if option == "env" else option
        shown = mask_patterns(text, "[hidden]")
        raise UserError(f"job: {option}={shown}: is not a {kind}; write --{option} KEY={value_name}")
    return key, value
