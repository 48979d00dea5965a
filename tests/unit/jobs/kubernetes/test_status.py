"""States of an MPIJob, and what its pods wait for."""

import pytest

from gpufleet.jobs.kubernetes.pending_pods import format_name_ranges, group_pending_pods, pending_reason
from gpufleet.jobs.kubernetes.status import JobState, container_exit_code, job_status
from tests.tools.fake_cluster import job_object, launcher


@pytest.mark.parametrize(
    ("conditions", "state"),
    [
        ((), JobState.SUBMITTED),
        (("Created",), JobState.CREATED),
        (("Created", "Running"), JobState.RUNNING),
        (("Created", "Restarting"), JobState.RESTARTING),
        (("Created", "Suspended"), JobState.SUSPENDED),
        (("Created", "Running", "Succeeded"), JobState.SUCCEEDED),
        (("Created", "Running", "Failed"), JobState.FAILED),
    ],
)
def test_state_is_the_weightiest_condition(conditions: tuple[str, ...], state: JobState) -> None:
    assert job_status(job_object("j", *((each, "") for each in conditions))).state is state


def test_condition_that_is_no_longer_true_does_not_count() -> None:
    job = job_object("j", ("Suspended", ""), ("Running", ""))
    job["status"]["conditions"][0]["status"] = "False"
    assert job_status(job).state is JobState.RUNNING


@pytest.mark.parametrize("code", [None, 0, 137])
def test_exit_code_is_the_containers(code: int | None) -> None:
    assert container_exit_code(launcher("l", "Running", code)) == code


def pending(name: str, reason: str | None = None, message: str = "", container: dict | None = None) -> dict:
    conditions = [{"type": "PodScheduled", "status": "False", "reason": reason, "message": message}] if reason else []
    containers = [{"state": {"waiting": container}}] if container else []
    return {
        "metadata": {"name": name},
        "spec": {},
        "status": {"phase": "Pending", "conditions": conditions, "containerStatuses": containers},
    }


def test_pods_with_one_reason_are_one_line_however_many() -> None:
    words = "0/4 nodes are available: 4 Insufficient nvidia.com/gpu."
    pods = [pending(f"train-worker-{number}", "Unschedulable", words) for number in (*range(500), 510, 511)]
    pods.append(pending("train-launcher-x", container={"reason": "ImagePullBackOff", "message": "Back-off\npulling"}))
    assert [wait.line for wait in group_pending_pods(pods)] == [
        f"train-worker-0..499, train-worker-510..511 wait: Unschedulable: {words}",
        "train-launcher-x waits: ImagePullBackOff: Back-off pulling",
    ]


@pytest.mark.parametrize(
    "pod",
    [
        pending("p"),
        pending("p", container={"reason": "ContainerCreating"}),
        launcher("p", "Running", None),
        launcher("p", "Succeeded", 0),
    ],
)
def test_pod_that_nothing_holds_up_is_not_named(pod: dict) -> None:
    assert pending_reason(pod) is None


def test_pod_behind_a_gate_waits_for_the_queue() -> None:
    pod = pending("p") | {"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]}}
    assert pending_reason(pod) == "for the queue (kueue.x-k8s.io/topology)"


def test_long_words_are_cut() -> None:
    assert len(pending_reason(pending("p", "Unschedulable", "x" * 9999)) or "") == 400


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a-1", "a-0", "a-3", "b-4"], "a-0..1, a-3, b-4"),
        (["a-9", "a-10", "launcher"], "a-9..10, launcher"),
    ],
)
def test_names_with_numbers_are_ranges(names: list[str], text: str) -> None:
    assert format_name_ranges(names) == text
