"""The workflow that keeps images: what each job may do, and that its command lines and paths are ours."""

import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from gpufleet.aws.image_mirror import SESSION_SECONDS
from gpufleet.cli import main
from gpufleet.images.mirror.image_list import read_image_list
from gpufleet.images.mirror.lock import lock_file

ROOT = Path(__file__).parents[3]
FILE = ROOT / ".github" / "workflows" / "images.yml"


@pytest.fixture
def workflow() -> dict[str, Any]:
    # All of it as texts: YAML 1.1 would read the key `on` as a truth.
    return dict(yaml.load(FILE.read_text(), yaml.BaseLoader))


def lines(job: dict[str, Any]) -> list[str]:
    return [line for step in job["steps"] for line in step.get("run", "").splitlines()]


def options(job: dict[str, Any], listed: str) -> list[dict[str, Any]]:
    """The job's own command lines as our parser understands them. Errors: click.UsageError."""
    found = []
    for line in lines(job):
        program, *words = shlex.split(line.replace("$LIST", listed))
        if program.endswith("gpufleet"):
            group: Any = main.commands[words[0]]
            found.append(group.commands[words[1]].make_context(words[1], words[2:]).params)
    return found


def test_its_commands_are_ours(workflow: dict[str, Any]) -> None:
    listed = workflow["env"]["LIST"]
    [looks] = options(workflow["jobs"]["look"], listed)
    # The pull request's list, read by the base's code: the job has a key.
    assert (str(looks["file"]), looks["dry_run"], looks["update"]) == (f"change/{listed}", True, True)
    assert str(looks["trusted"]) == listed
    base, change = [step["with"] for step in workflow["jobs"]["look"]["steps"] if "checkout" in step.get("uses", "")]
    assert (base["ref"], change["path"]) == ("${{ github.event.pull_request.base.sha }}", "change")
    [syncs] = options(workflow["jobs"]["sync"], listed)
    assert (str(syncs["file"]), syncs["dry_run"], syncs["update"]) == (listed, False, True)
    with pytest.raises(click.UsageError, match="No such option"):
        options({"steps": [{"run": "gpufleet images sync $LIST --forever"}]}, listed)


def test_it_keeps_the_lists_lock_and_bills(workflow: dict[str, Any]) -> None:
    listed = Path(workflow["env"]["LIST"])
    assert (ROOT / listed).is_file()
    assert f"{listed.parent}/**" in workflow["on"]["pull_request"]["paths"]
    [kept] = [step["with"]["path"] for step in workflow["jobs"]["sync"]["steps"] if "upload-artifact" in str(step)]
    patterns = kept.split()
    assert lock_file(listed).match(patterns[0])
    # Of two paths below one directory, an artifact holds what is below that directory.
    assert listed.with_suffix(".sbom").match(patterns[1].rstrip("/"))
    [taken] = [step for step in workflow["jobs"]["propose"]["steps"] if "download-artifact" in str(step)]
    assert taken["with"]["path"] == str(listed.parent)


def test_programs_that_the_list_calls_are_there(workflow: dict[str, Any]) -> None:
    checks = read_image_list(ROOT / workflow["env"]["LIST"]).checks
    assert checks.sbom is not None
    called = {checks.sbom.command[0], *(scan.command[0] for scan in checks.scans)}
    installed = re.findall(r"go install \S+/(\w+)@v[\d.]+$", "\n".join(lines(workflow["jobs"]["sync"])), re.MULTILINE)
    assert called == set(installed)


def test_each_job_may_do_what_it_needs(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == {
        "look": {"contents": "read", "id-token": "write"},
        "sync": {"contents": "read", "id-token": "write"},
        "propose": {"contents": "write", "pull-requests": "write"},
    }
    assert "head.repo.full_name == github.repository" in workflow["jobs"]["look"]["if"]
    assert workflow["jobs"]["sync"]["environment"] == "images"
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert not [step for step in steps if "${{" in step.get("run", "")], "nothing of GitHub's in a shell's text"
    assert not [step for step in steps if "checkout" in str(step) and step["with"]["persist-credentials"] != "false"]
    [asked] = [
        step["with"]["role-duration-seconds"] for step in steps if "role-duration-seconds" in step.get("with", {})
    ]
    assert int(asked) == SESSION_SECONDS


@pytest.mark.parametrize("moved", [True, False])
def test_what_has_moved_is_proposed_on_a_branch(workflow: dict[str, Any], tmp_path: Path, moved: bool) -> None:
    """The step's script in its shell, on a real repository and its remote; only gh is played."""
    repository, remote, asked = tmp_path / "repository", tmp_path / "remote.git", tmp_path / "asked"
    lock = repository / "examples" / "images" / "images.lock.json"
    lock.parent.mkdir(parents=True)
    lock.write_text("{}\n")
    played = tmp_path / "bin" / "gh"
    played.parent.mkdir()
    played.write_text(f'#!/bin/sh\necho "$*" >> {asked}\n')
    played.chmod(0o755)

    def git(*words: str) -> str:
        name = ("-c", "user.name=t", "-c", "user.email=t@invalid", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", *name, *words], cwd=repository, capture_output=True, text=True, check=True
        ).stdout.strip()

    git("init", "--quiet", "--initial-branch", "main")
    git("add", ".")
    git("commit", "--quiet", "--message", "one")
    git("init", "--quiet", "--bare", str(remote))
    git("remote", "add", "origin", str(remote))
    if moved:
        lock.write_text('{"pytorch": "sha256:1"}\n')
        (repository / "elsewhere").write_text("not part of it")
    (step,) = [step for step in workflow["jobs"]["propose"]["steps"] if "run" in step]
    script, body = step["run"], step["env"]["BODY"]
    env = os.environ | {"PATH": f"{played.parent}:{os.environ['PATH']}", "GITHUB_RUN_ID": "42", "GH_TOKEN": "played"}
    env["BODY"] = body
    # As GitHub runs a script where `shell` is not said.
    done = subprocess.run(["bash", "-e", "-c", script], cwd=repository, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    branches = git("ls-remote", "--heads", "origin").split()[1::2]
    assert branches == (["refs/heads/images-42"] if moved else [])
    assert asked.exists() == moved
    if moved:
        # The pull request says how its checks are started: a workflow's own token starts none.
        assert "Checks do not start by themselves" in body
        create = f"pr create --title images: take tags that have moved --body {body}"
        assert asked.read_text().splitlines() == ["auth setup-git", create]
        assert git("diff", "--name-only", "main", "images-42").split() == ["examples/images/images.lock.json"]


def test_no_action_can_change_under_us() -> None:
    used = re.findall(r"uses: (.+)", FILE.read_text())
    assert len(used) > 8
    assert not [each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)]
