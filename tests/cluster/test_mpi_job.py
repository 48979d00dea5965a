"""The real MPI operator takes jobs to their end on fake nodes."""

from api_client import wait_until
from control_plane import ControlPlane
from nodes import Nodes
from workloads import condition, exit_codes, mpi_job, pods

LAUNCHER = "training.kubeflow.org/job-role=launcher"
WORKER = "training.kubeflow.org/job-role=worker"


def test_job_of_two_workers_succeeds_on_gpu_nodes_of_its_pool(
    operator: ControlPlane, nodes: Nodes, namespace: str
) -> None:
    names = nodes.add(2, "p5.48xlarge", "use1-az2", "pair", network="efa")
    document = mpi_job(namespace, "train", workers=2, gpus=8, pool="pair")
    operator.client.apply(document)
    assert condition(operator, document, ("Succeeded", "Failed")) == "Succeeded"
    workers = pods(operator, namespace, WORKER)
    assert sorted(pod["spec"]["nodeName"] for pod in workers) == names
    assert [pod["status"]["phase"] for pod in pods(operator, namespace, LAUNCHER)] == ["Succeeded"]
    hostfile = operator.client.get(f"/api/v1/namespaces/{namespace}/configmaps/train-config")["data"]["hostfile"]
    assert hostfile.splitlines() == [f"train-worker-{number}.train.{namespace}.svc slots=8" for number in (0, 1)]


def test_exit_code_of_the_launcher_fails_the_job(operator: ControlPlane, nodes: Nodes, namespace: str) -> None:
    nodes.add(1, "g4dn.12xlarge", "use1-az1", "single")
    launcher = {"rehearsal.gpufleet.dev/exit-code": "7"}
    document = mpi_job(namespace, "train", workers=1, gpus=4, pool="single", launcher=launcher)
    operator.client.apply(document)
    assert condition(operator, document, ("Succeeded", "Failed")) == "Failed"
    assert exit_codes(pods(operator, namespace, LAUNCHER)) == [7]


def test_workers_without_a_node_keep_the_launcher_waiting(operator: ControlPlane, namespace: str) -> None:
    document = mpi_job(namespace, "train", workers=1, gpus=1, pool="nowhere")
    operator.client.apply(document)
    assert condition(operator, document, ("Created",)) == "Created"

    def told() -> bool:
        return any(
            each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable"
            for pod in pods(operator, namespace, WORKER)
            for each in pod["status"].get("conditions", ())
        )

    wait_until("the worker is unschedulable", told, 30)
    assert pods(operator, namespace, LAUNCHER) == []
