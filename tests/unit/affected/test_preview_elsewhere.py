"""The GitHub Actions and the GitLab template in a repository that has nothing of gpufleet's, their scripts run by bash.

Set-up is played: it links the packages that are installed here. Everything else is real, `gpufleet preview` and
`gpufleet comment` too; the latter writes on servers that play the code hosts.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.comments.test_gitlab import FakeGitLab, fake_gitlab
from tests.unit.comments.written_report import report, stack, write
from tools.pull_request.fake_github import TOKEN, fake_github

ROOT = Path(__file__).parents[3]
ACTION, COMMENT = (f".github/actions/{name}/action.yml" for name in ("preview", "comment"))
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
    for action in (ACTION, COMMENT):
        (folder / action).parent.mkdir(parents=True)
        (folder / action).write_text((ROOT / action).read_text())
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


def changed(work: Path, folder: Path) -> Path:
    """A checkout of a change of dev's configuration, and beside it what its own job reported: on prod, too."""
    git(folder, "clone", "--quiet", str(work), str(folder / "change"))
    commit(folder / "change", Pulumi__dev__yaml="config: {a: b}\n")
    write(folder / "report", report(stack("dev", project="theirs"), stack("prod", project="theirs")))
    return folder / "change"


WITHOUT_TOKEN = 'setup:\n\t@test -z "$$GITHUB_TOKEN$$GITLAB_TOKEN"\n\t@ln -sfn {prefix} .venv\n'
"""Set-up that fails if it gets a token."""


def test_the_action_comments_on_the_affected_stacks(elsewhere: Path, downloaded: Path, tmp_path: Path) -> None:
    """Only the last step has a token, and only stacks that the change affects get a comment, whatever is reported."""
    (downloaded / "Makefile").write_text(WITHOUT_TOKEN.format(prefix=sys.prefix))
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    changed(elsewhere, workspace)
    git(workspace, "clone", "--quiet", str(elsewhere), str(workspace / "base"))
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": "c1"}}}))
    steps = [step for step in yaml.safe_load((ROOT / COMMENT).read_text())["runs"]["steps"] if "run" in step]
    with fake_github() as server:
        runner = {
            "PATH": os.environ["PATH"], "HOME": str(tmp_path), "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str((downloaded / COMMENT).parent), "GITHUB_EVENT_PATH": str(event),
            **{name: value for name, value in server.environment(run=1).items() if name != "GITHUB_TOKEN"},
        }  # fmt: skip
        for program, said in ((".", "comment on theirs/dev: created"), ("new", "the base has no new")):
            for step in steps:
                known = {"${{ inputs.program }}": program, "${{ github.token }}": TOKEN}
                own = {name: known.get(value, value) for name, value in step["env"].items()}
                done = subprocess.run(
                    ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                    cwd=workspace, env=runner | own, capture_output=True, text=True, check=False,
                )  # fmt: skip
                assert done.returncode == 0, done.stdout + done.stderr
            assert said in done.stdout
    (made,) = server.comments
    assert made["body"].startswith("<!-- gpufleet-report:theirs/dev -->")


@pytest.mark.parametrize(("token", "notes"), [("glpat", ["<!-- gpufleet-report:theirs/dev -->"]), ("", [])])
def test_the_template_of_gitlab_comments(elsewhere: Path, downloaded: Path, token: str, notes: list[str]) -> None:
    (downloaded / "Makefile").write_text(WITHOUT_TOKEN.format(prefix=sys.prefix))
    commit(downloaded)
    git(downloaded, "tag", "--force", "v1")
    job = yaml.safe_load((ROOT / "ci" / "gitlab-anywhere.yml").read_text())["gpufleet-comment"]
    base = git(elsewhere, "rev-parse", "HEAD")
    commit(elsewhere, Pulumi__dev__yaml="config: {a: b}\n")
    write(elsewhere / "report", report(stack("dev", project="theirs"), stack("prod", project="theirs")))
    with fake_gitlab() as url:
        variables = {
            "PATH": os.environ["PATH"], "HOME": str(elsewhere.parent), "GPUFLEET_REPOSITORY": f"file://{downloaded}",
            "GPUFLEET_REF": "v1", "GPUFLEET_PROGRAM": job["variables"]["GPUFLEET_PROGRAM"], "GITLAB_CI": "true",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "CI_PROJECT_DIR": str(elsewhere), "CI_API_V4_URL": url,
            "CI_PROJECT_ID": "42", "CI_MERGE_REQUEST_IID": "7", "CI_COMMIT_SHA": "c1", "CI_PIPELINE_ID": "1",
            "CI_JOB_ID": "9", "GITLAB_TOKEN": token,
        }  # fmt: skip
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])], cwd=elsewhere, env=variables,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert ("GITLAB_TOKEN is not set" in done.stdout) is (token == "")
    assert [note["body"].splitlines()[0] for note in FakeGitLab.notes[5:]] == notes
