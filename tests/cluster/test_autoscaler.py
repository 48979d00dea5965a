"""A pool at 0 nodes grows for an MPI job and returns to 0 after it, with the stand-in autoscaler."""

from collections.abc import Iterator

import pytest

from tests.cluster.workloads import condition, mpi_job, pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import AUTOSCALER, ControlPlane
from tools.kubernetes.nodes import Nodes
from tools.kubernetes.processes import Processes

POOLS = [
    {"pool": "elastic", "type": "p5.48xlarge", "zone": "use1-az2", "network": "efa", "min": 0, "max": 4},
    {"pool": "small", "type": "g4dn.12xlarge", "zone": "use1-az1", "min": 0, "max": 1},
]


@pytest.fixture(autouse=True)
def without_it_afterwards(operator: ControlPlane) -> Iterator[None]:
    yield
    Processes(operator.home).stop([AUTOSCALER])


def test_pool_grows_from_0_for_a_job_in_one_zone_and_returns_to_0(
    operator: ControlPlane, nodes: Nodes, namespace: str
) -> None:
    operator.start_autoscaler(POOLS, idle_seconds=3, boot_seconds=1)
    document = mpi_job(namespace, "train", workers=2, gpus=8, pool="elastic")
    document["spec"]["runPolicy"]["cleanPodPolicy"] = "Running"
    operator.client.apply(document)
    assert condition(operator, document, ("Running", "Failed")) == "Running"
    grown = nodes.of_pool("elastic")
    workers = pods(operator, namespace, "training.kubeflow.org/job-role=worker")
    assert {pod["spec"]["nodeName"] for pod in workers} == {node["metadata"]["name"] for node in grown}
    assert [node["metadata"]["labels"]["topology.k8s.aws/zone-id"] for node in grown] == ["use1-az2"] * 2
    assert condition(operator, document, ("Succeeded", "Failed")) == "Succeeded"
    wait_until("the pool is empty", lambda: nodes.of_pool("elastic") == [])


def test_pool_stays_at_0_for_a_pod_that_none_of_its_nodes_could_take(
    operator: ControlPlane, nodes: Nodes, namespace: str
) -> None:
    operator.start_autoscaler(POOLS, idle_seconds=3, boot_seconds=0)
    operator.client.apply(mpi_job(namespace, "large", workers=1, gpus=8, pool="small"))
    operator.client.apply(mpi_job(namespace, "fits", workers=1, gpus=4, pool="small"))
    wait_until("the pool has a node for the other", lambda: len(nodes.of_pool("small")) == 1)
    [large] = [pod for pod in pods(operator, namespace) if pod["metadata"]["name"] == "large-worker-0"]
    assert "nodeName" not in large["spec"]
