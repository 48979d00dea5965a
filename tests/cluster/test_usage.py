"""`gpufleet usage` with pods of the real MPI operator and scheduler; nodes are fake, no container runs."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.submission import build_submission
from gpufleet.jobs.kubernetes.submit import create_job
from gpufleet.jobs.settings import read_settings
from tests.cluster.command_line import gpufleet, outputs
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import ApiRefused, wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

WORKER, LAUNCHER = ("training.kubeflow.org/job-role=worker", "training.kubeflow.org/job-role=launcher")
ENDLESS = {"rehearsal.gpufleet.dev/exit-code": "none"}
USERS = {"ana": {"uid": 1501, "gid": 1501}, "ben": {"uid": 1502, "gid": 1502}}


def counted(file: Path, ledger: Path) -> dict[str, Any]:
    done = gpufleet("usage", "dev", "--outputs", str(file), "--record", str(ledger), "--by", "user", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_gpu_hours_of_two_users(operator: ControlPlane, nodes: Nodes, namespace: str, tmp_path: Path) -> None:
    nodes.add(3, "g5.8xlarge", "use1-az1", "threes")
    # As in a team's namespace: a user's /etc/passwd needs nothing that it forbids.
    restricted = {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
    operator.client.merge(f"/api/v1/namespaces/{namespace}", restricted)
    file = Path(outputs(operator, namespace, tmp_path, threes={"types": ["g5.8xlarge"], "zones": ["use1-az1"]}))
    told = json.loads(file.read_text())
    told["jobs"] |= {"users": USERS, "project": "llm"}
    file.write_text(json.dumps(told))
    settings, ledger = read_settings(told, "dev"), tmp_path / "usage.jsonl"
    api = KubernetesApi.of(operator.kubeconfig.read_text(), "dev")
    began = time.time()
    for user, workers in (("ana", 2), ("ben", 1)):
        request: Any = {"name": user, "user": user, "workers": workers, "gpus": 1, "image": "r.invalid/t:1"}
        manifest = build_submission(settings, request | {"command": ["true"]}).manifest
        launcher = manifest["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]
        launcher["metadata"]["annotations"] |= ENDLESS
        create_job(api, manifest, print)
    first = {
        "metadata": {"name": "root", "namespace": namespace},
        "spec": {"containers": [{"name": "a", "image": "a"}]},
    }
    with pytest.raises(ApiRefused, match="violates PodSecurity"):
        operator.client.apply({"apiVersion": "v1", "kind": "Pod"} | first)
    wait_until("all workers run", lambda: len(running(operator, namespace)) == 3)
    time.sleep(2)
    now = counted(file, ledger)
    # A pod's times are whole seconds, cut off: it may seem to have begun up to one second before it did.
    elapsed = (time.time() - began + 1) / 3600
    hours = {row["name"]: row["gpuHours"] for row in now["rows"]}
    assert sorted(hours) == ["ana", "ben"]
    # At least the two seconds that all of them ran, and no longer than this test.
    assert 2 * 1 / 3600 <= hours["ana"] <= 2 * elapsed
    assert 1 / 3600 <= hours["ben"] <= elapsed
    assert len(ledger.read_text().splitlines()) == 3

    for pod in pods(operator, namespace, LAUNCHER):
        path = f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}"
        operator.client.merge(path, {"metadata": {"annotations": {"rehearsal.gpufleet.dev/exit-code": "0"}}})
    wait_until("the workers are deleted", lambda: pods(operator, namespace, WORKER) == [])
    later = counted(file, ledger)
    ended = {row["name"]: row["gpuHours"] for row in later["rows"]}
    assert all(ended[user] >= hours[user] for user in USERS)
    # Ended pods do not grow, and none of them is counted twice, by its job too.
    time.sleep(2)
    assert counted(file, ledger)["rows"] == later["rows"]
    assert len(ledger.read_text().splitlines()) == 3
    assert later["all"]["gpuHours"] <= 3 * (time.time() - began + 1) / 3600
    assert later["rows"][0]["jobs"] == 1


def running(operator: ControlPlane, namespace: str) -> list[Any]:
    return [pod for pod in pods(operator, namespace, WORKER) if pod["status"].get("phase") == "Running"]
