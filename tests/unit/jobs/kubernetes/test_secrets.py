"""Secret variables on Kubernetes: by reference in the launcher's pod, by name in mpirun's arguments, in no worker."""

import base64
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.api import KubernetesApiError
from gpufleet.jobs.kubernetes.mpi_job import mpi_job
from gpufleet.jobs.kubernetes.secrets import LABEL, put_secret, secrets_of
from gpufleet.jobs.kubernetes.submit import missing_prerequisites
from gpufleet.rules.kubernetes.mpi_job import validate_mpi_job
from tests.unit.jobs.kubernetes.mpi_jobs import SMALL, container

JOB = mpi_job("train", {**SMALL, "env": {"A": "1"}, "secrets": {"WANDB_API_KEY": "wandb", "HF_TOKEN": "hub/token"}})
SECRET = "/api/v1/namespaces/vision/secrets/wandb"


class Api:
    """The objects of a cluster by path; a path of `denied` may not be read."""

    where = "dev"

    def __init__(self, objects: dict[str, Any], denied: tuple[str, ...] = ()) -> None:
        self.objects = {"/api/v1/namespaces/vision": {"kind": "Namespace"}, **objects}
        self.denied = denied

    def find(self, path: str) -> dict[str, Any] | None:
        if path in self.denied:
            raise KubernetesApiError("dev: not allowed (403)", 403)
        return self.objects.get(path)

    def create(self, path: str, body: dict[str, Any]) -> None:
        self.objects[f"{path}/{body['metadata']['name']}"] = body

    def patch(self, path: str, body: dict[str, Any]) -> None:
        self.objects[path] = self.objects[path] | body


def test_launcher_gets_them_by_reference_and_mpirun_by_name() -> None:
    launcher = container(JOB, "Launcher")
    assert [each for each in launcher["env"] if "valueFrom" in each] == [
        {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
        {"name": "WANDB_API_KEY", "valueFrom": {"secretKeyRef": {"name": "wandb", "key": "value"}}},
    ]
    words = launcher["command"]
    for name in ("HF_TOKEN", "WANDB_API_KEY"):
        assert words[words.index(name) - 1] == "-x"
    assert [each["name"] for each in container(JOB, "Worker")["env"] if "valueFrom" in each] == []
    assert list(secrets_of(JOB)) == [("HF_TOKEN", "hub", "token"), ("WANDB_API_KEY", "wandb", "value")]


@pytest.mark.parametrize(
    ("secrets", "env", "line"),
    [
        (
            {"A B": "x"},
            {},
            "secrets=A B: is not a valid variable name; use letters, digits and _, starting with a letter or _",
        ),
        ({"A": "x"}, {"A": "1"}, "secrets=A: env has this variable too; leave it out of one of them"),
        (
            {"A": "Not a name"},
            {},
            "secrets.A=[secret]: must name a Secret, not hold its value; write SECRET or SECRET/KEY",
        ),
    ],
)
def test_faults_of_a_reference(secrets: dict[str, str], env: dict[str, str], line: str) -> None:
    findings = validate_mpi_job("train", {**SMALL, "secrets": secrets, "env": env})
    assert [each.line("train") for each in findings if each.rejects] == [f"train: {line} [any-mpi-secret]"]


def missing(api: Api) -> tuple[list[str], list[str]]:
    notes: list[str] = []
    lines = list(missing_prerequisites(api, JOB, notes.append))  # type: ignore[arg-type]
    return [line for line in lines if "secrets." in line], notes


def test_what_is_not_there_is_told_before_the_job_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    for check in ("operator_error", "gpu_capacity_error"):
        monkeypatch.setattr(f"gpufleet.jobs.kubernetes.submit.{check}", lambda *_: None)
    hub = {SECRET.replace("wandb", "hub"): {"data": {"other": ""}}}
    lines, _ = missing(Api(hub))
    fix = "in namespace vision; store it with `gpufleet secrets put`"
    assert lines == [
        f"train: secrets.HF_TOKEN: Secret hub has no key token {fix}",
        f"train: secrets.WANDB_API_KEY: there is no Secret wandb {fix}",
    ]
    there = {SECRET: {"data": {"value": ""}}, SECRET.replace("wandb", "hub"): {"data": {"token": ""}}}
    assert missing(Api(there))[0] == []
    lines, notes = missing(Api(there, denied=(SECRET,)))
    assert (lines, "not verified: dev: not allowed (403)" in notes) == ([], True)


def test_put_makes_and_changes_its_own_only() -> None:
    api = Api({})
    for value in ("first", "second"):
        assert put_secret(api, "vision", "dev", "wandb", value) == "Secret wandb in namespace vision"  # type: ignore[arg-type]
        assert base64.b64decode(api.objects[SECRET]["data"]["value"]).decode() == value
    assert api.objects[SECRET]["metadata"]["labels"] == {LABEL: "true", "gpufleet.dev/environment": "dev"}
    theirs = {"metadata": {"name": "wandb"}, "data": {"value": "theirs"}}
    api = Api({SECRET: theirs})
    with pytest.raises(UserError, match=r"^wandb: namespace vision has a Secret of this name that .* did not make; "):
        put_secret(api, "vision", "dev", "wandb", "ours")  # type: ignore[arg-type]
    assert api.objects[SECRET] == theirs
