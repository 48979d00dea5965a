"""How pods on fake nodes live, end and wait, by their annotations."""

import subprocess
from pathlib import Path

import pytest

from tests.cluster.workloads import condition, exit_codes, job, pod, pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.programs import programs

CODE = "rehearsal.gpufleet.dev/exit-code"


@pytest.mark.parametrize(
    ("annotations", "end", "code"),
    [
        ({}, "Complete", 0),
        ({CODE: "0"}, "Complete", 0),
        ({CODE: "137", "rehearsal.gpufleet.dev/runs-for": "200ms"}, "Failed", 137),
    ],
)
def test_pods_of_a_job_end_with_the_code_that_is_asked_for(
    plane: ControlPlane, namespace: str, annotations: dict[str, str], end: str, code: int
) -> None:
    document = job(namespace, "one", annotations)
    plane.client.apply(document)
    assert condition(plane, document, ("Complete", "Failed")) == end
    assert exit_codes(pods(plane, namespace)) == [code]


def test_pod_of_a_job_that_is_told_to_runs_until_the_annotation_changes(plane: ControlPlane, namespace: str) -> None:
    document = job(namespace, "one", {CODE: "none"})
    plane.client.apply(document)
    wait_until("the pod runs", lambda: _phases(plane, namespace) == ["Running"])
    with pytest.raises(Exception, match="not in 2 s"):
        wait_until("the pod ends", lambda: _phases(plane, namespace) != ["Running"], 2)
    name = pods(plane, namespace)[0]["metadata"]["name"]
    plane.client.merge(f"/api/v1/namespaces/{namespace}/pods/{name}", {"metadata": {"annotations": {CODE: "3"}}})
    assert condition(plane, document, ("Complete", "Failed")) == "Failed"
    assert exit_codes(pods(plane, namespace)) == [3]


def test_pod_without_a_job_runs_and_has_an_address(plane: ControlPlane, namespace: str) -> None:
    document = pod(namespace, "worker")
    plane.client.apply(document)
    assert condition(plane, document, ("Ready",)) == "Ready"
    assert pods(plane, namespace)[0]["status"]["podIP"].startswith("10.")


def test_pod_waits_for_the_reason_that_is_given_and_starts_without_it(plane: ControlPlane, namespace: str) -> None:
    document = pod(namespace, "worker", {"rehearsal.gpufleet.dev/waiting": "ImagePullBackOff"})
    plane.client.apply(document)
    wait_until("the pod waits", lambda: _reason(plane, namespace) == "ImagePullBackOff")
    assert _phases(plane, namespace) == ["Pending"]
    told = {"annotations": {"rehearsal.gpufleet.dev/waiting": None}}
    plane.client.merge(plane.client.path(document), {"metadata": told})
    assert condition(plane, document, ("Ready",)) == "Ready"


def test_log_of_a_pod_is_the_file_that_was_named(plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    document = pod(namespace, "worker")
    plane.client.apply(document)
    condition(plane, document, ("Ready",))
    log = tmp_path / "log"
    lines = "".join(f"2026-11-21T10:00:00.{number:09d}Z stdout F line {number}\n" for number in range(3))
    log.write_text(lines)
    plane.client.apply(
        {
            "apiVersion": "kwok.x-k8s.io/v1alpha1",
            "kind": "Logs",
            "metadata": {"name": "worker", "namespace": namespace},
            "spec": {"logs": [{"containers": ["main"], "logsFile": str(log)}]},
        }
    )
    answer = plane.client.text(f"/api/v1/namespaces/{namespace}/pods/worker/log", container="main")
    assert answer == "line 0\nline 1\nline 2\n"


def _phases(plane: ControlPlane, namespace: str) -> list[str]:
    return [each["status"]["phase"] for each in pods(plane, namespace)]


def _reason(plane: ControlPlane, namespace: str) -> str:
    statuses = pods(plane, namespace)[0]["status"].get("containerStatuses", [{}])
    return str(statuses[0].get("state", {}).get("waiting", {}).get("reason", ""))


def test_command_in_a_pod_runs_where_it_was_told_to_with_its_input_and_exit_code(
    plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    document = pod(namespace, "worker")
    plane.client.apply(document)
    condition(plane, document, ("Ready",))
    plane.client.apply(
        {
            "apiVersion": "kwok.x-k8s.io/v1alpha1",
            "kind": "Exec",
            "metadata": {"name": "worker", "namespace": namespace},
            "spec": {"execs": [{"containers": ["main"], "local": {"workDir": str(tmp_path)}}]},
        }
    )
    program = str(programs()["kubectl"].executable)
    kubectl = [program, f"--kubeconfig={plane.kubeconfig}", f"--namespace={namespace}", "exec", "-i", "worker", "--"]
    command = [*kubectl, "sh", "-c", "cat > got; wc -c < got; exit 5"]
    done = subprocess.run(command, input="x" * 100_000, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout.strip()) == (5, "100000")
    assert (tmp_path / "got").stat().st_size == 100_000
