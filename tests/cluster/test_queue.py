"""The real Kueue on a control plane of its own: its webhooks are called for every pod, which other tests need not pay.

The objects are those that the component Queue plans; jobs are those of `gpufleet jobs`. Nodes are fake, as everywhere.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from gpufleet.jobs.kubernetes.submit import create_job
from gpufleet.kubernetes.queue import (
    VERSION,
    QueueArgs,
    levels_of,
    plan_cluster_queue,
    plan_flavors,
    plan_local_queue,
    plan_topology,
)
from tests.cluster.test_start import listening, started
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import ApiRefused, wait_until
from tools.kubernetes.control_plane import OPERATOR_FOR_MANY_WORKERS, ControlPlane
from tools.kubernetes.nodes import Nodes
from tools.kubernetes.processes import Identity
from tools.kubernetes.programs import programs

GPUFLEET = str(Path(sys.executable).with_name("gpufleet"))
WORKER = "training.kubeflow.org/job-role=worker"
FLAVORS: dict[str, Any] = {"near": {"gpu": "A10G", "zone": "use1-az1"}, "far": {"gpu": "A10G", "zone": "use1-az2"}}
QUEUE: QueueArgs = {"flavors": FLAVORS, "quotas": {"vision": {"near": 8}, "speech": {"near": 4}}}
PLACED: QueueArgs = {"flavors": FLAVORS, "quotas": {"placed": {"near": 100, "far": 100}}, "topology_levels": []}
LAYERS = [f"topology.k8s.aws/network-node-layer-{layer}" for layer in (1, 2, 3)]
NETWORK: QueueArgs = {
    "flavors": {"a100": {"gpu": "A100", "zone": "use1-az4"}},
    "quotas": {"network": {"a100": 100}},
    "topology_levels": LAYERS,
}
LENT: QueueArgs = {
    "flavors": {"third": {"gpu": "A10G", "zone": "use1-az3"}},
    "quotas": {"giver": {"third": 4}, "taker": {"third": 4}},
    "lend": True,
}
ENDLESS = {"rehearsal.gpufleet.dev/exit-code": "none"}


@pytest.fixture(scope="module")
def kueue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with the MPI operator, Kueue, the queues, and 3 nodes of 4 GPUs in each of two zones."""
    plane = ControlPlane(tmp_path_factory.mktemp("kueue") / "home", print)
    plane.start(owner=Identity.of(os.getpid()), system_nodes=2)
    plane.install_mpi_operator(OPERATOR_FOR_MANY_WORKERS)
    plane.install_kueue()
    for name, args in (("gpus", QUEUE), ("placed", PLACED), ("network", NETWORK), ("lent", LENT)):
        install(plane, name, args)
    nodes = Nodes(plane.client)
    for zone in ("use1-az1", "use1-az2"):
        nodes.add(3, "g5.12xlarge", zone, f"pool-{zone}")
    nodes.add(2, "g5.12xlarge", "use1-az3", "pool-use1-az3")
    for bottom in ("nn-3", "nn-4", "nn-3", "nn-4"):
        nodes.add(1, "p4d.24xlarge", "use1-az4", "trainers", network_nodes=("nn-1", "nn-2", bottom))
    nodes.add(1, "p4d.24xlarge", "use1-az4", "trainers")
    yield plane
    plane.stop()


def install(plane: ControlPlane, name: str, args: QueueArgs) -> None:
    """What the component Queue makes, in its order; unknown fields are refused."""
    made = [plan_topology(name, levels)] if (levels := levels_of(args)) is not None else []
    made += plan_flavors(name, args).values()
    for namespace in args["quotas"]:
        plane.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        made += [plan_cluster_queue(name, args, namespace), plan_local_queue(name, namespace)]
    for document in made:
        query = {"fieldManager": "pulumi", "fieldValidation": "Strict"}
        plane.client.request("PATCH", plane.client.path(document), document, "application/apply-patch+yaml", **query)


def start(plane: ControlPlane, team: str, name: str, workers: int, **changes: Any) -> None:
    """Submit a job of workers with all 4 GPUs of a node; its launcher runs until `finish`."""
    args: MpiJobArgs = {
        "namespace": team,
        "workers": workers,
        "gpus_per_worker": 4,
        "image": "r.invalid/train:1",
        "command": ["true"],
        "queue": "gpus",
    }
    document = mpi_job(name, args | changes)  # type: ignore[arg-type]
    document["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["metadata"]["annotations"] = ENDLESS
    create_job(KubernetesApi.of(plane.kubeconfig.read_text(), "dev"), document, print)


def finish(plane: ControlPlane, team: str, name: str) -> None:
    """Let its launcher end well."""
    selector = f"training.kubeflow.org/job-name={name},training.kubeflow.org/job-role=launcher"
    wait_until(f"the launcher of {name} is there", lambda: pods(plane, team, selector) != [])
    for pod in pods(plane, team, selector):
        path = f"/api/v1/namespaces/{team}/pods/{pod['metadata']['name']}"
        plane.client.merge(path, {"metadata": {"annotations": {"rehearsal.gpufleet.dev/exit-code": "0"}}})


def places(plane: ControlPlane, team: str, name: str) -> list[str]:
    """The nodes of a job's workers that have one."""
    found = pods(plane, team, f"{WORKER},training.kubeflow.org/job-name={name}")
    return [pod["spec"]["nodeName"] for pod in found if "nodeName" in pod["spec"]]


def placed(plane: ControlPlane, team: str, name: str, workers: int) -> list[str]:
    """Wait until all workers have nodes."""
    wait_until(f"{name} runs", lambda: len(places(plane, team, name)) == workers)
    return places(plane, team, name)


def status(plane: ControlPlane, folder: Path, team: str, name: str) -> list[str]:
    """What `gpufleet jobs status` says."""
    file = folder / "outputs.json"
    file.write_text(json.dumps({"kubeconfig": plane.kubeconfig.read_text(), "jobs": {"namespace": team}}))
    command = [GPUFLEET, "jobs", "status", "dev", name, "--outputs", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def held(plane: ControlPlane, folder: Path, team: str, name: str, word: str) -> str:
    """The line below the state, once it has this word."""
    lines: list[str] = []

    def look() -> bool:
        lines[:] = status(plane, folder, team, name)[1:]
        return any(word in line for line in lines)

    try:
        wait_until(f"{word!r} is told of {name}", look)
    finally:
        print(*lines, sep="\n")
    assert len(lines) == 1
    return lines[0].strip()


def test_the_version_is_the_charts() -> None:
    assert programs()["kueue"].version == VERSION


def test_kueue_too_listens_on_loopback(kueue: ControlPlane) -> None:
    identities = started(kueue.home)
    assert len(identities) == len(ControlPlane.ORDER) + 2
    assert {address for address, _ in listening(identities)} == {"0100007F"}


def test_every_queue_is_active(kueue: ControlPlane) -> None:
    def states() -> list[str | None]:
        kinds = ("clusterqueues", "localqueues")
        found = [each for kind in kinds for each in kueue.client.get(f"/apis/kueue.x-k8s.io/v1beta2/{kind}")["items"]]
        # One of each queue: some have the same name, and a queue that Kueue has not looked at has no conditions yet.
        conditions = [
            {condition["type"]: condition["status"] for condition in each.get("status", {}).get("conditions", ())}
            for each in found
        ]
        return [each.get("Active") for each in conditions]

    active = ["True"] * 2 * sum(len(args["quotas"]) for args in (QUEUE, PLACED, NETWORK, LENT))
    wait_until("all queues are active", lambda: states() == active)
    assert states() == active


def test_webhooks_refuse_what_kueue_does_not_take(kueue: ControlPlane) -> None:
    document = plan_cluster_queue("gpus", QUEUE, "vision")
    document["spec"]["resourceGroups"] *= 2
    with pytest.raises(ApiRefused, match="admission webhook"):
        kueue.client.apply(document)


def test_a_job_starts_whole_or_not_at_all_and_each_team_has_its_own_quota(kueue: ControlPlane, tmp_path: Path) -> None:
    """8 GPUs for vision, 4 for speech, 12 on the nodes of the zone."""
    start(kueue, "vision", "first", 1)
    placed(kueue, "vision", "first", 1)
    start(kueue, "vision", "second", 2)
    line = held(kueue, tmp_path, "vision", "second", "insufficient")
    assert line == (
        "second: waits for queue gpus: couldn't assign flavors to pod set worker: "
        "insufficient unused quota for nvidia.com/gpu in flavor gpus-near, 4 more needed"
    )
    assert pods(kueue, "vision", "training.kubeflow.org/job-name=second") == [], "one of its two workers would fit"

    start(kueue, "speech", "other", 1)
    assert placed(kueue, "speech", "other", 1)[0].startswith("pool-use1-az1-"), "speech has GPUs of its own"
    start(kueue, "speech", "more", 1)
    assert "4 more needed" in held(kueue, tmp_path, "speech", "more", "insufficient")

    finish(kueue, "vision", "first")
    nodes = placed(kueue, "vision", "second", 2)
    assert all(node.startswith("pool-use1-az1-") for node in nodes)
    assert status(kueue, tmp_path, "vision", "second")[1:] == []
    for team, name in (("speech", "other"), ("speech", "more"), ("vision", "second")):
        finish(kueue, team, name)


def test_a_job_that_is_larger_than_its_quota_says_so(kueue: ControlPlane, tmp_path: Path) -> None:
    start(kueue, "vision", "large", 3)
    line = held(kueue, tmp_path, "vision", "large", "it needs")
    assert line.endswith(" pod set worker: it needs 12 nvidia.com/gpu and the quota of flavor gpus-near is 8")
    assert pods(kueue, "vision", "training.kubeflow.org/job-name=large") == []


def test_a_queue_that_is_not_there_is_said(kueue: ControlPlane, tmp_path: Path) -> None:
    start(kueue, "vision", "lost", 1, queue="gpu")
    line = held(kueue, tmp_path, "vision", "lost", "doesn't exist")
    assert line == "lost: waits for queue gpu: LocalQueue gpu doesn't exist"


def test_with_a_topology_all_workers_lie_in_one_zone(kueue: ControlPlane, tmp_path: Path) -> None:
    """Each zone has 3 nodes; 4 workers fit into none, though there is quota for 50."""
    wide = {"queue": "placed", "topology": "gpufleet.dev/zone-id"}
    start(kueue, "placed", "three", 3, **wide)
    nodes = placed(kueue, "placed", "three", 3)
    assert len({node.rpartition("-")[0] for node in nodes}) == 1
    finish(kueue, "placed", "three")
    start(kueue, "placed", "four", 4, **wide)
    line = held(kueue, tmp_path, "placed", "four", "no place of the topology")
    assert line.endswith("pod set worker: no place of the topology has room for all of it")
    assert pods(kueue, "placed", "training.kubeflow.org/job-name=four") == []


def test_workers_are_near_each_other_in_the_network(kueue: ControlPlane, tmp_path: Path) -> None:
    """Two pairs of nodes, each pair below one switch, and a fifth node without labels, which gets nothing."""
    wanted = {"queue": "network", "gpus_per_worker": 8, "prefer_topology": LAYERS[-1]}

    def switches(name: str, workers: int) -> list[str]:
        nodes = {node["metadata"]["name"]: node for node in Nodes(kueue.client).of_pool("trainers")}
        labels = [nodes[node]["metadata"]["labels"] for node in placed(kueue, "network", name, workers)]
        return sorted(each[LAYERS[-1]] for each in labels)

    for name in ("first", "second"):
        start(kueue, "network", name, 2, **wanted)
    pairs = [switches(name, 2) for name in ("first", "second")]
    assert sorted(pairs) == [["nn-3", "nn-3"], ["nn-4", "nn-4"]]
    for name in ("first", "second"):
        finish(kueue, "network", name)
    start(kueue, "network", "wide", 4, **wanted)
    assert switches("wide", 4) == ["nn-3", "nn-3", "nn-4", "nn-4"], "none has room for all"
    finish(kueue, "network", "wide")
    start(kueue, "network", "five", 5, **wanted)
    line = held(kueue, tmp_path, "network", "five", "topology")
    assert "no place of the topology has room for all of it" in line or "allows to fit only 4 out of 5" in line


def test_job_without_a_queue_is_not_kueues(kueue: ControlPlane) -> None:
    args: Any = {"namespace": "vision", "workers": 1, "gpus_per_worker": 4, "image": "r.invalid/t:1", "command": ["a"]}
    document = mpi_job("free", args | {"zone": "use1-az2"})
    create_job(KubernetesApi.of(kueue.kubeconfig.read_text(), "dev"), document, print)
    assert len(placed(kueue, "vision", "free", 1)) == 1


def test_idle_quota_is_lent_and_kept_until_the_job_ends(kueue: ControlPlane, tmp_path: Path) -> None:
    """Two teams of 4 GPUs each: one's job takes all 8 while the other is idle, and the other's then waits."""
    start(kueue, "taker", "large", 2, queue="lent")
    assert len(set(placed(kueue, "taker", "large", 2))) == 2
    start(kueue, "giver", "own", 1, queue="lent")
    said = held(kueue, tmp_path, "giver", "own", "quota")
    assert "lent-third" in said
    assert len(places(kueue, "taker", "large")) == 2, "nothing is taken from a running job"
    finish(kueue, "taker", "large")
    placed(kueue, "giver", "own", 1)
