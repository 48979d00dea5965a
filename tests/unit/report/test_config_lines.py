"""The line of the configuration that a finding is shown at."""

import dataclasses
import json
from datetime import date
from pathlib import Path

import pytest

from gpufleet.documents.content import DocumentError
from gpufleet.documents.yaml import key_lines
from gpufleet.report.build import build_report
from gpufleet.report.config_lines import configuration_lines, line_of
from gpufleet.report.formats.annotations import MOST, render_annotations
from gpufleet.report.formats.sarif import render_sarif
from gpufleet.report.model import Issue, Report
from gpufleet.report.preview_json import parse_preview
from tests.unit.report.written_previews import document, step

CONFIGURATION = """\
# comment
config:
  aws:region: us-east-1
  gpufleet:owner: me
  gpufleet:cluster:
    version: "1.35"
  gpufleet:pools:
    trainers:
      types: [g5.8xlarge]
      max: 2
    small: {max: 1, maxx: 3}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: billing\nstackConfigDir: config\n")
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "Pulumi.dev.yaml").write_text(CONFIGURATION)
    return tmp_path


def issue(line: str, severity: str = "error", known: bool | None = None) -> Issue:
    resource = line.partition(": ")[0]
    return Issue(resource, "", "any-rule", severity, "fail", line, "", "gpufleet", known, None)  # type: ignore[arg-type]


def report(*issues: Issue) -> Report:
    made = build_report([parse_preview(document(step("create", "a:b:C", "x", new={})), "p")], today=date(2026, 11, 22))
    return dataclasses.replace(made, stacks=[dataclasses.replace(made.stacks[0], issues=list(issues))])


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("dev-trainers: max=2: too much; set max=1 [r]", 10),
        ("dev-trainers-nodes: max=2: too much; set max=1 [r]", 10),
        ("dev-trainers: zones=[a]: not given here; give it [r]", 8),
        ("dev-cluster-cluster: version=1.35: ends; raise it [r]", 6),
        ("dev-cluster: public_access_cidrs=[]: inside only; list one [r]", 5),
        ("gpufleet:pools.small.maxx: unknown key; did you mean max? [r]", 11),
        ("gpufleet:pools.smaller: unknown; x [r]", 7),
        ("dev: owner=me: nobody; name a team [r]", 4),
        ("dev: max=2: which of two; x [r]", 1),
        ("dev-other: nothing=1: x; y [r]", 1),
    ],
)
def test_the_line_of_the_key(program: Path, line: str, number: int) -> None:
    lines = configuration_lines(program, [("billing/dev", "dev")])["billing/dev"]
    assert line_of(report().stacks[0], issue(line), lines) == number


def test_sarif_shows_it_there(program: Path) -> None:
    made = report(issue("dev-trainers: max=2: too much; set max=1 [r]"))
    lines = configuration_lines(program, [("billing/dev", "dev")])
    for known, number in ((lines, 10), ({}, 1)):
        (run,) = json.loads(render_sarif(made, {}, known))["runs"]
        assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": number}


def test_annotations_are_few_and_new(program: Path) -> None:
    lines = configuration_lines(program, [("billing/dev", "dev")])
    files = {"billing/dev": "config/Pulumi.dev,x.yaml"}
    first = "dev-trainers: max=2: 100% too much; set max=1 [r]"
    old = issue("dev: owner=me: old; x [r]", "warning", known=True)
    made = list(render_annotations(report(issue(first), old), files, lines))
    assert made == [
        "::error file=config/Pulumi.dev%2Cx.yaml,line=10,title=any-rule::dev-trainers: max=2: 100%25 too much; "
        "set max=1 [r]"
    ]
    many = report(*(issue(f"a: b={n}: c; d [r]", "warning") for n in range(MOST + 5)), issue("a: b=1: c; d [r]"))
    assert len(list(render_annotations(many, files, lines))) == MOST + 1


@pytest.mark.parametrize("text", ["a: [", "a: 1\n---\nb: 2\n", "x\0"])
def test_a_file_that_is_no_configuration_has_no_lines(program: Path, text: str) -> None:
    file = program / "config" / "Pulumi.dev.yaml"
    file.write_text(text)
    assert configuration_lines(program, [("a", "dev"), ("b", "none")]) == {"a": {}, "b": {}}
    with pytest.raises(DocumentError):
        key_lines(text, "here")


def test_keys_of_aliases_and_lists() -> None:
    assert key_lines("a: &x\n  b: 1\nc: *x\nd: [{e: 1}]\n", "here") == {
        ("a",): 1, ("a", "b"): 2, ("c",): 3, ("c", "b"): 2, ("d",): 4,
    }  # fmt: skip
    assert key_lines("", "here") == {}


def test_outside_of_a_project_there_are_no_lines(tmp_path: Path) -> None:
    assert configuration_lines(tmp_path, [("a", "dev")]) == {}
