"""`gpufleet extend`: the one line that moves, and everything that must not."""

import json
import stat
from datetime import date, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.fleet.extend import extended_expiry, read_expiry, replace_expiry

TODAY = date(2026, 11, 21)
LATER = date(2027, 1, 31)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("config:\n  gpufleet:expires_at: 2026-12-31\n", "config:\n  gpufleet:expires_at: 2027-01-31\n"),
        (
            "# a lab\nconfig:\n  b: 1 # one\n  'gpufleet:expires_at':   \"2026-12-31\"   # ask ana\n\n  a: [x]\n",
            "# a lab\nconfig:\n  b: 1 # one\n  'gpufleet:expires_at':   2027-01-31   # ask ana\n\n  a: [x]\n",
        ),
        (
            "config:\r\n    gpufleet:expires_at: 2026-12-31\r\n    a: b",
            "config:\r\n    gpufleet:expires_at: 2027-01-31\r\n    a: b",
        ),
        (
            "config: # of dev\n    # who\n    a: b\n",
            "config: # of dev\n    gpufleet:expires_at: 2027-01-31\n    # who\n    a: b\n",
        ),
        (
            "encryptionsalt: v1:x\nconfig:\n  a:\n    secure: v1:y\n",
            "encryptionsalt: v1:x\nconfig:\n  gpufleet:expires_at: 2027-01-31\n  a:\n    secure: v1:y\n",
        ),
    ],
    ids=["plain", "comments and quotes", "ends of lines of Windows", "not there yet", "beside secrets"],
)
def test_only_the_day_changes(before: str, after: str) -> None:
    assert replace_expiry(before, LATER, "f.yaml") == after


@pytest.mark.parametrize(
    "text",
    [
        "config: {gpufleet:expires_at: 2026-12-31, a: b}\n",
        "config:\n  gpufleet:expires_at:\n    2026-12-31\n",
        "config:\n  gpufleet:expires_at: 2026-12-31\n  gpufleet:expires_at: 2026-12-30\n",
        "config:\n  note: |\n    gpufleet:expires_at: 2026-12-31\n",
    ],
    ids=["in braces", "on the next line", "twice", "in another key's text"],
)
def test_file_of_another_shape_is_left_alone(text: str) -> None:
    with pytest.raises(UserError) as caught:
        replace_expiry(text, LATER, "f.yaml")
    assert str(caught.value) == (
        "f.yaml: gpufleet:expires_at is not on its own line; write `  gpufleet:expires_at: 2027-01-31`"
    )


@pytest.mark.parametrize(
    ("wanted", "now", "after"),
    [
        ("7d", date(2026, 12, 1), date(2026, 12, 8)),
        ("2w", date(2026, 11, 1), date(2026, 12, 5)),
        ("0d", TODAY, TODAY),
        ("2027-01-31", None, LATER),
        ("2026-11-21", date(2027, 1, 1), TODAY),
        ("7d", timedelta(hours=150), "318h"),
        ("36h", timedelta(days=6), "180h"),
        ("1h", timedelta(hours=9998), "9999h"),
        ("1h", timedelta(hours=9999), "417d"),
        ("2027-01-31", timedelta(days=6), LATER),
    ],
)
def test_new_end(wanted: str, now: date | timedelta | None, after: date | str) -> None:
    assert extended_expiry(wanted, now, TODAY) == after


@pytest.mark.parametrize(
    ("wanted", "now", "line"),
    [
        ("7", TODAY, "7: must be a duration or a date, such as 7d, 2w or 2026-11-21"),
        ("-7d", TODAY, "-7d: must be a duration or a date, such as 7d, 2w or 2026-11-21"),
        ("2026-11-20", TODAY, "2026-11-20: this day has passed; write 7d, 2w or a day from 2026-11-21 on"),
        ("0d", timedelta(days=6), "0d: must be a duration or a date, such as 7d, 2w or 2026-11-21"),
        (
            "9999-12-31",
            TODAY,
            "9999-12-31: an environment that has an end must end within 5 years; give a day until 2031-11-20, or "
            "remove gpufleet:expires_at for no end",
        ),
        (
            "9999w",
            timedelta(days=6),
            "9999w: an environment that has an end must end within 5 years; give a day until 2031-11-20, or remove "
            "gpufleet:expires_at for no end",
        ),
        ("7d", None, "gpufleet:expires_at: is not set, so there is nothing to extend; give a day, such as 2026-11-21"),
    ],
)
def test_end_that_makes_no_sense_is_one_line(wanted: str, now: date | timedelta | None, line: str) -> None:
    with pytest.raises(UserError) as caught:
        extended_expiry(wanted, now, TODAY)
    assert str(caught.value) == line


def test_day_that_is_none_is_said() -> None:
    with pytest.raises(
        UserError, match=r"^f: gpufleet:expires_at='soon': must be a date like 2027-01-31 or a lifetime"
    ):
        read_expiry("config:\n  gpufleet:expires_at: soon\n", "f")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: lab\nruntime: python\nstackConfigDir: config\n")
    (tmp_path / "config").mkdir()
    file = tmp_path / "config" / "Pulumi.dev.yaml"
    file.write_text(f"config:\n  # until the deadline\n  gpufleet:expires_at: {date.today()}\n")
    file.chmod(0o640)
    return tmp_path


def extend(project: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["extend", *arguments, "--program", str(project)])


def test_extend_moves_the_day_and_says_what_is_next(project: Path) -> None:
    found = extend(project, "dev", "7d")
    after = date.today() + timedelta(days=7)
    assert found.exit_code == 0, found.output
    assert found.output.splitlines() == [
        f"dev: ends on {after} instead of on {date.today()} (Pulumi.dev.yaml)",
        "its tags say so after the next `pulumi up -s dev`",
    ]
    file = project / "config" / "Pulumi.dev.yaml"
    assert file.read_text() == f"config:\n  # until the deadline\n  gpufleet:expires_at: {after}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [each.name for each in file.parent.iterdir()] == ["Pulumi.dev.yaml"]


def test_extend_as_json_says_what_it_has_changed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, today = project / "config" / "Pulumi.dev.yaml", date.today()
    both = {"before": str(today), "after": str(today + timedelta(days=7))}
    expected = {"schema": 1, "environment": "dev", "file": str(file), **both}
    before = file.read_bytes()
    for words, rehearsed in ((["--dry-run"], False), ([], True)):
        if rehearsed:
            monkeypatch.setenv("GPUFLEET_REHEARSAL", "/p/.rehearsal")
        found = extend(project, "dev", "7d", "--json", *words)
        assert (found.exit_code, json.loads(found.stdout)) == (0, expected | {"changed": False})
        assert found.stderr.startswith("dev: would end ")
        assert file.read_bytes() == before
    monkeypatch.delenv("GPUFLEET_REHEARSAL")
    found = extend(project, "dev", "7d", "--json")
    assert (found.exit_code, json.loads(found.stdout)) == (0, expected | {"changed": True})
    assert found.stderr.splitlines()[-1] == "its tags say so after the next `pulumi up -s dev`"
    file.write_text("config:\n  gpufleet:expires_at: 6d\n")
    found = extend(project, "dev", "7d", "--json")
    assert (json.loads(found.stdout)["before"], json.loads(found.stdout)["after"]) == ("144h", "312h")
    # Nobody can be asked, and nothing is said to be done.
    found = extend(project, "dev", str(today), "--json")
    assert (found.exit_code, found.stdout) == (1, "")


def test_lifetime_becomes_longer(project: Path) -> None:
    file = project / "config" / "Pulumi.dev.yaml"
    file.write_text("config:\n  gpufleet:expires_at: 6d # of the class\n")
    found = extend(project, "dev", "7d")
    assert found.exit_code == 0, found.output
    said = "dev: ends 312h after it was made instead of 144h after it was made (Pulumi.dev.yaml)"
    assert found.output.splitlines()[0] == said
    assert file.read_text() == "config:\n  gpufleet:expires_at: 312h # of the class\n"


def test_end_that_is_not_later_asks_first(project: Path) -> None:
    file, far = project / "config" / "Pulumi.dev.yaml", date.today() + timedelta(days=90)
    near = date.today() + timedelta(days=2)
    file.write_text(f"config:\n  gpufleet:expires_at: {far}\n")
    would = f"dev: would end on {near} instead of on {far} (Pulumi.dev.yaml)\n"
    found = extend(project, "dev", str(near))
    assert (found.exit_code, found.stdout) == (1, would)
    assert found.stderr.startswith(f"Error: dev: end it on {near}: nothing has been changed; add --yes")
    found = extend(project, "dev", str(near), "--dry-run")
    assert (found.exit_code, found.output) == (0, would)
    assert file.read_text() == f"config:\n  gpufleet:expires_at: {far}\n"
    assert extend(project, "dev", str(near), "--yes").exit_code == 0
    assert file.read_text() == f"config:\n  gpufleet:expires_at: {near}\n"
    # One that had no end gets one.
    file.write_text("config:\n  a: b\n")
    assert extend(project, "dev", str(far)).exit_code == 1
    assert file.read_text() == "config:\n  a: b\n"


def test_unknown_environment_and_no_project_are_one_line(project: Path, tmp_path: Path) -> None:
    found = extend(project, "prod", "7d")
    wanted = f"Error: {project / 'config' / 'Pulumi.prod.yaml'}: environment not found; the project has dev\n"
    assert (found.exit_code, found.output) == (1, wanted)
    assert "no Pulumi.yaml here or above" in extend(Path("/"), "prod", "7d").output
