"""A job as `gpufleet jobs submit` plans it, on Spot nodes that Azure allows: tried again, from its newest checkpoint.

Ranks, OpenMPI, ssh and the training are real, over network namespaces; Azure Batch is played (see azure_service).
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpufleet.jobs.azure_batch.entrypoint import EVICTED
from gpufleet.jobs.azure_batch.submission import build_submission
from gpufleet.jobs.settings import read_settings
from tests.openmpi.azure_nodes import MOUNTS, SECONDS, TRAIN, AzureNodes, azure_nodes, make_data
from tests.openmpi.azure_service import FakeService
from tests.openmpi.log_lines import progress
from tests.openmpi.pod import Pod

pytestmark = pytest.mark.cluster

STEPS = 150
COMMAND = [*TRAIN, "--checkpoints", "$GPUFLEET_OUTPUTS/checkpoints", "--checkpoint-every", "20", "--steps", str(STEPS)]


@pytest.fixture
def nodes(tmp_path: Path, python: Path) -> Iterator[AzureNodes]:
    with azure_nodes(tmp_path, python) as made:
        yield made


@pytest.fixture
def service(nodes: AzureNodes, pictures: Path) -> FakeService:
    """The job of two nodes with two processes each, of which the pool mounts the results on every node."""
    make_data(nodes, pictures)
    pool = {"types": ["Standard_NC64as_T4_v3"], "max": 10, "capacity": "spot", "task_nodes": 2, "mounts": ["result"]}
    storage = {"blob_endpoint": "https://traindata01.blob.core.windows.net", "containers": ["scripts", "result"]}
    batch = {
        "account_endpoint": "trainbatch01.eastus.batch.azure.com",
        "pools": {"spot": pool},
        "storage": storage,
    }
    settings = read_settings({"jobs": {"on": "azure-batch", "azure_batch": batch}}, "azure-dev")
    request = {"name": "digits", "nodes": 2, "gpus": 2, "retries": 1, "command": COMMAND}
    plan = build_submission(settings, request, "registry.invalid/train:1")  # type: ignore[arg-type]
    assert plan.advice == []
    return FakeService(nodes, plan.task, SECONDS)


def checkpoints(nodes: AzureNodes) -> list[int]:
    folder = nodes.volume / "result" / "jobs" / "digits" / "checkpoints"
    return sorted(int(path.stem[5:]) for path in folder.glob("step-*.pt"))


def resumed(text: str) -> list[int]:
    return [int(step) for step in re.findall(r"^resumed step=(\d+)$", text, re.MULTILINE)]


def own_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("gpufleet: ")]


def test_nodes_are_taken_and_the_job_goes_on(service: FakeService):
    """First a node that is not the primary's: the try says so and ends with its own code, which uses up the one retry.

    Then the primary's: nobody is left to say so, and the service puts the task back, which uses up none.
    """
    left: list[int] = []

    def meanwhile(number: int, pods: list[Pod]) -> int | None:
        left.append(max(checkpoints(service.nodes), default=0))
        if number > 2:
            return None
        pods[0].wait_for("saved ", SECONDS)
        assert ranks(pods[1]), "node 1 has no ranks"
        taken = 2 - number
        pods[taken].end()
        if taken == 0:
            # The other node is as good as new for the next try.
            wait_until_free(pods[1])
        return taken

    assert service.run(meanwhile) == 0, service.tries[-1].text
    assert [each.code for each in service.tries] == [EVICTED, None, 0]
    assert (service.retries, service.requeues) == (1, 1)
    first, second, third = (each.text for each in service.tries)
    assert own_lines(first) == [evicted_line(service)]
    assert own_lines(second) == own_lines(third) == []
    # Each continues from the newest checkpoint of all before it.
    assert 0 < left[1] < left[2] < STEPS
    assert [resumed(text) for text in (first, second, third)] == [[], [left[1]], [left[2]]]
    assert progress(third)[0].step > left[2]
    assert [f"done step={STEPS} accuracy=" in text for text in (first, second, third)] == [False, False, True]


def test_user_of_the_image_cannot_write_where_tasks_do(service: FakeService):
    """What a submission without --user would end with: the image of examples/train has USER 1000."""
    container = service.task["containerSettings"]
    container["containerRunOptions"] = container["containerRunOptions"].replace("--user 0:0 ", "")
    service.task["constraints"]["maxTaskRetryCount"] = 0
    assert service.run(lambda number, pods: None) == 1
    outputs = f"{MOUNTS}/result"
    assert own_lines(service.tries[-1].text)[-1:] == [
        f"gpufleet: PermissionError: [Errno 13] Permission denied: '{outputs}'"
    ]


def test_no_retry_is_left(service: FakeService):
    """The task ends with the code that says why, and its log with the line."""
    service.task["constraints"]["maxTaskRetryCount"] = 0

    def meanwhile(number: int, pods: list[Pod]) -> int | None:
        pods[0].wait_for("saved ", SECONDS)
        pods[1].end()
        return 1

    assert service.run(meanwhile) == EVICTED
    assert own_lines(service.tries[-1].text) == [evicted_line(service)]
    assert [each.code for each in service.tries] == [EVICTED]


def evicted_line(service: FakeService) -> str:
    return (
        f"gpufleet: node 1 ({service.nodes.network.addresses['node-1']}) is gone, as a Spot node that is evicted: this "
        "try of the task ends with code 75; the next one continues from the newest checkpoint"
    )


def ranks(pod: Pod) -> list[int]:
    """The pids of its ranks."""
    return pod.running(b"OMPI_COMM_WORLD_RANK=", "environ")


def wait_until_free(pod: Pod) -> None:
    """Until no rank holds the node's GPUs any more."""
    end = time.monotonic() + SECONDS
    while ranks(pod):
        assert time.monotonic() < end, f"ranks still run on {pod.name}"
        time.sleep(0.1)
