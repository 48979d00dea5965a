"""A job's pools in order on the real control plane, with the real Kueue: no capacity in three of them, then the fourth.

The program that moves the job is what the component Queue installs, with the role that it gets there.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from gpufleet.catalog import aws
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.step_states import step_lines, step_states
from gpufleet.jobs.kubernetes.submit import create_job
from gpufleet.kubernetes.overflow import plan_overflow
from gpufleet.kubernetes.queue import QueueArgs
from tests.cluster.test_queue import ENDLESS, install
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.commands import HOST
from tools.kubernetes.control_plane import OPERATOR_FOR_MANY_WORKERS, ControlPlane
from tools.kubernetes.nodes import Nodes
from tools.kubernetes.processes import Identity

GPUFLEET = str(Path(sys.executable).with_name("gpufleet"))
TIMEOUT_SECONDS = 3
COMMON = {"type": "g5.12xlarge", "min": 0, "max": 4}
POOLS: list[dict[str, Any]] = [
    {"pool": "reserved", "zone": "use1-az1", "capacity": 0, **COMMON},
    {"pool": "spot-a", "zone": "use1-az1", "capacity": 1, **COMMON},
    {"pool": "on-demand", "zone": "use1-az2", **COMMON},
]
"""Of each pool what its cloud gives: nothing, one of the two nodes, all. No own server has joined the cluster."""
ORDER = ["own", "reserved", "spot-a", "on-demand"]
MARKETS = {"reserved": "reservation", "spot-a": "spot", "on-demand": "on-demand"}
FLAVORS: dict[str, Any] = {
    "own": {"gpu": "A10G", "zone": "onprem", "pool": "own", "place": "onprem"},
    **{each["pool"]: {"gpu": "A10G", "zone": each["zone"], "pool": each["pool"], "place": "cloud"} for each in POOLS},
}
OVERFLOW: Any = {"capacity_timeout_minutes": TIMEOUT_SECONDS / 60, "pools": ORDER}
QUEUE: QueueArgs = {
    "flavors": FLAVORS,
    "quotas": {"training": dict.fromkeys(ORDER, 16)},
    "overflow": OVERFLOW,
}


@pytest.fixture(scope="module")
def overflowing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with the MPI operator, Kueue, the stand-in autoscaler, and the program that moves jobs."""
    home = tmp_path_factory.mktemp("overflow")
    plane = ControlPlane(home / "home", print)
    plane.start(owner=Identity.of(os.getpid()), system_nodes=2)
    plane.install_mpi_operator(OPERATOR_FOR_MANY_WORKERS)
    plane.install_kueue()
    install(plane, "gpus", QUEUE)
    plane.start_autoscaler(POOLS, idle_seconds=2, boot_seconds=0)
    with (home / "overflow.log").open("w") as log:
        program = started_program(plane, home, log)
        try:
            yield plane
        finally:
            program.terminate()
            program.wait(30)
            plane.stop()
    print((home / "overflow.log").read_text())


def started_program(plane: ControlPlane, home: Path, log: Any) -> subprocess.Popen[bytes]:
    """What the Deployment runs, with the files that a kubelet gives its pod: the text, and the account's own token."""
    planned = plan_overflow("gpus", OVERFLOW, {})
    for document in planned.values():
        plane.client.apply(document)
    account = planned["account"]["metadata"]
    path = f"/api/v1/namespaces/{account['namespace']}/serviceaccounts/{account['name']}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": None}}
    answer = plane.client.request("POST", path, request)
    folder = home / "account"
    folder.mkdir(mode=0o700)
    (folder / "token").write_text(answer["status"]["token"])
    (folder / "ca.crt").write_bytes(plane.layout.authority.read_bytes())
    text = home / "overflow.py"
    text.write_text(planned["program"]["data"]["overflow.py"])
    port = plane.layout.server.rpartition(":")[2]
    environment = {"KUBERNETES_SERVICE_HOST": HOST, "KUBERNETES_SERVICE_PORT": port}
    command = [sys.executable, "-I", str(text), "--every=0.5", f"--account={folder}"]
    return subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)


@pytest.fixture
def outputs(overflowing: ControlPlane, tmp_path: Path) -> Path:
    """The stack's outputs, as an environment with these pools has them."""
    pools: dict[str, Any] = {
        each["pool"]: {
            "types": [each["type"]],
            "zones": [each["zone"]],
            "max": each["max"],
            "capacity": MARKETS[each["pool"]],
        }
        for each in POOLS
    }
    pools["own"] = {"gpu": "A10G", "gpus": 4, "place": "onprem", "zones": ["onprem"], "max": 2}
    jobs = {
        "namespace": "training",
        "queue": "gpus",
        "pools": pools,
        "quota": dict.fromkeys(ORDER, 16),
        "overflow": OVERFLOW,
        "usd_per_gpu_hour": {"own": 0.25},
    }
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps({"kubeconfig": overflowing.kubeconfig.read_text(), "jobs": jobs}))
    return file


def gpufleet(*words: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run([GPUFLEET, "jobs", *words], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done


def submit(plane: ControlPlane, outputs: Path, name: str, workers: int, *where: str) -> list[str]:
    """Submit what `gpufleet jobs submit` makes, with a launcher that runs until the end; the notes that it prints."""
    words = ("--workers", str(workers), "--name", name, "--image", "r.invalid/train:1", *where)
    done = gpufleet("submit", "dev", *words, "--outputs", str(outputs), "--dry-run", "--json", "--", "true")
    document = json.loads(done.stdout)
    document["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["metadata"]["annotations"] |= ENDLESS
    create_job(KubernetesApi.of(plane.kubeconfig.read_text(), "dev"), document, print)
    return done.stderr.splitlines()


def test_a_job_goes_over_three_pools_without_capacity_to_the_fourth(overflowing: ControlPlane, outputs: Path) -> None:
    notes = submit(overflowing, outputs, "first", 2)
    assert [line.partition(", at most")[0] for line in notes] == [
        "note: step 1: pool own, zone onprem, own, 2 nodes, 2.00 USD an hour",
        "note: step 2: pool reserved, zone use1-az1, reservation, 2 nodes, price not known",
        f"note: step 3: pool spot-a, zone use1-az1, spot, 2 nodes, up to {2 * spot_price():.2f} USD an hour",
        f"note: step 4: pool on-demand, zone use1-az2, on-demand, 2 nodes, {2 * price():.2f} USD an hour, "
        "until capacity comes",
    ]
    seen: list[dict[str, Any]] = []

    def complete() -> bool:
        path = "/apis/kubeflow.org/v2beta1/namespaces/training/mpijobs/first"
        seen[:] = step_states(overflowing.client.get(path))
        return seen[3]["state"] == "complete"

    try:
        wait_until("the job is complete on its fourth pool", complete, 300, 0.5)
    finally:
        print(*step_lines(seen), sep="\n")
    assert [row["pool"] for row in seen] == ORDER
    for row in seen[:3]:
        assert row["state"] == "given up"
        assert moment(row["until"]) - moment(row["since"]) >= TIMEOUT_SECONDS
        # The scheduler's own words.
        assert " of 2 workers got a node: 0/" in row["why"]
    for earlier, later in pairwise(seen):
        assert moment(later["since"]) >= moment(earlier["until"]), "one pool after the other"
    selector = "training.kubeflow.org/job-role=worker,training.kubeflow.org/job-name=first"
    workers = pods(overflowing, "training", selector)
    nodes = {node["metadata"]["name"] for node in Nodes(overflowing.client).of_pool("on-demand")}
    assert len(workers) == 2
    assert {pod["spec"]["nodeName"] for pod in workers} <= nodes, "all of it is in the fourth pool, which has one zone"
    shown = gpufleet("status", "dev", "first", "--outputs", str(outputs)).stdout.splitlines()
    assert step_lines(seen) == [line.strip() for line in shown if line.startswith("  step ")]


def price() -> float:
    """USD for an hour of a node on demand."""
    return aws().prices["g5.12xlarge", "us-east-1", "on-demand"].usd_per_hour or 0


def spot_price() -> float:
    """The highest of Spot."""
    return aws().spot_prices["g5.12xlarge", "us-east-1"].usd_high


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
