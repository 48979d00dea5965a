"""Previews, event logs and states, and what is reported of them."""

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

from tests.fuzz.broken_input import as_json_lines
from tests.fuzz.reader import ROOT, TODAY, Reader, run_command


@cache
def _states() -> list[Any]:
    """A resource of each type of two environments."""
    found = []
    for name in ("aws-dev", "azure-dev"):
        state = json.loads(lzma.decompress((ROOT / f"tests/e2e/states/{name}-0.1.0.json.xz").read_bytes()))
        by_type = {each["type"]: each for each in state["deployment"]["resources"]}
        keys = ("urn", "type", "inputs", "parent", "provider", "propertyDependencies", "dependencies", "custom", "id")
        found.append([{key: each[key] for key in keys if key in each} for each in by_type.values()])
    return found


def _previews() -> list[Any]:
    config = {"aws:region": "us-east-1", "gpufleet:usage": '{"nat_gb": 1000, "busy_hours": 73}'}
    steps = [
        [
            {"op": op, "urn": each["urn"], "newState": each}
            for op, each in zip(("create", "same") * 99, state, strict=False)
        ]
        for state in _states()
    ]
    secrets = json.loads((ROOT / "tests/unit/report/previews/secrets.json").read_bytes())
    # A few resources each: the time goes to the estimate of all.
    parts = [part[at : at + 12] for part in steps for at in range(0, len(part), 12)]
    return [*({"config": config, "steps": part} for part in parts), secrets]


def _logs() -> list[Any]:
    lines = (ROOT / "tests/unit/report/previews/secrets.events.jsonl").read_text(encoding="utf-8").splitlines()
    return [[json.loads(line) for line in lines]]


def _cost(file: Path) -> object:
    return run_command("cost", "--preview", str(file))


def _report(file: Path) -> object:
    from gpufleet.report.build import build_report
    from gpufleet.report.formats.html import render_html
    from gpufleet.report.formats.json import render_json
    from gpufleet.report.formats.junit import render_junit
    from gpufleet.report.formats.markdown import render_markdown
    from gpufleet.report.load_previews import read_preview

    report = build_report([read_preview(file)], today=TODAY)
    return [render(report) for render in (render_markdown, render_json, render_html, render_junit)]


def _backend(file: Path) -> object:
    """A stack's state in a file backend, as `gpufleet ps` sees it."""
    from gpufleet.fleet.environment import environment_of
    from gpufleet.fleet.file_backend import stacks_of_files

    folder = file.parent / ".pulumi" / "stacks" / "project"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dev.json").write_bytes(file.read_bytes())
    return [environment_of(each, TODAY) for each in stacks_of_files(f"file://{file.parent}")]


def _checkpoints() -> list[Any]:
    parts = [state[at : at + 10] for state in _states() for at in range(0, len(state), 10)]
    manifest = {"time": "2026-11-21T12:00:00.123456789Z", "magic": "", "version": "3"}
    return [
        {"version": 3, "checkpoint": {"stack": "s", "latest": {"manifest": manifest, "resources": part}}}
        for part in parts
    ]


def _comment(file: Path) -> object:
    from gpufleet.report.formats.markdown import render_comment
    from gpufleet.report.formats.sarif import render_sarif
    from gpufleet.report.read_report import read_report

    report = read_report(file)
    return [render_comment(report, stack) for stack in report.stacks], render_sarif(report, {})


def _reports() -> list[Any]:
    from gpufleet.report.build import build_report
    from gpufleet.report.formats.json import render_json
    from gpufleet.report.preview_json import parse_preview

    return [json.loads(render_json(build_report([parse_preview(each, "p")], today=TODAY))) for each in _previews()[-3:]]


def _event(file: Path) -> object:
    from gpufleet.comments.ci_environment import code_host_of, run_of

    variables = {"GITHUB_REPOSITORY": "a/b", "GITHUB_TOKEN": "t", "GITHUB_EVENT_PATH": str(file)}
    code_host_of(variables, None, "me", 0)
    return run_of(variables, None, None)


READERS = {
    "cost of a preview": Reader(_cost, ["plan/preview.py", "plan/property_values.py"], _previews),
    "report of a preview": Reader(_report, ["report/preview_json.py", "report/load_previews.py"], _previews),
    "event log": Reader(_report, ["report/event_log.py"], _logs, form=as_json_lines),
    "state in a backend": Reader(_backend, ["fleet/file_backend.py", "fleet/stack_state.py"], _checkpoints),
    "report.json": Reader(_comment, ["report/read_report.py"], _reports, name="report.json"),
    "event of GitHub": Reader(
        _event,
        ["comments/ci_environment.py"],
        lambda: [
            {"pull_request": {"number": 7, "head": {"sha": "c", "repo": {"full_name": "a/b"}}, "user": {"login": "x"}}}
        ],
    ),
}
