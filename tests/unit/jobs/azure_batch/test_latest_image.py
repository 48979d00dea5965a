"""Which image of a repository in ACR jobs run, from a registry on loopback with answers in the documented shapes."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from gpufleet.jobs.azure_batch.latest_image import REGISTRY_ENDPOINT, newest_images
from tests.tools.batch_account import FakeBatch
from tests.tools.fake_azure_batch import REGISTRY, play

TRAIN = ("--name", "train", "--pool", "spot", "--", "python3", "train.py")


def manifest(name: str, minute: int, *tags: str) -> dict[str, Any]:
    at = f"2026-11-21T12:{minute:02d}:00.0000000Z"
    told = {"digest": f"sha256:{64 * name}", "createdTime": at, "lastUpdateTime": at}
    return {**told, **({"tags": list(tags)} if tags else {})}


class Registry(ThreadingHTTPServer):
    """manifests: by repository. asked: (path, form or query) of each request. status: of every answer, if not 0."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.manifests: dict[str, list[dict[str, Any]]] = {}
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        self.status = 0


class Handler(BaseHTTPRequestHandler):
    @property
    def below(self) -> str:
        """The path at the registry itself, whose host is the first part of ours."""
        return f"/{self.path.split('/', 2)[2]}"

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.asked.append((self.below, form))
        if self.below == "/oauth2/exchange" and form["grant_type"] == ["access_token"]:
            self.send(200, {"refresh_token": "refresh"})
        elif self.below == "/oauth2/token" and form["refresh_token"] == ["refresh"]:
            self.send(200, {"access_token": form["scope"][0]})
        else:
            self.send(400, {"errors": [{"code": "UNSUPPORTED", "message": "unsupported"}]})

    def do_GET(self) -> None:
        url = urlsplit(self.below)
        self.server.asked.append((url.path, parse_qs(url.query)))
        name = url.path.removeprefix("/acr/v1/").removesuffix("/_manifests")
        if self.headers["Authorization"] != f"Bearer repository:{name}:metadata_read":
            self.send(401, {"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]})
        elif name not in self.server.manifests:
            self.send(404, {"errors": [{"code": "NAME_UNKNOWN", "message": "repository name not known to registry"}]})
        else:
            self.send(200, {"registry": REGISTRY, "imageName": name, "manifests": self.server.manifests[name]})

    def send(self, status: int, content: Any) -> None:
        data = json.dumps(content).encode()
        self.send_response(self.server.status or status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    server = Registry()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    play(monkeypatch, REGISTRY_ENDPOINT, f"http://127.0.0.1:{server.server_port}")
    yield server
    server.shutdown()
    server.server_close()


def test_what_was_tagged_last_and_is_an_image(registry: Registry) -> None:
    registry.manifests["dev/training"] = [
        manifest("e", 9),
        manifest("d", 8, f"sha256-{64 * 'b'}.sig"),
        manifest("b", 5, "v2", "latest"),
        manifest("c", 3, "v0"),
    ]
    urls = {"dev/training": f"{REGISTRY}/dev/training", "empty": f"{REGISTRY}/empty", "own": "r.invalid/own"}
    found = newest_images(urls)
    assert {name: str(each) for name, each in found.items()} == {
        "dev/training": f"{REGISTRY}/dev/training:latest@sha256:{64 * 'b'}"
    }
    assert ("/acr/v1/dev/training/_manifests", {"orderby": ["timedesc"], "n": ["50"]}) in registry.asked


def test_job_runs_the_newest(registry: Registry, here: FakeBatch, run: Any) -> None:
    registry.manifests["training"] = [manifest("a", 1, "v1")]
    assert run("jobs", "submit", "dev", *TRAIN).exit_code == 0
    assert here.tasks["train"]["containerSettings"]["imageName"] == f"{REGISTRY}/training@sha256:{64 * 'a'}"
    assert run("images", "list", "dev").stdout == f"training: v1  {REGISTRY}/training@sha256:{64 * 'a'}\n"


def test_repository_without_an_image(registry: Registry, here: FakeBatch, run: Any) -> None:
    assert run("jobs", "submit", "dev", *TRAIN).stderr == (
        "Error: dev: image=training: no image of it is recorded; build one with `gpufleet images build dev DIR`, or "
        "give --image training:TAG\n"
    )
    assert here.asked == []


DENIED = f"denied by {REGISTRY}; give the identity in use the role AcrPull on the registry"


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (401, f"Azure credentials: not accepted by {REGISTRY}; sign in with `az login`"),
        (403, f"Azure Container Registry: images of training: {DENIED}"),
    ],
)
def test_refusal_is_one_line(registry: Registry, here: FakeBatch, run: Any, status: int, line: str) -> None:
    registry.status = status
    done = run("jobs", "submit", "dev", *TRAIN)
    assert done.stderr.startswith(f"Error: {line}"), done.stderr
    assert done.stderr.count("\n") == 1
