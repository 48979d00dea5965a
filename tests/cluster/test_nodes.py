"""Fake nodes of the catalog's types are scheduled to like real ones."""

from collections import Counter

from tests.cluster.workloads import TOLERATION, job, pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

GPUS = "nvidia.com/gpu"


def test_nodes_of_8_gpus_are_ready_and_take_a_pod_each(plane: ControlPlane, nodes: Nodes, namespace: str) -> None:
    """512 of them: test_many_nodes.py."""
    count = 64
    names = nodes.add(count, "p5.48xlarge", "use1-az3", "many", network="efa")
    wait_until(f"{count} nodes are ready", lambda: nodes.ready("many") == count, poll=0.5)
    document = job(
        namespace,
        "one",
        {"rehearsal.gpufleet.dev/exit-code": "none"},
        container={"resources": {"limits": {GPUS: "8"}}},
        tolerations=[TOLERATION],
        nodeSelector={"topology.k8s.aws/zone-id": "use1-az3"},
    )
    document["spec"] |= {"parallelism": count, "completions": count}
    plane.client.apply(document)

    def placed() -> Counter[str]:
        return Counter(pod["spec"]["nodeName"] for pod in pods(plane, namespace) if "nodeName" in pod["spec"])

    wait_until(f"{count} pods have a node", lambda: len(placed()) == count, poll=1)
    assert placed() == Counter(names)
    nodes.remove(names)
    wait_until("the nodes are gone", lambda: nodes.of_pool("many") == [])


def test_pods_without_a_toleration_stay_off_gpu_nodes(plane: ControlPlane, nodes: Nodes, namespace: str) -> None:
    nodes.add(1, "g4dn.12xlarge", "use1-az1", "tainted")
    plane.client.apply(job(namespace, "one", nodeSelector={"gpufleet.dev/pool": "tainted"}))

    def told() -> bool:
        listed = [each for pod in pods(plane, namespace) for each in pod["status"].get("conditions", ())]
        return any("untolerated taint(s)" in each.get("message", "") for each in listed)

    wait_until("the pod is unschedulable", told)


def test_nodes_are_numbered_on(plane: ControlPlane, nodes: Nodes) -> None:
    assert nodes.add(2, "g4dn.xlarge", "use1-az1", "counted") == ["counted-use1-az1-0", "counted-use1-az1-1"]
    assert nodes.add(1, "g4dn.xlarge", "use1-az2", "counted") == ["counted-use1-az2-2"]
    nodes.remove(["counted-use1-az1-1"])
    wait_until("the node is gone", lambda: len(nodes.of_pool("counted")) == 2)
