"""A cluster's API server as `gpufleet ps` asks it, played on loopback, and objects for it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import yaml

# As DCGM's exporter answers (github.com/NVIDIA/dcgm-exporter, README), and nvidia_gpu_exporter (its METRICS.md).
DCGM = """# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-604a"} 139
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="a",container="w",namespace="t",pod="one-worker-0"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",Hostname="a",container="w",namespace="t",pod="two-worker-0"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="2",UUID="GPU-3",Hostname="a",container="",namespace="",pod=""} NaN
DCGM_FI_DEV_GPU_UTIL{gpu="3",UUID="GPU-4",Hostname="a"} 4 1700000000000
"""
START = "2026-11-21T10:00:00Z"


def pod(name: str, job: str = "", node: str = "a", gpus: int = 1, phase: str = "Running") -> dict[str, Any]:
    labels = {"training.kubeflow.org/job-name": job} if job else {}
    limits = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    return {
        "metadata": {"name": name, "namespace": "t", "labels": labels, "creationTimestamp": START},
        "spec": {"nodeName": node, "containers": [{"resources": {"limits": limits}}]},
        "status": {"phase": phase, "startTime": START},
    }


def exporter(node: str) -> dict[str, Any]:
    found = pod(f"dcgm-{node}", node=node, gpus=0)
    found["metadata"]["labels"] = {"app": "nvidia-dcgm-exporter"}
    found["spec"]["containers"][0]["ports"] = [{"name": "metrics", "containerPort": 9400}]
    return found


@dataclass
class Api:
    """An API server: what it answers by path, and until when it keeps silent."""

    answers: dict[str, object] = field(default_factory=dict)
    silent: Event = field(default_factory=Event)
    url: str = ""

    def kubeconfig(self, file: Path, *contexts: str, server: str = "") -> Path:
        named = [{"name": each, "context": {"cluster": "c", "user": "u"}} for each in contexts]
        clusters = [{"name": "c", "cluster": {"server": server or self.url}}]
        users = [{"name": "u", "user": {"token": "hush"}}]
        file.write_text(yaml.safe_dump({"contexts": named, "clusters": clusters, "users": users}))
        return file


@contextmanager
def cluster_api() -> Iterator[Api]:
    found = Api()
    found.silent.set()

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.silent.wait(20)
            answer = found.answers.get(self.path.partition("?")[0])
            text = answer if isinstance(answer, str) else json.dumps(answer or {"message": "no such thing"})
            self.send_response(404 if answer is None else 200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}"
    yield found
    found.silent.set()
    server.shutdown()
    server.server_close()
    thread.join(5)
