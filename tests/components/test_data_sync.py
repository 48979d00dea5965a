"""DataSync: exact inputs of every child, both directions, both targets, and what is refused."""

import json
from typing import cast

import pytest

from gpufleet.aws.data_sync import DataSync, DataSyncArgs, arns_beside, schedule
from tests.components.recorder import MARK, UNKNOWN, Recording, construct, refusal

NFS = "aws:datasync/nfsLocation:NfsLocation"
EFS = "aws:datasync/efsLocation:EfsLocation"
S3 = "aws:datasync/s3Location:S3Location"
TASK = "aws:datasync/task:Task"
ROLE = "aws:iam/role:Role"
RIGHTS = "aws:iam/rolePolicy:RolePolicy"
AGENT = "arn:aws:datasync:us-east-1:123456789012:agent/agent-0123456789abcdef0"
FILES = "arn:aws:elasticfilesystem:us-east-1:123456789012:file-system/fs-0123456789abcdef0"
BUCKET = "arn:aws:s3:::vision-data"
TAGS = {"owner": "ml", **MARK}
BASE = {
    "region": "us-east-1",
    "nfs_server": "192.168.10.5",
    "nfs_path": "/export/data",
    "agent_arns": [AGENT],
    "to": "efs",
    "cloud_path": "/data",
    "file_system_arn": FILES,
    "subnet_id": "subnet-1",
    "security_group_ids": ["sg-1"],
    "every_hours": 6,
    "tags": TAGS,
}
OF_EFS = ("file_system_arn", "subnet_id", "security_group_ids")
TO_S3 = {**dict.fromkeys(OF_EFS), "to": "s3", "bucket_arn": BUCKET}


def arguments(**changes: object) -> DataSyncArgs:
    """The base with ``changes``; None takes an argument away."""
    return cast(DataSyncArgs, {key: value for key, value in {**BASE, **changes}.items() if value is not None})


def build(preview: bool, /, **changes: object) -> Recording[DataSync]:
    return construct(lambda: DataSync("sync", arguments(**changes)), preview)


def arn(preview: bool, name: str) -> str:
    return UNKNOWN if preview else f"arn:aws:mock::000000000000:{name}"


def named(name: str, **more: str) -> dict[str, object]:
    return {"tags": {**TAGS, "Name": name, **more}}


def task(preview: bool, source: str, destination: str, name: str, direction: str) -> dict[str, object]:
    return {
        "sourceLocationArn": arn(preview, source),
        "destinationLocationArn": arn(preview, destination),
        "schedule": {"scheduleExpression": "rate(6 hours)"},
        "options": {
            "transferMode": "CHANGED",
            "verifyMode": "ONLY_FILES_TRANSFERRED",
            "overwriteMode": "ALWAYS",
            "preserveDeletedFiles": "PRESERVE",
            "uid": "INT_VALUE",
            "gid": "INT_VALUE",
            "posixPermissions": "PRESERVE",
            "mtime": "PRESERVE",
            "atime": "BEST_EFFORT",
        },
        **named(name, direction=direction),
    }


def test_a_copy_in_efs(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(NFS) == {
        "sync-site": {
            "serverHostname": "192.168.10.5",
            "subdirectory": "/export/data",
            "onPremConfig": {"agentArns": [AGENT]},
            **named("sync-site"),
        }
    }
    assert recording.inputs(EFS) == {
        "sync-cloud": {
            "efsFileSystemArn": FILES,
            "subdirectory": "/data",
            "inTransitEncryption": "TLS1_2",
            "fileSystemAccessRoleArn": arn(preview, "sync-role"),
            "ec2Config": {
                "subnetArn": "arn:aws:ec2:us-east-1:123456789012:subnet/subnet-1",
                "securityGroupArns": ["arn:aws:ec2:us-east-1:123456789012:security-group/sg-1"],
            },
            **named("sync-cloud"),
        }
    }
    assert recording.inputs(TASK) == {"sync-in": task(preview, "sync-site", "sync-cloud", "sync-in", "to-cloud")}
    # As root, which the file system grants to no client without a role.
    (statement,) = json.loads(str(recording.one(RIGHTS, "sync-role-files").inputs["policy"]))["Statement"]
    assert statement["Resource"] == FILES
    assert statement["Action"][-1] == "elasticfilesystem:ClientRootAccess"
    assert recording.one(EFS).property_dependencies["fileSystemAccessRoleArn"] == {"sync-role", "sync-role-files"}
    assert recording.of(S3) == []
    assert recording.outputs["sync"] == {"task_arn": arn(preview, "sync-in")}


def test_results_are_brought_back(preview: bool) -> None:
    recording = build(preview, back_from="/results", back_to="/export/results")
    assert recording.one(EFS, "sync-back-cloud").inputs["subdirectory"] == "/results"
    assert recording.one(NFS, "sync-back-site").inputs["subdirectory"] == "/export/results"
    back = task(preview, "sync-back-cloud", "sync-back-site", "sync-back", "to-site")
    assert recording.one(TASK, "sync-back").inputs == back
    assert recording.outputs["sync"]["back_task_arn"] == arn(preview, "sync-back")


def test_a_copy_in_s3_waits_for_the_rights_to_the_bucket(preview: bool) -> None:
    recording = build(preview, **TO_S3)
    role = recording.one(ROLE)
    (trusted,) = json.loads(str(role.inputs["assumeRolePolicy"]))["Statement"]
    assert (role.name, trusted["Principal"]) == ("sync-role", {"Service": "datasync.amazonaws.com"})
    assert trusted["Condition"] == {"StringEquals": {"aws:SourceAccount": "123456789012"}}
    bucket, objects = json.loads(str(recording.one(RIGHTS, "sync-role-bucket").inputs["policy"]))["Statement"]
    assert (bucket["Resource"], objects["Resource"]) == (BUCKET, f"{BUCKET}/*")
    assert "s3:ListBucket" in bucket["Action"]
    assert {"s3:GetObject", "s3:PutObject"} <= set(objects["Action"])
    location = recording.one(S3)
    assert location.inputs == {
        "s3BucketArn": BUCKET,
        "subdirectory": "/data",
        "s3Config": {"bucketAccessRoleArn": arn(preview, "sync-role")},
        **named("sync-cloud"),
    }
    assert location.property_dependencies["s3Config"] == {"sync-role", "sync-role-bucket"}


def test_every_choice_of_a_run(preview: bool) -> None:
    made = build(preview, mirror=True, limit_mbit=200, every_hours=1, cloud_path=None)
    options = cast("dict[str, object]", made.one(TASK).inputs["options"])
    assert (options["preserveDeletedFiles"], options["bytesPerSecond"]) == ("REMOVE", 25_000_000)
    assert made.one(TASK).inputs["schedule"] == {"scheduleExpression": "rate(1 hour)"}
    assert made.one(EFS).inputs["subdirectory"] == "/"


def test_what_a_task_needs_outlives_it(preview: bool) -> None:
    needs = build(preview).one(TASK).property_dependencies
    assert needs == {"sourceLocationArn": {"sync-site"}, "destinationLocationArn": {"sync-cloud"}}


def test_intervals_and_neighbours() -> None:
    assert [schedule(hours) for hours in (1, 2, 168)] == ["rate(1 hour)", "rate(2 hours)", "rate(168 hours)"]
    china = "arn:aws-cn:elasticfilesystem:cn-north-1:123456789012:file-system/fs-1"
    assert arns_beside(china, "subnet", ["subnet-1"]) == ["arn:aws-cn:ec2:cn-north-1:123456789012:subnet/subnet-1"]


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "an agent of another region": (
        {"agent_arns": [AGENT.replace("us-east-1", "eu-west-1")]},
        [
            f"agent_arns={AGENT.replace('us-east-1', 'eu-west-1')}: is an agent of eu-west-1, not of us-east-1; "
            "activate one in us-east-1 [aws-sync-agent]"
        ],
    ),
    "results inside of what is copied there": (
        {"back_from": "/data/results", "back_to": "/export/results"},
        [
            "back_from=/data/results: overlaps cloud_path=/data, so that one direction overwrites what the other "
            "brings; use a directory apart, such as /results beside /data [aws-sync-apart]"
        ],
    ),
    "a bucket for a file system, and too often": (
        {"bucket_arn": BUCKET, "every_hours": 0, "nfs_server": "192.168.10.5:/export"},
        [
            "nfs_server=192.168.10.5:/export: is not a host name or address; use a name or an address, such as "
            "192.168.10.5, without a "
            "path [aws-sync-server]",
            "every_hours=0: is not a valid sync interval; use 1 to 168; a shorter delay needs a link [aws-sync-hours]",
            "bucket_arn=given: belongs to to=s3, and this sync is to=efs; remove it, or use to=s3 [aws-sync-target]",
        ],
    ),
    "half of the way back, and no subnet": (
        {"back_to": "/export/results", "subnet_id": None},
        [
            "back_from=null: is not given, and the other end of the way back is; give both, or none [aws-sync-back]",
            "subnet_id=null: is not given, and to=efs needs it; give subnet_id [aws-sync-target]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    assert refusal(lambda: DataSync("sync", arguments(**changes)), preview) == [f"sync: {line}" for line in lines]
