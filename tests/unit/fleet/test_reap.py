"""`gpufleet reap`: which environments have had their time, and what becomes of them."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess
from subprocess import run as started
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.fleet.environment import EnvironmentSummary
from gpufleet.fleet.expires_at import expiry_of
from gpufleet.fleet.reap_plan import decide_reap

Eks = Callable[..., list[dict[str, Any]]]
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def aged(hours: float, said: str = "6d", **more: Any) -> EnvironmentSummary:
    """An environment that was made so many hours ago."""
    end = expiry_of(said, NOW - timedelta(hours=hours))
    return EnvironmentSummary("dev", "lab", end=end, resources=3, ending=2, **more)


@pytest.mark.parametrize(
    ("environment", "verdict"),
    [
        (aged(5), "stays"),
        (aged(150), "in-grace"),
        (aged(240), "due"),
        # To the minute.
        (aged(143.99), "stays"),
        (aged(144), "in-grace"),
        (aged(215.99), "in-grace"),
        (aged(216), "due"),
        (aged(240, grace=5 * DAY), "in-grace"),
        (aged(150, grace=timedelta(hours=1)), "due"),
        (aged(240, said="never"), "stays"),
        (aged(0, said="2026-11-18"), "in-grace"),
        (aged(0, said="2026-11-17"), "due"),
        (aged(240, updating=True), "busy"),
        (aged(150, updating=True), "in-grace"),
        (replace(aged(240), ending=0), "stays"),
        (replace(aged(240), fault="cannot be read"), "unread"),
        (replace(aged(240), stack="kept"), "spared"),
        (replace(aged(240), stack="kept-prod"), "spared"),
        (replace(aged(150), stack="kept"), "in-grace"),
    ],
)
def test_verdict(environment: EnvironmentSummary, verdict: str) -> None:
    assert decide_reap(environment, NOW, 3 * DAY, ["kept", "lab/*-prod"]).verdict == verdict


def made(eks: Eks, stack: str, hours: float, said: str = "6d") -> list[dict[str, Any]]:
    """A stack that was made so many hours before now."""
    born = (datetime.now(UTC) - timedelta(hours=hours)).isoformat()
    return [{**each, "created": born} for each in eks(stack, expires=said)]


@pytest.fixture
def fleet(backend: Any, eks: Eks) -> Any:
    """Clusters aged 5, 150 and 240 hours, each with six days to live."""
    for stack, hours in {"fresh": 5, "late": 150, "old": 240}.items():
        backend.put(stack, made(eks, stack, hours))
    return backend


def reap(backend: Any, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["reap", "--backend", backend.url, "--grace", "3d", *arguments])


def test_dry_run_tells_5_150_and_240_hours_apart(fleet: Any) -> None:
    found = reap(fleet)
    assert found.exit_code == 0, found.output
    until = datetime.now(UTC) + timedelta(hours=66)
    assert found.output.splitlines() == [
        f"{fleet.url.partition('?')[0]}: 3 stacks, 2 past their end or not read",
        "training/old, of ana, 96 h past its end, $0.10/h at the least: would be destroyed: 2 resources, and 0 kept",
        "training/late, of ana, 6 h past its end, $0.10/h at the least: to be destroyed from "
        f"{until:%Y-%m-%d %H:%M} UTC on",
        "nothing has been changed: add --yes to destroy them",
    ]


def test_own_cluster_ends_by_its_labels(backend: Any, onprem: Eks) -> None:
    born = (datetime.now(UTC) - timedelta(hours=240)).isoformat()
    made = onprem("lab", owner="bob", **{"expires-at": "6d"})
    backend.put("lab", [{**each, "created": born} for each in made])
    backend.put("open", onprem("open", owner="bob"))
    told = reap(backend).output.splitlines()
    assert told[0].endswith("2 stacks, 1 past their end or not read")
    assert told[1].startswith("training/lab, of bob, 96 h past its end")
    assert "would be destroyed: 5 resources" in told[1]


def test_json_has_all_of_them_and_no_secret(fleet: Any) -> None:
    found = reap(fleet, "--json")
    content = json.loads(found.output)
    assert {each["stack"]: each["verdict"] for each in content["environments"]} == {
        "old": "due",
        "late": "in-grace",
        "fresh": "stays",
    }
    assert "hush" not in found.output


def test_webhook_is_told_where_there_is_something_to_tell(fleet: Any, eks: Eks, webhook: tuple[str, list[Any]]) -> None:
    url, told = webhook
    assert reap(fleet, "--notify", f"{url}/hook").exit_code == 0
    (body,) = told
    assert [line.split(",")[0] for line in body["text"].splitlines()[1:]] == ["training/old", "training/late"]
    assert [each["verdict"] for each in body["environments"]] == ["due", "in-grace", "stays"]
    for stack in ("old", "late"):
        fleet.put(stack, made(eks, stack, 1))
    assert reap(fleet, "--notify", f"{url}/hook").exit_code == 0
    assert len(told) == 1
    fleet.put("old", made(eks, "old", 240))
    assert reap(fleet, "--notify", f"{url}/no/T0PSECRET").exit_code == 1


ENGINE = """#!{python}
import json, os, pathlib, sys
arguments = sys.argv[1:]
if arguments == ["version"]:
    print("v3.999.0")
    sys.exit()
stack = arguments[arguments.index("--stack") + 1]
file = pathlib.Path({states!r}, ".pulumi", "stacks", *stack.split("/")[1:]).with_suffix(".json")
content = json.loads(file.read_text())
latest = content["checkpoint"]["latest"]
if arguments[:2] == ["stack", "export"]:
    print(json.dumps({{"deployment": latest}}))
elif arguments[0] == "destroy":
    with open({log!r}, "a") as log:
        print(stack, *arguments, "in", sorted(os.listdir()), file=log)
    if "broken" in stack:
        sys.exit(255)
    latest["resources"] = []
    file.write_text(json.dumps(content))
"""


@pytest.fixture
def engine(tmp_path: Path, fleet: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Something in the engine's place that empties a stack, but for those called broken. The file lists what it did."""
    log = tmp_path / "log"
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "pulumi"
    program.write_text(ENGINE.format(python=sys.executable, states=str(fleet.folder), log=str(log)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return log


def run(backend: Any, *arguments: str) -> CompletedProcess[str]:
    """As a user runs it: the engine writes to a real stderr."""
    return started(
        [Path(sys.executable).parent / "gpufleet", "reap", "--backend", backend.url, "--grace", "3d", *arguments],
        capture_output=True, text=True, check=False, cwd=backend.folder,
    )  # fmt: skip


def test_what_is_due_goes_and_one_that_fails_holds_up_no_other(fleet: Any, eks: Eks, engine: Path) -> None:
    fleet.put("broken", made(eks, "broken", 300))
    done = run(fleet, "--yes", "--keep", "training/spared")
    assert done.returncode == 1
    assert [line.split()[0] for line in engine.read_text().splitlines()] == [
        "organization/training/broken",
        "organization/training/old",
    ]
    # From the state alone, without what is protected, in a folder of nobody's.
    assert all("--exclude-protected" in line and line.endswith("in []") for line in engine.read_text().splitlines())
    assert done.stderr == "Error: training/broken: `pulumi destroy` ended with 255, see above\n"
    assert "training/old, of ana, 96 h past its end, $0.10/h at the least: destroyed: 2 resources" in done.stdout
    # Once more: it is gone, and the other is tried again.
    again = run(fleet, "--yes", "--json")
    verdicts = {each["stack"]: each["verdict"] for each in json.loads(again.stdout)["environments"]}
    assert verdicts == {"broken": "failed", "late": "in-grace", "fresh": "stays", "old": "stays"}


def test_one_that_is_worked_on_or_spared_stays(fleet: Any, eks: Eks, engine: Path) -> None:
    fleet.file("locks/organization/training/old/0f.json", {})
    fleet.put("precious", made(eks, "precious", 300))
    done = run(fleet, "--yes", "--keep", "prec*")
    assert done.returncode == 0, done.stderr
    assert not engine.exists()
    assert "due, but an update of it is running, or was broken off (`pulumi cancel`)" in done.stdout
    assert "due, but spared by --keep" in done.stdout


def test_one_that_was_extended_meanwhile_stays(fleet: Any, eks: Eks, engine: Path, tmp_path: Path) -> None:
    # The listing is of a copy that is older than what the engine then finds.
    later = {"deployment": {"resources": made(eks, "old", 240, said="20d")}}
    program = tmp_path / "bin" / "pulumi"
    program.write_text(program.read_text().replace('{"deployment": latest}', repr(later)))
    done = run(fleet, "--yes")
    assert done.returncode == 0, done.stderr
    assert not engine.exists()
    assert "training/old" not in done.stdout


def test_stack_that_cannot_be_read_is_said(fleet: Any) -> None:
    fleet.file("stacks/training/bad.json", "{}")
    found = reap(fleet)
    assert found.exit_code == 1
    assert "Error: training/bad: " in found.output
    assert "training/old" in found.output


@pytest.mark.parametrize("grace", ["24", "soon", "-1h"])
def test_grace_that_is_no_time_is_one_line(backend: Any, grace: str) -> None:
    found = reap(backend, "--grace", grace)
    assert found.exit_code == 2
    assert "must be a duration in hours, days or weeks, such as 24h, 3d or 1w" in found.output
