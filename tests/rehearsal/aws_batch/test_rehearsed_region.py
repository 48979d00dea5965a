"""Batch, logs, images and buckets of a simulated AWS, by boto3's clients that `gpufleet` uses."""

import hashlib
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest

from gpufleet.aws.client import AWS_ENDPOINT, AwsClientError
from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.backend import AwsBatchBackend
from gpufleet.jobs.aws_batch.client import AwsBatchClient, error_code, error_message
from gpufleet.jobs.aws_batch.latest_image import newest_images, put_played
from gpufleet.jobs.aws_batch.outputs import AwsBatchOutputs
from gpufleet.jobs.settings import JobSettings, read_settings
from gpufleet.played_endpoint import REHEARSAL
from gpufleet_rehearsal.aws_batch import images, objects, rehearsed_region
from gpufleet_rehearsal.aws_batch.rehearsed_region import RehearsedRegions
from gpufleet_rehearsal.aws_batch.server import aws_handler
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.loopback import serve

ARN = "arn:aws:batch:us-east-1:000000000000"
REGION = "us-east-1"
HOST = f"000000000000.dkr.ecr.{REGION}.rehearsal.invalid"
ENVIRONMENT = f"{ARN}:compute-environment/spot"
CONTAINER = {
    "image": f"{HOST}/training:latest",
    "logConfiguration": {"logDriver": "awslogs", "options": {"awslogs-group": "dev-logs"}},
    "resourceRequirements": [{"type": "GPU", "value": "1"}, {"type": "VCPU", "value": "4"}],
}


@pytest.fixture
def cloud(tmp_path: Path) -> Cloud:
    """A queue of an environment, a definition, a bucket and a repository, as an `up` makes them."""
    (tmp_path / "rehearsal.json").write_text('{"latency_scale": 0}')
    made = open_cloud("aws", tmp_path)
    add(made, "aws:ec2/subnet:Subnet", "subnet-1", availabilityZoneId="use1-az1")
    resources = {"type": "SPOT", "instanceTypes": ["g5.xlarge"], "maxVcpus": 4, "subnets": ["subnet-1"]}
    environment = {"type": "MANAGED", "state": "ENABLED", "status": "VALID", "computeResources": resources}
    add(made, rehearsed_region.ENVIRONMENT, "spot", arn=ENVIRONMENT, **environment)
    order = [{"order": 1, "computeEnvironment": ENVIRONMENT}]
    queue = {"state": "ENABLED", "priority": 1, "computeEnvironmentOrders": order}
    add(made, rehearsed_region.QUEUE, "dev", arn=f"{ARN}:job-queue/dev", **queue)
    arn = f"{ARN}:job-definition/train:1"
    properties = {"type": "container", "containerProperties": json.dumps(CONTAINER), "revision": 1}
    rules = {"attempts": 2, "evaluateOnExits": [{"onReason": "*", "action": "EXIT"}]}
    add(made, rehearsed_region.DEFINITION, "train", arn=arn, retryStrategy=rules, **properties)
    add(made, rehearsed_region.GROUP, "dev-logs")
    add(made, objects.BUCKETS[0], "dev-files", bucket="dev-files")
    ecr = {"registryId": "000000000000", "imageTagMutability": "IMMUTABLE"}
    add(made, images.REPOSITORY, "training", **ecr)
    return made


def add(cloud: Cloud, type_: str, name: str, **inputs: Any) -> None:
    given = {"name": name, "region": REGION, **inputs}
    cloud.store.add(
        type_=type_, id_=name, urn=f"urn:pulumi:dev::p::{type_}::{name}", name=name, inputs=given, outputs={}, at=0.0,
        ready_at=0.0,
    )  # fmt: skip


@contextmanager
def served(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsBatchClient]:
    """The cloud's services for a client, as long as a command runs."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with serve(aws_handler(RehearsedRegions(cloud).open)) as url:
        monkeypatch.setenv(REHEARSAL, "none")
        monkeypatch.setenv(AWS_ENDPOINT, url)
        yield AwsBatchClient(REGION, attempts=1)


def settings() -> JobSettings:
    jobs = {"on": "batch", "region": REGION, "queue": "dev", "definition": "train", "bucket": "dev-files"}
    return read_settings({"jobs": jobs | {"log_group": "dev-logs"}}, "dev")


def test_job_its_log_and_its_outputs(cloud: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    line = f"rehearsed: no container ran; {HOST}/training@sha256:0 on 1 node of spot"
    with served(cloud, monkeypatch):
        backend, notes = AwsBatchBackend(settings()), []
        asked = backend.build_submission({"name": "job", "command": ["x"], "image": f"{HOST}/training@sha256:0"})
        backend.submit(asked, notes.append)
        assert notes == ["job: uses train:2, the stack's definition with another image or secrets"]
        assert backend.details("job")["state"] == "SUCCEEDED"
        assert [each.text for each in backend.read_log("job")] == [line]
    # The next command knows it still.
    with served(cloud, monkeypatch) as aws:
        assert [each["name"] for each in AwsBatchBackend(settings()).list_jobs()] == ["job"]
        batch = settings().batch
        assert batch is not None
        [copied] = AwsBatchOutputs(aws, batch, "dev").get("job", tmp_path / "there")
        assert (copied.path, (tmp_path / "there" / "rehearsed.txt").read_text()) == ("rehearsed.txt", f"{line}\n")


def test_what_the_cloud_has_is_what_is_described(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(cloud, monkeypatch) as aws:
        [queue] = aws.ask("batch", "describe_job_queues", "jobQueues[]", jobQueues=["dev"])
        assert (queue["jobQueueArn"], queue["computeEnvironmentOrder"]) == (
            f"{ARN}:job-queue/dev",
            [{"order": 1, "computeEnvironment": ENVIRONMENT}],
        )
        [environment] = aws.ask("batch", "describe_compute_environments", "computeEnvironments[]")
        assert (environment["computeResources"]["maxvCpus"], environment["computeResources"]["desiredvCpus"]) == (4, 0)
        [definition] = aws.ask("batch", "describe_job_definitions", "jobDefinitions[]", jobDefinitions=["train:1"])
        assert definition["containerProperties"] == CONTAINER
        assert definition["retryStrategy"]["evaluateOnExit"] == [{"onReason": "*", "action": "EXIT"}]
        for each in cloud.store.resources(rehearsed_region.QUEUE):
            cloud.store.remove(each, 0.0)
        assert aws.ask("batch", "describe_job_queues", "jobQueues[]") == []
    # Another region has nothing of it.
    with served(cloud, monkeypatch):
        assert AwsBatchClient("us-west-2").ask("batch", "describe_job_definitions", "jobDefinitions[]") == []


@pytest.mark.parametrize(("fault", "state"), [("use1-az1", "RUNNABLE"), ("use1-az2", "SUCCEEDED")])
def test_fault_of_capacity(fault: str, state: str, cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"latency_scale": 0, "faults": [f"capacity:g5.xlarge:{fault}"]}
    (cloud.store.path.parent / "rehearsal.json").write_text(json.dumps(told))
    with served(open_cloud("aws", cloud.store.path.parent), monkeypatch) as aws:
        made = aws.call("batch", "submit_job", jobName="job", jobQueue="dev", jobDefinition="train")
        [job] = aws.call("batch", "describe_jobs", jobs=[made["jobId"]])["jobs"]
    assert job["status"] == state


def test_objects_of_a_bucket(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(cloud, monkeypatch) as aws:
        where = {"Bucket": "dev-files", "Key": "jobs/a b&c/ü"}
        etag = aws.call("s3", "put_object", **where, Body=b"0123456789")["ETag"]
        aws.call("s3", "put_object", Bucket="dev-files", Key="other", Body=b"")
        listed = aws.ask("s3", "list_objects_v2", "Contents[]", Bucket="dev-files", Prefix="jobs/")
        assert [(each["Key"], each["Size"], each["ETag"]) for each in listed] == [("jobs/a b&c/ü", 10, etag)]
        paged = aws.ask("s3", "list_objects_v2", "Contents[]", Bucket="dev-files", MaxKeys=1)
        assert [each["Key"] for each in paged] == ["jobs/a b&c/ü", "other"]
        rest = aws.call("s3", "get_object", **where, Range="bytes=4-", IfMatch=etag)
        assert (rest["Body"].read(), rest["ContentRange"]) == (b"456789", "bytes 4-9/10")
        assert aws.call("s3", "head_object", **where)["ContentLength"] == 10
        for call, changed, code in (
            ("get_object", {**where, "IfMatch": '"other"'}, "PreconditionFailed"),
            ("get_object", {**where, "Range": "bytes=10-"}, "InvalidRange"),
            ("get_object", {**where, "Key": "gone"}, "NoSuchKey"),
            ("put_object", {**where, "Bucket": "gone"}, "NoSuchBucket"),
            ("delete_object", where, "NotImplemented"),
        ):
            with pytest.raises(AwsClientError) as told:
                aws.call("s3", call, **changed)
            assert error_code(told.value) == code


def test_newest_image_of_a_repository(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = {name: f"{HOST}/{name}" for name in ("training", "none")}
    with served(cloud, monkeypatch) as aws:
        for tag, manifest in (("v1", "one"), ("v2", "two"), ("v1", "one")):
            put_played(urls["training"], tag, manifest)
        found = newest_images(urls)
        with pytest.raises(AwsClientError) as told:
            aws.call("ecr", "put_image", repositoryName="training", imageTag="v1", imageManifest="three")
        assert error_code(told.value) == "ImageTagAlreadyExistsException"
    assert {name: (image.tag, image.digest) for name, image in found.items()} == {
        "training": ("v2", f"sha256:{hashlib.sha256(b'two').hexdigest()}")
    }
    # Elsewhere such a host is nobody's, and nothing is put.
    monkeypatch.delenv(AWS_ENDPOINT)
    put_played(urls["training"], "v1", "one")
    assert newest_images(urls) == {}


@pytest.mark.parametrize(
    ("service", "call", "arguments", "code", "words"),
    [
        ("batch", "delete_job_queue", {"jobQueue": "dev"}, "NotImplemented",
         "a rehearsal does not play batch:DeleteJobQueue"),
        ("ec2", "describe_vpcs", {}, "NotImplemented", "a rehearsal does not play ec2 of AWS"),
        ("sts", "get_caller_identity", {}, "NotImplemented", "a rehearsal does not play sts of AWS"),
        ("logs", "describe_log_groups", {}, "NotImplemented", "a rehearsal does not play logs:DescribeLogGroups"),
        ("logs", "get_log_events", {"logGroupName": "none", "logStreamName": "x", "startFromHead": True},
         "ResourceNotFoundException", "The specified log group does not exist."),
        ("s3", "list_buckets", {}, "NotImplemented", "a rehearsal does not play GET / of S3"),
        ("batch", "list_jobs", {}, "ClientException",
         "Exactly one of jobQueue, arrayJobId, multiNodeJobId is required"),
    ],
)  # fmt: skip
def test_what_is_not_played_is_refused_in_one_line(
    service: str,
    call: str,
    arguments: dict[str, Any],
    code: str,
    words: str,
    cloud: Cloud,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with served(cloud, monkeypatch) as aws:
        near = {"endpoint_url": _url(), "aws_access_key_id": "none", "aws_secret_access_key": "none"}
        client = boto3.client(service, REGION, **near)
        with pytest.raises(client.exceptions.ClientError) as told:
            getattr(client, call)(**arguments)
        assert (told.value.response["Error"]["Code"], told.value.response["Error"]["Message"]) == (code, words)
        assert aws.region == REGION


def test_request_that_the_services_model_does_not_allow(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = f"AWS4-HMAC-SHA256 Credential=none/20260101/{REGION}/batch/aws4_request, Signature=0"
    with served(cloud, monkeypatch):
        body = json.dumps({"jobs": ["x"], "more": 1}).encode()
        request = urllib.request.Request(f"{_url()}/v1/describejobs", body, {"Authorization": scope})
        with pytest.raises(urllib.error.HTTPError) as told:
            urllib.request.urlopen(request)
        answer = json.loads(told.value.read())
    assert (told.value.code, answer["message"]) == (400, 'Unknown parameter in input: "more", must be one of: jobs')


def _url() -> str:
    return os.environ[AWS_ENDPOINT]


def test_played_services_are_asked_in_a_rehearsal_only(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(cloud, monkeypatch) as aws:
        url = _url()
        monkeypatch.delenv(REHEARSAL)
        with pytest.raises(UserError) as told:
            aws.call("batch", "describe_jobs", jobs=["x"])
        words = f"{AWS_ENDPOINT}={url}: holds in a rehearsal only; unset it, or run `gpufleet rehearse ENV -- ...`"
        assert str(told.value) == words
        monkeypatch.setenv(REHEARSAL, "none")
        monkeypatch.setenv(AWS_ENDPOINT, "https://batch.us-east-1.amazonaws.com")
        with pytest.raises(UserError) as told:
            AwsBatchClient(REGION).call("batch", "describe_jobs", jobs=["x"])
        assert "must be an http:// URL of this machine" in str(told.value)


def test_rejection_reaches_the_user(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(cloud, monkeypatch) as aws, pytest.raises(AwsClientError) as told:
        aws.call("batch", "submit_job", jobName="job", jobQueue="gone", jobDefinition="train")
    assert error_message(told.value) == "JobQueue gone does not exist"
