"""The GitHub Action and the GitLab template in a repository that has nothing of gpufleet's, their scripts run by bash.

Set-up is played: it links the packages that are installed here. Everything else is real, `gpufleet preview` too.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
ACTION = ".github/actions/preview/action.yml"
SETUP = f"setup:\n\t@ln -sfn {sys.prefix} .venv\n"


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "x")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """Somebody's repository: a program without gpufleet, and a change of a document."""
    folder = tmp_path / "work"
    folder.mkdir()
    git(folder, "init", "--quiet")
    commit(folder, Pulumi__yaml="name: theirs\nruntime: yaml\n", Pulumi__dev__yaml="config: {}\n")
    commit(folder, README__md="words")
    return folder


@pytest.fixture
def downloaded(tmp_path: Path) -> Path:
    """gpufleet at a tag, as the runner downloads the repository of an action."""
    folder = tmp_path / "_actions" / "gpufleet" / "v1"
    (folder / ".github" / "actions" / "preview").mkdir(parents=True)
    (folder / ACTION).write_text((ROOT / ACTION).read_text())
    (folder / "tools" / "pulumi").mkdir(parents=True)
    git(folder, "init", "--quiet")
    commit(folder, Makefile=SETUP, requirements__lock="click==8\n", **{"tools/pulumi/go__mod": "module x\n"})
    git(folder, "tag", "v1")
    return folder


def run_action(action: Path, workspace: Path, most: int = 3, **inputs: str) -> tuple[Mapping[str, str], str]:
    """Run the first `most` of the action's scripts; the first one's outputs, and what the last said."""
    document: dict[str, Any] = yaml.safe_load((action / ACTION).read_text())
    given = {name: each["default"] for name, each in document["inputs"].items()} | inputs
    outputs = workspace.parent / "outputs"
    runner = {
        "PATH": os.environ["PATH"], "HOME": str(workspace.parent), "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_ACTION_PATH": str((action / ACTION).parent), "GITHUB_OUTPUT": str(outputs),
    }  # fmt: skip
    said, known = "", dict[str, str]()
    for step in [each for each in document["runs"]["steps"] if "run" in each][:most]:
        own = {name: value_of(value, given, known) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=workspace, env=runner | own, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        known = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
        said = done.stdout + done.stderr
    return known, said


def value_of(value: str, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> str:
    """A variable of a step, of which an expression is an input or an output of the first step."""
    inside = value.removeprefix("${{ ").removesuffix(" }}")
    if inside == value:
        return value
    where, _, name = inside.rpartition(".")
    return {"inputs": inputs, "steps.gpufleet.outputs": outputs}[where][name]


def test_the_action_brings_its_own_gpufleet(elsewhere: Path, downloaded: Path) -> None:
    known, said = run_action(downloaded, elsewhere, base="HEAD~1")
    assert known["home"] == str(downloaded)
    assert len(known["key"]) == 64
    assert "no environment is affected" in said
    assert (elsewhere / "report" / "report.json").is_file()
    assert sorted(each.name for each in elsewhere.iterdir()) == [
        ".git", "Pulumi.dev.yaml", "Pulumi.yaml", "README.md", "report",
    ]  # fmt: skip


def test_the_cache_is_that_of_the_lock(elsewhere: Path, downloaded: Path) -> None:
    first, _ = run_action(downloaded, elsewhere, most=1)
    (downloaded / "requirements.lock").write_text("click==9\n")
    (elsewhere.parent / "outputs").unlink()
    second, _ = run_action(downloaded, elsewhere, most=1)
    assert first["key"] != second["key"]


def test_a_checkout_of_gpufleet_is_previewed_by_itself(elsewhere: Path, downloaded: Path) -> None:
    """The runner may keep the action apart from the checkout, whose program needs a set-up of its own."""
    (elsewhere / "components" / "gpufleet").mkdir(parents=True)
    (elsewhere / "components" / "gpufleet" / "__init__.py").touch()
    (elsewhere / "tools" / "pulumi").mkdir(parents=True)
    (elsewhere / "requirements.lock").touch()
    (elsewhere / "Makefile").write_text(SETUP)
    known, _ = run_action(downloaded, elsewhere, most=2)
    assert known["home"] == str(elsewhere)
    assert (elsewhere / ".venv").is_symlink()


@pytest.mark.parametrize(("ref", "code"), [("v1", 0), ("", 2)])
def test_the_template_of_gitlab(elsewhere: Path, downloaded: Path, ref: str, code: int) -> None:
    job = yaml.safe_load((ROOT / "ci" / "gitlab-anywhere.yml").read_text())["gpufleet-preview"]
    variables = {
        "PATH": os.environ["PATH"], "HOME": str(elsewhere.parent), "GPUFLEET_REPOSITORY": f"file://{downloaded}",
        "GPUFLEET_REF": ref, "GPUFLEET_PROGRAM": job["variables"]["GPUFLEET_PROGRAM"],
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": git(elsewhere, "rev-parse", "HEAD~1"),
    }  # fmt: skip
    (elsewhere / ".cache").mkdir()
    (elsewhere / ".cache" / "package").touch()
    script = "\n".join(job["script"])
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script], cwd=elsewhere, env=variables, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert ("no environment is affected" in done.stderr) is (code == 0)
    assert (elsewhere / job["artifacts"]["reports"]["junit"]).is_file() is (code == 0)
