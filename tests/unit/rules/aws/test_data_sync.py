"""Cases of gpufleet.rules.aws.data_sync."""

from gpufleet.rules.aws.data_sync import (
    agent_here,
    back_whole,
    directions_apart,
    files_made,
    hours_legal,
    owners_kept,
    path_legal,
    server_legal,
    target_whole,
)

CASES = {
    hours_legal: [
        ("least", {"hours": 1}, "pass", ""),
        ("most", {"hours": 168}, "pass", ""),
        (
            "none",
            {"hours": 0},
            "fail",
            (
                "trainers: every_hours=0: is not a valid sync interval; use 1 to 168; a shorter delay needs a link "
                "[aws-sync-hours]"
            ),
        ),
        (
            "more",
            {"hours": 169},
            "fail",
            (
                "trainers: every_hours=169: is not a valid sync interval; use 1 to 168; a shorter delay needs a link "
                "[aws-sync-hours]"
            ),
        ),
    ],
    path_legal: [
        ("deep", {"argument": "nfs_path", "path": "/export/my data"}, "pass", ""),
        ("root", {"argument": "cloud_path", "path": "/"}, "pass", ""),
        (
            "relative",
            {"argument": "nfs_path", "path": "export"},
            "fail",
            (
                "trainers: nfs_path=export: must be an absolute directory path; use one such as /export/data "
                "[aws-sync-path]"
            ),
        ),
        (
            "up",
            {"argument": "nfs_path", "path": "/export/../etc"},
            "fail",
            (
                "trainers: nfs_path=/export/../etc: must be an absolute directory path; use one such as /export/data "
                "[aws-sync-path]"
            ),
        ),
        (
            "empty",
            {"argument": "nfs_path", "path": ""},
            "fail",
            ("trainers: nfs_path='': must be an absolute directory path; use one such as /export/data [aws-sync-path]"),
        ),
        (
            "odd",
            {"argument": "nfs_path", "path": "/a?b"},
            "fail",
            (
                "trainers: nfs_path=/a?b: must be an absolute directory path; use one such as /export/data "
                "[aws-sync-path]"
            ),
        ),
    ],
    server_legal: [
        ("name", {"server": "files.lab.example.com"}, "pass", ""),
        ("address", {"server": "10.80.0.5"}, "pass", ""),
        (
            "with-path",
            {"server": "files:/export"},
            "fail",
            (
                "trainers: nfs_server=files:/export: is not a host name or address; use a name or an address, such as "
                "192.168.10.5, "
                "without a path [aws-sync-server]"
            ),
        ),
        (
            "empty",
            {"server": ""},
            "fail",
            (
                "trainers: nfs_server='': is not a host name or address; use a name or an address, such as "
                "192.168.10.5, without a path "
                "[aws-sync-server]"
            ),
        ),
    ],
    agent_here: [
        (
            "here",
            {"arn": "arn:aws:datasync:us-east-1:123456789012:agent/agent-0123456789abcdef0", "region": "us-east-1"},
            "pass",
            "",
        ),
        (
            "elsewhere",
            {"arn": "arn:aws:datasync:us-east-1:123456789012:agent/agent-0123456789abcdef0", "region": "eu-west-1"},
            "fail",
            (
                "trainers: agent_arns=arn:aws:datasync:us-east-1:123456789012:agent/agent-0123456789abcdef0: is an "
                "agent of us-east-1, not of eu-west-1; activate one in eu-west-1 [aws-sync-agent]"
            ),
        ),
        (
            "an-id",
            {"arn": "agent-0123456789abcdef0", "region": "us-east-1"},
            "fail",
            (
                "trainers: agent_arns=agent-0123456789abcdef0: is not the ARN of a DataSync agent; use one such as "
                "arn:aws:datasync:us-east-1:123456789012:agent/agent-0123456789abcdef0 [aws-sync-agent]"
            ),
        ),
    ],
    directions_apart: [
        (
            "beside",
            {"argument": "back_from", "path": "/results", "other_argument": "cloud_path", "other": "/data"},
            "pass",
            "",
        ),
        (
            "same-beginning",
            {"argument": "back_from", "path": "/data-2", "other_argument": "cloud_path", "other": "/data"},
            "pass",
            "",
        ),
        (
            "same",
            {"argument": "back_from", "path": "/data", "other_argument": "cloud_path", "other": "/data/"},
            "fail",
            (
                "trainers: back_from=/data: overlaps cloud_path=/data/, so that one direction overwrites what the "
                "other brings; use a directory apart, such as /results beside /data [aws-sync-apart]"
            ),
        ),
        (
            "inside",
            {"argument": "back_to", "path": "/export/data/out", "other_argument": "nfs_path", "other": "/export/data"},
            "fail",
            (
                "trainers: back_to=/export/data/out: overlaps nfs_path=/export/data, so that one direction overwrites"
                " what the other brings; use a directory apart, such as /results beside /data [aws-sync-apart]"
            ),
        ),
        (
            "around",
            {"argument": "back_from", "path": "/", "other_argument": "cloud_path", "other": "/data"},
            "fail",
            (
                "trainers: back_from=/: overlaps cloud_path=/data, so that one direction overwrites what the other "
                "brings; use a directory apart, such as /results beside /data [aws-sync-apart]"
            ),
        ),
    ],
    back_whole: [
        ("both", {"back_from": True, "back_to": True}, "pass", ""),
        ("none", {"back_from": False, "back_to": False}, "pass", ""),
        (
            "no-end",
            {"back_from": True, "back_to": False},
            "fail",
            (
                "trainers: back_to=null: is not given, and the other end of the way back is; give both, or none "
                "[aws-sync-back]"
            ),
        ),
        (
            "no-begin",
            {"back_from": False, "back_to": True},
            "fail",
            (
                "trainers: back_from=null: is not given, and the other end of the way back is; give both, or none "
                "[aws-sync-back]"
            ),
        ),
    ],
    target_whole: [
        ("own", {"to": "efs", "argument": "subnet_id", "of": "efs", "given": True}, "pass", ""),
        ("not-the-others", {"to": "efs", "argument": "bucket_arn", "of": "s3", "given": False}, "pass", ""),
        (
            "missing",
            {"to": "s3", "argument": "bucket_arn", "of": "s3", "given": False},
            "fail",
            "trainers: bucket_arn=null: is not given, and to=s3 needs it; give bucket_arn [aws-sync-target]",
        ),
        (
            "the-others",
            {"to": "s3", "argument": "subnet_id", "of": "efs", "given": True},
            "fail",
            (
                "trainers: subnet_id=given: belongs to to=efs, and this sync is to=s3; remove it, or use to=efs "
                "[aws-sync-target]"
            ),
        ),
    ],
    files_made: [
        ("efs", {"to": "efs", "own_files": False}, "pass", ""),
        ("bucket", {"to": "s3", "own_files": True}, "pass", ""),
        (
            "no-efs",
            {"to": "efs", "own_files": True},
            "fail",
            (
                "trainers: to=efs: the shared files of this environment are own_servers.nfs or lustre, and it makes no "
                "EFS; use to=s3 with bucket_arn [aws-sync-files-made]"
            ),
        ),
    ],
    owners_kept: [
        ("efs", {"to": "efs"}, "pass", ""),
        (
            "s3",
            {"to": "s3"},
            "fail",
            (
                "trainers: to=s3: keeps owners as metadata only; a job that reads the bucket sees no uids; use to=efs"
                " where users own their files [aws-sync-owners-s3]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
