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
from gpufleet.fleet.reap_report import reap_line
from gpufleet.fleet.stack_lock import StackLock

Eks = Callable[..., list[dict[str, Any]]]
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def aged(hours: float, said: str = "6d", **more: Any) -> EnvironmentSummary:
    """An environment that was made so many hours ago."""
    end = expiry_of(said, NOW - timedelta(hours=hours))
    return EnvironmentSummary("dev", "lab", end=end, resources=3, ending=2, full_name="organization/lab/dev", **more)


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
        (aged(240, updating=True, lock=StackLock(NOW - timedelta(hours=12), "ana@lab (pid 1)")), "busy"),
        (aged(240, updating=True, lock=StackLock(NOW - timedelta(hours=12.01), "ana@lab (pid 1)")), "locked"),
        (aged(150, updating=True, lock=StackLock(NOW - 53 * DAY)), "in-grace"),
        # Not certainly an environment of gpufleet's: told where its tags would make it due.
        (aged(240, doubt="0 of 3 have the mark"), "foreign"),
        (aged(150, doubt="0 of 3 have the mark"), "stays"),
        (aged(240, doubt="0 of 3 have the mark", end_doubt="expires-at=never on 2 of 3"), "foreign"),
        (replace(aged(0, said="never"), doubt="no mark", end_doubt="soon", end_unreadable=True), "stays"),
        # Not certainly past its end.
        (aged(240, end_doubt="expires-at=never on 2 of 3"), "uncertain"),
        (aged(150, end_doubt="expires-at=never on 2 of 3"), "uncertain"),
        (aged(5, end_doubt="expires-at=never on 2 of 3"), "stays"),
        (aged(5, end_doubt="expires-at=soon on 1 of 3", end_unreadable=True), "uncertain"),
        (replace(aged(0, said="never"), end_doubt="expires-at=soon on 3 of 3", end_unreadable=True), "uncertain"),
        # What it deletes may hold data.
        (aged(240, loose_data=("bucket",)), "uncertain"),
        (aged(150, loose_data=("bucket",)), "in-grace"),
        (aged(0, said="9999-12-31"), "stays"),
        (replace(aged(240), ending=0), "stays"),
        (replace(aged(240), fault="cannot be read"), "unread"),
        (replace(aged(240), stack="kept"), "spared"),
        (replace(aged(240), stack="kept-prod"), "spared"),
        (replace(aged(150), stack="kept"), "in-grace"),
        # Whatever is kept.
        *((replace(aged(240), stack=name), "spared") for name in ("prod", "aws-prod", "production", "a-production")),
        *((replace(aged(240), stack=name), "due") for name in ("product", "prod-copy", "reproduction")),
    ],
)
def test_verdict(environment: EnvironmentSummary, verdict: str) -> None:
    assert decide_reap(environment, NOW, 3 * DAY, ["kept", "lab/*-prod"]).verdict == verdict


def test_grace_that_ends_behind_all_days_is_no_fault() -> None:
    found = decide_reap(aged(0, said="9999-12-31"), NOW, 9999 * DAY)
    assert (found.verdict, str(found.until)) == ("stays", "9999-12-31 23:59:59.999999+00:00")


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        (aged(240), "would be destroyed: 2 resources, and 1 kept"),
        (aged(240, updating=True), "due, but an update of it is running"),
        (
            aged(240, updating=True, lock=StackLock(NOW - timedelta(hours=1), "ana@lab (pid 1)")),
            "due, but an update of it is running: locked since 2026-11-21 11:00 UTC by ana@lab (pid 1)",
        ),
        (
            aged(240, updating=True, lock=StackLock(NOW - 53 * DAY, "ana@lab (pid 1)")),
            "due, but locked since 2026-09-29 12:00 UTC by ana@lab (pid 1), longer than an update takes; if no engine "
            "is at work, run `pulumi cancel --stack organization/lab/dev`",
        ),
        (aged(240, doubt="no mark"), "not certainly gpufleet's, and not touched: no mark"),
        (
            aged(240, end_doubt="expires-at=never on 2 of 3 resources"),
            "not touched: expires-at=never on 2 of 3 resources",
        ),
        (
            aged(240, loose_data=("bucket", "disk")),
            "not touched: bucket, disk: data that is not protected, and no output `erase` says that it may be deleted; "
            "the next `up` of its program writes one or the other",
        ),
        (replace(aged(240), stack="kept"), "due, but spared: --keep kept"),
    ],
)
def test_line(environment: EnvironmentSummary, line: str) -> None:
    case = decide_reap(environment, NOW, 3 * DAY, ["kept"])
    assert reap_line(case, NOW) == f"lab/{environment.stack}, of nobody, 96 h past its end, price not known: {line}"


def test_line_of_one_that_does_not_end_for_certain() -> None:
    case = decide_reap(replace(aged(0, said="never"), end_doubt="expires-at=soon on 3", end_unreadable=True), NOW, DAY)
    assert reap_line(case, NOW).startswith(
        "lab/dev, of nobody, without an end that can be read, price not known: not t"
    )
    case = decide_reap(replace(aged(5), end_doubt="expires-at=soon on 1", end_unreadable=True), NOW, DAY)
    assert reap_line(case, NOW).startswith("lab/dev, of nobody, 139 h before its end, price not known: not touched: ")


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
    found = reap(fleet, "--dry-run")
    assert found.exit_code == 0, found.output
    until = datetime.now(UTC) + timedelta(hours=66)
    assert found.output.splitlines() == [
        f"{fleet.url.partition('?')[0]}: 3 stacks, 2 past their end or not certain",
        "training/old, of ana, 96 h past its end, $0.10/h at the least: would be destroyed: 2 resources, and 0 kept",
        "training/late, of ana, 6 h past its end, $0.10/h at the least: to be destroyed from "
        f"{until:%Y-%m-%d %H:%M} UTC on",
    ]
    # Where nobody can be asked it does the same, and no script takes that for the deed.
    asked = reap(fleet)
    assert (asked.exit_code, asked.stdout) == (1, found.stdout)
    assert asked.stderr == (
        "Error: destroy training/old: nothing has been changed; add --yes to do it, or --dry-run to only show it\n"
    )


def test_own_cluster_ends_by_its_labels(backend: Any, onprem: Eks) -> None:
    born = (datetime.now(UTC) - timedelta(hours=240)).isoformat()
    made = onprem("lab", owner="bob", **{"expires-at": "6d"})
    backend.put("lab", [{**each, "created": born} for each in made])
    backend.put("open", onprem("open", owner="bob"))
    told = reap(backend, "--dry-run").output.splitlines()
    assert told[0].endswith("2 stacks, 1 past their end or not certain")
    assert told[1].startswith("training/lab, of bob, 96 h past its end")
    assert "would be destroyed: 5 resources" in told[1]


def test_json_has_all_of_them_and_no_secret(fleet: Any) -> None:
    found = reap(fleet, "--json", "--dry-run")
    content = json.loads(found.stdout)
    assert {each["stack"]: each["verdict"] for each in content["environments"]} == {
        "old": "due",
        "late": "in-grace",
        "fresh": "stays",
    }
    assert "hush" not in found.output


def test_webhook_is_told_where_there_is_something_to_tell(fleet: Any, eks: Eks, webhook: tuple[str, list[Any]]) -> None:
    url, told = webhook
    assert reap(fleet, "--dry-run", "--notify", f"{url}/hook").exit_code == 0
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
elif arguments[0] == "refresh":
    # The cloud says of each resource what a file beside the states has for it.
    told = pathlib.Path({states!r}, "cloud.json")
    cloud = json.loads(told.read_text()) if told.exists() else dict()
    if stack in cloud.get("locked", dict()):
        sys.exit("error: the stack is currently locked by 1 lock(s).\\n  file:///x: " + cloud["locked"][stack])
    for resource in latest["resources"]:
        resource["outputs"] = resource.get("outputs", dict()) | cloud.get(resource["id"], dict())
    file.write_text(json.dumps(content))
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
    done = run(fleet, "--yes")
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
    assert "due, but an update of it is running: locked since " in done.stdout
    assert "due, but spared: --keep prec*" in done.stdout


def test_one_that_was_extended_meanwhile_stays(fleet: Any, eks: Eks, engine: Path, tmp_path: Path) -> None:
    # The listing is of a copy that is older than what the engine then finds.
    later = {"deployment": {"resources": made(eks, "old", 240, said="20d")}}
    program = tmp_path / "bin" / "pulumi"
    program.write_text(program.read_text().replace('{"deployment": latest}', repr(later)))
    done = run(fleet, "--yes")
    assert done.returncode == 0, done.stderr
    assert not engine.exists()
    assert done.stdout.splitlines()[-1].endswith("stays, as it is not past its end any more")


def test_stack_that_cannot_be_read_is_said(fleet: Any) -> None:
    fleet.file("stacks/training/bad.json", "{}")
    found = reap(fleet, "--dry-run")
    assert found.exit_code == 1
    assert "Error: training/bad: " in found.output
    assert "training/old" in found.output


@pytest.mark.parametrize("grace", ["24", "soon", "-1h"])
def test_grace_that_is_no_time_is_one_line(backend: Any, grace: str) -> None:
    found = reap(backend, "--grace", grace)
    assert found.exit_code == 2
    assert "must be a duration in hours, days or weeks, such as 24h, 3d or 1w" in found.output


def test_lock_of_a_dead_engine_is_a_failure_and_says_whose(fleet: Any, engine: Path) -> None:
    since = {"pid": 4711, "username": "runner", "hostname": "ci-1", "timestamp": "2026-10-02T09:30:00.5Z"}
    fleet.file("locks/organization/training/old/0f.json", since)
    done = run(fleet, "--yes")
    assert (done.returncode, engine.exists()) == (1, False)
    why = (
        "locked since 2026-10-02 09:30 UTC by runner@ci-1 (pid 4711), longer than an update takes; if no engine is at "
        "work, run `pulumi cancel --stack organization/training/old`"
    )
    assert f": due, but {why}\n" in done.stdout
    assert done.stderr == f"Error: training/old: {why}\n"


@pytest.mark.parametrize(
    ("since", "code", "verdict"),
    [("2026-10-02T09:30:00Z", 1, "locked"), ("{now}", 0, "busy")],
)
def test_lock_that_only_the_engine_tells_of(fleet: Any, engine: Path, since: str, code: int, verdict: str) -> None:
    # As on S3, whose files nobody but the engine reads.
    at = since.format(now=datetime.now(UTC).isoformat(timespec="seconds"))
    locked = {"organization/training/old": f"created by runner@ci-1 (pid 4711) at {at}"}
    (fleet.folder / "cloud.json").write_text(json.dumps({"locked": locked}))
    done = run(fleet, "--yes", "--json")
    assert (done.returncode, engine.exists()) == (code, False), done.stderr
    found = {each["stack"]: each for each in json.loads(done.stdout)["environments"]}
    assert found["old"]["verdict"] == verdict
    assert "by runner@ci-1 (pid 4711)" in found["old"]["why"]


def test_what_the_cloud_says_is_another_s_is_not_destroyed(fleet: Any, engine: Path) -> None:
    # Somebody who may write the state has put others' ids in it: its tags are right, those of the cloud are not.
    theirs = {"tags": {"gpufleet-stack": "billing/prod", "environment": "prod", "owner": "bob", "project": "billing"}}
    (fleet.folder / "cloud.json").write_text(json.dumps({"trainers": theirs}))
    done = run(fleet, "--yes")
    assert (done.returncode, engine.exists()) == (0, False), done.stderr
    assert done.stdout.splitlines()[-1].endswith(
        "not certainly gpufleet's, and not touched: trainers: gpufleet-stack=billing/prod, the mark of another stack"
    )


def test_names_to_keep_are_lists_and_one_that_is_nobody_s_stops_all(fleet: Any, eks: Eks, engine: Path) -> None:
    for stack in ("precious", "demo"):
        fleet.put(stack, made(eks, stack, 300))
    done = run(fleet, "--yes", "--keep", "prec*, training/demo", "--keep", "*-staging")
    error = "--keep *-staging: matches no stack of this backend; correct the name or leave it out"
    assert (done.returncode, engine.exists()) == (1, False)
    assert done.stderr == (
        f"Error: {error}; nothing has been destroyed, as the name may be of a stack that is to stay\n"
    )
    assert "training/precious, of ana" in done.stdout
    assert "due, but spared: --keep prec*" in done.stdout
    assert "due, but spared: --keep training/demo" in done.stdout
    dry = run(fleet, "--dry-run", "--keep", "prec*,training/demo,*-staging")
    assert (dry.returncode, dry.stderr) == (0, f"Warning: {error}\n")
    # An empty list is what a variable of CI that nobody has set is.
    done = run(fleet, "--yes", "--keep", "", "--keep", "prec*,training/demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in engine.read_text().splitlines()] == ["organization/training/old"]


def test_production_stays_whatever_is_kept(backend: Any, eks: Eks) -> None:
    backend.put("aws-prod", made(eks, "aws-prod", 300))
    found = reap(backend, "--yes", "--keep", "aws-*")
    assert (found.exit_code, found.stderr) == (0, "")
    assert "due, but spared: production, *-prod" in found.stdout


def test_yes_and_dry_run_contradict_each_other(fleet: Any) -> None:
    assert reap(fleet, "--yes", "--dry-run").exit_code == 2
