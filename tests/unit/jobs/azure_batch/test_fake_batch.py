"""What plays Azure Batch takes what Batch takes, and refuses all else with Batch's own error."""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from gpufleet_rehearsal.azure_batch.server import JSON, VERSION
from tests.tools.batch_account import FakeBatch

JOB = {"id": "train", "poolInfo": {"poolId": "spot-1"}}
TASK = {"id": "main", "commandLine": "true"}


def ask(here: FakeBatch, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    connection = HTTPConnection(urlsplit(here.url).netloc, timeout=120)
    mark = "&" if "?" in path else "?"
    sent = None if body is None else json.dumps(body)
    given = {"Content-Type": JSON, **headers} if body is not None else headers
    connection.request(method, f"/devbatch{path}{mark}api-version={VERSION}", sent, given)
    answer = connection.getresponse()
    text = answer.read()
    return answer.status, json.loads(text) if text and answer.headers["Content-Type"] == JSON else text


def test_life_of_a_job(here: FakeBatch) -> None:
    assert ask(here, "POST", "/jobs", JOB)[0] == 201
    assert ask(here, "POST", "/jobs/train/tasks", TASK)[0] == 201
    assert ask(here, "PATCH", "/jobs/train", {"onAllTasksComplete": "terminatejob"})[0] == 200
    here.starts("train")
    here.writes("train", "0123456789")
    status, text = ask(here, "GET", "/jobs/train/tasks/main/files/stdout.txt", **{"ocp-range": "bytes=2-4"})
    assert (status, text) == (200, b"234")
    here.ends("train")
    assert ask(here, "GET", "/jobs/train")[1]["executionInfo"]["terminateReason"] == "AllTasksComplete"
    assert ask(here, "DELETE", "/jobs/train")[0] == 202


def test_job_without_tasks_ends_at_once_if_it_may(here: FakeBatch) -> None:
    assert ask(here, "POST", "/jobs", {**JOB, "onAllTasksComplete": "terminatejob"})[0] == 201
    status, told = ask(here, "POST", "/jobs/train/tasks", TASK)
    assert (status, told["code"]) == (409, "JobCompleted")


MULTI = {"numberOfInstances": 2, "coordinationCommandLine": "true"}
REFUSED: list[tuple[str, str, Any, int, str]] = [
    ("GET", "/nonsense", None, 400, "InvalidUri"),
    ("PUT", "/jobs", None, 405, "UnsupportedHttpVerb"),
    ("GET", "/jobs?$filter=nonsense", None, 400, "InvalidQueryParameterValue"),
    ("GET", "/jobs?nonsense=1", None, 400, "UnsupportedQueryParameter"),
    ("GET", "/jobs/none", None, 404, "JobNotFound"),
    ("GET", "/pools/none", None, 404, "PoolNotFound"),
    ("GET", "/pools/spot-1/nodes/none", None, 404, "NodeNotFound"),
    ("POST", "/jobs", {**JOB, "nonsense": 1}, 400, "UnsupportedProperty"),
    ("POST", "/jobs", {"id": "train"}, 400, "MissingRequiredProperty"),
    ("POST", "/jobs", {**JOB, "onAllTasksComplete": "never"}, 400, "InvalidPropertyValue"),
    ("POST", "/jobs", {**JOB, "metadata": {"a": "b"}}, 400, "InvalidPropertyValue"),
    ("POST", "/jobs", {**JOB, "poolInfo": {"poolId": "none"}}, 404, "PoolNotFound"),
    ("POST", "/jobs/train/tasks", {**TASK, "constraints": {"maxWallClockTime": 60}}, 400, "InvalidPropertyValue"),
    ("POST", "/jobs/train/tasks", {**TASK, "constraints": {"maxRetries": 6}}, 400, "UnsupportedProperty"),
    ("POST", "/jobs/train/tasks", {**TASK, "multiInstanceSettings": {**MULTI, "nodes": 2}}, 400, "UnsupportedProperty"),
    ("POST", "/jobs/train/tasks", {**TASK, "multiInstanceSettings": {}}, 400, "MissingRequiredProperty"),
    ("POST", "/jobs/train/tasks", {**TASK, "outputFiles": [{"filePattern": "x"}]}, 400, "MissingRequiredProperty"),
    ("POST", "/jobs/train/tasks", TASK, 404, "JobNotFound"),
    ("POST", "/pools/spot-1/resize", {"targetLowPriorityNodes": 1}, 409, "OperationNotValidOnPool"),
    ("POST", "/pools/fixed-1/resize", {"targetNodes": 1}, 400, "UnsupportedProperty"),
    ("POST", "/pools/fixed-1/resize", {"targetDedicatedNodes": "1"}, 400, "InvalidPropertyValue"),
    ("POST", "/pools/fixed-1/evaluateautoscale", {"autoScaleFormula": "$a=1;"}, 409, "OperationNotValidOnPool"),
    ("POST", "/pools/fixed-1/enableautoscale", {}, 400, "MissingRequiredProperty"),
    ("POST", "/pools/fixed-1/enableautoscale", {"autoScaleFormula": "nonsense"}, 400, "InvalidAutoScalingSettings"),
    ("POST", "/pools/fixed-1/disableautoscale", {"a": 1}, 400, "InvalidRequestBody"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "code"), REFUSED, ids=lambda each: str(each)[:50])
def test_refused(here: FakeBatch, method: str, path: str, body: Any, status: int, code: str) -> None:
    before = (dict(here.jobs), dict(here.tasks))
    found, told = ask(here, method, path, body)
    assert (found, told["code"]) == (status, code), told
    assert told["message"]["lang"] == "en-US"
    assert "\nRequestId:" in told["message"]["value"]
    assert (here.jobs, here.tasks) == before


def test_pool_is_resized_once_at_a_time(here: FakeBatch) -> None:
    here.steady_after = 1
    assert ask(here, "POST", "/pools/fixed-1/resize", {"targetDedicatedNodes": 1})[0] == 202
    assert ask(here, "POST", "/pools/fixed-1/resize", {"targetDedicatedNodes": 2})[1]["code"] == "PoolBeingResized"
    assert ask(here, "GET", "/pools/fixed-1")[1]["allocationState"] == "resizing"
    assert ask(here, "GET", "/pools/fixed-1")[1]["currentDedicatedNodes"] == 1


def test_range_beyond_the_end(here: FakeBatch) -> None:
    ask(here, "POST", "/jobs", JOB)
    ask(here, "POST", "/jobs/train/tasks", TASK)
    here.starts("train")
    status, told = ask(here, "GET", "/jobs/train/tasks/main/files/stdout.txt", **{"ocp-range": "bytes=0-9"})
    assert (status, told["code"]) == (416, "InvalidRange")


def test_version_that_it_does_not_play(here: FakeBatch) -> None:
    connection = HTTPConnection(urlsplit(here.url).netloc, timeout=120)
    connection.request("GET", "/devbatch/jobs?api-version=2017-01-01.4.0")
    assert connection.getresponse().status == 400
