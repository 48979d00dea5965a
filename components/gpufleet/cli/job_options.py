"""The options of `gpufleet jobs submit`: each is a key of gpufleet.jobs.request.JobRequest under the same name."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from gpufleet.errors import UserError

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--workers", type=int, metavar="N", help="Pods with GPUs, all in one zone. On Batch as --nodes."),
    click.option(
        "--gpus",
        type=int,
        metavar="N",
        help="GPUs, and so processes, of each worker. Default: all of a node; on AWS Batch as its definition says.",
    ),
    click.option(
        "--image",
        metavar="NAME[:TAG]",
        help="NAME alone: what `images build` pushed last. Default: that of the only repository. "
        "Slurm, hosts: a .sif file, a URI for Apptainer, or none.",
    ),
    click.option("--name", metavar="NAME", help="Default: made from the command and the time."),
    click.option("--env", "variables", multiple=True, metavar="KEY=VALUE", help="For every rank."),
    click.option("--queue", metavar="NAME", help="Default: the environment's."),
    click.option("--retries", type=int, metavar="N", help="How often it may fail and be started again. Default 0."),
    click.option("--time-limit", "time_limit_minutes", type=int, metavar="MINUTES", help="Default: none."),
    click.option(
        "--after",
        metavar="JOB",
        help="Run it when JOB has succeeded. AWS Batch and Slurm wait themselves; else it is waited for here, and then "
        "submitted.",
    ),
    click.option("--pool", metavar="NAME", help="Kubernetes, Azure Batch, Slurm. Default: the environment's only one."),
    click.option("--gpu", metavar="MODEL", help="Kubernetes: GPU model of the nodes, such as V100, instead of a pool."),
    click.option(
        "--place",
        metavar="PLACE",
        help="Kubernetes: onprem or another place of own servers, cloud, or any. Default any.",
    ),
    click.option(
        "--prefer",
        metavar="PLACE",
        help="Kubernetes, with --place any and no queue: taken while it has room. Default: own servers.",
    ),
    click.option(
        "--grace",
        "grace_seconds",
        type=int,
        metavar="SECONDS",
        help="Kubernetes: for ranks to save, after notice that their node will be taken. Default 100, 25 on Azure's.",
    ),
    click.option("--image-pull-secret", metavar="NAME", help="Kubernetes. Default: the environment's."),
    click.option(
        "--volume-claim", metavar="NAME", help="Kubernetes: mounted at /mnt. Default: the environment's shared volume."
    ),
    click.option(
        "--user", metavar="NAME", help="Kubernetes: whose uid it runs under. Default: you, where there are users."
    ),
    click.option("--nodes", type=int, metavar="N", help="Batch, Slurm, hosts: nodes of a job. Default 1."),
    click.option(
        "--script",
        metavar="PATH",
        help="Azure Batch, Slurm, hosts: a file or directory here, sent to where the job starts.",
    ),
    click.option("--array", type=int, metavar="N", help="AWS Batch: so many children, each with its own index."),
    click.option(
        "--params", metavar="FILE.csv", help="AWS Batch: a child for each row; {NAME} in the command is its value."
    ),
    click.option(
        "--grid", "axes", multiple=True, metavar="NAME=A,B", help="AWS Batch: a child for each combination of values."
    ),
    click.option(
        "--vcpus", type=int, metavar="N", help="AWS Batch, Slurm. Default: in proportion to the GPUs; Slurm's own."
    ),
    click.option("--memory", "memory_gib", type=int, metavar="GIB", help="AWS Batch, Slurm. Default: the same."),
    click.option(
        "--share",
        metavar="TEAM",
        help="AWS Batch: whose share of the queue; Slurm: account. Default: the environment's.",
    ),
    click.option(
        "--tag", "labels", multiple=True, metavar="KEY=VALUE", help="AWS Batch, Azure Batch: a tag of the job."
    ),
)


def job_options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def requested(options: Mapping[str, object], command: tuple[str, ...]) -> dict[str, object]:
    """What the command line says of a job. options: by the names of the options above. Errors: UserError."""
    from gpufleet.jobs.aws_batch.parameter_sweep import axis

    lists: dict[str, Any] = {key: options[key] for key in ("variables", "axes", "labels")}
    request = {key: value for key, value in options.items() if value is not None and key not in lists}
    for key, name, read in (
        ("env", "variables", lambda text: _pair("env", text)),
        ("grid", "axes", axis),
        ("tags", "labels", lambda text: _pair("tag", text)),
    ):
        if lists[name]:
            request[key] = dict(read(each) for each in lists[name])
    if command:
        request["command"] = list(command)
    return request


def _pair(option: str, text: str) -> tuple[str, str]:
    key, mark, value = text.partition("=")
    if not key or not mark:
        kind = "variable" if option == "env" else option
        raise UserError(f"job: {option}={text}: is no {kind}; write --{option} KEY=VALUE")
    return key, value
