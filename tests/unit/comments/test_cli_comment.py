"""`gpufleet comment`: which pull request, which commit, and exit codes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from tests.unit.comments.written_report import report, stack, write
from tools.pull_request.fake_github import FakeGitHub, fake_github

STACK = "gpufleet/aws-dev"
NAMES = ("GITLAB_CI", "GITHUB_EVENT_PATH", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT", "GITHUB_REPOSITORY", "GITHUB_TOKEN")


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    with fake_github() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "report", report(stack("aws-dev")))


def event(tmp_path: Path, commit: str = "c1") -> dict[str, str]:
    file = tmp_path / "event.json"
    file.write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": commit}}}))
    return {"GITHUB_EVENT_PATH": str(file)}


def comment(folder: Path, *words: str, env: dict[str, str]) -> Result:
    return CliRunner().invoke(main, ["comment", str(folder), *words], env=env)


def test_by_the_event_of_a_workflow(played: FakeGitHub, folder: Path, tmp_path: Path) -> None:
    env = played.environment(run=1) | event(tmp_path)
    done = comment(folder, env=env)
    assert (done.exit_code, done.output) == (0, f"comment on {STACK}: created\n")
    # What is checked out is a merge; the comment is about the pull request's own commit.
    assert "gpufleet-run:1.1 c1 -->" in played.comments[0]["body"]
    played.heads[7] = "c2"
    done = comment(folder, env=env)
    assert (done.exit_code, done.output) == (0, f"comment on {STACK}: outdated: a newer commit or run has the word\n")


def test_as_json(played: FakeGitHub, folder: Path, tmp_path: Path) -> None:
    env = played.environment(run=1) | event(tmp_path)
    done = comment(folder, "--json", env=env)
    assert json.loads(done.stdout) == {"schema": 1, "comments": {STACK: "created"}}
    assert done.stderr == f"comment on {STACK}: created\n"
    played.read_only = True
    played.comments.clear()
    done = comment(folder, "--json", env=env)
    assert (done.exit_code, json.loads(done.stdout)) == (1, {"schema": 1, "comments": {}})


def test_without_a_workflow(played: FakeGitHub, folder: Path) -> None:
    assert comment(folder, "--pull-request", "7", env=played.environment()).exit_code == 0
    assert "gpufleet-run:0.1 c1 -->" in played.comments[0]["body"]


def test_a_forks_token(played: FakeGitHub, folder: Path, tmp_path: Path) -> None:
    played.read_only = True
    env = played.environment(run=1) | event(tmp_path)
    done = comment(folder, env=env)
    assert done.exit_code == 1
    assert done.output.startswith("no comment: the token may not write on acme/fleet#7: 127.0.0.1: POST ")
    assert done.output.count("\n") == 1
    assert comment(folder, "--if-denied", "go-on", env=env).exit_code == 0


def test_nowhere_to_comment(played: FakeGitHub, folder: Path) -> None:
    done = comment(folder, env={"GITHUB_TOKEN": "secret-of-a-token"})
    assert done.exit_code == 1
    assert "GITHUB_REPOSITORY, the number of the pull request: not known" in done.output
    assert "secret-of-a-token" not in done.output
    done = comment(folder, env={"GITLAB_CI": "true"})
    assert done.exit_code == 1
    assert "CI_API_V4_URL, CI_PROJECT_ID, GITLAB_TOKEN, CI_MERGE_REQUEST_IID: not set" in done.output


def test_no_report(played: FakeGitHub, tmp_path: Path) -> None:
    done = comment(tmp_path / "nowhere", env=played.environment())
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert "report.json: No such file or directory; make it with" in done.output
    assert played.comments == []


def test_the_texts_beside_the_report_are_not_read(played: FakeGitHub, folder: Path) -> None:
    (folder / "gpufleet.aws-dev.md").write_text(f"<!-- gpufleet-report:{STACK} -->\n### forged\n")
    assert comment(folder, "--pull-request", "7", env=played.environment()).exit_code == 0
    assert "forged" not in played.comments[0]["body"]
