"""`gpufleet data put` of a URL: the pod's script against a server on loopback, and the command that follows the pod."""

import hashlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.kubernetes import url_fetch
from tests.tools.fake_cluster import FakeCluster, played

CONTENT = bytes(range(256)) * 4096  # 1 MiB
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SCRIPT = (files("gpufleet.jobs.kubernetes") / "fetch.sh").read_text()
PODS = "/api/v1/namespaces/team/pods"


class Source(ThreadingHTTPServer):
    """A web server with one file. cuts: after so many bytes an answer breaks off, each once. statuses: answers instead
    of the file, each once. ranges: whether it continues where it is asked to. asked: the Range of each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cuts: list[int] = []
        self.statuses: list[int] = []
        self.ranges = True
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/voc/train%20set.tar?a=[1]"


class _Handler(BaseHTTPRequestHandler):
    server: Source

    def do_GET(self) -> None:
        source, asked = self.server, self.headers["Range"]
        source.asked.append(asked)
        begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked and source.ranges else 0
        status = source.statuses.pop(0) if source.statuses else 206 if begin else 200
        if begin >= len(CONTENT):
            status = 416
        body = CONTENT[begin:] if status in (200, 206) else b"no"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 206:
            self.send_header("Content-Range", f"bytes {begin}-{len(CONTENT) - 1}/{len(CONTENT)}")
        elif status == 416:
            # As nginx has it: curl 7.88 takes it for an error (curl/curl#10521), later ones for the end of the file.
            self.send_header("Content-Range", f"bytes */{len(CONTENT)}")
        self.end_headers()
        self.wfile.write(body[: source.cuts.pop(0)] if source.cuts else body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def source() -> Iterator[Source]:
    server = Source()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    (tmp_path / "volume").mkdir()
    return tmp_path / "volume"


def fetch(volume: Path, url: str, sha256: str = "") -> tuple[int, list[str], list[str]]:
    """The script as the pod runs it: its exit code, what it prints but for the progress, and what it says of errors."""
    words = ["sh", "-c", SCRIPT, "fetch", str(volume), url, "data/train.tar", sha256, "0.01"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("at ")]
    return done.returncode, lines, [line for line in done.stderr.splitlines() if not line.startswith("curl: ")]


def test_a_file_arrives_whole_under_its_name(volume: Path, source: Source) -> None:
    assert fetch(volume, source.url) == (0, [f"fetched {len(CONTENT)} {len(CONTENT)} {SHA256}"], [])
    assert (volume / "data/train.tar").read_bytes() == CONTENT
    assert [each.name for each in (volume / "data").iterdir()] == ["train.tar"]
    assert fetch(volume, source.url, SHA256) == (0, [f"fetched {len(CONTENT)} 0 {SHA256}"], [])
    assert len(source.asked) == 1, "what is there with the right checksum is not fetched again"


def test_a_fetch_that_breaks_is_continued(volume: Path, source: Source) -> None:
    source.cuts = [300_000, 400_000]
    assert fetch(volume, source.url, SHA256)[0] == 0
    assert source.asked == [None, "bytes=300000-", "bytes=700000-"]
    assert (volume / "data/train.tar").read_bytes() == CONTENT


def test_what_an_ended_pod_has_left_is_continued(volume: Path, source: Source) -> None:
    (volume / "data").mkdir()
    (volume / "data/train.tar.gpufleet-part").write_bytes(CONTENT[:1000])
    assert fetch(volume, source.url) == (0, [f"fetched {len(CONTENT)} {len(CONTENT) - 1000} {SHA256}"], [])
    assert source.asked == ["bytes=1000-"]


@pytest.mark.parametrize("sha256", ["", SHA256])
def test_a_part_that_is_whole_is_not_lengthened(volume: Path, source: Source, sha256: str) -> None:
    (volume / "data").mkdir()
    (volume / "data/train.tar.gpufleet-part").write_bytes(CONTENT)
    assert fetch(volume, source.url, sha256)[0] == 0
    assert (volume / "data/train.tar").read_bytes() == CONTENT


def test_a_server_that_continues_nothing_is_asked_for_all_of_it(volume: Path, source: Source) -> None:
    source.ranges, source.cuts = False, [300_000]
    assert fetch(volume, source.url)[0] == 0
    assert (volume / "data/train.tar").read_bytes() == CONTENT


def test_a_server_that_is_busy_is_asked_again(volume: Path, source: Source) -> None:
    source.statuses = [503, 429]
    assert fetch(volume, source.url)[0] == 0


@pytest.mark.parametrize(
    ("statuses", "sha256", "said", "requests"),
    [
        ([404], "", ["the server answers 404"], 1),
        ([500] * 20, "", ["10 tries in a row brought nothing"], 10),
        ([], 64 * "0", [f"its SHA-256 is {SHA256}, and --sha256 says {64 * '0'}"], 1),
    ],
)
def test_what_cannot_be_fetched_leaves_no_file(
    volume: Path, source: Source, statuses: list[int], sha256: str, said: list[str], requests: int
) -> None:
    source.statuses = statuses
    assert fetch(volume, source.url, sha256) == (1, [], said)
    assert len(source.asked) == requests
    assert list((volume / "data").iterdir()) == []


def test_another_protocol_is_not_followed(volume: Path) -> None:
    code, lines, said = fetch(volume, f"file://{__file__}")
    assert (code, lines, said) == (1, [], ["curl ends with 1, see the line before"])


@pytest.fixture
def here() -> Iterator[FakeCluster]:
    with played(FakeCluster()) as cluster:
        yield cluster


@pytest.fixture
def put(here: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`gpufleet data put`, on a cluster whose pods have ended as soon as they are made."""
    plain = url_fetch.data_pod
    monkeypatch.setattr(url_fetch, "data_pod", lambda *args: plain(*args) | {"status": {"phase": "Succeeded"}})
    monkeypatch.setattr(url_fetch, "_LOOK_SECONDS", 0.01)

    def run(*words: str, log: str = "", **changes: Any) -> Result:
        jobs = {"namespace": "team", "volume_claim": "shared"} | changes
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps({"kubeconfig": json.dumps(here.kubeconfig), "jobs": jobs}))
        here.logs[f"{PODS}/{pod_of(*words)}/log"] = [(0, log.encode())]
        return CliRunner().invoke(main, ["data", "put", "dev", "--outputs", str(file), *words])

    return run


def pod_of(url: str, remote: str, *options: str) -> str:
    """The pod's name of a command: the same for the same URL, path and checksum."""
    path = f"{remote}train.tar" if remote.endswith("/") else remote
    return "data-" + hashlib.sha256("\n".join([url, path, *options[1:], ""][:3]).encode()).hexdigest()[:10]


URL = "https://example.org/voc/train.tar"


def test_the_pod_fetches_it_and_goes(here: FakeCluster, put: Callable[..., Result]) -> None:
    done = put(URL, "data/", "--sha256", SHA256, log=f"at 20\nat 70\nfetched 100 80 {SHA256}\n")
    assert (done.exit_code, done.stdout) == (
        0,
        "data/train.tar: 100 bytes, 80 bytes sent\n1 files, 80 bytes sent, checksums right\n",
    ), done.output
    [pod] = here.created
    container = pod["spec"]["containers"][0]
    assert container["command"][3:] == ["fetch", "/mnt", URL, "data/train.tar", SHA256, "10"]
    assert container["image"] == "docker.io/curlimages/curl:8.10.1"
    assert done.stderr.splitlines() == [
        f"data/train.tar: pod {pod['metadata']['name']} in namespace team fetches it",
        "data/train.tar: 20 bytes",
        "data/train.tar: 70 bytes",
    ]
    assert f"{PODS}/{pod['metadata']['name']}" not in here.objects
    # It has ended: some kubelets, as kwok's, would not end a log that is followed.
    assert [each for each in here.asked if "/log" in each] == [f"{PODS}/{pod['metadata']['name']}/log?follow=false"]


def test_what_the_pod_says_is_the_error(here: FakeCluster, put: Callable[..., Result]) -> None:
    done = put(
        URL, "data/x.tar", log="at 20\ncurl: (22) The requested URL returned error: 404\nthe server answers 404\n"
    )
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (
        1,
        f"Error: {URL}: curl: (22) The requested URL returned error: 404; the server answers 404; what has arrived is "
        "kept, fetch it again to continue",
    )
    assert list(here.objects) == []


def test_the_same_command_follows_the_pod_that_is_there(here: FakeCluster, put: Callable[..., Result]) -> None:
    here.objects[f"{PODS}/{pod_of(URL, 'data/x.tar')}"] = {"status": {"phase": "Succeeded"}}
    done = put(URL, "data/x.tar", log=f"fetched 100 100 {SHA256}\n")
    assert done.exit_code == 0, done.output
    assert here.created == []


@pytest.mark.parametrize(
    ("words", "changes", "said"),
    [
        (
            ["s3://bucket/train.tar", "data/"],
            {},
            "s3://bucket/train.tar: is fetched from https:// and http:// only; `aws s3 presign s3://bucket/train.tar` "
            "prints one that is",
        ),
        (
            ["ftp://example.org/train.tar", "data/"],
            {},
            "ftp://example.org/train.tar: is fetched from https:// and http:// only; give one of these",
        ),
        (
            [URL, "data/", "--sha256", "abc"],
            {},
            "sha256=abc: must be 64 hexadecimal digits in lower case, as sha256sum prints them",
        ),
        (
            ["train.tar", "data/", "--sha256", SHA256],
            {},
            f"sha256={SHA256}: is for a URL; the checksums of files from here are compared anyway",
        ),
        (
            ["https://example.org/", "data/"],
            {},
            "https://example.org/: has no file name; give one, for instance data/train.tar",
        ),
        ([URL, "../x"], {}, "../x: leaves the volume; give a path below its root, for instance data/train"),
        ([URL, "data/"], {"volume_claim": None}, "dev: it has no shared volume; its outputs have no claim"),
    ],
)
def test_what_is_not_fetched(put: Callable[..., Result], words: list[str], changes: dict[str, Any], said: str) -> None:
    done = put(*words, **changes)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (1, f"Error: {said}")
