"""From a TrainingJob's intent to the plain facts of its job definition, and the definition's JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.catalog import aws
from gpufleet.jobs.aws_batch.entrypoint import container_command, multinode_command
from gpufleet.rules import coerce
from gpufleet.rules.aws.batch_limits import share_of_node

RETRIES = 3


@dataclass(frozen=True)
class TrainingJobPlan:
    """All of a job definition that its intent alone decides."""

    gpus: int
    vcpus: int
    memory_mib: int
    shared_memory_mib: int
    nodes: int
    instance_type: str | None
    """Multi-node jobs only: a job of one node goes to any type of its queue that has room."""
    efa_devices: int
    command: Sequence[str]
    """What Batch starts in each container; empty: what the image says."""
    mount_path: str
    attempts: int
    timeout_seconds: int | None


@dataclass(frozen=True)
class TrainingJobLinks:
    """What the definition takes from other resources. Values are texts, or outputs that become texts."""

    image: Any
    region: str
    stream_prefix: str
    log_group: Any
    job_role_arn: Any
    execution_role_arn: Any
    environment: Mapping[str, Any]
    secrets: Mapping[str, Any]
    file_system_id: Any | None
    access_point_id: Any | None


def plan_training_job(args: Mapping[str, object]) -> TrainingJobPlan:
    """Plan the job of ``args``, whatever they are; it makes sense of those that pass `validate_training_job`.

    What it does not say about vCPUs and memory is its GPUs' share of the node, or what the smallest node has.
    """
    type_name = coerce.text(args, "instance_type")
    record = aws().types.get(type_name)
    gpus = coerce.whole(args, "gpus", 1)
    nodes = coerce.whole(args, "nodes", 1)
    vcpus, memory = share_of_node(record, gpus)
    memory = coerce.whole(args, "memory_gib", memory)
    efa = coerce.text(args, "network", "plain") == "efa"
    minutes = coerce.whole(args, "timeout_minutes", 0)
    return TrainingJobPlan(
        gpus=gpus,
        vcpus=coerce.whole(args, "vcpus", vcpus),
        memory_mib=memory * 1024,
        # Docker gives 64 MiB, which data loaders exceed at once; pages that nobody uses cost nothing.
        shared_memory_mib=coerce.whole(args, "shared_memory_gib", max(1, memory // 2)) * 1024,
        nodes=nodes,
        instance_type=type_name if nodes > 1 else None,
        efa_devices=record.efa_interfaces if efa and record else 0,
        command=_command(args, gpus, nodes),
        mount_path=coerce.text(coerce.mapping(args, "files"), "path", "/mnt"),
        attempts=1 + coerce.whole(args, "retries", RETRIES),
        timeout_seconds=minutes * 60 or None,
    )


def container(plan: TrainingJobPlan, links: TrainingJobLinks) -> dict[str, Any]:
    """The container of the job, in the words of Batch's API; what is empty is left out."""
    requirements = [("GPU", plan.gpus), ("VCPU", plan.vcpus), ("MEMORY", plan.memory_mib)]
    properties: dict[str, Any] = {
        "image": links.image,
        "jobRoleArn": links.job_role_arn,
        "executionRoleArn": links.execution_role_arn,
        "resourceRequirements": [{"type": kind, "value": str(value)} for kind, value in requirements if value],
        "linuxParameters": {"sharedMemorySize": plan.shared_memory_mib},
        "logConfiguration": {
            "logDriver": "awslogs",
            "options": {
                "awslogs-group": links.log_group,
                "awslogs-region": links.region,
                "awslogs-stream-prefix": links.stream_prefix,
            },
        },
    }
    if plan.command:
        properties["command"] = list(plan.command)
    if plan.instance_type is not None:
        properties["instanceType"] = plan.instance_type
    if links.environment:
        properties["environment"] = [
            {"name": name, "value": value} for name, value in sorted(links.environment.items())
        ]
    if links.secrets:
        properties["secrets"] = [{"name": name, "valueFrom": arn} for name, arn in sorted(links.secrets.items())]
    if plan.efa_devices:
        # Each interface of the fabric is one device, and pins the memory that it writes to.
        properties["linuxParameters"]["devices"] = [_device(number) for number in range(plan.efa_devices)]
        properties["ulimits"] = [{"name": "memlock", "softLimit": -1, "hardLimit": -1}]
    if links.file_system_id is not None:
        properties["volumes"] = [{"name": "shared", "efsVolumeConfiguration": _volume(links)}]
        properties["mountPoints"] = [{"sourceVolume": "shared", "containerPath": plan.mount_path, "readOnly": False}]
    return properties


def nodes(plan: TrainingJobPlan, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The node properties of a multi-node job. The range is open above, so that a submission may change the number."""
    every = {"targetNodes": "0:", "container": dict(properties)}
    return {"numNodes": plan.nodes, "mainNode": 0, "nodeRangeProperties": [every]}


def _command(args: Mapping[str, object], gpus: int, nodes: int) -> list[str]:
    """The job's command, started once for each GPU of all nodes."""
    command = list(coerce.texts(args, "command"))
    if not command:
        return []
    # The values may be outputs; which names are taken is all that matters.
    names = dict.fromkeys(coerce.mapping(args, "environment"), "")
    if nodes < 2:
        return container_command(command, gpus, environment=names)
    return multinode_command(command, max(gpus, 1), network=coerce.text(args, "network", "plain"), environment=names)


def _device(number: int) -> dict[str, Any]:
    path = f"/dev/infiniband/uverbs{number}"
    return {"hostPath": path, "containerPath": path, "permissions": ["READ", "WRITE", "MKNOD"]}


def _volume(links: TrainingJobLinks) -> dict[str, Any]:
    """The file system, over TLS and by the job role's right. An access point shows its own directory as the root."""
    access = {} if links.access_point_id is None else {"accessPointId": links.access_point_id}
    return {
        "fileSystemId": links.file_system_id,
        "transitEncryption": "ENABLED",
        "authorizationConfig": {"iam": "ENABLED", **access},
    }
