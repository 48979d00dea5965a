"""The output `first_job` of every environment that is shipped, run as printed by the command line itself."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.images import build as building
from gpufleet.images.pinned_images import PinnedImage
from gpufleet.jobs.aws_batch import backend as aws_batch
from gpufleet.jobs.azure_batch import latest_image
from tests.tools.fake_aws import DEFINITIONS, QUEUE
from tests.tools.fake_aws import played as played_aws
from tests.tools.fake_cluster import FakeCluster, played
from tests.unit.stacks.azure_stack import ANSWERS, COMPUTED
from tests.unit.stacks.lab_environment import KUBECONFIG
from tests.unit.stacks.stack_programs import PROJECT, STACKS, Program

ENVIRONMENTS = sorted(file.name.split(".")[1] for file in (STACKS / "config").glob("Pulumi.*.yaml"))
DIGEST = f"sha256:{64 * '1'}"
BUILD, SUBMIT = "gpufleet images build", "gpufleet jobs submit"
TRAIN = "--follow -- python3 train.py --synthetic"
PRINTED = {
    "aws-batch-dev": [f"{BUILD} aws-batch-dev examples/train", f"{SUBMIT} aws-batch-dev {TRAIN}"],
    "aws-batch-prod": [
        f"{BUILD} aws-batch-prod --repository training examples/train",
        f"{SUBMIT} aws-batch-prod --image training --share speech {TRAIN}",
    ],
    "aws-dev": [f"{BUILD} aws-dev examples/train", f"{SUBMIT} aws-dev --workers 2 {TRAIN}"],
    "aws-prod": [
        f"{BUILD} aws-prod --repository training examples/train",
        f"{SUBMIT} aws-prod --image training --pool reserved --workers 2 {TRAIN}",
    ],
    "azure-dev": [f"{BUILD} azure-dev examples/train", f"{SUBMIT} azure-dev --workers 2 {TRAIN}"],
    "azure-prod": [
        f"{BUILD} azure-prod --repository training examples/train",
        f"{SUBMIT} azure-prod --image training --nodes 2 {TRAIN}",
    ],
    "hybrid": [f"{BUILD} hybrid examples/train", f"{SUBMIT} hybrid --workers 2 --place any {TRAIN}"],
    "onprem": [f"{BUILD} onprem examples/train", f"{SUBMIT} onprem --workers 2 --place any {TRAIN}"],
}


@dataclass
class User:
    """Who has brought an environment up and pastes what it prints. built: URLs of the images that were pushed."""

    outputs: dict[str, Any]
    folder: Path
    built: list[str] = field(default_factory=list)

    def paste(self, command: str, *more: str) -> str:
        """Run one printed command. more: options behind the environment; `--outputs` always is one."""
        words = shlex.split(command)
        assert words[0] == "gpufleet"
        file = self.folder / "outputs.json"
        file.write_text(json.dumps(self.outputs, default=str))
        at = 4
        done = CliRunner().invoke(main, [*words[1:at], "--outputs", str(file), *more, *words[at:]])
        assert done.exit_code == 0, done.output
        return str(done.stdout)


def environment_outputs(environment: str) -> dict[str, Any]:
    """The outputs of the environment's stack, as its program makes them of the shipped configuration."""
    config = yaml.safe_load((STACKS / "config" / f"Pulumi.{environment}.yaml").read_text())["config"]
    given = {key: str(value) if key.endswith("expires_at") else value for key, value in config.items()}
    if "gpufleet:phase" in given:
        given["gpufleet:phase"] = "cluster"
    if config["gpufleet:cloud"] == "onprem":
        given["gpufleet:kubeconfig"] = f"# lab\n{KUBECONFIG}"
    azure = config["gpufleet:cloud"] == "azure"
    return dict(Program(environment, given, COMPUTED if azure else {}, ANSWERS if azure else {})().result)


@pytest.fixture(params=ENVIRONMENTS)
def environment(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def user(environment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[User]:
    told = environment_outputs(environment)
    user = User(told, tmp_path)
    monkeypatch.chdir(PROJECT)
    monkeypatch.setattr(building, "find_builder", lambda: "buildah")

    def push(plan: building.BuildPlan, _: object) -> PinnedImage:
        user.built.append(plan.repository.url)
        return PinnedImage(plan.repository.url, plan.tag, DIGEST)

    monkeypatch.setattr(building, "build_image", push)

    def newest(repositories: dict[str, str]) -> dict[str, PinnedImage]:
        return {name: PinnedImage(url, "new", DIGEST) for name, url in repositories.items() if url in user.built}

    monkeypatch.setattr(aws_batch, "newest_images", newest)
    monkeypatch.setattr(latest_image, "newest_images", newest)
    namespace = "/api/v1/namespaces/training"
    cluster = FakeCluster(objects={namespace: {"metadata": {"name": "training"}}})
    with played(cluster), played_aws() as cloud:
        for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(key, "test")
        monkeypatch.setenv("AWS_ENDPOINT_URL", cloud.url)
        if "kubeconfig" in told:
            told["kubeconfig"] = json.dumps(cluster.kubeconfig)
        if told["jobs"].get("on") == "batch":
            told["jobs"] |= {"queue": QUEUE, "definition": f"{DEFINITIONS}/dev-train:1"}
        yield user
    if "kubeconfig" in told:
        assert [made["kind"] for made in cluster.created] == ["ConfigMap"]


def test_the_printed_commands_run_as_they_stand(user: User, environment: str) -> None:
    build, submit = user.outputs["first_job"].split(" && ")
    assert [build, submit] == PRINTED[environment]
    user.paste(build)
    [url] = user.built
    assert f"{url}@{DIGEST}" in user.paste(submit, "--dry-run")


def test_all_environments_have_a_first_job() -> None:
    assert sorted(PRINTED) == ENVIRONMENTS


def test_the_job_beside_a_cluster_takes_the_image_that_is_built_already() -> None:
    assert environment_outputs("azure-dev")["first_batch_job"] == (
        f"{SUBMIT} azure-dev --on azure-batch --nodes 2 {TRAIN}"
    )
