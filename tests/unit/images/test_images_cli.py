"""`gpufleet images` as a user types it. The builder is a script that plays buildah's part, the cluster a small server.

With the real buildah, registry and API server: tests/cluster/test_images.py.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from click.testing import CliRunner, Result
from moto import mock_aws

from gpufleet.cli import main
from gpufleet.images.pinned_images import PinnedImage, pin_image, read_pinned_images
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError
from tests.tools.fake_cluster import FakeCluster, played

TEAM = "/api/v1/namespaces/team"
IMAGES = f"{TEAM}/configmaps/images"
DIGEST, OLD = (f"sha256:{64 * each}" for each in "ab")
ECR = "123456789012.dkr.ecr.us-east-1.amazonaws.com"

BUILDAH = """#!/bin/sh
# Writes down how it was called, and the digest where it is asked for.
echo "$@" >> "$PLAYED/calls"
echo "played $1"
while [ $# -gt 0 ]; do
  case "$1" in
    --digestfile) echo "$DIGEST" > "$2" ;;
    --authfile) cp "$2" "$PLAYED/login" ;;
  esac
  [ "$FAILS" = "$1" ] && exit 125
  [ "$1" = find ] && { echo "$LIBRARIES"; exit 1; }
  [ "$HANGS" = "$1" ] && { : > "$PLAYED/hangs"; exec sleep 3600; }
  shift
done
exit 0
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "buildah").write_text(BUILDAH)
    (tmp_path / "bin" / "buildah").chmod(0o755)
    (tmp_path / "context").mkdir()
    (tmp_path / "context" / "Dockerfile").write_text("FROM scratch\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PLAYED", str(tmp_path))
    monkeypatch.setenv("DIGEST", DIGEST)
    with played(FakeCluster(objects={TEAM: {"metadata": {"name": "team"}}})) as cluster:
        yield cluster


def outputs(here: FakeCluster, url: str = "r.invalid/dev/training") -> dict[str, Any]:
    jobs = {"namespace": "team", "pools": {"trainers": {"types": ["g5.8xlarge"]}}}
    return {"kubeconfig": json.dumps(here.kubeconfig), "registry_urls": {"dev/training": url}, "jobs": jobs}


Run = Callable[..., Result]


@pytest.fixture
def run(here: FakeCluster, tmp_path: Path) -> Run:
    def invoke(verb: str, *arguments: str, given: dict[str, Any] | None = None) -> Result:
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps(given or outputs(here)))
        return CliRunner().invoke(main, ["images", verb, "dev", "--outputs", str(file), *arguments])

    return invoke


def test_image_is_built_pushed_and_recorded(here: FakeCluster, run: Run, tmp_path: Path) -> None:
    context = str(tmp_path / "context")
    done = run("build", context, "--tag", "v1", "--build-arg", "A=1")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"r.invalid/dev/training@{DIGEST}\n"
    assert done.stderr.splitlines()[-1] == "dev/training: jobs run it from now on"
    image = "r.invalid/dev/training:v1"
    built, pushed, *looked = (tmp_path / "calls").read_text().splitlines()
    assert [line.split()[0] for line in looked] == ["from", "run", "rm", "inspect"]
    assert built == (
        f"build --layers --file {context}/Dockerfile --tag {image} --platform linux/amd64 --build-arg A=1 {context}"
    )
    assert pushed.startswith("push --digestfile ")
    assert pushed.endswith(f"/digest {image} docker://{image}"), "TLS is verified"
    [made] = here.created
    assert (made["kind"], made["metadata"]["name"]) == ("ConfigMap", "images")
    assert made["data"] == {"dev..training": f"{image}@{DIGEST}"}
    assert run("list").stdout == f"dev/training: v1  r.invalid/dev/training@{DIGEST}\n"


RUNTIME = "/opt/python/lib/python3.12/site-packages/nvidia_cuda_runtime"


def test_cuda_of_an_image_is_read_from_it_and_recorded(
    here: FakeCluster, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIBRARIES", f"{RUNTIME}_cu12-12.8.90.dist-info")
    done = run("build", str(tmp_path / "context"), "--json")
    assert json.loads(done.stdout)["cuda"] == "12.8"
    recorded = {made["metadata"]["name"]: made["data"]["dev..training"] for made in here.created}
    assert recorded["image-cuda"] == f"{DIGEST} 12.8"
    assert "cuda=" not in done.stderr
    api = KubernetesApi.of(here.kubeconfig, "dev")
    assert read_pinned_images(api, "team")["dev/training"].cuda == "12.8"
    here.objects[f"{TEAM}/configmaps/image-cuda"]["data"]["dev..training"] = f"{OLD} 9.2"
    assert read_pinned_images(api, "team")["dev/training"].cuda is None, "that is of another image"


def test_image_that_no_pool_can_run_is_told_when_it_is_built(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIBRARIES", "/usr/local/cuda/lib64/libcudart.so.9.2.148")
    said = run("build", str(tmp_path / "context")).stderr
    assert (
        "note: pool trainers: cuda=9.2: is older than the A10G of g5.8xlarge, which its libraries do not know; build "
        "the jobs' image with CUDA 11.0 or newer [any-image-cuda-new-gpu]"
    ) in said.splitlines()


def test_list_tells_of_repositories_without_an_image(here: FakeCluster, run: Run) -> None:
    assert run("list").stdout == "dev/training: none built yet\n"
    assert json.loads(run("list", "--json").stdout) == [{"repository": "dev/training", "tag": None, "image": None}]
    here.objects[IMAGES] = {"data": {"dev..training": f"r.invalid/dev/training:v0@{OLD}"}}
    assert json.loads(run("list", "--json").stdout) == [
        {"repository": "dev/training", "tag": "v0", "image": f"r.invalid/dev/training@{OLD}"}
    ]
    assert run("list", given=outputs(here) | {"registry_urls": {}}).stdout.startswith("dev/training: v0 ")


def test_json_is_alone_on_the_standard_output(here: FakeCluster, run: Run, tmp_path: Path) -> None:
    done = run("build", str(tmp_path / "context"), "--json")
    found = json.loads(done.stdout)
    assert found["tag"] == PinnedImage.read(here.created[0]["data"]["dev..training"]).tag
    assert found["tag"][:2] == "20", "the time"
    assert found | {"tag": ""} == {
        "repository": "dev/training",
        "tag": "",
        "digest": DIGEST,
        "image": f"r.invalid/dev/training@{DIGEST}",
        "cuda": None,
        "recorded": True,
    }


@pytest.mark.parametrize(("verb", "left"), [("build", "nothing is pushed"), ("push", "nothing is recorded")])
def test_exit_code_of_the_builder_goes_through(
    here: FakeCluster, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, left: str
) -> None:
    monkeypatch.setenv("FAILS", verb)
    done = run("build", str(tmp_path / "context"))
    assert (done.exit_code, done.stdout, here.created) == (125, "", [])
    assert done.stderr.endswith(f"Error: {left}: buildah {verb} failed (exit code 125), see above\n")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_unreachable_cluster_after_the_push_says_what_to_run(
    here: FakeCluster, run: Run, tmp_path: Path, options: list[str]
) -> None:
    here.answers = [0, 0]
    done = run("build", str(tmp_path / "context"), *options)
    assert done.exit_code == 1
    assert done.stdout.startswith("{" if options else f"r.invalid/dev/training@{DIGEST}\n")
    assert not options or json.loads(done.stdout)["recorded"] is False
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        "Error: pushed, but not recorded for jobs; submit them with "
        f"--image r.invalid/dev/training@{DIGEST}: dev: http://127.0.0.1:"
    )


def test_registry_on_loopback_may_speak_plain_http(here: FakeCluster, run: Run, tmp_path: Path) -> None:
    assert run("build", str(tmp_path / "context"), given=outputs(here, "127.0.0.1:5999/dev/training")).exit_code == 0
    built, pushed, *_ = (tmp_path / "calls").read_text().splitlines()
    assert ("--tls-verify" in built, "--tls-verify=false" in pushed) == (False, True)


def test_ecr_login_goes_by_a_file(here: FakeCluster, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
    with mock_aws():
        boto3.client("ecr", "us-east-1").create_repository(repositoryName="dev/training")
        done = run("build", str(tmp_path / "context"), given=outputs(here, f"{ECR}/dev/training"))
    assert done.exit_code == 0, done.stderr
    secret = json.loads((tmp_path / "login").read_text())["auths"][ECR]["auth"]
    said = (tmp_path / "calls").read_text()
    assert said.count("--authfile") == 2
    assert secret not in said + done.stdout + done.stderr
    assert not Path(said.split("--authfile ")[1].split()[0]).exists()


def test_what_cannot_be_is_one_line_before_anything_is_built(
    here: FakeCluster, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = str(tmp_path / "context")
    for arguments, line in (
        ([context + "x"], f"{context}x: directory not found; give the one with the Dockerfile"),
        ([context, "--repository", "tools"], "dev: repository=tools: repository not found; use dev/training"),
        ([context, "--tag", "a b"], "tag=a b: is not a valid tag; use up to 128 letters"),
        ([context, "--build-arg", "NOT_SET"], "images: build-arg=NOT_SET: has no value, here nor in the environment"),
        ([context, "--platform", "linux/arm64"], "dev: platform=linux/arm64: the nodes of its pools (trainers) are"),
    ):
        done = run("build", *arguments)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(f"Error: {line}"), done.stderr
        assert done.stderr.count("\n") == 1
    monkeypatch.setenv("GPUFLEET_REHEARSAL", str(tmp_path))
    done = run("build", context, "--tag", "v1")
    assert done.exit_code == 0, done.stderr
    image = "r.invalid/dev/training"
    assert f"{image}:v1: a rehearsal builds and pushes nothing; jobs name it by a made-up digest" in done.stderr
    assert not (tmp_path / "calls").exists()
    assert done.stdout == f"{image}@sha256:{hashlib.sha256(f'{image}:v1'.encode()).hexdigest()}\n"
    assert here.created[0]["data"] == {"dev..training": done.stdout.strip().replace("@", ":v1@")}
    (tmp_path / "bin" / "buildah").unlink()
    monkeypatch.delenv("GPUFLEET_REHEARSAL")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert run("build", context).stderr.startswith("Error: images: neither buildah nor podman is on PATH; install one:")
    assert not (tmp_path / "calls").exists()


def test_base_image_without_a_tag_is_a_note(run: Run, tmp_path: Path) -> None:
    (tmp_path / "context" / "Dockerfile").write_text("FROM docker.io/library/ubuntu\n")
    done = run("build", str(tmp_path / "context"))
    assert done.exit_code == 0
    assert done.stderr.startswith("note: Dockerfile:1: FROM docker.io/library/ubuntu: is another image after its next")


def test_ctrl_c_ends_the_builder_and_pushes_nothing(
    here: FakeCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANGS", "build")
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps(outputs(here)))
    gpufleet = str(Path(sys.executable).with_name("gpufleet"))
    command = [gpufleet, "images", "build", "dev", "--outputs", str(file), str(tmp_path / "context")]
    # A shell that runs the tests in its background has its children ignore Ctrl-C.
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    end = time.monotonic() + 600
    while not (tmp_path / "hangs").exists() and time.monotonic() < end:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=600)
    assert (process.returncode, stdout, here.created) == (130, "", [])
    assert stderr.endswith("Error: nothing is pushed: interrupted\n")


class _Api(KubernetesApi):
    """Keeps one ConfigMap; somebody else makes it first when `late`."""

    def __init__(self, late: bool) -> None:
        self.where, self.late = "dev", late
        self.patched: list[tuple[str, object]] = []
        self.data: dict[str, str] = {}

    def find(self, path: str, **_: object) -> dict[str, Any] | None:
        return {"data": self.data} if self.data else None

    def create(self, path: str, body: object, **_: object) -> dict[str, Any]:
        assert self.late
        raise KubernetesApiError("dev: exists (409)", 409)

    def patch(self, path: str, body: Any) -> dict[str, Any]:
        self.data |= body["data"]
        self.patched.append((path, body))
        return {}


def test_two_who_record_at_once_keep_each_others_image() -> None:
    api = _Api(late=True)
    image = PinnedImage("r.invalid/dev/training", "v1", DIGEST)
    pin_image(api, "team", "dev/training", image)
    assert api.patched == [(IMAGES, {"data": {"dev..training": str(image)}})]
    pin_image(api, "team", "tools", PinnedImage("r.invalid/tools", "", OLD))
    assert read_pinned_images(api, "team") == {"dev/training": image, "tools": PinnedImage("r.invalid/tools", "", OLD)}


def test_namespace_that_is_not_there_is_said_after_the_push(here: FakeCluster, run: Run, tmp_path: Path) -> None:
    here.answers = [404, 404]
    done = run("build", str(tmp_path / "context"))
    assert done.exit_code == 1
    assert done.stderr.endswith(": dev: namespace=team: namespace not found; `pulumi up` creates it\n")
