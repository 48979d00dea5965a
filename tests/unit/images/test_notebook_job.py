"""`gpufleet jobs submit --notebook`: the builder, Apptainer and the cluster are played.

The command of the job is run in test_notebook.py, with a played papermill.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.images.notebook_job import plan_notebook_job
from gpufleet.jobs.settings import read_settings
from tests.tools.fake_cluster import FakeCluster, played
from tests.unit.images.test_images_cli import BUILDAH, DIGEST, IMAGES, OLD, TEAM, outputs

KEEPS_THE_CONTEXT = 'case "$1" in build) for word; do last=$word; done; cp -r "$last" "$4" "$PLAYED" ;; esac\n'
Submit = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCluster]:
    (tmp_path / "bin").mkdir()
    first, rest = BUILDAH.split("\n", 1)
    (tmp_path / "bin" / "buildah").write_text(f"{first}\n{KEEPS_THE_CONTEXT}{rest}")
    (tmp_path / "bin" / "buildah").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("PLAYED", str(tmp_path))
    monkeypatch.setenv("DIGEST", DIGEST)
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.ipynb").write_text(json.dumps({"cells": [{"metadata": {"tags": ["parameters"]}}], "metadata": {}}))
    (work / "requirements.txt").write_text("numpy==2.3.5\n")
    (work / "layers.py").write_text("")
    (work / "data.bin").write_text("large")
    objects: dict[str, Any] = {
        TEAM: {"metadata": {"name": "team"}},
        IMAGES: {"data": {"dev..training": f"r.invalid/t:v0@{OLD}"}},
        "/apis/kubeflow.org/v2beta1": {"resources": [{"name": "mpijobs"}]},
    }
    with played(FakeCluster(objects=objects)) as cluster:
        yield cluster


@pytest.fixture
def submit(here: FakeCluster, tmp_path: Path) -> Submit:
    def invoke(*words: str, notebook: str = "train.ipynb") -> Result:
        file = tmp_path / "outputs.json"
        file.write_text(json.dumps(outputs(here)))
        asked = ["jobs", "submit", "dev", "--outputs", str(file), "--notebook", str(tmp_path / "work" / notebook)]
        return CliRunner().invoke(main, [*asked, *words])

    return invoke


def launched(job: dict[str, Any]) -> list[str]:
    spec = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    return list(spec["command"]) + list(spec.get("args", []))


def test_image_is_built_on_the_jobs_own_and_runs_once(here: FakeCluster, submit: Submit, tmp_path: Path) -> None:
    done = submit("--parameter", "epochs=90", "--gpus", "1", "--name", "night")
    assert done.exit_code == 0, done.output
    [job] = [made for made in here.created if made["kind"] == "MPIJob"]
    worker = job["spec"]["mpiReplicaSpecs"]["Worker"]
    assert worker["replicas"] == 1
    assert worker["template"]["spec"]["containers"][0]["image"] == f"r.invalid/dev/training@{DIGEST}"
    assert launched(job)[-5:] == ["train.ipynb", "night", "-p", "epochs", "90"]
    assert sorted(each.name for each in (tmp_path / "notebook").iterdir()) == [
        "layers.py", "requirements.txt", "train.ipynb",
    ]  # fmt: skip
    assert (tmp_path / "Dockerfile").read_text().splitlines()[0] == f"FROM r.invalid/t@{OLD}"
    assert IMAGES not in {f"{TEAM}/configmaps/{made['metadata']['name']}" for made in here.created}, "not the default"


def test_dry_run_builds_nothing(here: FakeCluster, submit: Submit, tmp_path: Path) -> None:
    done = submit("--dry-run", "--gpus", "1")
    assert done.exit_code == 0, done.output
    shown = yaml.safe_load(done.stdout)
    image = shown["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]["image"]
    assert image.startswith("r.invalid/dev/training:")
    assert shown["metadata"]["name"].startswith("train-")
    assert not (tmp_path / "calls").exists()
    assert here.created == []


def test_what_a_notebook_cannot_be(submit: Submit, tmp_path: Path) -> None:
    file = tmp_path / "work" / "train.ipynb"
    for words, told in (
        (["--", "python3", "x.py"], f"{file}: runs by itself; leave out the command ['python3', 'x.py']"),
        (["--workers", "2"], f"{file}: workers=2: a notebook runs on one; submit a program for more"),
        (["--nodes", "3"], f"{file}: nodes=3: a notebook runs on one; submit a program for more"),
        (["--parameter", "epochs"], "job: parameter=epochs: is not a parameter; write --parameter KEY=VALUE"),
    ):
        done = submit(*words)
        assert (done.exit_code, done.stderr) == (1, f"Error: {told}\n")


def test_job_that_fits_no_node_builds_nothing(submit: Submit, tmp_path: Path) -> None:
    done = submit("--gpus", "9")
    assert done.exit_code == 1
    assert "gpus_per_worker=9: is more than" in done.stderr
    assert not (tmp_path / "calls").exists()


def test_notebook_on_aws_batch(tmp_path: Path, here: FakeCluster) -> None:
    file = tmp_path / "work" / "train.ipynb"
    own = read_settings(outputs(here), "dev")
    settings = replace(own, batch=Mock())
    with pytest.raises(UserError) as error:
        plan_notebook_job(settings, file, {}, {}, print)
    assert str(error.value) == f"{file}: notebooks become jobs on Kubernetes, Slurm and hosts, not on batch"


def test_parameter_is_a_notebooks(here: FakeCluster, tmp_path: Path) -> None:
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps(outputs(here)))
    words = ["jobs", "submit", "dev", "--outputs", str(file), "--parameter", "a=1", "--", "true"]
    assert CliRunner().invoke(main, words).stderr == (
        "Error: job: parameter=a=1: is for a notebook; give --notebook, or use the command\n"
    )


APPTAINER = """#!/bin/sh
echo "$@" >> "$PLAYED/calls"
cp -r notebook notebook.def notebook.sh "$PLAYED"
[ -n "$FAILS" ] && exit 255
echo made > notebook.sif
"""


@pytest.fixture
def lab(here: FakeCluster, tmp_path: Path) -> Callable[..., dict[str, object]]:
    (tmp_path / "bin" / "apptainer").write_text(APPTAINER)
    (tmp_path / "bin" / "apptainer").chmod(0o755)
    (tmp_path / "nfs").mkdir()

    def request(given: dict[str, object], *, directory: str = "nfs", build: bool = True) -> dict[str, object]:
        slurm = {"directory": str(tmp_path / directory), "login": "login.lab", "pools": {"train": {"gpus": 2}}}
        settings = read_settings({"jobs": {"on": "slurm", "slurm": slurm}}, "lab")
        said: list[str] = []
        job = plan_notebook_job(settings, tmp_path / "work" / "train.ipynb", given, {}, said.append)
        return job.built() if build else dict(job.request)

    return request


URI = "docker://nvcr.io/nvidia/pytorch:24.10-py3"


def test_sif_is_built_once_on_the_shared_files(lab: Callable[..., dict[str, object]], tmp_path: Path) -> None:
    made = lab({"image": URI, "name": "night"})
    assert str(made["image"]).startswith("images/notebook-")
    sif = tmp_path / "nfs" / str(made["image"])
    assert sif.read_text() == "made\n"
    assert [each.name for each in sif.parent.iterdir()] == [sif.name]
    assert sorted(each.name for each in (tmp_path / "notebook").iterdir()) == [
        "layers.py", "requirements.txt", "train.ipynb",
    ]  # fmt: skip
    header = (tmp_path / "notebook.def").read_text().splitlines()[:2]
    assert header == ["Bootstrap: docker", "From: nvcr.io/nvidia/pytorch:24.10-py3"]
    assert made["command"][3:] == ["train.ipynb", "night"]  # type: ignore[index]
    assert "workers" not in made
    assert lab({"image": URI, "name": "other"})["image"] == made["image"]
    (tmp_path / "work" / "layers.py").write_text("x = 1")
    assert lab({"image": URI}, build=False)["image"] != made["image"]
    assert len((tmp_path / "calls").read_text().splitlines()) == 1


def test_sif_that_cannot_be_built(
    lab: Callable[..., dict[str, object]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(given: dict[str, object], **more: str) -> str:
        with pytest.raises(UserError) as error:
            lab({"name": "night", **given}, **more)
        return str(error.value)

    assert told({}) == "night: image: none; give what the notebook's is built on, such as --image train.sif"
    gone = tmp_path / "gone"
    assert told({"image": URI}, directory="gone") == (
        f"night: {gone} is not on this machine; run the same command on login.lab"
    )
    monkeypatch.setenv("FAILS", "1")
    assert told({"image": URI}) == "no job is submitted: apptainer build failed (exit code 255), see above"
    assert list((tmp_path / "nfs" / "images").iterdir()) == []
    (tmp_path / "bin" / "apptainer").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert told({"image": URI}) == (
        "night: neither apptainer nor singularity is on PATH; install one to build the image"
    )
