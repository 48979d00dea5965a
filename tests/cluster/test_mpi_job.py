"""The real MPI operator takes jobs to their end on fake nodes."""

from typing import Any

from gpufleet.jobs.kubernetes.mpi_job import mpi_job as submitted_job
from tests.cluster.workloads import condition, exit_codes, mpi_job, pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

LAUNCHER = "training.kubeflow.org/job-role=launcher"
WORKER = "training.kubeflow.org/job-role=worker"
EXIT_CODE = "rehearsal.gpufleet.dev/exit-code"


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

    wait_until("the worker is unschedulable", told)
    assert pods(operator, namespace, LAUNCHER) == []


def test_a_reclaimed_worker_is_made_anew_and_the_retry_does_not_wait_for_it(
    operator: ControlPlane, nodes: Nodes, namespace: str
) -> None:
    """What `launcher.sh` is for: of the operator, the new launcher is no more than the Job controller's retry."""
    _kept, lost = nodes.add(2, "p5.48xlarge", "use1-az2", "reclaimed")
    args = {"workers": 2, "gpus_per_worker": 8, "image": "example.org/train:1", "command": ["python3", "train.py"]}
    document = submitted_job("train", {**args, "namespace": namespace, "pool": "reclaimed", "retries": 1})
    template = document["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]
    template["metadata"]["annotations"][EXIT_CODE] = "none"
    operator.client.apply(document)
    assert condition(operator, document, ("Running",)) == "Running"
    (taken,) = [pod for pod in pods(operator, namespace, WORKER) if pod["spec"]["nodeName"] == lost]

    # The node is drained as at a Spot notice: cordoned, its pod evicted. The ranks save, and mpirun ends with 143.
    operator.client.merge(f"/api/v1/nodes/{lost}", {"spec": {"unschedulable": True}})
    name = taken["metadata"]["name"]
    evicted = f"/api/v1/namespaces/{namespace}/pods/{name}"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
    operator.client.request("POST", f"{evicted}/eviction", eviction)
    (first,) = pods(operator, namespace, LAUNCHER)
    ends(operator, first, "143")
    wait_until("the job has a second launcher", lambda: len(pods(operator, namespace, LAUNCHER)) == 2)

    again = operator.client.get(evicted)
    assert again["metadata"]["uid"] != taken["metadata"]["uid"]
    assert again["status"]["phase"] == "Pending", "its node is not there, and the launcher is"
    (second,) = [each for each in pods(operator, namespace, LAUNCHER) if each["metadata"]["uid"] != uid_of(first)]
    assert second["spec"]["containers"][0]["command"][2:4] == [first["spec"]["containers"][0]["command"][2], "launcher"]

    operator.client.merge(f"/api/v1/nodes/{lost}", {"spec": {"unschedulable": False}})
    wait_until("the new worker is ready", lambda: is_ready(operator.client.get(evicted)))
    wait_until("the second launcher is there", lambda: is_ready(operator.client.get(path_of(second))))
    ends(operator, second, "0")
    assert condition(operator, document, ("Succeeded", "Failed")) == "Succeeded"
    assert sorted(exit_codes(pods(operator, namespace, LAUNCHER))) == [0, 143]


def ends(operator: ControlPlane, pod: dict[str, Any], code: str) -> None:
    operator.client.merge(path_of(pod), {"metadata": {"annotations": {EXIT_CODE: code}}})


def path_of(pod: dict[str, Any]) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def uid_of(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["uid"])


def is_ready(pod: dict[str, Any]) -> bool:
    told = pod["status"].get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in told)
