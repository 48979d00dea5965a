"""A pull request on aws-prod, played: one comment from the first push to the last, and the verdict on ten mistakes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.pull_request.demo import MISTAKES, NUMBER, PASSED, Request, mistaken, plain, pushed
from tools.pull_request.fake_github import fake_github

STACK = "gpufleet/aws-prod"


@pytest.fixture
def request_on_it(tmp_path: Path) -> Iterator[Request]:
    folder = tmp_path / "repository"
    folder.mkdir()
    with fake_github() as played:
        yield Request.opened(folder, played)


def test_one_comment_from_the_first_push_to_the_last(request_on_it: Request) -> None:
    request, played = request_on_it, request_on_it.played
    # A number: what it costs, and that nothing is replaced.
    request.push(NUMBER)
    done = request.run()
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert f"comment on {STACK}: created" in done.stdout
    comment = request.comment()
    assert "p5.48xlarge x 0 to 16 → p5.48xlarge x 0 to 14" in comment
    assert "-     scalingConfig.maxSize: 16\n+     scalingConfig.maxSize: 14" in comment
    assert "Previewed on simulated clouds, without credentials" in comment
    assert "Compared with the base, brought up on them." in comment
    assert f"{played.heads[7]} -->" in comment
    assert comment.splitlines()[0] in request.summary.read_text()
    names = {file.name for file in (request.folder / "report").iterdir()}
    assert {"report.json", "report.html", "report.junit.xml", "report.sarif", "gpufleet.aws-prod.svg"} <= names
    # Nothing is left of what holds secrets.
    assert not [name for name in names if "log" in name or "plain" in name]

    # A mistake: the same comment, and the job fails. Another push repairs it.
    made, repaired = mistaken(request, MISTAKES["a key that does not exist"])
    assert (made.wrong, repaired.wrong) == ([], [])
    assert "gpufleet:pools.small.maxx: unknown key; did you mean max?" in made.line

    # As a fork: it reads only, says so in one line, and has its summary; the verdict decides.
    played.read_only = True
    before = request.comments()
    request.summary.unlink()
    request.push({"expires_at": "2026-01-31"})
    done = request.run()
    assert done.returncode == 1
    assert "no comment: the token may not write on acme/fleet#7: 127.0.0.1: PATCH" in done.stderr
    assert "[any-owner-expiry]" in plain(request.summary.read_text())
    assert request.comments() == before

    # And as a branch again.
    played.read_only = False
    assert pushed(request, NUMBER, "aws-prod", PASSED, 0).wrong == []
    assert "p5.48xlarge x 0 to 14" in request.comment()
    assert played.edits == {before[0][0]: 3}


def test_documents_touch_nothing(request_on_it: Request) -> None:
    request = request_on_it
    (request.folder / "README.md").write_text("words")
    request.git("add", "README.md")
    request.git("commit", "--quiet", "--message", "words")
    request.played.heads[7] = request.git("rev-parse", "HEAD").strip()
    request.played.add(f"<!-- gpufleet-report:{STACK} -->\nof an earlier push")
    done = request.run()
    assert done.returncode == 0, done.stderr
    assert "no environment is affected" in done.stderr
    assert "No environment is affected" in request.summary.read_text()
    assert "No longer affected by this pull request" in request.comment()


def test_a_change_that_cannot_be_read(request_on_it: Request) -> None:
    request = request_on_it
    done = request.run("--base", "no-such-branch")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--base=no-such-branch: commit not found here" in done.stderr
    done = request.run("no-such-environment")
    assert done.returncode == 2
    assert "no-such-environment: environment not found; the project has: aws-batch-dev" in done.stderr


@pytest.mark.sweep
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line_and_repaired_in_the_same_comment(request_on_it: Request, name: str) -> None:
    made, repaired = mistaken(request_on_it, MISTAKES[name])
    assert (made.wrong, repaired.wrong) == ([], [])
    assert len(request_on_it.played.comments) == 1


def test_ten_mistakes_that_fail_the_job() -> None:
    assert sum(mistake.get("exit", 1) == 1 for mistake in MISTAKES.values()) >= 10
