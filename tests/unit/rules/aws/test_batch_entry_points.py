"""The validation of components on AWS Batch: which rules a mistake breaks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufleet.rules import (
    Severity,
    Status,
    validate_batch_environment,
    validate_batch_queue,
    validate_outputs_bucket,
    validate_training_job,
)

ARN = "arn:aws:batch:us-east-1:123456789012:compute-environment/"
SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:key-AbCdEf"
ENVIRONMENT = {"region": "us-east-1", "types": ["p4d.24xlarge"], "max": 4, "zones": ["use1-az1"]}
TWO_ZONES = {"zones": ["use1-az1", "use1-az2"]}
SPOT = {"capacity": "spot", "types": ["p4d.24xlarge", "p4de.24xlarge"], "zones": ["use1-az6"]}
QUEUE = {"environments": [f"{ARN}first", f"{ARN}second"]}
JOB = {"region": "us-east-1", "image": "r/llm:1", "gpus": 8, "instance_type": "p5.48xlarge"}


def not_passed(findings):
    """What objects, advice left out: at least WARNING, or unverified."""
    return sorted(
        {
            finding.rule
            for finding in findings
            if finding.status is not Status.PASS
            and not (finding.severity is Severity.INFO and finding.status is Status.FAIL)
        }
    )


@pytest.mark.parametrize(
    ("validate", "args"),
    [
        (validate_batch_environment, ENVIRONMENT),
        (validate_batch_environment, ENVIRONMENT | {"network": "efa", "placement": "create"}),
        (validate_batch_environment, ENVIRONMENT | TWO_ZONES),
        (validate_batch_environment, ENVIRONMENT | SPOT),
        (validate_batch_environment, ENVIRONMENT | SPOT | {"strategy": "SPOT_CAPACITY_OPTIMIZED"}),
        (
            validate_batch_environment,
            ENVIRONMENT | {"capacity": "reservation", "reservation_id": "cr-0123456789abcdef0"},
        ),
        (validate_batch_environment, ENVIRONMENT | {"security_group_ids": [object()] * 4}),
        (validate_batch_environment, ENVIRONMENT | {"image": "ami-0123456789abcdef0"}),
        (validate_batch_queue, QUEUE),
        (validate_batch_queue, {"environments": [object(), object(), f"{ARN}third"]}),
        (
            validate_batch_queue,
            QUEUE | {"shares": {"vision": 3, "speech": 0.5}, "runnable_minutes": 10.0, "priority": 0},
        ),
        (validate_training_job, JOB),
        (validate_training_job, {"region": "us-east-1", "image": "r/llm:1", "gpus": 1}),
        (validate_training_job, JOB | {"nodes": 4, "network": "efa"}),
        (
            validate_training_job,
            JOB | {"image": object(), "secrets": {"KEY": object()}, "environment": {"A": object()}},
        ),
        (validate_training_job, JOB | {"files": {"file_system_id": object()}, "timeout_minutes": 1, "retries": 9}),
        (validate_training_job, JOB | {"bucket": {"arn": object(), "prefixes": ["runs/"]}, "log_retention_days": 0}),
        (validate_outputs_bucket, {}),
        (validate_outputs_bucket, {"bucket_prefix": "vision-", "expire_days": 1, "tags": {"owner": "ml"}}),
    ],
)
def test_legal_arguments_pass_every_rule(validate, args):
    assert not_passed(validate(args)) == []


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (TWO_ZONES | {"placement": "create"}, ["any-placement-one-zone"]),
        (TWO_ZONES | {"network": "efa"}, ["aws-batch-efa-placed", "aws-efa-one-zone"]),
        ({"network": "efa"}, ["aws-batch-efa-placed"]),
        ({"network": "efa", "placement": "create"}, []),
        ({"types": ["g5.8xlarge", "m5.8xlarge"]}, ["aws-type-known"]),
        ({"types": ["g5.xlarge"], "network": "efa"}, ["aws-batch-efa-placed", "aws-efa-supported"]),
        ({"types": ["g5.xlarge", "g5.16xlarge"]}, ["aws-batch-same-vcpus"]),
        ({"types": ["p3dn.24xlarge"]}, ["aws-batch-image-type"]),
        ({"types": ["g5g.8xlarge"], "zones": ["use1-az2"]}, ["aws-batch-image-type"]),
        ({"types": ["g5g.8xlarge"], "zones": ["use1-az2"], "image": "ami-0123456789abcdef0"}, []),
        ({"image": "bottlerocket"}, ["aws-batch-image-word"]),
        ({"capacity": "capacity-block", "reservation_id": "cr-0123456789abcdef0"}, ["aws-batch-no-block"]),
        (SPOT | {"placement": "create"}, ["aws-batch-spot-near", "aws-placement-same-type"]),
        (SPOT | {"network": "efa"}, ["aws-batch-spot-near"]),
        ({"capacity": "spot"}, ["any-capacity-spot-choice"]),
        ({"strategy": "BEST_FIT"}, ["aws-batch-strategy-in-place"]),
        (SPOT | {"strategy": "BEST_FIT"}, ["aws-batch-strategy", "aws-batch-strategy-in-place"]),
        ({"strategy": "SPOT_CAPACITY_OPTIMIZED"}, ["aws-batch-strategy"]),
        ({"security_group_ids": [object()] * 5}, ["aws-batch-security-groups"]),
        ({"min": 5}, ["any-count-min-max"]),
        ({"max": 0}, ["any-argument-least"]),
        ({"disk_gib": 10}, ["aws-image-disk"]),
        ({"disk_iops": 4000, "disk_throughput": 2000}, ["aws-disk-throughput"]),
        ({"disk_type": "io2", "disk_iops": 64}, ["aws-disk-iops"]),
        ({"region": "us-east1"}, ["aws-region-known", "aws-type-in-region"]),
    ],
)
def test_environment_mistakes(change, rules):
    assert not_passed(validate_batch_environment(ENVIRONMENT | change)) == rules


THE_SAME = object()


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"environments": []}, ["aws-batch-queue-environments"]),
        ({"environments": [f"{ARN}{number}" for number in "1234"]}, ["aws-batch-queue-environments"]),
        ({"environments": [f"{ARN}first", f"{ARN}first"]}, ["aws-batch-queue-twice"]),
        ({"environments": [THE_SAME, object(), THE_SAME]}, ["aws-batch-queue-twice"]),
        ({"environments": ["first"]}, ["aws-batch-queue-arn"]),
        ({"runnable_minutes": 9}, ["aws-batch-time-limit"]),
        ({"runnable_minutes": 1441}, ["aws-batch-time-limit"]),
        ({"shares": {"vision-lab": 1}}, ["aws-batch-share-name"]),
        ({"shares": {"vis*": 1, "vision": 1}}, ["aws-batch-share-overlap"]),
        ({"shares": {"vision": 0}}, ["aws-batch-share-weight"]),
        ({"shares": {"vision": "much"}}, ["aws-batch-share-weight"]),
        ({"shares": {f"team{number}": 1 for number in range(501)}}, ["aws-batch-share-number"]),
        ({"priority": -1}, ["any-argument-least"]),
    ],
)
def test_queue_mistakes(change, rules):
    assert not_passed(validate_batch_queue(QUEUE | change)) == rules


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"gpus": 9}, ["aws-batch-job-gpus"]),
        ({"vcpus": 193}, ["aws-batch-job-vcpus"]),
        ({"memory_gib": 2048}, ["aws-batch-job-memory"]),
        ({"memory_gib": 2000}, ["aws-batch-job-memory"]),
        ({"memory_gib": 64, "shared_memory_gib": 65}, ["aws-batch-job-shared-memory"]),
        ({"shared_memory_gib": 1844}, ["aws-batch-job-shared-memory"]),
        ({"shared_memory_gib": 1843}, []),
        ({"retries": 10}, ["aws-batch-tries"]),
        ({"timeout_minutes": 0}, ["aws-batch-timeout"]),
        ({"nodes": 0}, ["any-argument-least"]),
        ({"nodes": 2, "instance_type": None}, ["aws-batch-job-type"]),
        ({"network": "efa", "instance_type": None}, ["aws-batch-job-type"]),
        ({"network": "efa", "instance_type": "g5.xlarge", "gpus": 1}, ["aws-mpi-efa"]),
        ({"instance_type": "p5.48xl"}, ["aws-type-known"]),
        ({"image": "llm"}, ["any-mpi-image-pinned"]),
        ({"image": "r/LLM:1"}, ["any-mpi-image"]),
        ({"secrets": {"KEY": "hunter2"}}, ["aws-batch-secret"]),
        ({"secrets": {"KEY": SECRET}, "environment": {"KEY": "1"}}, ["aws-batch-variable"]),
        ({"environment": {"AWS_BATCH_JOB_ID": "1"}}, ["aws-batch-variable"]),
        ({"bucket": {"arn": "arn:aws:s3:::b", "prefixes": ["runs/*/"]}}, ["aws-batch-prefix"]),
        ({"bucket": {"arn": "arn:aws:s3:::b", "prefixes": []}}, ["aws-batch-bucket"]),
        ({"bucket": {"prefixes": ["runs/"]}}, ["aws-batch-bucket"]),
        ({"files": {"file_system_id": "fs-1", "path": "shared"}}, ["aws-batch-mount"]),
        ({"files": {"path": "/mnt"}}, ["aws-batch-mount"]),
        ({"log_retention_days": 29}, ["aws-logs-retention"]),
    ],
)
def test_job_mistakes(change, rules):
    args = {key: value for key, value in (JOB | change).items() if value is not None}
    assert not_passed(validate_training_job(args)) == rules


def test_a_secret_that_is_written_out_is_not_repeated():
    lines = [finding.line("train") for finding in validate_training_job(JOB | {"secrets": {"KEY": "hunter2"}})]
    assert not any("hunter2" in line for line in lines)


@pytest.mark.parametrize(
    ("args", "rules"),
    [({"bucket_prefix": "Vision"}, ["aws-outputs-prefix"]), ({"expire_days": -1}, ["any-argument-least"])],
)
def test_bucket_mistakes(args, rules):
    assert not_passed(validate_outputs_bucket(args)) == rules


def test_one_node_before_several_is_said_of_nodes_that_work_together_only():
    single = ENVIRONMENT | {"types": ["g5.8xlarge"], "max": 8}

    def advised(args):
        return "any-pool-fewer-nodes" in {each.rule for each in validate_batch_environment(args) if each.problem}

    assert advised(single | {"placement": "create"})
    assert not advised(single)


ANY = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=3))
FIELDS = [
    *("region", "types", "min", "max", "zones", "placement", "capacity", "network", "image", "disk_gib", "strategy"),
    *("security_group_ids", "environments", "priority", "shares", "runnable_minutes", "tags", "gpus", "vcpus"),
    *("memory_gib", "nodes", "instance_type", "shared_memory_gib", "files", "bucket", "environment", "secrets"),
    *("retries", "timeout_minutes", "log_retention_days", "bucket_prefix", "expire_days"),
]


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), ANY | st.dictionaries(st.text(max_size=3), ANY, max_size=2)))
def test_no_door_ever_raises(args):
    for validate in (validate_batch_environment, validate_batch_queue, validate_training_job, validate_outputs_bucket):
        assert all(finding.line("x").isprintable() for finding in validate(args))
