"""TrainingJob: exact inputs of every child, and the container as Batch gets it."""

import json
from typing import Any, cast

import pytest

from gpufleet.aws.iam_roles import trust_in_account
from gpufleet.aws.training_job import TrainingJob, TrainingJobArgs
from gpufleet.aws.training_job_plan import plan_training_job
from gpufleet.catalog import aws
from gpufleet.jobs.aws_batch.entrypoint import container_command, multinode_command
from tests.components.recorder import MARK, UNKNOWN, Recording, construct, refusal

DEFINITION = "aws:batch/jobDefinition:JobDefinition"
LOGS = "aws:cloudwatch/logGroup:LogGroup"
ROLE = "aws:iam/role:Role"
POLICY = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
TAGS = {"owner": "ml", **MARK}
SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:wandb-AbCdEf"
BASE = {"region": "us-east-1", "image": "r.example.com/llm:1", "gpus": 1, "tags": TAGS}
SEVERAL = {"gpus": 8, "nodes": 4, "instance_type": "p5.48xlarge"}
LOG_RIGHT = {
    "Sid": "Log",
    "Effect": "Allow",
    "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
    "Resource": "arn:aws:mock::000000000000:train-logs:*",
}


def build(preview: bool, /, **changes: object) -> Recording[TrainingJob]:
    args = cast(TrainingJobArgs, {**BASE, **changes})
    return construct(lambda: TrainingJob("train", args), preview)


def properties(recording: Recording[TrainingJob]) -> dict[str, Any]:
    """The container's properties, of a definition of one kind or the other."""
    inputs = recording.one(DEFINITION).inputs
    if "containerProperties" in inputs:
        return cast("dict[str, Any]", json.loads(str(inputs["containerProperties"])))
    (every,) = json.loads(str(inputs["nodeProperties"]))["nodeRangeProperties"]
    return cast("dict[str, Any]", every["container"])


def requirements(gpus: int, vcpus: int, gib: int) -> list[dict[str, str]]:
    wanted = {"GPU": gpus, "VCPU": vcpus, "MEMORY": gib * 1024}
    return [{"type": kind, "value": str(value)} for kind, value in wanted.items() if value]


def expected(**changes: object) -> dict[str, object]:
    """The container of the plain job with ``changes``."""
    role = "arn:aws:mock::000000000000:train"
    options = {"awslogs-group": "train-logs", "awslogs-region": "us-east-1", "awslogs-stream-prefix": "train"}
    return {
        "image": "r.example.com/llm:1",
        "jobRoleArn": f"{role}-job-role",
        "executionRoleArn": f"{role}-start-role",
        "resourceRequirements": requirements(1, 4, 12),
        "linuxParameters": {"sharedMemorySize": 6 * 1024},
        "logConfiguration": {"logDriver": "awslogs", "options": options},
        **changes,
    }


def rights(recording: Recording[TrainingJob], name: str) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", json.loads(str(recording.one(POLICY, name).inputs["policy"]))["Statement"])


def test_plain_job(preview: bool) -> None:
    recording = build(preview)
    inputs = recording.one(DEFINITION, "train-definition").inputs
    container = inputs.pop("containerProperties")
    assert inputs == {
        "type": "container",
        "platformCapabilities": ["EC2"],
        "retryStrategy": {
            "attempts": 4,
            "evaluateOnExits": [
                {"onStatusReason": "Host EC2*", "action": "RETRY"},
                {"onReason": "*", "action": "EXIT"},
            ],
        },
        "propagateTags": True,
        "tags": {**TAGS, "Name": "train-definition"},
    }
    assert (container if preview else json.loads(str(container))) == (UNKNOWN if preview else expected())
    assert recording.inputs(LOGS) == {"train-logs": {"retentionInDays": 30, "tags": {**TAGS, "Name": "train-logs"}}}


def test_logs_may_have_a_key() -> None:
    assert build(False, log_kms_key_arn="arn:key").inputs(LOGS)["train-logs"]["kmsKeyId"] == "arn:key"


def test_job_of_several_nodes_is_open_to_another_number() -> None:
    inputs = build(False, **SEVERAL, command=["python3", "train.py"]).one(DEFINITION).inputs
    assert inputs["type"] == "multinode"
    assert "containerProperties" not in inputs
    container = expected(
        instanceType="p5.48xlarge",
        command=multinode_command(["python3", "train.py"], 8),
        resourceRequirements=requirements(8, 192, 1843),
        linuxParameters={"sharedMemorySize": 921 * 1024},
    )
    assert json.loads(str(inputs["nodeProperties"])) == {
        "numNodes": 4,
        "mainNode": 0,
        "nodeRangeProperties": [{"targetNodes": "0:", "container": container}],
    }


def test_command_is_started_for_each_gpu() -> None:
    command = ["python3", "train.py"]
    assert properties(build(False, command=command))["command"] == command
    given = {"gpus": 4, "command": command, "environment": {"MASTER_PORT": "1234"}}
    built = properties(build(False, **given))["command"]
    assert built == container_command(command, 4, environment={"MASTER_PORT": ""})
    assert built != container_command(command, 4)


def test_efa_gives_each_device_and_unlimited_pinned_memory() -> None:
    container = properties(build(False, **SEVERAL, network="efa"))
    paths = [f"/dev/infiniband/uverbs{number}" for number in range(32)]
    assert container["linuxParameters"]["devices"] == [
        {"hostPath": path, "containerPath": path, "permissions": ["READ", "WRITE", "MKNOD"]} for path in paths
    ]
    assert container["ulimits"] == [{"name": "memlock", "softLimit": -1, "hardLimit": -1}]
    assert "privileged" not in container


@pytest.mark.parametrize("point", [None, "fsap-1"])
def test_files_over_tls_by_the_jobs_own_right(point: str | None) -> None:
    files = {"file_system_id": "fs-1", "path": "/data", **({"access_point_id": point} if point else {})}
    recording = build(False, files=files)
    access = {"accessPointId": point} if point else {}
    assert properties(recording) == expected(
        volumes=[
            {
                "name": "shared",
                "efsVolumeConfiguration": {
                    "fileSystemId": "fs-1",
                    "transitEncryption": "ENABLED",
                    "authorizationConfig": {"iam": "ENABLED", **access},
                },
            }
        ],
        mountPoints=[{"sourceVolume": "shared", "containerPath": "/data", "readOnly": False}],
    )
    (right,) = rights(recording, "train-job-files")
    assert right["Action"] == ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"]
    assert right["Resource"] == "arn:aws:elasticfilesystem:us-east-1:*:file-system/fs-1"
    named = "arn:aws:elasticfilesystem:us-east-1:*:access-point/fsap-1"
    only = {"ArnLike": {"elasticfilesystem:AccessPointArn": named}} if point else None
    assert right.get("Condition") == only


def test_images_may_come_through_caches() -> None:
    statements = rights(build(False, pull_through=["quay"]), "train-start")
    assert statements[-1] == {
        "Sid": "Caches",
        "Effect": "Allow",
        "Action": ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"],
        "Resource": ["arn:aws:ecr:us-east-1:*:repository/quay/*"],
    }
    assert {each["Sid"] for each in rights(build(False, pull_through=[]), "train-start")} == {"Log"}


def test_bucket_is_open_at_its_prefixes_and_nowhere_else() -> None:
    bucket = {"arn": "arn:aws:s3:::b", "prefixes": ["runs/vision/", "models/"], "kms_key_arn": "arn:aws:kms:::key/1"}
    statements = rights(build(False, bucket=bucket), "train-job-bucket")
    assert statements == [
        {
            "Sid": "List",
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": "arn:aws:s3:::b",
            "Condition": {"StringLike": {"s3:prefix": ["runs/vision/*", "models/*"]}},
        },
        {
            "Sid": "ReadAndWrite",
            "Effect": "Allow",
            "Action": ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"],
            "Resource": ["arn:aws:s3:::b/runs/vision/*", "arn:aws:s3:::b/models/*"],
        },
        {
            "Sid": "Key",
            "Effect": "Allow",
            "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
            "Resource": "arn:aws:kms:::key/1",
            "Condition": {"StringLike": {"kms:ViaService": "s3.*.amazonaws.com*"}},
        },
    ]


def test_job_without_bucket_and_files_may_nothing(preview: bool) -> None:
    recording = build(preview)
    assert recording.names(POLICY) == ["train-start"]
    assert [each.inputs["policyArn"] for each in recording.of(ATTACHMENT)] == [
        "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"
    ]
    # The account is known when the log group is there.
    group = "arn:aws:mock::000000000000:train-logs"
    trusted = [str(each.inputs["assumeRolePolicy"]) for each in recording.of(ROLE)]
    assert trusted == [UNKNOWN if preview else trust_in_account("ecs-tasks.amazonaws.com", group)] * 2
    assert json.loads(trust_in_account("ecs-tasks.amazonaws.com", group))["Statement"] == [
        {
            "Effect": "Allow",
            "Principal": {"Service": "ecs-tasks.amazonaws.com"},
            "Action": ["sts:AssumeRole"],
            "Condition": {"StringEquals": {"aws:SourceAccount": "000000000000"}},
        }
    ]


def test_start_reads_the_secrets_and_the_job_does_not() -> None:
    parameter = "arn:aws:ssm:us-east-1:123456789012:parameter/team/key"
    recording = build(False, secrets={"B": f"{SECRET}:token::", "C": parameter, "A": SECRET}, environment={"D": "1"})
    container = properties(recording)
    assert container["secrets"] == [
        {"name": "A", "valueFrom": SECRET},
        {"name": "B", "valueFrom": f"{SECRET}:token::"},
        {"name": "C", "valueFrom": parameter},
    ]
    assert container["environment"] == [{"name": "D", "value": "1"}]
    assert rights(recording, "train-start") == [
        LOG_RIGHT,
        {"Sid": "Secrets", "Effect": "Allow", "Action": ["secretsmanager:GetSecretValue"], "Resource": [SECRET]},
        {"Sid": "Parameters", "Effect": "Allow", "Action": ["ssm:GetParameters"], "Resource": [parameter]},
    ]


def test_submissions_may_name_the_secrets_of_their_environment_and_no_others() -> None:
    secrets = "arn:aws:secretsmanager:us-east-1:*:secret:gpufleet/dev/*"
    parameters = "arn:aws:ssm:us-east-1:*:parameter/gpufleet/dev/*"
    recording = build(False, secret_prefix="gpufleet/dev/", secrets={"A": SECRET})
    assert rights(recording, "train-start") == [
        LOG_RIGHT,
        {
            "Sid": "Secrets",
            "Effect": "Allow",
            "Action": ["secretsmanager:GetSecretValue"],
            "Resource": sorted([secrets, SECRET]),
        },
        {"Sid": "Parameters", "Effect": "Allow", "Action": ["ssm:GetParameters"], "Resource": [parameters]},
    ]


def test_definition_comes_after_the_rights_of_its_roles(preview: bool) -> None:
    bucket = {"arn": "arn:aws:s3:::b", "prefixes": ["runs/"]}
    recording = build(preview, bucket=bucket, files={"file_system_id": "fs-1"})
    needs = recording.one(DEFINITION).property_dependencies["containerProperties"]
    assert {"train-job-bucket", "train-job-files", "train-start"} <= needs
    assert "train-start-role-AmazonEC2ContainerRegistryPullOnly" in needs


def test_retries_and_time(preview: bool) -> None:
    inputs = build(preview, retries=0.0, timeout_minutes=90.0, log_retention_days=7.0).one(DEFINITION).inputs
    assert cast("dict[str, object]", inputs["retryStrategy"])["attempts"] == 1
    assert inputs["timeout"] == {"attemptDurationSeconds": 5400}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"gpus": 1}, (1, 4, 12, 6)),
        ({"gpus": 0}, (0, 4, 12, 6)),
        ({"gpus": 4}, (4, 16, 48, 24)),
        ({"gpus": 2, "instance_type": "p4d.24xlarge"}, (2, 24, 259, 129)),
        ({"gpus": 8, "instance_type": "p4d.24xlarge"}, (8, 96, 1036, 518)),
        ({"vcpus": 3, "memory_gib": 5, "shared_memory_gib": 1}, (1, 3, 5, 1)),
        ({"memory_gib": 1}, (1, 4, 1, 1)),
    ],
)
def test_share_of_the_node(changes: dict[str, object], wanted: tuple[int, int, int, int]) -> None:
    plan = plan_training_job({**BASE, **changes})
    assert (plan.gpus, plan.vcpus, plan.memory_mib // 1024, plan.shared_memory_mib // 1024) == wanted


def test_what_is_not_said_fits_every_type_of_batchs_image() -> None:
    fitting = [each for each in aws().types.values() if each.architecture == "x86_64" and each.retired is None]
    assert len(fitting) > 30
    for record in fitting:
        for args in ({"gpus": record.gpus}, {"gpus": record.gpus, "instance_type": record.type}):
            plan = plan_training_job(args)
            assert plan.vcpus <= record.vcpus, record.type
            assert plan.memory_mib <= record.memory_gib * 1024 * 0.95, record.type


def test_refuses_with_every_fault_at_once(preview: bool) -> None:
    args = {**BASE, "gpus": 9, "instance_type": "p5.48xlarge", "retries": 12, "secrets": {"KEY": "hunter2"}}
    assert refusal(lambda: TrainingJob("train", cast(TrainingJobArgs, args)), preview) == [
        "train: gpus=9: is more than the 8 of p5.48xlarge; use 8 or fewer, or several nodes [aws-batch-job-gpus]",
        "train: retries=12: Batch tries a job 1 to 10 times; use 0 to 9 [aws-batch-tries]",
        "train: secrets.KEY=(hidden): is not a secret ARN; give the ARN of a secret "
        "(arn:aws:secretsmanager:...) or of a parameter (arn:aws:ssm:...) [aws-batch-secret]",
    ]


def test_refuses_a_command_that_ecs_would_not_take(preview: bool) -> None:
    args = cast(TrainingJobArgs, {**BASE, "command": ["python3", "-c", "x" * 8192]})
    (line,) = refusal(lambda: TrainingJob("train", args), preview)
    assert line.endswith("put it into a script in the image or on the shared files [aws-batch-command]")
