"""A pool at 0 nodes grows for an MPI job and returns to 0 after it, with the stand-in autoscaler."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from gpufleet.aws.gpu_node_group_plan import plan_gpu_node_group
from gpufleet.catalog import aws
from gpufleet.jobs.kubernetes.mpi_job import mpi_job as job_of_gpufleet
from tests.cluster.workloads import condition, mpi_job, pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import AUTOSCALER, ControlPlane
from tools.kubernetes.empty_group import made_up_node
from tools.kubernetes.fake_node import FAKE
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
    operator.client.apply(document)
    # The workers outlive the job, and so do their nodes: a busy machine may be late to look at them.
    assert condition(operator, document, ("Succeeded", "Failed")) == "Succeeded"
    grown = nodes.of_pool("elastic")
    workers = pods(operator, namespace, "training.kubeflow.org/job-role=worker")
    assert {pod["spec"]["nodeName"] for pod in workers} == {node["metadata"]["name"] for node in grown}
    assert [node["metadata"]["labels"]["topology.k8s.aws/zone-id"] for node in grown] == ["use1-az2"] * 2
    operator.client.delete(operator.client.path(document))
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


HUGE_PAGES = "k8s.io/cluster-autoscaler/node-template/resources/hugepages-2Mi"


def efa_worker(namespace: str, name: str) -> dict[str, Any]:
    """A worker of a job of gpufleet on the pool `name` with EFA, without its job."""
    job = job_of_gpufleet(
        name,
        {
            "namespace": namespace,
            "workers": 1,
            "gpus_per_worker": 8,
            "image": "registry.example.com/train:1",
            "command": ["python3", "train.py"],
            "network": "efa",
            "instance_type": "p5.48xlarge",
            "pool": name,
        },
    )
    template = job["spec"]["mpiReplicaSpecs"]["Worker"]["template"]
    # The operator's, by which a job's workers find each other's zone.
    labels = {"training.kubeflow.org/job-name": name, "training.kubeflow.org/job-role": "worker"}
    about = {"name": name, "namespace": namespace, "labels": {**template["metadata"].get("labels", {}), **labels}}
    return {"apiVersion": "v1", "kind": "Pod", **template, "metadata": about}


def group(name: str, without: str = "") -> dict[str, Any]:
    """What the autoscaler knows of the node group of an empty pool; of its tags all but one."""
    plan = plan_gpu_node_group(
        name, {"types": ["p5.48xlarge"], "zones": ["use1-az2"], "max": 2, "network": "efa", "placement": "create"}
    )
    tags = {key: value for key, value in plan.resource_tags.items() if key != without}
    return {"labels": dict(plan.labels), "taints": list(plan.taints), "tags": tags, "scaling_tags": {**plan.taint_tags}}


def why_pending(plane: ControlPlane, pod: Mapping[str, Any]) -> str:
    """The real scheduler's reason, or the node that it gave the pod."""
    answer: list[str] = []

    def told() -> bool:
        seen = plane.client.get(plane.client.path(pod))
        reasons = [each.get("message", "") for each in seen["status"].get("conditions", ())]
        answer[:] = [text for text in (seen["spec"].get("nodeName", ""), *reasons) if text]
        return bool(answer)

    wait_until("the scheduler has looked", told, 60)
    return answer[0]


@pytest.mark.parametrize(
    ("name", "without", "answer"),
    [("old-tags", HUGE_PAGES, "Insufficient hugepages-2Mi"), ("new-tags", "", "template-new-tags")],
)
def test_scheduler_takes_the_made_up_node_of_an_efa_pool_by_its_tag_for_huge_pages(
    plane: ControlPlane, namespace: str, name: str, without: str, answer: str
) -> None:
    record = aws().types["p5.48xlarge"]
    made = made_up_node(record, zone_id="use1-az2", region="us-east-1", group=name, **group(name, without))
    node = {"apiVersion": "v1", "kind": "Node", **made}
    node["metadata"] |= {"name": f"template-{name}", "annotations": FAKE}
    path = f"/api/v1/nodes/template-{name}"
    plane.client.request("POST", "/api/v1/nodes", node)

    def ready() -> bool:
        seen = plane.client.get(path)
        states = {each["type"]: each["status"] for each in seen["status"].get("conditions", ())}
        return states.get("Ready") == "True" and len(seen["spec"]["taints"]) == len(made["spec"]["taints"])

    try:
        wait_until("the node is ready, without the taint of those that are not", ready, 60)
        pod = plane.client.apply(efa_worker(namespace, name))
        assert answer in why_pending(plane, pod)
    finally:
        plane.client.delete(path)


def test_efa_pool_leaves_0_for_its_workers_only_with_the_tag_for_huge_pages(
    operator: ControlPlane, nodes: Nodes, namespace: str
) -> None:
    common = {"type": "p5.48xlarge", "zone": "use1-az2", "network": "efa", "min": 0, "max": 2}
    pools = [
        {"pool": "untold", **common, **group("untold", HUGE_PAGES)},
        {"pool": "told", **common, **group("told")},
    ]
    operator.start_autoscaler(pools, idle_seconds=60, boot_seconds=0)
    pending = operator.client.apply(efa_worker(namespace, "untold"))
    grown = operator.client.apply(efa_worker(namespace, "told"))

    def placed() -> bool:
        return "nodeName" in operator.client.get(operator.client.path(grown))["spec"]

    wait_until("the pool with the tag has a node, and the pod is on it", placed, 60)
    assert nodes.of_pool("untold") == []
    assert "nodeName" not in operator.client.get(operator.client.path(pending))["spec"]
