"""`gpufleet preview --list --undeployed`: by the records of the engine, whose command line answers from a file here."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gpufleet.cli import main
from tests.tools.github_machine import git

PULUMI = """#!/bin/sh
[ "$1" = version ] && { echo v3.999.0; exit; }
for last in "$@"; do :; done
cat "$RECORDS/$last.json" 2>/dev/null || { echo "error: ${SAYS:-no stack named '$last' found}" >&2; exit 255; }
"""


@dataclass
class Repository:
    folder: Path
    records: Path

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            file = self.folder / (
                "README.md" if name == "docs" else f"{name}.py" if name == "program" else f"Pulumi.{name}.yaml"
            )
            file.write_text(text)
        git(self.folder, "add", ".")
        git(self.folder, "-c", "user.name=t", "-c", "user.email=t@invalid", "commit", "-q", "--allow-empty", "-m", "x")
        return git(self.folder, "rev-parse", "HEAD").strip()

    def record(self, stack: str, *records: dict[str, Any]) -> None:
        """The newest first."""
        (self.records / f"{stack}.json").write_text(json.dumps(records))

    def undeployed(self, *words: str) -> tuple[list[str], str]:
        done = CliRunner().invoke(main, ["preview", "--list", "--undeployed", "--program", str(self.folder), *words])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout), done.stderr


def update(
    commit: str, result: str = "succeeded", kind: str = "update", dirty: str = "false", **flags: str
) -> dict[str, Any]:
    environment = {"git.head": commit, "git.dirty": dirty} | {
        f"pulumi.flag.{name}": value for name, value in flags.items()
    }
    return {"kind": kind, "result": result, "environment": environment}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "repository", tmp_path / "records")
    programs = tmp_path / "bin"
    for folder in (made.folder, made.records, programs):
        folder.mkdir()
    (programs / "pulumi").write_text(PULUMI)
    (programs / "pulumi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("RECORDS", str(made.records))
    (made.folder / "Pulumi.yaml").write_text("{name: p, runtime: python}\n")
    git(made.folder, "init", "--quiet", "--initial-branch", "main")
    return made


def test_each_environment_is_compared_with_its_own_last_deployment(repository: Repository) -> None:
    first = repository.commit(dev="0", prod="0", test="0")
    second = repository.commit(prod="1")
    third = repository.commit(dev="1", docs="x")
    repository.record("dev", update(third))
    repository.record("prod", update(first))
    repository.record("test", update(second))
    found, said = repository.undeployed()
    assert found == ["prod"]
    assert said.splitlines() == [
        f"dev: {third} is deployed, and no later change affects it",
        f"prod: to deploy: Pulumi.prod.yaml differs from {first}, which is deployed",
        f"test: {second} is deployed, and no later change affects it",
    ]
    repository.commit(program="x")
    assert repository.undeployed()[0] == ["dev", "prod", "test"]
    assert repository.undeployed("--among", '["test"]')[0] == ["test"]


def test_what_counts_as_a_deployment(repository: Repository) -> None:
    old = repository.commit(dev="0")
    new = repository.commit(dev="1")
    whole = update(old)
    for records, expected in [
        ([], ["dev"]),
        ([update(new), whole], []),
        # One that failed, was of other files too, or of a part of the program, may have left anything.
        ([update(new, "failed"), whole], ["dev"]),
        ([update(new, "in-progress"), whole], ["dev"]),
        ([update(new, dirty="true"), whole], ["dev"]),
        ([update(new, target="set"), whole], ["dev"]),
        ([update("0" * 40), whole], ["dev"]),
        # No deployments of a commit: `gpufleet stop`, a refresh, the end of the environment.
        ([{"kind": "update", "result": "failed", "environment": {}}, update(new)], []),
        ([update(old, kind="refresh"), update(new)], []),
        ([update(old, kind="destroy"), update(new)], []),
    ]:
        repository.record("dev", *records)
        assert repository.undeployed()[0] == expected, records


def test_a_stack_that_is_not_there_yet(repository: Repository) -> None:
    repository.commit(dev="0")
    assert repository.undeployed() == (["dev"], "dev: to deploy: never deployed from a commit\n")


def test_an_older_checkout_deploys_nothing(repository: Repository) -> None:
    old = repository.commit(dev="0")
    new = repository.commit(dev="1")
    repository.record("dev", update(new))
    git(repository.folder, "checkout", "--quiet", old)
    assert repository.undeployed()[0] == []


def test_a_commit_of_another_branch_is_deployed(repository: Repository) -> None:
    base = repository.commit(dev="0")
    git(repository.folder, "switch", "--quiet", "--create", "side")
    side = repository.commit(dev="side")
    git(repository.folder, "switch", "--quiet", "main")
    repository.commit(docs="x")
    repository.record("dev", update(side), update(base))
    found, said = repository.undeployed()
    assert (found, "is not in the history of this checkout" in said) == (["dev"], True)


@pytest.mark.parametrize(
    ("text", "said"), [("[1]", "not the history of a stack"), ("no", "not the history of a stack")]
)
def test_a_history_that_cannot_be_read_is_one_line(repository: Repository, text: str, said: str) -> None:
    repository.commit(dev="0")
    (repository.records / "dev.json").write_text(text)
    done = CliRunner().invoke(main, ["preview", "--list", "--undeployed", "--program", str(repository.folder)])
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert said in done.output


def test_a_backend_that_does_not_answer_is_no_empty_list(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit(dev="0")
    monkeypatch.setenv("SAYS", "could not list bucket")
    done = CliRunner().invoke(main, ["preview", "--list", "--undeployed", "--program", str(repository.folder)])
    assert (done.exit_code, done.stderr) == (2, "Error: pulumi stack: could not list bucket\n")


@pytest.mark.parametrize(
    ("among", "said"),
    [
        ('["prod", "old"]', "--among: old: environment not found; the project has: prod"),
        ("prod", '--among=prod: must be a JSON list of names, such as \'["aws-dev", "aws-prod"]\''),
    ],
)
def test_a_list_that_is_wrong_fails_the_job(repository: Repository, among: str, said: str) -> None:
    repository.commit(prod="0")
    words = ["preview", "--list", "--undeployed", "--program", str(repository.folder), "--among", among]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, done.stderr, done.stdout) == (2, f"Error: {said}\n", "")
