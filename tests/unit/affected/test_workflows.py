"""The workflows of a change: what each may do, that its commands are ones of ours, and that nobody can write in."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner

from gpufleet.cli import main

ROOT = Path(__file__).parents[3]
FILES = [
    ROOT / ".github" / "workflows" / "preview.yml",
    ROOT / ".github" / "workflows" / "up.yml",
    ROOT / ".github" / "workflows" / "drift.yml",
    ROOT / ".github" / "actions" / "preview" / "action.yml",
]
ALL = sorted((ROOT / ".github" / "workflows").glob("*.yml")) + FILES[-1:]
READ = {"contents": "read"}
IDENTITY = {"contents": "read", "id-token": "write"}
PERMISSIONS = {
    "preview.yml": {
        "simulated": READ,
        "backend": IDENTITY,
        "comment": {"contents": "read", "pull-requests": "write", "security-events": "write"},
    },
    "up.yml": {"touched": READ, "up": IDENTITY},
    "drift.yml": {"drift": IDENTITY},
}
SAFE = re.compile(
    r"vars\.\w+( \|\| '[\w-]+')?|secrets\.\w+|github\.token|github\.event\.before|inputs\.[\w-]+|matrix\.environment"
    r"|github\.event\.pull_request\.base\.sha|github\.ref|github\.sha"
    r"|runner\.(os|arch)|hashFiles\([\w'., /*]+\)|github\.event\.pull_request\.number"
    r"|steps\.touched\.outputs\.environments"
    r"|fromJSON\((needs\.touched\.outputs\.environments|vars\.GPUFLEET_ENVIRONMENTS)\)"
    r"|!cancelled\(\) && github\.event\.pull_request\.head\.repo\.full_name == github\.repository"
)
"""Expressions that hold no text of whoever opens a pull request: no title, branch, or message."""


def read(file: Path) -> dict[str, Any]:
    """All of it as texts: YAML 1.1 would read the key `on` as a truth."""
    return dict(yaml.load(file.read_text(), yaml.BaseLoader))


def steps_of(file: Path) -> list[dict[str, Any]]:
    document = read(file)
    if "runs" in document:
        return list(document["runs"]["steps"])
    return [step for job in document["jobs"].values() for step in job["steps"]]


def parsed(line: str, words: dict[str, list[str]]) -> dict[str, Any]:
    """A command line as our own parser understands it. Errors: click.UsageError."""
    inside = re.search(r'="\$\((.*)\)"$', line)
    found = [new for word in shlex.split(inside[1] if inside else line) for new in words.get(word, [word])]
    start = next(number for number, word in enumerate(found) if word.endswith("gpufleet"))
    command: click.Command = main.commands[found[start + 1]]
    return command.make_context(found[start + 1], found[start + 2 :]).params


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_nothing_is_put_into_a_shells_text_and_every_action_is_pinned(file: Path) -> None:
    for step in steps_of(file):
        assert "${{" not in step.get("run", "")
        used = step.get("uses", "./.github/actions/preview")
        assert used == "./.github/actions/preview" or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", used), step
        if used.startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] == "false"
    expressions = re.findall(r"\$\{\{\s*(.*?)\s*\}\}", file.read_text())
    assert expressions
    assert [each for each in expressions if not SAFE.fullmatch(each)] == []


def test_one_pin_for_an_action_in_all_of_them() -> None:
    """A commit, and the release that it is: nobody can move it under us, and one look compares them."""
    pins: dict[str, set[str]] = {}
    for file in ALL:
        for used in re.findall(r"^\s*(?:- )?uses: (.*)$", file.read_text(), re.MULTILINE):
            if used == "./.github/actions/preview":
                continue
            pinned = re.fullmatch(r"([\w/-]+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)", used)
            assert pinned, f"{file.name}: {used}"
            pins.setdefault(pinned[1], set()).add(pinned[2])
    assert len(pins) > 5
    assert {name: found for name, found in pins.items() if len(found) > 1} == {}


@pytest.mark.parametrize("file", [file for file in ALL if file.name != "action.yml"], ids=lambda file: file.name)
def test_a_workflow_may_nothing_but_what_its_jobs_say(file: Path) -> None:
    document = read(file)
    assert document["permissions"] == {}
    assert [name for name, job in document["jobs"].items() if "permissions" not in job] == []
    assert "pull_request_target" not in document["on"]
    assert "workflow_run" not in document["on"]
    assert [step for job in document["jobs"].values() for step in job["steps"] if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("name", PERMISSIONS)
def test_each_job_may_do_little(name: str) -> None:
    document = read(ROOT / ".github" / "workflows" / name)
    assert {job: each["permissions"] for job, each in document["jobs"].items()} == PERMISSIONS[name]


def test_a_fork_gets_no_identity_no_secret_and_no_comment() -> None:
    document = read(FILES[0])
    assert set(document["on"]) == {"pull_request"}
    jobs = document["jobs"]
    own = "github.event.pull_request.head.repo.full_name == github.repository"
    assert own in jobs["backend"]["if"]
    assert own in jobs["comment"]["if"]
    assert own not in jobs["simulated"]["if"]
    assert "secrets." not in yaml.safe_dump(jobs["simulated"])
    assert "github.token" not in yaml.safe_dump(jobs["simulated"])
    # The one that may write runs no code of the pull request's, nor what its other jobs could put into a cache.
    says = jobs["comment"]["steps"]
    assert says[0]["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert [step["uses"] for step in says if step.get("uses", "").startswith(("./", "actions/cache@"))] == []
    checkouts = [s for job in ("simulated", "backend") for s in jobs[job]["steps"] if "checkout" in s.get("uses", "")]
    assert [step["with"]["fetch-depth"] for step in checkouts] == ["2", "2"]


def test_up_waits_for_its_environment_and_comes_alone() -> None:
    document = read(FILES[1])
    assert document["on"] == {"push": {"branches": ["main"]}}
    assert document["concurrency"] == {"group": "up", "cancel-in-progress": "false"}
    job = document["jobs"]["up"]
    assert job["environment"] == "${{ matrix.environment }}"
    assert not [step for step in job["steps"] if "cache" in step.get("uses", "")]
    lines = [line for step in job["steps"] for line in step.get("run", "").splitlines()]
    assert lines.index('pulumi up --yes --non-interactive --skip-preview --stack "$STACK"') == len(lines) - 1
    assert '.venv/bin/gpufleet preview --real --allow-loss --to report -- "$STACK"' in lines


def test_drift_only_looks() -> None:
    job = read(FILES[2])["jobs"]["drift"]
    (line,) = [line for step in job["steps"] for line in step.get("run", "").splitlines() if "pulumi " in line]
    assert {"preview", "--refresh", "--expect-no-changes"} <= set(line.split())


WORDS = {
    "$STACK": ["aws-dev"],
    "$BEFORE": ["0123abc"],
    "$OURS": ['["aws-dev"]'],
    "${words[@]}": ["--real", "--to", "out", "--fail-on", "warning", "--base", "main"],
    "${names[@]}": ["aws-dev", "aws-prod"],
}


def test_command_lines_are_ours() -> None:
    lines = [line for file in FILES for step in steps_of(file) for line in step.get("run", "").splitlines()]
    gitlab = read(ROOT / "ci" / "gitlab.yml")["gpufleet-preview"]
    lines += [*gitlab["script"], gitlab["after_script"][0].split("then ")[1].removesuffix("; fi")]
    found = [parsed(line.strip(), WORDS) for line in lines if "gpufleet " in line]
    assert len(found) == 6
    composite = next(each for each in found if each.get("environments") == ("aws-dev", "aws-prod"))
    assert (composite["real"], composite["fail_on"], composite["base"]) == (True, "warning", "main")
    assert [each["if_denied"] for each in found if "if_denied" in each] == ["go-on", "fail"]
    assert [(each["base"], each["among"]) for each in found if each.get("listing")] == [("0123abc", '["aws-dev"]')]
    with pytest.raises(click.UsageError, match="No such option"):
        parsed("gpufleet preview --forever", WORDS)


def test_every_input_of_the_action_is_one_of_the_command() -> None:
    action = read(FILES[3])
    env = next(step["env"] for step in action["runs"]["steps"] if "env" in step)
    assert set(env.values()) == {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    script = next(step["run"] for step in action["runs"]["steps"] if "env" in step)
    assert all(f"${name}" in script for name in env)
    for job in read(FILES[0])["jobs"].values():
        for step in job["steps"]:
            if step.get("uses") == "./.github/actions/preview":
                assert set(step["with"]) <= set(action["inputs"])
                assert step["with"]["where"] in ("simulated", "real")


@pytest.mark.parametrize(
    ("names", "base", "words"),
    [
        ("", "", "preview --real --to out --fail-on never --"),
        ("aws-dev  aws-prod", "main", "preview --real --to out --fail-on never --base main -- aws-dev aws-prod"),
        ("$(id) *", "", "preview --real --to out --fail-on never -- $(id) *"),
    ],
)
def test_the_actions_script_in_its_shell(tmp_path: Path, names: str, base: str, words: str) -> None:
    program = tmp_path / ".venv" / "bin" / "gpufleet"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$*"\n')
    program.chmod(0o755)
    given = {"ENVIRONMENTS": names, "BASE": base, "WHERE": "real", "TO": "out", "FAIL_ON": "never"}
    done = in_its_shell(next(step for step in steps_of(FILES[3]) if "env" in step), tmp_path, given)
    assert (done.returncode, done.stdout.strip()) == (0, words)


def in_its_shell(step: dict[str, Any], folder: Path, given: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step's script as GitHub does; where `shell: bash` is not said, it is without pipefail."""
    assert set(step["env"]) <= set(given)
    options = ["--noprofile", "--norc", "-eo", "pipefail"] if "shell" in step else ["-e"]
    command = ["bash", *options, "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=os.environ | given, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("ours", "environments", "said"),
    [
        ('["prod", "old"]', None, "--among: old: environment not found; the project has: dev, prod, test"),
        ("prod", None, '--among=prod: must be a JSON list of names, such as \'["aws-dev", "aws-prod"]\''),
        ('["prod", "test"]', ["prod"], ""),
        ('["test"]', [], ""),
    ],
)
def test_which_environments_a_merge_brings_up(
    tmp_path: Path, ours: str, environments: list[str] | None, said: str
) -> None:
    """The step's script on a real repository: of what the push touches, those that CI looks after."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("{name: p, runtime: python}\n")
    for name in ("dev", "prod", "test"):
        (folder / f"Pulumi.{name}.yaml").write_text("config: {}\n")
    (folder / ".gitignore").write_text("/.venv\n")
    (folder / ".venv").symlink_to(sys.prefix)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@invalid", "-c", "commit.gpgsign=false"]

    def commit() -> str:
        for words in (["add", "."], ["commit", "-q", "-m", "some"]):
            subprocess.run([*git, *words], cwd=folder, check=True)
        return subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=True
        ).stdout.strip()

    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    before = commit()
    for name in ("dev", "prod"):
        (folder / f"Pulumi.{name}.yaml").write_text("config: {a: b}\n")
    commit()
    output = tmp_path / "output"
    given = {"BEFORE": before, "OURS": ours, "GITHUB_OUTPUT": str(output), "GITHUB_ACTIONS": "true"}
    (step,) = [step for step in steps_of(FILES[1]) if step.get("id") == "touched"]
    done = in_its_shell(step, folder, given)
    if environments is None:
        # The job fails: nobody must take a wrong list for "nothing is touched".
        assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"Error: {said}")
        assert not output.exists()
        return
    assert done.returncode == 0, done.stderr
    name, _, value = output.read_text().strip().partition("=")
    assert (name, json.loads(value)) == ("environments", environments)
    # As `if: needs.touched.outputs.environments != '[]'` compares it.
    assert (value == "[]") == (environments == [])


def test_among_is_for_a_list() -> None:
    done = CliRunner().invoke(main, ["preview", "--among", "[]"])
    assert done.exit_code == 2
    assert "--among is for --list" in done.output
