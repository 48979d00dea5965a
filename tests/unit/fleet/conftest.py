"""Stacks as the engine's file backend holds them, and the command line on them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from tests.unit.fleet.cluster_api import DCGM, Api, cluster_api, exporter, pod

SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:hush"}


@dataclass
class Backend:
    """A file backend in a folder of a test."""

    folder: Path
    written: dict[str, Path] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"file://{self.folder}?metadata=skip"

    def put(self, stack: str, resources: list[dict[str, Any]] | None, project: str = "training") -> Path:
        """A stack with these resources; with None one that was never brought up."""
        manifest = {"time": "2026-11-01T10:00:00.123456789Z", "magic": "x", "version": "v3.253.0"}
        latest = None if resources is None else {"manifest": manifest, "resources": resources}
        text = {"version": 3, "checkpoint": {"stack": f"organization/{project}/{stack}", "latest": latest}}
        return self.file(f"stacks/{project}/{stack}.json", text)

    def file(self, path: str, content: object) -> Path:
        """A file of the backend."""
        file = self.folder / ".pulumi" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file


@pytest.fixture
def backend(tmp_path: Path) -> Backend:
    (tmp_path / "states").mkdir()
    return Backend(tmp_path / "states")


@pytest.fixture
def resource() -> Callable[..., dict[str, Any]]:
    """Makes a resource of a state."""

    def made(stack: str, kind: str, name: str, inputs: dict[str, Any], **more: object) -> dict[str, Any]:
        urn = f"urn:pulumi:{stack}::training::{kind}::{name}"
        # What the cloud tells of tags is what the program gave, unless a test says otherwise.
        told = {key: value for key, value in inputs.items() if key not in ("tags", "metadata")}
        own = {"urn": urn, "type": kind, "custom": True, "id": name, "inputs": inputs, "outputs": told}
        if not kind.startswith("pulumi:"):
            own["provider"] = f"urn:pulumi:{stack}::training::pulumi:providers:aws::default::some-id"
        return {**own, "created": "2026-10-31T10:00:00.5Z", "modified": "2026-10-31T10:00:00.5Z", **more}

    return made


@pytest.fixture
def eks(resource: Callable[..., dict[str, Any]]) -> Callable[..., list[dict[str, Any]]]:
    """Makes a stack of a cluster and a pool of 4 GPUs a node: 0 to 3 nodes, and 2 when it was last looked at."""

    def made(stack: str, expires: str | None = "2026-12-31", owner: str = "ana") -> list[dict[str, Any]]:
        own = {"gpufleet-stack": f"training/{stack}", "environment": stack, "owner": owner, "project": "vision"}
        tags = own | ({"expires-at": expires} if expires else {})
        sizes = {"minSize": 0, "desiredSize": 0, "maxSize": 3}
        inputs = {"instanceTypes": ["g5.12xlarge"], "scalingConfig": sizes, "tags": tags, "capacityType": "ON_DEMAND"}
        cluster = {"name": stack, "tags": tags}
        return [
            resource(stack, "pulumi:providers:aws", "default", {"region": "us-east-1"}),
            resource(stack, "aws:eks/cluster:Cluster", "cluster", cluster,
                     outputs={"endpoint": f"https://{stack}.EKS.example", "certificateAuthority": SECRET}),
            resource(stack, "aws:eks/nodeGroup:NodeGroup", "trainers", inputs,
                     outputs={"capacityType": "ON_DEMAND", "scalingConfig": {**sizes, "desiredSize": 2}}),
        ]  # fmt: skip

    return made


@pytest.fixture
def onprem(resource: Callable[..., dict[str, Any]]) -> Callable[..., list[dict[str, Any]]]:
    """Makes a stack on an own cluster, without a tag: nodes of 4, 4 and 2 GPUs, a namespace and a volume."""

    def made(stack: str, **labels: str) -> list[dict[str, Any]]:
        mark = {"gpufleet.dev/stack": f"training-{stack}", "gpufleet.dev/environment": stack}
        own = mark | {f"gpufleet.dev/{key}": value for key, value in {"project": "vision", **labels}.items()}
        pools = {"v100": {"label": f"{stack}-v100", "gpus": 4}, "titan": {"label": f"{stack}-titan", "gpus": 2}}

        def thing(kind: str, name: str, labels: dict[str, str]) -> dict[str, Any]:
            found = resource(stack, f"kubernetes:core/v1:{kind}", name, {"metadata": {"name": name, "labels": labels}})
            return found | {"provider": f"urn:pulumi:{stack}::training::pulumi:providers:kubernetes::lab::some-id"}

        return [
            resource(stack, "pulumi:pulumi:Stack", stack, {}, custom=False, outputs={"jobs": {"pools": pools}}),
            resource(stack, "pulumi:providers:kubernetes", "lab", {"kubeconfig": SECRET}),
            *(thing("NodePatch", node, {"gpufleet.dev/pool": f"{stack}-v100"}) for node in ("gpu-1", "gpu-2")),
            thing("NodePatch", "gpu-3", {"gpufleet.dev/pool": f"{stack}-titan"}),
            thing("Namespace", "team", own),
            thing("PersistentVolume", "volume", own),
        ]

    return made


@pytest.fixture
def hybrid(resource: Callable[..., dict[str, Any]], eks: Callable[..., list[dict[str, Any]]]) -> Callable[..., Any]:
    """Makes a stack of a cluster with a pool as `eks` has it, which two servers of 4 GPUs and one of 2 may join."""

    def made(stack: str) -> list[dict[str, Any]]:
        own = {"place": "onprem", "zones": ["onprem"]}
        pools = {
            "trainers": {"label": f"{stack}-trainers", "types": ["g5.12xlarge"], "max": 3},
            "v100": {"label": f"{stack}-v100", "gpu": "V100", "gpus": 4, "max": 2, **own},
            "titan": {"label": f"{stack}-titan", "gpu": "TITAN-V", "gpus": 2, "max": 1, **own},
        }
        return [
            resource(stack, "pulumi:pulumi:Stack", stack, {}, custom=False, outputs={"jobs": {"pools": pools}}),
            *eks(stack),
            resource(stack, "aws:eks/accessEntry:AccessEntry", "admin", {"type": "STANDARD"}),
            resource(stack, "aws:eks/accessEntry:AccessEntry", "servers", {"type": "HYBRID_LINUX"}),
        ]

    return made


@pytest.fixture
def now() -> datetime:
    return datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def webhook() -> Iterator[tuple[str, list[Any]]]:
    """A URL and what was posted to it; the path /no answers 404."""
    told: list[Any] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(404 if self.path.startswith("/no") else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", told
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.fixture
def api() -> Iterator[Api]:
    with cluster_api() as played:
        yield played


@pytest.fixture
def busy(api: Api) -> Api:
    """Two nodes of four GPUs, two jobs on the first, and exporters on both, of which only the first is asked."""
    nodes = [{"metadata": {"name": name}, "status": {"capacity": {"nvidia.com/gpu": "4"}}} for name in "ab"]
    pods = [pod("one-worker-0", "one"), pod("two-worker-0", "two"), exporter("a"), exporter("b")]
    api.answers = {
        "/api/v1/nodes": {"items": nodes},
        "/api/v1/pods": {"items": pods},
        "/api/v1/namespaces/t/pods/dcgm-a:9400/proxy/metrics": DCGM,
    }
    return api


@pytest.fixture
def outputs(busy: Api, tmp_path: Path) -> Path:
    """A stack's outputs: its cluster is the busy one, and two teams share it."""
    content = yaml.safe_load(busy.kubeconfig(tmp_path / "config", "lab").read_text())
    teams = {"t": {"namespace": "t"}, "other": {"namespace": "other"}}
    file = tmp_path / "outputs.json"
    kubeconfig = {**content, "current-context": "lab"}
    file.write_text(json.dumps({"kubeconfig": json.dumps(kubeconfig), "jobs": {"teams": teams}}))
    return file
