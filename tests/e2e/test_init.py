"""What `gpufleet init` writes is a program that the engine runs; `pulumi new` makes the same of a template."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from gpufleet.documents.yaml import read_yaml
from tests.e2e.rehearsed_project import GPUFLEET, REPOSITORY

PULUMI = GPUFLEET.with_name("pulumi")


def run(folder: Path, *command: object) -> str:
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=os.environ | {"PULUMI_SKIP_UPDATE_CHECK": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("cloud", ["aws", "azure"])
def test_new_project_has_a_cost(cloud: str, tmp_path: Path) -> None:
    run(tmp_path, GPUFLEET, "init", "--yes", "--cloud", cloud, "--program", "trial")
    cost = json.loads(run(tmp_path, GPUFLEET, "cost", "dev", "--program", "trial", "--json"))
    assert [(pool["name"], pool["min"], pool["max"]) for pool in cost["pools"] if pool["gpus_per_node"]] == [
        ("dev-trainers", 0, 2)
    ]
    assert cost["totals"]["ceiling"]["complete"]
    assert [finding["line"] for finding in cost["findings"] if finding["refuses"]] == []


@pytest.mark.parametrize("cloud", ["aws", "aws-batch", "azure"])
def test_pulumi_new_makes_what_init_writes(cloud: str, tmp_path: Path) -> None:
    template = REPOSITORY / "templates" / f"{cloud}-gpufleet"
    made, written = tmp_path / "made", tmp_path / "trial"
    options = ("--generate-only", "--yes", "--name", "trial", "--dir", made)
    run(tmp_path, PULUMI, "new", template, *options)
    whose = ("--owner", "platform-team", "--email", "platform-team@example.com")
    run(tmp_path, GPUFLEET, "init", "--yes", "--cloud", cloud, *whose, "--program", written)
    for name in (".gitignore", "__main__.py"):
        assert (made / name).read_text() == (written / name).read_text()
    assert read_yaml(made / "Pulumi.dev.yaml") == read_yaml(written / "Pulumi.dev.yaml")
    project = read_yaml(made / "Pulumi.yaml")
    assert set(project.pop("config")) == {"pulumi:tags"}  # of which template it is
    assert project == read_yaml(written / "Pulumi.yaml")
