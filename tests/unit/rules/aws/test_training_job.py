"""Cases of gpufleet.rules.aws.training_job."""

from gpufleet.rules.aws.training_job import (
    bucket_whole,
    command_fits,
    mount_path,
    prefix_plain,
    secret_arn,
    type_named,
    variable,
)

CASES = {
    type_named: [
        ("one-node", {"nodes": 1, "network": "plain", "type_name": ""}, "pass", ""),
        ("named", {"nodes": 4, "network": "efa", "type_name": "p5.48xlarge"}, "pass", ""),
        (
            "several",
            {"nodes": 2, "network": "plain", "type_name": ""},
            "fail",
            (
                "trainers: instance_type=null: is needed with nodes=2; give the type of the queue's environments "
                "[aws-batch-job-type]"
            ),
        ),
        (
            "efa",
            {"nodes": 1, "network": "efa", "type_name": ""},
            "fail",
            (
                "trainers: instance_type=null: is needed with network=efa; give the type of the queue's environments "
                "[aws-batch-job-type]"
            ),
        ),
    ],
    variable: [
        ("plain", {"argument": "environment", "name": "NCCL_DEBUG", "also_secret": False}, "pass", ""),
        ("own", {"argument": "environment", "name": "_aws_region", "also_secret": False}, "pass", ""),
        (
            "twice",
            {"argument": "environment", "name": "KEY", "also_secret": True},
            "fail",
            (
                "trainers: environment=KEY: is a secret too, and one of the two is lost; keep one of them "
                "[aws-batch-variable]"
            ),
        ),
        (
            "reserved",
            {"argument": "secrets", "name": "AWS_BATCH_KEY", "also_secret": False},
            "fail",
            (
                "trainers: secrets=AWS_BATCH_KEY: begins with AWS_BATCH, which Batch keeps for itself; use another "
                "name [aws-batch-variable]"
            ),
        ),
        (
            "number",
            {"argument": "environment", "name": "2FA", "also_secret": False},
            "fail",
            (
                "trainers: environment=2FA: is not a valid variable name; use letters, digits and _, not starting "
                "with a digit "
                "[aws-batch-variable]"
            ),
        ),
        (
            "equals",
            {"argument": "environment", "name": "A=B", "also_secret": False},
            "fail",
            (
                "trainers: environment=A=B: is not a valid variable name; use letters, digits and _, not starting "
                "with a digit "
                "[aws-batch-variable]"
            ),
        ),
    ],
    secret_arn: [
        (
            "secret",
            {"name": "KEY", "arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:wandb-AbCdEf"},
            "pass",
            "",
        ),
        (
            "key-of-it",
            {"name": "KEY", "arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:wandb-AbCdEf:token::"},
            "pass",
            "",
        ),
        ("parameter", {"name": "KEY", "arn": "arn:aws:ssm:us-east-1:123456789012:parameter/team/key"}, "pass", ""),
        (
            "value",
            {"name": "KEY", "arn": "hunter2"},
            "fail",
            (
                "trainers: secrets.KEY=(hidden): is not a secret ARN; give the ARN of a secret "
                "(arn:aws:secretsmanager:...) or of a parameter (arn:aws:ssm:...) [aws-batch-secret]"
            ),
        ),
        (
            "role",
            {"name": "KEY", "arn": "arn:aws:iam::123456789012:role/x"},
            "fail",
            (
                "trainers: secrets.KEY=(hidden): is not a secret ARN; give the ARN of a secret "
                "(arn:aws:secretsmanager:...) or of a parameter (arn:aws:ssm:...) [aws-batch-secret]"
            ),
        ),
    ],
    prefix_plain: [
        ("folder", {"prefix": "runs/vision/"}, "pass", ""),
        ("short", {"prefix": "r/"}, "pass", ""),
        (
            "wildcard",
            {"prefix": "runs/*/"},
            "fail",
            (
                "trainers: bucket.prefixes=runs/*/: has a wildcard, which grants the role more than this folder; give "
                "a "
                "folder such as runs/vision/ [aws-batch-prefix]"
            ),
        ),
        (
            "variable",
            {"prefix": "runs/${aws:username}/"},
            "fail",
            (
                "trainers: bucket.prefixes=runs/${aws:username}/: has a wildcard, which grants the role more than "
                "this folder; give a folder such as runs/vision/ [aws-batch-prefix]"
            ),
        ),
        (
            "no-slash",
            {"prefix": "runs"},
            "fail",
            (
                "trainers: bucket.prefixes=runs: is not a folder prefix; give a folder such as runs/vision/ "
                "[aws-batch-prefix]"
            ),
        ),
        (
            "begins-with-slash",
            {"prefix": "/runs/"},
            "fail",
            (
                "trainers: bucket.prefixes=/runs/: is not a folder prefix; give a folder such as runs/vision/ "
                "[aws-batch-prefix]"
            ),
        ),
        (
            "empty",
            {"prefix": ""},
            "fail",
            (
                "trainers: bucket.prefixes='': is not a folder prefix; give a folder such as runs/vision/ "
                "[aws-batch-prefix]"
            ),
        ),
    ],
    bucket_whole: [
        ("whole", {"arn": True, "prefixes": 1}, "pass", ""),
        (
            "no-prefix",
            {"arn": True, "prefixes": 0},
            "fail",
            ("trainers: bucket=null: lacks prefixes; give arn and prefixes, such as [runs/vision/] [aws-batch-bucket]"),
        ),
        (
            "no-arn",
            {"arn": False, "prefixes": 1},
            "fail",
            ("trainers: bucket=null: lacks arn; give arn and prefixes, such as [runs/vision/] [aws-batch-bucket]"),
        ),
        (
            "nothing",
            {"arn": False, "prefixes": 0},
            "fail",
            (
                "trainers: bucket=null: lacks arn and prefixes; give arn and prefixes, such as [runs/vision/] "
                "[aws-batch-bucket]"
            ),
        ),
    ],
    mount_path: [
        ("path", {"path": "/mnt/shared", "file_system": True}, "pass", ""),
        (
            "root",
            {"path": "/", "file_system": True},
            "fail",
            (
                "trainers: files.path=/: must be an absolute path below the root; give one such as /mnt/shared "
                "[aws-batch-mount]"
            ),
        ),
        (
            "relative",
            {"path": "shared", "file_system": True},
            "fail",
            (
                "trainers: files.path=shared: must be an absolute path below the root; give one such as /mnt/shared "
                "[aws-batch-mount]"
            ),
        ),
        (
            "no-files",
            {"path": "/mnt", "file_system": False},
            "fail",
            (
                "trainers: files=null: lacks file_system_id; give it, an output of SharedFiles for instance "
                "[aws-batch-mount]"
            ),
        ),
    ],
    command_fits: [
        ("longest", {"characters": 8192}, "pass", ""),
        (
            "too-long",
            {"characters": 8193},
            "fail",
            (
                "trainers: command=8193: has 8193 characters, more than the 8192 that ECS allows; put it into a "
                "script in "
                "the image or on the shared files [aws-batch-command]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
