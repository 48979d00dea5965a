"""`gpufleet images` with the real buildah, a real registry and a real API server; nodes are fake, no image is run.

RUN lines are run by buildah with its isolation `chroot`, which needs neither an OCI runtime nor a user namespace.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet.images import build as building
from gpufleet.images import registry_auth
from gpufleet.jobs.settings import read_settings
from tests.cluster.command_line import GPUFLEET, SECONDS
from tests.cluster.registry_program import RegistryProgram, registry_program
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

REPOSITORY = "dev/training"
DOCKERFILE = """\
FROM scratch
COPY busybox /bin/busybox
RUN ["/bin/busybox", "--install", "-s", "/bin"]
COPY train.py /workspace/
ARG WORD
RUN echo "$WORD" > /word
"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RegistryProgram]:
    with registry_program(tmp_path_factory.mktemp("registry")) as made:
        yield made


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where buildah keeps layers: away from the user's."""
    folder = tmp_path_factory.mktemp("storage")
    file = folder / "storage.conf"
    file.write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/root"\nrunroot = "{folder}/run"\n')
    return file


@pytest.fixture
def context(tmp_path: Path) -> Path:
    folder = tmp_path / "context"
    folder.mkdir()
    (folder / "Dockerfile").write_text(DOCKERFILE)
    (folder / "train.py").write_text("print(1)\n")
    shutil.copy(shutil.which("busybox") or "busybox", folder / "busybox")
    return folder


@pytest.fixture
def given(operator: ControlPlane, namespace: str, registry: RegistryProgram) -> dict[str, Any]:
    """The stack's outputs."""
    return {
        "kubeconfig": operator.kubeconfig.read_text(),
        "registry_urls": {REPOSITORY: f"{registry.host}/{REPOSITORY}-{namespace}"},
        "jobs": {"namespace": namespace, "pools": {"images": {"types": ["g5.8xlarge"], "zones": ["use1-az1"]}}},
    }


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(given: dict[str, Any], registry: RegistryProgram, storage: Path, tmp_path: Path) -> Run:
    def invoke(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """`--outputs` goes behind the environment's name, `dev`. variables: of the environment."""
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps(given))
        position = words.index("dev") + 1
        command = [GPUFLEET, *words[:position], "--outputs", str(file), *words[position:]]
        environment = os.environ | isolated(storage) | {"REGISTRY_AUTH_FILE": str(registry.login)} | variables
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment)

    return invoke


def isolated(storage: Path) -> dict[str, str]:
    return {"CONTAINERS_STORAGE_CONF": str(storage), "BUILDAH_ISOLATION": "chroot"}


def path_in(given: dict[str, Any]) -> str:
    """The repository's path in the registry."""
    return str(given["registry_urls"][REPOSITORY]).partition("/")[2]


def config_map(operator: ControlPlane, namespace: str) -> dict[str, str] | None:
    listed = operator.client.get(f"/api/v1/namespaces/{namespace}/configmaps")["items"]
    found = [each["data"] for each in listed if each["metadata"]["name"] == "images"]
    return found[0] if found else None


def test_image_is_built_pushed_and_run_by_its_digest(
    operator: ControlPlane,
    nodes: Nodes,
    namespace: str,
    registry: RegistryProgram,
    given: dict[str, Any],
    run: Run,
    context: Path,
) -> None:
    done = run("images", "build", "dev", str(context), "--tag", "v1", "--build-arg", "WORD=hello", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    url, path = given["registry_urls"][REPOSITORY], path_in(given)

    manifest, digest, body = registry.manifest(path, "v1")
    assert f"sha256:{hashlib.sha256(body).hexdigest()}" == digest == told["digest"]
    assert told == {
        "repository": REPOSITORY,
        "tag": "v1",
        "digest": digest,
        "image": f"{url}@{digest}",
        "recorded": True,
        "cuda": None,
    }
    configuration = json.loads(registry.get(f"{path}/blobs/{manifest['config']['digest']}")[0])
    assert (configuration["os"], configuration["architecture"]) == ("linux", "amd64")
    layer = gzip.decompress(registry.get(f"{path}/blobs/{manifest['layers'][-1]['digest']}")[0])
    with tarfile.open(fileobj=io.BytesIO(layer)) as files:
        word = files.extractfile("word")
        assert word is not None
        assert word.read() == b"hello\n", "RUN has run, with the build's argument"

    assert config_map(operator, namespace) == {"dev..training": f"{url}:v1@{digest}"}
    [listed] = json.loads(run("images", "list", "dev", "--json").stdout)
    assert listed == {"repository": REPOSITORY, "tag": "v1", "image": f"{url}@{digest}"}

    nodes.add(1, "g5.8xlarge", "use1-az1", "images")
    submitted = run("jobs", "submit", "dev", "--workers", "1", "--name", "train", "--", "python3", "train.py")
    assert submitted.returncode == 0, submitted.stderr
    wait_until("the job has a launcher and a worker", lambda: len(pods(operator, namespace)) >= 2)
    images = {each["image"] for pod in pods(operator, namespace) for each in pod["spec"]["containers"]}
    assert images == {f"{url}@{digest}"}


def test_next_build_is_what_the_next_job_runs_and_layers_are_used_again(
    operator: ControlPlane, namespace: str, registry: RegistryProgram, given: dict[str, Any], run: Run, context: Path
) -> None:
    first = json.loads(run("images", "build", "dev", str(context), "--json").stdout)
    (context / "train.py").write_text("print(2)\n")
    again = run("images", "build", "dev", str(context), "--json", "--tag", "second")
    second = json.loads(again.stdout)
    assert first["digest"] != second["digest"]
    assert "Using cache" in again.stderr
    assert registry.tags(path_in(given)) == sorted([first["tag"], "second"])
    dry = run("jobs", "submit", "dev", "--workers", "1", "--name", "train", "--dry-run", "--json", "--", "true")
    worker = json.loads(dry.stdout)["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert worker["containers"][0]["image"] == second["image"]
    assert config_map(operator, namespace) == {
        "dev..training": f"{given['registry_urls'][REPOSITORY]}:second@{second['digest']}"
    }


@pytest.mark.parametrize("fault", ["Dockerfile", "password"])
def test_builders_failure_goes_through_and_nothing_is_recorded(
    operator: ControlPlane,
    namespace: str,
    registry: RegistryProgram,
    given: dict[str, Any],
    run: Run,
    context: Path,
    tmp_path: Path,
    fault: str,
) -> None:
    variables = {}
    if fault == "Dockerfile":
        (context / "Dockerfile").write_text(DOCKERFILE + "RUN exit 7\n")
    else:
        (tmp_path / "none.json").write_text("{}")
        variables = {"REGISTRY_AUTH_FILE": str(tmp_path / "none.json")}
    done = run("images", "build", "dev", str(context), **variables)
    line, words = {
        "Dockerfile": ("nothing is pushed: buildah build failed (exit code 7), see above", "exit status 7"),
        "password": ("nothing is recorded: buildah push failed (exit code 125), see above", "authentication required"),
    }[fault]
    assert (done.returncode, done.stdout) == (7 if fault == "Dockerfile" else 125, "")
    assert words in done.stderr, "the builder's own words"
    assert done.stderr.endswith(f"\nError: {line}\n")
    assert registry.tags(path_in(given)) == []
    assert config_map(operator, namespace) is None
    submitted = run("jobs", "submit", "dev", "--workers", "1", "--", "true")
    assert submitted.stderr == (
        "Error: dev: image=dev/training: no image of it is recorded; build one with `gpufleet images build dev DIR`, "
        "or give --image dev/training:TAG\n"
    )


def test_cluster_that_is_gone_after_the_push_leaves_the_image_and_its_name(
    registry: RegistryProgram, given: dict[str, Any], run: Run, context: Path
) -> None:
    given["kubeconfig"] = given["kubeconfig"].replace("https://127.0.0.1:", "https://127.0.0.2:")
    done = run("images", "build", "dev", str(context), "--tag", "v1")
    url, digest = given["registry_urls"][REPOSITORY], registry.manifest(path_in(given), "v1")[1]
    assert (done.returncode, done.stdout) == (1, f"{url}@{digest}\n")
    assert done.stderr.splitlines()[-1] == (
        f"Error: pushed, but not recorded for jobs; submit them with --image {url}@{digest}: dev: {server_of(given)} "
        "cannot be reached: connection refused; is the cluster up, and this machine allowed to reach it?"
    )
    options = ["--image", f"{url}@{digest}", "--workers", "1", "--dry-run"]
    assert f"{url}@{digest}" in run("jobs", "submit", "dev", *options, "--", "true").stdout, "asks no cluster"


def server_of(given: dict[str, Any]) -> str:
    return next(word for word in given["kubeconfig"].replace('"', " ").split() if word.startswith("https://127.0.0.2:"))


def test_login_that_gpufleet_writes_is_the_one_that_buildah_uses(
    registry: RegistryProgram,
    given: dict[str, Any],
    context: Path,
    storage: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What ECR or ACR answers is played, the file and its use are real: without it the push is refused, see above."""
    (tmp_path / "none.json").write_text("{}")
    for name, value in (isolated(storage) | {"REGISTRY_AUTH_FILE": str(tmp_path / "none.json")}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(registry_auth, "cloud_login", lambda host: registry.entry if host == registry.host else None)
    plan = building.plan_build(read_settings(given, "dev"), context, tag="v1")
    image = building.build_image(plan, print)
    assert image.digest == registry.manifest(path_in(given), "v1")[1]
