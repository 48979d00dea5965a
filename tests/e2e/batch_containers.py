"""Runs on this machine what the containers of a job on the played AWS Batch would run: the rehearsal runs none.

    python batch_containers.py JOB FOLDER

In a rehearsed shell, after the job has ended there. Containers run one after another, with the job's command and
variables and what Batch and ECS add, and reach the played S3. python3 is Python 3.8, where this machine has it.
Programs are unpacked in the folder instead of a container's own /tmp.
"""

import ast
import base64
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gpufleet.aws.client import AWS_ENDPOINT, AwsClient
from gpufleet.jobs.aws_batch.container_start import PROGRAM_FOLDER
from tests.tools.oldest_python import path_with_oldest_python

REGION = "us-east-1"
SECONDS = 600


def containers(name: str) -> list[Mapping[str, Any]]:
    """The job of this name as DescribeJobs tells it, or its children."""
    aws = AwsClient(REGION)
    queues = aws.ask("batch", "describe_job_queues", "jobQueues[].jobQueueArn")
    named = [{"name": "JOB_NAME", "values": [name]}]
    [job] = [
        each
        for queue in queues
        for each in aws.ask("batch", "list_jobs", "jobSummaryList[]", jobQueue=queue, filters=named)
    ]
    size = (job.get("arrayProperties") or {}).get("size", 0)
    ids = [f"{job['jobId']}:{index}" for index in range(size)] or [job["jobId"]]
    return [aws.ask("batch", "describe_jobs", "jobs[]", jobs=[each])[0] for each in ids]


def run(job: Mapping[str, Any], folder: Path) -> None:
    """One container, to its end."""
    index = (job.get("arrayProperties") or {}).get("index")
    own = folder / f"{job['jobName']}-{index}"
    own.mkdir(parents=True)
    python, *options, text = job["container"]["command"][:4]
    packed = re.search(r"b85decode\('([^']+)'\.translate\((\{[^}]+\})\)\)", text)
    assert packed
    program = zlib.decompress(base64.b85decode(packed[1].translate(ast.literal_eval(packed[2]))))
    told = program.decode().replace(PROGRAM_FOLDER, str(own / "program"))
    variables = {each["name"]: each["value"] for each in job["container"]["environment"]}
    added = {"AWS_ENDPOINT_URL_S3": os.environ[AWS_ENDPOINT], "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"}
    if index is not None:
        added["AWS_BATCH_JOB_ARRAY_INDEX"] = str(index)
    subprocess.run(
        [python, *options, told, *job["container"]["command"][4:]],
        env={"PATH": path_with_oldest_python(folder / "bin"), **variables, **added},
        cwd=own,
        timeout=SECONDS,
        check=True,
    )


if __name__ == "__main__":
    for each in containers(sys.argv[1]):
        run(each, Path(sys.argv[2]))
