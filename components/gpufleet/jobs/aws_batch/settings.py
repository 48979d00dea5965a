"""The settings of jobs on AWS Batch, read from the output `jobs` of a stack."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from gpufleet.errors import UserError

DEFAULT_PREFIX = "jobs"
"""Of all outputs in the bucket, where the stack names no other."""


class AwsMultinodeOutput(TypedDict, total=False):
    """The definition that multi-node jobs are made of."""

    definition: str
    """As `AwsBatchOutput.definition`. Its node ranges have no upper end (0:), so a job sets its number of nodes."""
    type: str
    """Instance type of all nodes."""
    nodes: int
    """Most nodes of a job. Default: the most of all pools."""
    gpus: int
    """GPUs of each node. Default: as the definition says."""
    queue: str
    """Default: that of all jobs."""


class AwsBatchOutput(TypedDict, total=False):
    """The keys of the stack's output `jobs` where its key `on` is batch; pools as for Kubernetes."""

    region: str
    queue: str
    """Job queue, by name or ARN."""
    definition: str
    """Definition of container jobs: its ARN with the revision that the stack made; a name is its newest revision."""
    multinode: AwsMultinodeOutput
    bucket: str
    """Bucket of the outputs. Default: jobs get none."""
    prefix: str
    """Where jobs may write in it. Default: jobs."""
    log_group: str
    """Default: Batch's own, /aws/batch/job."""
    share: str
    """The team's share, where the queue has a scheduling policy."""


@dataclass(frozen=True)
class AwsMultinodeSettings:
    """type: instance type of all nodes, maybe empty. nodes, gpus: None if not given."""

    definition: str
    queue: str
    type: str
    nodes: int | None
    gpus: int | None


@dataclass(frozen=True)
class AwsBatchSettings:
    """AWS Batch as it runs an environment's jobs. prefix: without a slash at its ends."""

    region: str
    queue: str
    definition: str | None
    multinode: AwsMultinodeSettings | None
    bucket: str | None
    prefix: str
    log_group: str
    share: str | None

    @property
    def queues(self) -> list[str]:
        """All queues that jobs may be in."""
        return list(dict.fromkeys([self.queue, *([self.multinode.queue] if self.multinode else [])]))

    def outputs(self, job: str) -> str | None:
        """Where a job's outputs go, as s3://BUCKET/PREFIX/JOB; None without a bucket."""
        return f"s3://{self.bucket}/{self.key(job)}" if self.bucket else None

    def key(self, job: str) -> str:
        """The same without the bucket."""
        return f"{self.prefix}/{job}" if self.prefix else job


def aws_batch_settings(jobs: Mapping[str, Any], environment: str) -> AwsBatchSettings:
    """Read the stack's output `jobs`. Errors: UserError when there is no region or queue in it."""
    for key in ("region", "queue"):
        if not jobs.get(key):
            raise UserError(
                f"{environment}: the stack's outputs have no AWS Batch (jobs.{key}); "
                f"run `pulumi up -s {environment}` first, or leave out --on batch"
            )
    prefix = jobs.get("prefix")
    return AwsBatchSettings(
        region=str(jobs["region"]),
        queue=str(jobs["queue"]),
        definition=_text(jobs, "definition"),
        multinode=_multinode(jobs.get("multinode"), str(jobs["queue"]), environment),
        bucket=_text(jobs, "bucket"),
        prefix=str(DEFAULT_PREFIX if prefix is None else prefix).strip("/"),
        log_group=_text(jobs, "log_group") or "/aws/batch/job",
        share=_text(jobs, "share"),
    )


def _multinode(output: object, queue: str, environment: str) -> AwsMultinodeSettings | None:
    if not output:
        return None
    if not isinstance(output, Mapping) or not output.get("definition"):
        raise UserError(f"{environment}: the stack's output jobs.multinode has no definition; run `pulumi up`")
    return AwsMultinodeSettings(
        definition=str(output["definition"]),
        queue=str(output.get("queue") or queue),
        type=str(output.get("type") or ""),
        nodes=_whole(output, "nodes"),
        gpus=_whole(output, "gpus"),
    )


def _whole(values: Mapping[str, Any], key: str) -> int | None:
    # Pulumi's outputs have no whole numbers: 2 comes back as 2.0.
    return None if values.get(key) is None else int(values[key])


def _text(values: Mapping[str, Any], key: str) -> str | None:
    return str(values[key]) if values.get(key) else None
