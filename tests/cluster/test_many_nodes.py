"""One job on many nodes: nothing but the number differs from a small one, and all of it lands in one zone.

Nodes are fake; scheduler, MPI operator and API server are real. What it took is printed; machines differ, so that only
ratios within one run are judged.
"""

import json
import subprocess
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpufleet.jobs.kubernetes.api import KubernetesApi
from tests.cluster.command_line import GPUFLEET, gpufleet, outputs
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

HERE, ELSEWHERE = "use1-az2", "use1-az1"
SMALL = 2
PATIENCE_SECONDS = 1200.0
"""For each wait. It only ends what hangs: 512 workers have taken more than five minutes on a slow machine."""
SLOWER_AT_MOST = 2.0
"""Submit and memory of the large job over those of the small one."""


@dataclass(frozen=True)
class Measured:
    """One command that has ended well. mib: the highest memory of its process, as the kernel counts it."""

    seconds: float
    mib: float


class Command:
    """`gpufleet` as a process whose own peak of memory is known in the end.

    Read while it runs (VmHWM, see proc(5)): what wait4(2) tells of a child is no less than its parent had at the fork.
    """

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._said, self._kib = folder / "said", 0
        self._began = self._ended = time.monotonic()
        with self._said.open("w") as file:
            self._process = subprocess.Popen([GPUFLEET, *arguments], stdout=file, stderr=file)
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()

    def _watch(self) -> None:
        while self._process.poll() is None:
            try:
                status = Path(f"/proc/{self._process.pid}/status").read_text()
            except (FileNotFoundError, ProcessLookupError):
                break
            peak = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")]
            self._kib = max(self._kib, *map(int, peak), 0)
            time.sleep(0.01)
        self._ended = time.monotonic()

    def end(self) -> Measured:
        """Wait for it; killed when it hangs."""
        try:
            self._process.wait(PATIENCE_SECONDS)
        finally:
            self._process.kill()
            self._watching.join()
        assert self._process.returncode == 0, self._said.read_text()
        return Measured(self._ended - self._began, self._kib / 1024)


def manifest(file: str, workers: int, name: str) -> dict[str, Any]:
    options = ["--outputs", file, "--workers", str(workers), "--image", "r.invalid/train:1", "--name", name]
    done = gpufleet("jobs", "submit", "dev", *options, "--dry-run", "--", "python3", "train.py")
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)


def differences(one: object, other: object, path: str = "") -> dict[str, tuple[object, object]]:
    """The leaves in which two documents differ, by their paths."""
    if isinstance(one, dict) and isinstance(other, dict):
        parts = [(f"{path}.{key}", one.get(key), other.get(key)) for key in {*one, *other}]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        parts = [(f"{path}[{number}]", *pair) for number, pair in enumerate(zip(one, other, strict=True))]
    else:
        return {} if one == other else {path: (one, other)}
    return {key: value for where, a, b in parts for key, value in differences(a, b, where).items()}


def places(api: KubernetesApi, namespace: str, job: str, many: int) -> dict[str, str]:
    """The node of each of so many workers, as they get them: the operator deletes workers when their job has ended.

    Errors: Unreachable when none has changed for `PATIENCE_SECONDS`.
    """
    where: dict[str, str] = {}
    selector = f"training.kubeflow.org/job-role=worker,training.kubeflow.org/job-name={job}"
    rest = b""
    # Watched, not listed: the pods of 512 workers are four megabytes.
    with api.stream(
        f"/api/v1/namespaces/{namespace}/pods", PATIENCE_SECONDS, watch=True, labelSelector=selector
    ) as chunks:
        for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            for pod in (json.loads(line)["object"] for line in lines):
                if "nodeName" in pod["spec"]:
                    where[pod["metadata"]["name"]] = pod["spec"]["nodeName"]
            if len(where) == many:
                break
    return where


@pytest.mark.parametrize("many", [32, 64, pytest.param(512, marks=pytest.mark.many_nodes)])
def test_many_nodes_of_8_gpus_need_only_another_number(
    operator: ControlPlane,
    nodes: Nodes,
    namespace: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    many: int,
) -> None:
    pool = f"many-{many}"
    began = time.monotonic()
    names = nodes.add(many, "p5.48xlarge", HERE, pool, network="efa")
    others = nodes.add(8, "p5.48xlarge", ELSEWHERE, pool, network="efa")
    wait_until("all nodes are ready", lambda: nodes.ready(pool) == len(names) + len(others), PATIENCE_SECONDS, poll=0.5)
    figures = [f"{len(names)} + {len(others)} nodes in two zones ready after {time.monotonic() - began:.0f} s"]
    file = outputs(
        operator, namespace, tmp_path, **{pool: {"types": ["p5.48xlarge"], "zones": [HERE], "network": "efa"}}
    )

    small, large = manifest(file, SMALL, "small"), manifest(file, many, "small")
    differs = differences(small, large)
    assert differs.pop(".spec.mpiReplicaSpecs.Worker.replicas") == (SMALL, many)
    assert all(str(a).replace(str(8 * SMALL), str(8 * many)) == b for a, b in differs.values()), differs

    api = KubernetesApi.of(operator.kubeconfig.read_text(), "dev")
    placing = ThreadPoolExecutor(1).submit(places, api, namespace, "large", many)
    took = {}
    for workers, name in ((SMALL, "small"), (many, "large")):
        options = ["--outputs", file, "--workers", str(workers), "--image", "r.invalid/train:1", "--name", name]
        command = Command(tmp_path, "jobs", "submit", "dev", *options, "--", "python3", "train.py")
        took[workers] = command.end()
        if workers == SMALL:
            follow = Command(tmp_path, "jobs", "logs", "dev", name, "--outputs", file, "--follow").end()
            figures.append(f"follow of {workers} workers: at most {follow.mib:.0f} MiB")
    began = time.monotonic()
    following = Command(tmp_path, "jobs", "logs", "dev", "large", "--outputs", file, "--follow")
    where = placing.result()
    figures.append(f"{many} workers placed {time.monotonic() - began:.0f} s after the submit, all in one zone")
    followed = following.end()
    figures.append(f"follow of {many} workers: at most {followed.mib:.0f} MiB, ended after {followed.seconds:.0f} s")
    nodes.remove([*names, *others])

    assert Counter(where.values()) == Counter(names), "each node of the zone has one worker, no other node has one"
    hosts = operator.client.get(f"/api/v1/namespaces/{namespace}/configmaps/large-config")["data"]["hostfile"]
    assert hosts.splitlines() == [f"large-worker-{n}.large.{namespace}.svc slots=8" for n in range(many)]
    with capsys.disabled():
        for workers, each in took.items():
            print(f"\nsubmit of {workers} workers x 8 GPUs: {each.seconds:.2f} s, at most {each.mib:.0f} MiB", end="")
        print("", *figures, sep="\n")
    assert took[many].mib < SLOWER_AT_MOST * took[SMALL].mib
    assert followed.mib < SLOWER_AT_MOST * follow.mib
