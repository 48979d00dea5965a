"""Logs through the real API server, read by the kubelet's own code (kwok serves a file with it), across cuts.

What is played here: the container. Its log is a file in the format of container runtimes that the test writes.
"""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpufleet.jobs.events import EventKind
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.follow import KubernetesJobFollower
from gpufleet.jobs.kubernetes.submission import build_submission
from gpufleet.jobs.kubernetes.submit import create_job
from gpufleet.jobs.request import parse_request
from gpufleet.jobs.settings import read_settings
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

LAUNCHER = "training.kubeflow.org/job-role=launcher"


def manifest(namespace: str, kubeconfig: object, pool: str, name: str, **launcher: str) -> dict[str, Any]:
    """A job of one worker. launcher: how its launcher is to go, as kwok is told by annotations."""
    pools = {pool: {"types": ["g5.8xlarge"], "zones": ["use1-az1"]}}
    settings = read_settings({"kubeconfig": kubeconfig, "jobs": {"namespace": namespace, "pools": pools}}, "dev")
    request = parse_request({"workers": 1, "command": ["true"], "image": "r.invalid/i:1", "name": name}, "job")
    made = build_submission(settings, request).manifest
    annotations = {f"rehearsal.gpufleet.dev/{key.replace('_', '-')}": value for key, value in launcher.items()}
    made["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["metadata"]["annotations"] = annotations
    return made


def following(api: KubernetesApi, namespace: str, name: str) -> KubernetesJobFollower:
    return KubernetesJobFollower(
        api, namespace, name, f"gpufleet jobs logs dev {name} --follow", shortest=0.2, longest=0.5
    )


@pytest.mark.parametrize("code", [0, 3])
def test_launchers_exit_code_comes_through_the_operator(
    operator: ControlPlane, nodes: Nodes, namespace: str, code: int
) -> None:
    nodes.add(1, "g5.8xlarge", "use1-az1", "codes")
    api = KubernetesApi.of(operator.kubeconfig.read_text(), "dev")
    create_job(api, manifest(namespace, "k", "codes", "codes", exit_code=str(code)), print)
    follow = following(api, namespace, "codes")
    follow.logs = False
    end = list(follow.events())[-1]
    assert (end.kind, end.code) == (EventKind.END, code), end.text
    if code:
        assert f"the launcher's exit code is {code}" in end.text


@contextmanager
def cutting(port: int, after: list[int]) -> Iterator[tuple[int, list[int]]]:
    """A way to a port that breaks when so many bytes have come back on one connection; only answers longer than that
    meet it, once for each number. Yields its own port and the cuts that happened."""
    done: list[int] = []
    lock = threading.Lock()
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, target: socket.socket, back: bool) -> None:
        seen = 0
        try:
            while data := source.recv(8192):
                target.sendall(data)
                seen += len(data)
                with lock:
                    cut = back and bool(after) and seen >= after[0]
                    if cut:
                        done.append(after.pop(0))
                if cut:
                    break
        except OSError:
            pass
        for each in (source, target):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def serve() -> None:
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", port))
            except OSError:
                return
            threading.Thread(target=pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=pump, args=(server, client, True), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1], done
    finally:
        listener.close()


def test_ten_thousand_lines_arrive_once_each_through_the_api_server_though_it_is_cut_twice(
    operator: ControlPlane, nodes: Nodes, namespace: str, tmp_path: Path
) -> None:
    nodes.add(1, "g5.8xlarge", "use1-az1", "talks")
    config = yaml.safe_load(operator.kubeconfig.read_text())
    texts = [f"iteration {number}, loss {1 / (number + 1):.6f}" for number in range(10_000)]
    file = tmp_path / "launcher.log"
    began = datetime.now(UTC)
    # 2,500 lines a second; a third of them on the other output, as the runtime writes both into one file.
    lines = [
        f"{(began + timedelta(microseconds=400 * number)).strftime('%Y-%m-%dT%H:%M:%S.%f')}000Z "
        f"{'stderr' if number % 3 == 0 else 'stdout'} F {text}\n"
        for number, text in enumerate(texts)
    ]
    file.write_text("".join(lines[:4000]))
    size = sum(map(len, lines))
    port = int(config["clusters"][0]["cluster"]["server"].rpartition(":")[2])
    with cutting(port, [size // 4, size // 4 + 1]) as (cut_port, done):
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{cut_port}"
        api = KubernetesApi.of(config, "dev")
        create_job(api, manifest(namespace, "k", "talks", "talks", runs_for="12s"), print)
        wait_until("the launcher is there", lambda: pods(operator, namespace, LAUNCHER) != [])
        [launcher] = pods(operator, namespace, LAUNCHER)
        logs = {
            "apiVersion": "kwok.x-k8s.io/v1alpha1",
            "kind": "Logs",
            "metadata": {"name": launcher["metadata"]["name"], "namespace": namespace},
            "spec": {"logs": [{"logsFile": str(file)}]},
        }
        operator.client.apply(logs)
        shown: list[str] = []
        others: list[str] = []
        written = 4000
        for event in following(api, namespace, "talks").events():
            (shown if event.kind is EventKind.LINE else others).append(event.text)
            # The rest is written while it is being read.
            if written < len(lines) and len(shown) >= written - 500:
                with file.open("a") as log:
                    log.writelines(lines[written : written + 1000])
                written += 1000
    assert shown == texts, json.dumps(others)
    assert len(done) == 2
    assert others[-1].startswith("talks: succeeded after ")
