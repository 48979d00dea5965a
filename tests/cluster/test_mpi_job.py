"""The real MPI operator takes jobs to their end on fake nodes."""

from api_client import wait_until
from control_plane import ControlPlane
from nodes import Nodes
from workloads import condition, exit_codes, mpi_job, pods

LAUNCHER = "training.kubeflow.org/job-role=launcher"
WORKER = "training.kubeflow.org/job-role=worker"


def test_job_of_two_workers_succeeds_on_gpu_nodes_of_its_pool(
    plane: ControlPlane, nodes: Nodes, namespace: str
) -> None:
    names = nodes.add(2, "p5.48xlarge", "use1-az2", "pair", network="efa")
    document = mpi_job(namespace, "train", workers=2, gpus=8, pool="pair")
    plane.client.apply(document)
    assert condition(plane, document, ("Succeeded", "Failed")) == "Succeeded"
    workers = pods(plane, namespace, WORKER)
    assert sorted(pod["spec"]["nodeName"] for pod in workers) == names
    assert [pod["status"]["phase"] for pod in pods(plane, namespace, LAUNCHER)] == ["Succeeded"]
    hostfile = plane.client.get(f"/api/v1/namespaces/{namespace}/configmaps/train-config")["data"]["hostfile"]
    assert hostfile.splitlines() == [f"train-worker-{number}.train.{namespace}.svc slots=8" for number in (0, 1)]


def test_exit_code_of_the_launcher_fails_the_job(plane: ControlPlane, nodes: Nodes, namespace: str) -> None:
    nodes.add(1, "g4dn.12xlarge", "use1-az1", "single")
    launcher = {"rehearsal.gpufleet.dev/exit-code": "7"}
    document = mpi_job(namespace, "train", workers=1, gpus=4, pool="single", launcher=launcher)
    plane.client.apply(document)
    assert condition(plane, document, ("Succeeded", "Failed")) == "Failed"
    assert exit_codes(pods(plane, namespace, LAUNCHER)) == [7]


def test_workers_without_a_node_keep_the_launcher_waiting(plane: ControlPlane, namespace: str) -> None:
    document = mpi_job(namespace, "train", workers=1, gpus=1, pool="nowhere")
    plane.client.apply(document)
    assert condition(plane, document, ("Created",)) == "Created"

    def told() -> bool:
        return any(
            each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable"
            for pod in pods(plane, namespace, WORKER)
            for each in pod["status"].get("conditions", ())
        )

    wait_until("the worker is unschedulable", told, 30)
    assert pods(plane, namespace, LAUNCHER) == []
