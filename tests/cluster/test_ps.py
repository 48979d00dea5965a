"""`gpufleet ps --contexts` on a real control plane: who computes and who hangs, through the API server's proxy.

An exporter of GPU figures is played by a web server of this test that speaks as NVIDIA's DCGM exporter does; its pod
has the address of this machine. The way there is the real one: the API server's proxy to the pod.
"""

import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner

from gpufleet.cli import main
from tests.cluster.workloads import TOLERATION, pod
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

ZONE = "use1-az1"


def own_address() -> str:
    """An address of this machine that the API server's proxy goes to, which loopback is not; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect(("192.0.2.1", 9))
        return str(asked.getsockname()[0])


@pytest.fixture
def exporter() -> Iterator[tuple[str, int, dict[str, float]]]:
    """Address and port of a server of GPU figures, and the use of each pod, as namespace/name, that it tells."""
    uses: dict[str, float] = {}

    class Dcgm(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            lines = ["# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).", "# TYPE DCGM_FI_DEV_GPU_UTIL gauge"]
            for number, (who, percent) in enumerate(uses.items()):
                namespace, name = who.split("/")
                owner = f'namespace="{namespace}",pod="{name}",container="main"'
                lines.append(f'DCGM_FI_DEV_GPU_UTIL{{gpu="{number}",modelName="NVIDIA A10G",{owner}}} {percent:g}')
            text = "\n".join(lines).encode() + b"\n" if self.path == "/metrics" else b""
            self.send_response(200 if text else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: object) -> None:
            pass

    address = own_address()
    server = ThreadingHTTPServer((address, 0), Dcgm)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield address, server.server_port, uses
    server.shutdown()
    server.server_close()
    thread.join(5)


def at_work(plane: ControlPlane, namespace: str, name: str, node: str, **more: Any) -> dict[str, Any]:
    """A pod that runs on a node."""
    document = pod(namespace, name, nodeName=node, tolerations=[TOLERATION], **more)
    plane.client.apply(document)
    path = plane.client.path(document)
    wait_until(f"{name} runs", lambda: plane.client.get(path)["status"].get("phase") == "Running")
    return dict(plane.client.get(path))


def test_hung_job_is_found_through_the_api_servers_proxy(
    plane: ControlPlane,
    nodes: Nodes,
    namespace: str,
    exporter: tuple[str, int, dict[str, float]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, port, uses = exporter
    (node,) = nodes.add(1, "g5.12xlarge", ZONE, "ps")
    own = {"name": "dcgm", "ports": [{"name": "metrics", "containerPort": port}]}
    at_work(plane, namespace, "dcgm", node, container=own)
    path = f"/api/v1/namespaces/{namespace}/pods/dcgm"
    plane.client.merge(path, {"metadata": {"labels": {"app.kubernetes.io/name": "dcgm-exporter"}}})
    plane.client.merge(f"{path}/status", {"status": {"podIP": address, "podIPs": [{"ip": address}]}})
    begun = (datetime.now(UTC) - timedelta(hours=2)).replace(microsecond=0)
    for name in ("busy", "stuck"):
        at_work(plane, namespace, name, node, container={"resources": {"limits": {"nvidia.com/gpu": "1"}}})
        status = {"startTime": begun.isoformat().replace("+00:00", "Z")}
        plane.client.merge(f"/api/v1/namespaces/{namespace}/pods/{name}/status", {"status": status})
    uses |= {f"{namespace}/busy": 83, f"{namespace}/stuck": 0}
    monkeypatch.setenv("KUBECONFIG", str(plane.kubeconfig))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))
    (tmp_path / "states").mkdir()

    def jobs() -> dict[str, tuple[int, int, bool]]:
        command = ["ps", "--backend", f"file://{tmp_path}/states", "--contexts", "all", "--json"]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
        (cluster,) = json.loads(done.output)["clusters"]
        assert (cluster["fault"], cluster["exporters"], cluster["silent_exporters"]) == (None, 1, 0)
        own = [each for each in cluster["jobs"] if each["namespace"] == namespace]
        return {each["name"]: (each["gpu_percent"], each["idle_minutes"], each["hung"]) for each in own}

    # One look sees a moment only.
    assert jobs() == {"busy": (83, 0, False), "stuck": (0, 0, False)}
    # The same look, and those of every ten minutes before it.
    file = tmp_path / "home" / "gpufleet" / "gpu-use.json"
    (look,) = json.loads(file.read_text()).values()
    assert look["up"] == begun.isoformat()
    earlier = datetime.now(UTC) - timedelta(minutes=40)
    key = next(iter(json.loads(file.read_text())))
    file.write_text(json.dumps({key: {**look, "idle_since": earlier.isoformat()}}))
    assert jobs() == {"busy": (83, 0, False), "stuck": (0, 40, True)}
    uses[f"{namespace}/stuck"] = 5
    assert jobs()["stuck"] == (5, 0, False)
