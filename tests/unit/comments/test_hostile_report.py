"""A report.json that somebody's own code has written: what of it reaches the pull request, and what is refused."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from markdown_it import MarkdownIt
from markdown_it.token import Token

from gpufleet.cli import main
from gpufleet.comments.sticky import stack_of
from gpufleet.report import read_report
from tests.unit.comments.written_report import report, stack, write
from tools.pull_request.fake_github import FakeGitHub, fake_github

TAG = "<!-- gpufleet-report:gpufleet/aws-prod -->"
AUTOLINK = re.compile(r"(https?|ftp|mailto|xmpp):|www\.|[\w.+-]+@[\w-]+\.\w|GH-\d", re.IGNORECASE)
MENTION = re.compile(r"@[A-Za-z0-9]|#\d")
HOSTILE = {
    "mention": "cc @org/team and @somebody",
    "image": "![x](https://evil.invalid/pixel.png) <img src=https://evil.invalid/x>",
    "link": "[merge me](https://evil.invalid) <https://evil.invalid> https://evil.invalid www.evil.invalid a@b.invalid",
    "reference": "fixes #1, GH-2, owner/name#3, [x]: https://evil.invalid",
    "our tag": f"{TAG}\n## passed",
    "html": "</details></sub><script>alert(1)</script><h1>passed</h1><!-- ",
    "table": "| a | b |\n| --- | --- |\n|",
    "fence": "```\n```\n~~~\n## passed\n\n> quoted @org/team",
    "code": "`` ` @org/team ` ``",
    "mermaid": 'x"]; click p0 "https://evil.invalid" %%{init: {}}%%',
    "list": "\n\n- [x] checked\n1. one\n***\n# passed\nsetext\n===",
    "controls": "a\u2028b\u0085# passed\r## passed\x00\u202epassed",
}


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGitHub]:
    for name in ("GITLAB_CI", "GITHUB_EVENT_PATH", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"):
        monkeypatch.delenv(name, raising=False)
    with fake_github() as server:
        yield server


def post(played: FakeGitHub, folder: Path, *words: str) -> Result:
    command = ["comment", str(folder), "--pull-request", "7", *words]
    return CliRunner().invoke(
        main, command, env=played.environment(run=len(played.asked) + 1) | {"GITHUB_ACTIONS": "true"}
    )


def tokens_of(body: str) -> list[Token]:
    """The tokens of CommonMark with tables, as a parser has them that is not ours."""
    found = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(body)
    return [each for token in found for each in (token, *(token.children or ()))]


def structure_of(body: str) -> list[tuple[str, str, str]]:
    """Everything that is not text: blocks, lists, tables, links, HTML and its tags."""
    html = ("html_block", "html_inline")
    return [
        (token.type, token.info, re.sub(r"(?<=run:)[\d.]+", "", token.content) if token.type in html else "")
        for token in tokens_of(body)
        if token.type not in ("text", "text_special")
    ]


@pytest.mark.parametrize("said", HOSTILE.values(), ids=HOSTILE)
def test_every_text_of_it_is_text(played: FakeGitHub, tmp_path: Path, said: str) -> None:
    bodies = {}
    for words in ("words", said):
        done = post(played, write(tmp_path, report(stack(said=words), said=words)))
        assert done.exit_code == 0, done.output
        bodies[words] = played.comments[0]["body"]
    assert len(played.comments) == 1
    assert stack_of(bodies[said]) == "gpufleet/aws-dev"
    assert structure_of(bodies[said]) == structure_of(bodies["words"])
    texts = [token.content for token in tokens_of(bodies[said]) if token.type == "text"]
    assert texts
    assert [each for each in texts if AUTOLINK.search(each) or MENTION.search(each)] == []
    (drawn,) = [token.content for token in tokens_of(bodies[said]) if token.info == "mermaid"]
    # All of it stands in the quotes of labels.
    assert re.sub(r'"[^"\n]*"', "", drawn) == re.sub(r'"[^"\n]*"', "", drawn_of(bodies["words"]))


def drawn_of(body: str) -> str:
    return next(token.content for token in tokens_of(body) if token.info == "mermaid")


def test_the_judge_sees_what_is_not_escaped() -> None:
    kinds = {kind for said in HOSTILE.values() for kind, _, _ in structure_of(said)}
    assert {"link_open", "image", "html_block", "table_open", "fence", "bullet_list_open"} <= kinds
    assert AUTOLINK.search(HOSTILE["link"])
    assert MENTION.search(HOSTILE["mention"])
    assert MENTION.search(HOSTILE["reference"])


def wrong(**fields: Any) -> dict[str, Any]:
    return report(stack(**fields))


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "must be an object, not a list"),
        ({}, "needs the key"),
        (report(stack(), schema=2), "schema=2: must be 1"),
        (report({"project": "gpufleet", "stack": "aws-dev"}), "needs the key"),
        (wrong(project=f"x {TAG}"), "must be letters"),
        (wrong(name="../prod"), "must be letters"),
        (wrong(name="x -->\n@org/team"), "must be letters"),
        (wrong(name="x" * 101), "must be letters"),
        (wrong(verdict="fine"), "invalid enum value 'fine'"),
        (wrong(summary={"@org/team": 1}), "operation='@org/team': must be one of replace, delete"),
        (wrong(changes=[stack()["changes"][0] | {"operation": "bless"}]), "operation='bless'"),
        (wrong(changes="none"), "must be a list, not text"),
        (wrong(changes=[None]), "must be an object, not null"),
        (wrong(unchanged="3"), "must be a whole number, not text"),
        (wrong(issues=[stack()["issues"][0] | {"severity": "@org"}]), "invalid enum value '@org'"),
        (wrong(gpus=[stack()["gpus"][0] | {"before": None, "after": None}]), "neither there before nor after"),
        (report(stack(), stack()), "one of them is there twice"),
        (report(*(stack(f"s{n}") for n in range(201))), "201 stacks: at most 200"),
        (report(stack(), footer={"commit": "-->"}), "needs the key"),
        (report(stack(), footer=report()["footer"] | {"commit": "c1 -->@org"}), "footer.commit: must be"),
    ],
)
def test_what_is_no_report_is_one_line(played: FakeGitHub, tmp_path: Path, document: object, said: str) -> None:
    done = post(played, write(tmp_path, document))
    assert (done.exit_code, done.output.count("\n")) == (1, 1), done.output
    assert said in done.output
    assert played.comments == []


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[" * 100_000, b'{"stacks": ' * 20_000, b"", b"NaN"])
def test_what_is_no_json_is_one_line(played: FakeGitHub, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "report.json").write_bytes(content)
    done = post(played, tmp_path)
    assert (done.exit_code, done.output.count("\n")) == (1, 1), done.output
    assert re.search("is not JSON|is not UTF-8|must be (an object|a list), not", done.output)


def test_a_hundred_megabytes_are_not_read(played: FakeGitHub, tmp_path: Path) -> None:
    with (tmp_path / "report.json").open("wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    done = post(played, tmp_path)
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert f"has more than {read_report.MAX_BYTES // 1024**2} MiB" in done.output


def test_what_fits_no_comment_is_one_line(played: FakeGitHub, tmp_path: Path) -> None:
    done = post(played, write(tmp_path, wrong(notes=["x" * 70_000])))
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert "at most 65536" in done.output


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The base's checkout: three environments, none of it changed."""
    folder = tmp_path / "base"
    (folder / "config").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("{name: gpufleet, runtime: python, stackConfigDir: config}\n")
    for name in ("aws-dev", "aws-prod", "hybrid"):
        (folder / "config" / f"Pulumi.{name}.yaml").write_text("config: {}\n")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "base")
    return folder


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=t", "-c", "user.email=t@invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *name, *words], cwd=folder, check=True)


def changed(repository: Path, *names: str, delete: str = "", program: str = "") -> list[str]:
    """Words that name a checkout of a change of these environments, merged with the base."""
    folder = repository.parent / "change"
    git(repository, "clone", "--quiet", str(repository), str(folder))
    git(folder, "switch", "--quiet", "--create", "change")
    for name in names:
        (folder / "config" / f"Pulumi.{name}.yaml").write_text("config: {a: b}\n")
    if delete:
        (folder / "config" / f"Pulumi.{delete}.yaml").unlink()
    if program:
        (folder / "Pulumi.yaml").write_text(program)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "change")
    git(folder, "switch", "--quiet", "main")
    git(folder, "merge", "--quiet", "--no-ff", "change", "--message", "merge")
    return ["--program", str(repository), "--change", str(folder)]


def refused(played: FakeGitHub, name: str, project: str = "gpufleet") -> None:
    """An earlier comment of ours."""
    played.add(f"<!-- gpufleet-report:{project}/{name} -->\n### refused\n")


def test_another_stacks_comment_is_neither_replaced_nor_closed(
    played: FakeGitHub, tmp_path: Path, repository: Path
) -> None:
    """The change affects two stacks; its report claims a third, and leaves out the one that was refused."""
    for name in ("aws-dev", "aws-prod", "hybrid"):
        refused(played, name)
    refused(played, "aws-dev", "billing")
    words = changed(repository, "aws-dev", "aws-prod")
    folder = write(tmp_path / "report", report(stack("aws-dev"), stack("hybrid")))
    done = post(played, folder, *words)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == [
        "no comment on gpufleet/hybrid: this change does not affect it, whatever its report says",
        "comment on gpufleet/aws-dev: edited",
        "comment on gpufleet/aws-prod: edited",
        "comment on gpufleet/hybrid: closed",
    ]
    dev, prod, hybrid, billing = (each["body"] for each in played.comments)
    assert "gpufleet: `gpufleet/aws-dev` passed" in dev
    assert "`gpufleet/aws-prod` has no report" in prod
    assert "No longer affected by this pull request" in hybrid
    assert billing.endswith("### refused\n")


def test_without_the_change_nothing_is_closed(played: FakeGitHub, tmp_path: Path) -> None:
    refused(played, "aws-prod")
    assert post(played, write(tmp_path, report(stack("aws-dev")))).exit_code == 0
    assert played.comments[0]["body"].endswith("### refused\n")


@pytest.mark.parametrize(
    ("change", "affected"),
    [
        ({"delete": "aws-prod"}, ["aws-prod"]),
        # Its own word on where configurations are is not believed.
        ({"program": "{name: other, runtime: python, stackConfigDir: nowhere}\n"}, ["aws-dev", "aws-prod", "hybrid"]),
        ({}, []),
    ],
)
def test_which_stacks_a_change_affects_is_the_bases_to_say(
    played: FakeGitHub, tmp_path: Path, repository: Path, change: dict[str, str], affected: list[str]
) -> None:
    words = changed(repository, **change)
    done = post(played, write(tmp_path / "report", report()), *words)
    assert done.output.splitlines() == [f"comment on gpufleet/{name}: created" for name in affected]


def test_a_new_environment_gets_its_comment(played: FakeGitHub, tmp_path: Path, repository: Path) -> None:
    words = changed(repository, "new")
    done = post(played, write(tmp_path / "report", report(stack("new"))), *words)
    assert done.output.splitlines() == ["comment on gpufleet/new: created"]


def test_code_scanning_gets_what_was_rendered_here(played: FakeGitHub, tmp_path: Path) -> None:
    folder = write(tmp_path, report(stack()))
    (folder / "report.sarif").write_text("from the artifact")
    file = tmp_path / "out" / "report.sarif"
    assert post(played, folder, "--sarif", str(file)).exit_code == 0
    assert len(json.loads(file.read_text())["runs"]) == 1
