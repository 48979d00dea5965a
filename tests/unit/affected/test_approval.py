"""Whether what would be done is what was approved."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from gpufleet.affected.approval import unapproved_changes
from gpufleet.cli import main
from gpufleet.report.formats.json import render_json
from gpufleet.report.model import Report
from tests.unit.comments.written_report import report, stack

CHANGE = stack()["changes"][0] | {"urn": "a", "name": "a"}


def made(*changes: dict[str, Any], commit: str = "c1", name: str = "aws-dev") -> Report:
    document = report(stack(name, changes=list(changes)))
    document["footer"]["commit"] = commit
    return msgspec.convert(document, Report)


def test_the_same_changes_are_approved_whatever_their_order() -> None:
    other = CHANGE | {"urn": "b"}
    assert list(unapproved_changes(made(CHANGE, other), made(other, CHANGE))) == []


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (made(), "gpufleet/aws-dev: a: not as approved; preview and approve it again"),
        (made(CHANGE | {"operation": "delete"}), "gpufleet/aws-dev: a: not as approved"),
        (made(CHANGE | {"properties": []}), "gpufleet/aws-dev: a: not as approved"),
        # What loses data comes first.
        (
            made(CHANGE, CHANGE | {"urn": "b", "name": "b", "holds": ""}, CHANGE | {"urn": "c", "name": "c"}),
            "gpufleet/aws-dev: c and 1 more: not as approved",
        ),
        (made(CHANGE, commit="c2"), "gpufleet/aws-dev: commit c1 was approved, and c2 is checked out"),
        (made(CHANGE, name="aws-prod"), "gpufleet/aws-prod: not in the approved report"),
    ],
)
def test_any_other_change_is_not(now: Report, said: str) -> None:
    (line,) = unapproved_changes(made(CHANGE), now)
    assert line.startswith(said)


@pytest.mark.parametrize(
    ("approved", "code", "said"),
    [
        (None, 1, "a: words would be lost; keep it, or say --allow-loss"),
        (made(CHANGE), 0, ""),
        (made(), 1, "Error: gpufleet/aws-dev: a: not as approved; preview and approve it again"),
        # Any other change, even one that loses nothing.
        (made(CHANGE, CHANGE | {"urn": "b"}), 1, "not as approved"),
        ("[]", 2, "must be an object, not a list"),
    ],
)
def test_what_was_approved_may_lose_what_was_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, approved: Report | str | None, code: int, said: str
) -> None:
    monkeypatch.setattr("gpufleet.affected.report.report_change", lambda *_: (made(CHANGE), {}))
    (tmp_path / "Pulumi.yaml").write_text("{name: gpufleet, runtime: python}\n")
    (tmp_path / "Pulumi.aws-dev.yaml").write_text("config: {}\n")
    words = ["preview", "aws-dev", "--real", "--program", str(tmp_path), "--to", str(tmp_path / "out")]
    if approved is not None:
        file = tmp_path / "approved.json"
        file.write_text(approved if isinstance(approved, str) else render_json(approved))
        words += ["--approved", str(file)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == code, done.output
    assert said in done.stderr
    assert "Traceback" not in done.output
    data = CliRunner().invoke(main, [*words, "--json"])
    assert data.exit_code == code
    # The same as report.json, and nothing where no report was made.
    assert data.stdout == ((tmp_path / "out" / "report.json").read_text() if code != 2 else "")
    assert said in data.stderr
