"""A copy of own files in the cloud, from the configuration of an AWS environment."""

from dataclasses import replace

import pytest

from tests.unit.stacks import aws_environment, test_aws_batch
from tests.unit.stacks.stack_programs import Program
from tests.unit.stacks.test_own_servers import changed

AGENT = "arn:aws:datasync:us-east-1:123456789012:agent/agent-0123456789abcdef0"
SYNC = {"nfs_server": "192.168.10.5", "nfs_path": "/export/data", "agent_arns": [AGENT], "every_hours": 6}
EFS, S3 = "aws:datasync/efsLocation:EfsLocation", "aws:datasync/s3Location:S3Location"
TASK = "aws:datasync/task:Task"
BUCKET = "arn:aws:s3:::lab-data"
FILES = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"


def with_files(stack: Program) -> Program:
    """Whose mount targets say whose they are."""
    return replace(stack, computed={**stack.computed, "aws:efs/mountTarget:MountTarget": {"fileSystemArn": FILES}})


program = with_files(aws_environment.program)
batch = with_files(test_aws_batch.program)


@pytest.mark.parametrize("stack", [program, batch], ids=["aws", "aws-batch"])
def test_own_files_are_copied_to_where_jobs_see_data(stack):
    made = stack(data_sync=SYNC)
    location = made.one(EFS).inputs
    assert location["subdirectory"] == "/shared/data"
    assert location["inTransitEncryption"] == "TLS1_2"
    [task] = made.of(TASK)
    assert task.inputs["schedule"] == {"scheduleExpression": "rate(6 hours)"}
    assert "data_sync" in made.result
    # Of a mount target, which is there then; from a group that it lets in.
    assert location["efsFileSystemArn"] == FILES
    [group] = location["ec2Config"]["securityGroupArns"]
    assert ":security-group/" in group


def test_directory_that_jobs_see_and_another_one():
    assert program(data_sync=SYNC, files={"directory": "/lab"}).one(EFS).inputs["subdirectory"] == "/lab/data"
    assert program(data_sync=SYNC | {"cloud_path": "/other"}).one(EFS).inputs["subdirectory"] == "/other"


def test_without_the_key_nothing_is_copied():
    made = program()
    assert made.of(TASK) == []
    assert "data_sync" not in made.result


def test_own_servers_files_go_to_a_bucket():
    made = program(**changed(), data_sync=SYNC | {"to": "s3", "bucket_arn": BUCKET})
    assert made.one(S3).inputs["s3BucketArn"] == BUCKET
    assert made.of(EFS) == []


def test_environment_that_makes_no_efs():
    assert program.refusal(**changed(), data_sync=SYNC) == [
        "dev-data-sync: to=efs: the shared files of this environment are own_servers.nfs or lustre, and it makes no "
        "EFS; use to=s3 with bucket_arn [aws-sync-files-made]"
    ]
