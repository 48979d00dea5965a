"""AWS behind a loopback address: moto's own request handlers for Batch, S3, Logs and ECR.

It stands in for `moto_server`, which needs flask. Batch runs nothing: a job stays SUBMITTED until a test moves it on;
moto itself would end it at once. What is moto's and what is the test's is said at each place.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest import mock

import boto3
from moto.batch.models import Job, JobDefinition, batch_backends
from moto.batch_simple.models import BatchSimpleBackend
from moto.core.config import default_user_config
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_proxy.proxy3 import MotoRequestHandler
from werkzeug.exceptions import HTTPException

ACCOUNT, REGION = "123456789012", "us-east-1"
HOST = f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com"
GROUP = "/aws/batch/dev"
QUEUE, BUCKET = "dev-queue", "dev-outputs"
IMAGE = f"{HOST}/training:base"
DEFINITIONS = f"arn:aws:batch:{REGION}:{ACCOUNT}:job-definition"
WAIT_SECONDS = 120.0

# It keeps the services' models, which take a third of a second to read.
_SESSION = boto3.session.Session()

Answer = tuple[int, bytes]


@dataclass
class FakeAws:
    """url: where it listens. asked: (service, path or target, body) of each request. refusals: what is answered instead
    of moto, by a function of the same three; None for moto's own answer."""

    url: str = ""
    group: str = GROUP
    """Where `write` writes."""
    asked: list[tuple[str, str, bytes]] = field(default_factory=list)
    refusals: list[Callable[[str, str, bytes], Answer | None]] = field(default_factory=list)
    cuts: list[Callable[[str], int | None]] = field(default_factory=list)
    """After how many bytes of the answer to a path the connection breaks; None for never."""

    def client(self, service: str) -> Any:
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        return _SESSION.client(service, REGION, endpoint_url=self.url, **keys)

    def bodies(self, path: str) -> list[Any]:
        """What was sent to an operation of Batch, such as submitjob."""
        return [json.loads(body) for service, asked, body in self.asked if service == "batch" and path in asked]

    def wait_for_job(self, name: str) -> Job:
        """The job of this name, as soon as it is submitted."""
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            for job in list(self.jobs.values()):
                if job.job_name == name and ":" not in job.job_id:
                    return job
            time.sleep(0.01)
        raise AssertionError(f"no job {name} was submitted")

    def wait_for_looks(self) -> None:
        """Until somebody has asked anew for jobs, and has had the answer."""
        before = len(self.bodies("describejobs"))
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            # The first may have been asked for before.
            if len(self.bodies("describejobs")) > before + 2:
                return
            time.sleep(0.01)
        raise AssertionError("nobody looks at the jobs")

    @property
    def jobs(self) -> dict[str, Job]:
        """moto's jobs by id."""
        found: dict[str, Job] = batch_backends[ACCOUNT][REGION]._jobs
        return found

    def write(self, job: Job, *lines: str) -> None:
        """Lines of a job's container, in a stream of its own."""
        logs = self.client("logs")
        if job.log_stream_name is None:
            job.log_stream_name = f"{job.job_definition.name}/default/{job.job_id.replace(':', '-')}"
            logs.create_log_stream(logGroupName=self.group, logStreamName=job.log_stream_name)
        now = int(1000 * time.time())
        events = [{"timestamp": now, "message": line} for line in lines]
        logs.put_log_events(logGroupName=self.group, logStreamName=job.log_stream_name, logEvents=events)


def outputs() -> dict[str, Any]:
    """What a stack on AWS Batch tells; Pulumi has no whole numbers."""
    jobs = {
        "on": "batch",
        "project": "llm",
        "region": REGION,
        "queue": QUEUE,
        "definition": f"{DEFINITIONS}/dev-train:1",
        "multinode": {"definition": f"{DEFINITIONS}/dev-nodes:1", "type": "p4d.24xlarge", "nodes": 4.0},
        "pools": {"trainers": {"types": ["p4d.24xlarge"], "zones": ["use1-az1"], "network": "efa", "max": 4.0}},
        "bucket": BUCKET,
        "log_group": GROUP,
    }
    return {"jobs": jobs, "registry_urls": {"training": f"{HOST}/training"}}


def ended(job: Job, code: int = 0, reason: str = "") -> None:
    """Let a job end, as DescribeJobs would tell it; moto keeps no exit codes, so they stand in an attempt."""
    job.attempts = [{"container": {"exitCode": code, **({"reason": reason} if reason else {})}}]
    if job.log_stream_name:
        job.attempts[0]["container"]["logStreamName"] = job.log_stream_name
    job._mark_stopped(success=code == 0)


@contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Run it beside what is tested; what goes wrong in it is an error of the test."""
    faults: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised below
            faults.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    yield
    thread.join(30)
    assert not thread.is_alive()
    if faults:
        raise faults[0]


@contextmanager
def played() -> Iterator[FakeAws]:
    """An account with a queue, definitions of jobs (dev-train, dev-nodes), a bucket, a log group and a repository."""
    aws = FakeAws()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(aws))
    aws.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    moto_api_backend.reset()
    before = default_user_config["batch"]
    default_user_config["batch"] = {"use_docker": False}
    try:
        with (
            mock.patch.object(BatchSimpleBackend, "_mark_job_as_finished", _leave_submitted),
            mock.patch.object(JobDefinition, "describe", _describe_with_nodes(JobDefinition.describe)),
        ):
            _furnish(aws)
            aws.asked.clear()
            yield aws
    finally:
        default_user_config["batch"] = before
        server.shutdown()
        server.server_close()
        moto_api_backend.reset()


@contextmanager
def container_role() -> Iterator[str]:
    """The address at which ECS gives containers their role's keys."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"AccessKeyId": "A", "SecretAccessKey": "S", "Token": "T"}).encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _leave_submitted(self: BatchSimpleBackend, include_start_attempt: bool, job: Job) -> None:
    """Instead of moto's, which ends every job as soon as it is submitted."""
    self.backend._jobs[job.job_id] = job


def _describe_with_nodes(describe: Callable[[JobDefinition], dict[str, Any]]) -> Callable[[JobDefinition], Any]:
    """moto takes the properties of nodes and does not tell them."""

    def told(self: JobDefinition) -> dict[str, Any]:
        more = {"nodeProperties": self.node_properties} if self.node_properties else {}
        return {**describe(self), **more}

    return told


def _furnish(aws: FakeAws) -> None:
    trust = json.dumps({"Version": "2012-10-17", "Statement": []})
    role = aws.client("iam").create_role(RoleName="batch", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    batch = aws.client("batch")
    batch.create_compute_environment(
        computeEnvironmentName="dev-pool", type="UNMANAGED", state="ENABLED", serviceRole=role
    )
    order = [{"order": 0, "computeEnvironment": "dev-pool"}]
    batch.create_job_queue(jobQueueName=QUEUE, state="ENABLED", priority=1, computeEnvironmentOrder=order)
    container = {
        "image": IMAGE,
        "resourceRequirements": [
            {"type": "GPU", "value": "1"},
            {"type": "VCPU", "value": "8"},
            {"type": "MEMORY", "value": "30000"},
        ],
        "environment": [{"name": "DATA", "value": "/mnt/data"}],
    }
    retry = {"attempts": 3, "evaluateOnExit": [{"onStatusReason": "Host EC2*", "action": "RETRY"}]}
    batch.register_job_definition(
        jobDefinitionName="dev-train", type="container", containerProperties=container, retryStrategy=retry
    )
    nodes = {
        "numNodes": 2,
        "mainNode": 0,
        "nodeRangeProperties": [{"targetNodes": "0:", "container": {**container, "instanceType": "p4d.24xlarge"}}],
    }
    batch.register_job_definition(jobDefinitionName="dev-nodes", type="multinode", nodeProperties=nodes)
    aws.client("s3").create_bucket(Bucket=BUCKET)
    aws.client("logs").create_log_group(logGroupName=GROUP)
    aws.client("ecr").create_repository(repositoryName="training")


def _handler(aws: FakeAws) -> type[BaseHTTPRequestHandler]:
    moto = MotoRequestHandler(0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            # AWS's endpoints tell services by their host; here there is one, and the signature says which is meant.
            scope = self.headers.get("Authorization", "").partition("Credential=")[2].partition(",")[0].split("/")
            region, service = scope[2:4] if len(scope) > 3 else (REGION, "s3")
            what = self.headers.get("X-Amz-Target") or self.path
            aws.asked.append((service, what, body))
            for refusal in aws.refusals:
                told = refusal(service, what, body)
                if told:
                    self.send(told[0], {"Content-Type": "application/json"}, told[1])
                    return
            host = f"https://{'api.ecr' if service == 'ecr' else service}.{region}.amazonaws.com"
            try:
                status, headers, text = moto.parse_request(self.command, host, self.path, self.headers, body)
            except HTTPException as error:
                status, headers, text = error.code or 500, dict(error.get_headers()), error.get_body()
            self.send(status, headers, text.encode() if isinstance(text, str) else text)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer

        def send(self, status: int, headers: dict[str, Any], text: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                if name.lower() not in ("content-length", "connection", "date", "server"):
                    self.send_header(name, str(value))
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            if self.command == "HEAD":
                return
            for cut in aws.cuts:
                most = cut(self.path)
                if most is not None:
                    self.wfile.write(text[:most])
                    self.close_connection = True
                    return
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            """The requests stand in `asked`."""

    return Handler
