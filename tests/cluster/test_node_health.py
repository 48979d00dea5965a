"""A node whose GPU breaks is cordoned by the real program, and its job goes on elsewhere without a person.

The program runs from its ConfigMap with the rights of its service account, as in its pod. DCGM's exporter is played by
a web server on loopback, which answers what a real one answered (tests/unit/node_health/dcgm_metrics.py).
"""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
import yaml

from gpufleet.fleet.clusters import query_clusters
from gpufleet.jobs.kubernetes.mpi_job import mpi_job as submitted_job
from gpufleet.kubernetes.node_health import NAME, plan_deployment, plan_program, plan_rights
from tests.cluster.test_mpi_job import EXIT_CODE, LAUNCHER, WORKER, ends, is_ready, path_of, uid_of
from tests.cluster.workloads import TOLERATION, condition, exit_codes, pod, pods
from tests.unit.node_health.dcgm_metrics import dcgm_metrics, with_xid
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

ANNOTATION = "gpufleet.dev/unhealthy"
POOL = "health"


class Exporter:
    """What every node's exporter answers: one address for each, as every node has its own."""

    def __init__(self, address: str) -> None:
        self.address, self.text = address, dcgm_metrics("rtx3090")
        told = self

        class Metrics(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(told.text.encode())

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer((address, 0), Metrics)
        self.port = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@pytest.fixture
def exporters() -> Iterator[list[Exporter]]:
    made = [Exporter(f"127.0.0.{10 + number}") for number in range(3)]
    yield made
    for each in made:
        each.close()


@pytest.fixture
def health(plane: ControlPlane) -> Iterator[dict[str, Any]]:
    """The component's objects, whose program looks every second; its Deployment."""
    deployment = plan_deployment({"every_seconds": 1})
    objects = [*plan_rights().values(), plan_program({}), deployment]
    for each in objects:
        plane.client.apply(each)
    yield deployment
    for each in reversed(objects):
        plane.client.delete(plane.client.path(each))
    wait_until("the program has ended", lambda: f"hosted-kube-system-{NAME}" not in running(plane))


def running(plane: ControlPlane) -> list[str]:
    return [name for name, state in plane.status().items() if state != "ended"]


def exports(plane: ControlPlane, namespace: str, node: str, exporter: Exporter) -> None:
    """A pod of DCGM's exporter on a node, with the address of what plays it."""
    own = {"name": "dcgm", "ports": [{"name": "metrics", "containerPort": exporter.port}]}
    document = pod(namespace, f"dcgm-{node}", nodeName=node, tolerations=[TOLERATION], container=own)
    document["metadata"]["labels"] = {"app.kubernetes.io/name": "dcgm-exporter"}
    plane.client.apply(document)
    path = path_of(document)
    wait_until("the exporter runs", lambda: plane.client.get(path)["status"].get("phase") == "Running")
    ip = exporter.address
    plane.client.merge(f"{path}/status", {"status": {"podIP": ip, "podIPs": [{"ip": ip}]}})


def record(plane: ControlPlane, node: str) -> dict[str, Any]:
    annotations = plane.client.get(f"/api/v1/nodes/{node}")["metadata"].get("annotations", {})
    return dict(json.loads(annotations.get(ANNOTATION, "{}")))


def closed(plane: ControlPlane, node: str) -> bool:
    return bool(plane.client.get(f"/api/v1/nodes/{node}")["spec"].get("unschedulable"))


def events(plane: ControlPlane, node: str) -> list[str]:
    """What the cordons of a node say."""
    chosen = f"involvedObject.name={node},reason=GpufleetCordon"
    items = plane.client.get("/api/v1/namespaces/default/events", fieldSelector=chosen)["items"]
    return [each["message"] for each in items]


def test_bad_node_is_cordoned_and_its_job_goes_on(
    operator: ControlPlane, nodes: Nodes, namespace: str, exporters: list[Exporter], health: dict[str, Any]
) -> None:
    names = nodes.add(3, "p5.48xlarge", "use1-az2", POOL, network="efa")
    wait_until("the nodes are ready", lambda: nodes.ready(POOL) == 3)
    for node, exporter in zip(names, exporters, strict=True):
        exports(operator, namespace, node, exporter)
    args = {"workers": 2, "gpus_per_worker": 8, "image": "example.org/train:1", "command": ["python3", "train.py"]}
    document = submitted_job("train", {**args, "namespace": namespace, "pool": POOL, "retries": 1})
    document["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["metadata"]["annotations"][EXIT_CODE] = "none"
    operator.client.apply(document)
    assert condition(operator, document, ("Running",)) == "Running"
    # An XID of the application's own is none of the node's.
    before = {each["spec"]["nodeName"]: each for each in pods(operator, namespace, WORKER)}
    bad, kept = sorted(before)
    exporters[names.index(kept)].text = with_xid(31)

    exporters[names.index(bad)].text = with_xid(79)
    wait_until("the node is cordoned", lambda: closed(operator, bad))
    told = record(operator, bad)
    assert (told["reason"], told["cordoned"]) == ("GPU 0: XID 79, the GPU has fallen off the bus", True)
    assert told["fix"] == "replace the node, or power-cycle the server"
    wait_until("an event says so", lambda: events(operator, bad) == [told["reason"]])

    (listed,) = query_clusters({"lab": yaml.safe_load(operator.kubeconfig.read_text())})
    assert [(each.name, each.pool, each.cordoned, each.reason) for each in listed.bad_nodes] == [
        (bad, POOL, True, told["reason"])
    ]

    # Its worker is evicted and made anew on the node that was free; mpirun ends with it, and the Job tries again.
    lost = before[bad]["metadata"]
    path = path_of(before[bad])
    wait_until("the worker is another pod", lambda: is_new(operator.client.find(path), lost["uid"]))
    (first,) = pods(operator, namespace, LAUNCHER)
    ends(operator, first, "143")
    wait_until("the new worker is ready", lambda: is_ready(operator.client.get(path)))
    (free,) = {*names} - {*before}
    assert operator.client.get(path)["spec"]["nodeName"] == free
    wait_until("the job has a second launcher", lambda: len(pods(operator, namespace, LAUNCHER)) == 2)
    (second,) = [each for each in pods(operator, namespace, LAUNCHER) if uid_of(each) != uid_of(first)]
    wait_until("the second launcher is there", lambda: is_ready(operator.client.get(path_of(second))))
    ends(operator, second, "0")
    assert condition(operator, document, ("Succeeded", "Failed")) == "Succeeded"
    assert sorted(exit_codes(pods(operator, namespace, LAUNCHER))) == [0, 143]
    assert [node for node in names if closed(operator, node)] == [bad]

    # The bound: of three nodes one. A second bad one is recorded and stays open; the program has started again since.
    restart(operator, health)
    exporters[names.index(free)].text = with_xid(79)
    wait_until("the second node is recorded", lambda: record(operator, free) != {})
    assert record(operator, free)["held"] == f"not cordoned: already 1 of 3 nodes of {POOL} are"
    assert not closed(operator, free)
    assert record(operator, bad) == told
    # A person lets the first one in again, and the program does not contradict; so there is room for the second.
    operator.client.merge(f"/api/v1/nodes/{bad}", {"spec": {"unschedulable": None}})
    wait_until("the second node is cordoned", lambda: closed(operator, free))
    assert record(operator, bad) == {"accepted": ["xid-79-gpu-0"]}
    assert not closed(operator, bad)

    # Later tests count exporters.
    for node in names:
        operator.client.delete(f"/api/v1/namespaces/{namespace}/pods/dcgm-{node}")
    left = "app.kubernetes.io/name=dcgm-exporter"
    wait_until("the exporters are gone", lambda: pods(operator, namespace, left) == [])


def restart(plane: ControlPlane, deployment: dict[str, Any]) -> None:
    """End the program's pod and let another come."""
    path = plane.client.path(deployment)
    name = f"hosted-kube-system-{NAME}"
    for count in (0, 1):
        plane.client.merge(f"{path}/scale", {"spec": {"replicas": count}})
        wait_until(f"{count} programs run", lambda count=count: (name in running(plane)) == bool(count))


def is_new(found: dict[str, Any] | None, uid: str) -> bool:
    return found is not None and found["metadata"]["uid"] != uid
