"""Folders of jobs that everybody may write to: a bad one hides no other, and ends nobody's job."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.hosts.backend import HostsBackend
from gpufleet.jobs.settings import read_settings
from gpufleet.jobs.slurm.backend import SlurmBackend
from gpufleet.jobs.ssh.connection import CommandResult, SshConnection
from gpufleet.jobs.ssh.job_folders import JobFolders
from gpufleet.jobs.ssh.job_record import parse_records

RECORD = {"name": "x", "environment": "lab", "created": "2026-11-21T00:00:00Z", "nodes": 2, "pool": "p"}


@pytest.fixture
def folders(tmp_path: Path) -> JobFolders:
    made = JobFolders(SshConnection(), str(tmp_path), "lab")
    made.create("good", {"job.json": json.dumps(RECORD), "id": "12\n", "exit.txt": "3\n"})
    return made


def replaced(file: str, make: Callable[[Path], object]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / file).unlink(missing_ok=True)
        make(folder / file)

    return change


def holds(file: str, text: str) -> Callable[[Path], None]:
    return replaced(file, lambda path: path.write_text(text))


BAD = {
    "empty": (holds("job.json", ""), "its job.json is empty, or not yours to read"),
    "cut off": (holds("job.json", '{"environment": "la'), "its job.json: line 1: is not JSON: it ends too early"),
    "a list": (holds("job.json", "[1]"), "its job.json: must be an object, not a list"),
    "wrong type": (
        holds("job.json", json.dumps(RECORD | {"nodes": "2"})),
        "its job.json: nodes: must be a whole number",
    ),
    "no nodes": (
        holds("job.json", json.dumps(RECORD | {"nodes": 0})),
        "its job.json: nodes: must be a whole number, 1",
    ),
    "no day": (holds("job.json", json.dumps(RECORD | {"created": "2027-02-30T00:00:00Z"})), "its job.json: created: "),
    "zeros": (holds("job.json", "\0\0"), "its job.json: line 1: is not JSON"),
    "gigantic": (holds("job.json", "x" * 3_000_000), "its job.json: has more than 256 KiB"),
    "a link": (replaced("job.json", lambda path: path.symlink_to("/etc/passwd")), "its job.json is a symbolic link"),
    "a pipe": (replaced("job.json", os.mkfifo), "its job.json is not a file"),
    "another id": (holds("id", "1 2; rm -rf /\n"), "its id is not the id of a job"),
    "another exit code": (holds("exit.txt", "a\tb\nc"), "its exit.txt is not an exit code"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_folder_is_a_line_of_its_own(folders: JobFolders, tmp_path: Path, case: str) -> None:
    change, fault = BAD[case]
    folders.create("bad", {"job.json": json.dumps(RECORD)})
    change(tmp_path / "jobs" / "bad")
    good, bad = folders.list_records()
    assert (good.name, good.id, good.exit_code, good.nodes, good.fault) == ("good", "12", 3, 2, "")
    assert bad.name == "bad"
    assert bad.fault.startswith(fault)
    with pytest.raises(UserError, match="bad: its ") as error:
        folders.find("bad")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("file", ["id", "exit.txt"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_not_read(
    folders: JobFolders, tmp_path: Path, file: str, make: Callable[[Path], None]
) -> None:
    folders.create("bad", {"job.json": json.dumps(RECORD)})
    make(tmp_path / "jobs" / "bad" / file)
    found = {each.name: (each.id, each.exit_code) for each in folders.list_records()}
    assert found == {"good": ("12", 3), "bad": ("", None)}


def test_names_that_no_job_has_are_no_jobs(folders: JobFolders, tmp_path: Path) -> None:
    for name in ("a b", "-rf", "new\nline", "\x1b[31m", "é"):
        (tmp_path / "jobs" / name).mkdir()
        (tmp_path / "jobs" / name / "job.json").write_text(json.dumps(RECORD))
    (tmp_path / "jobs" / "link").symlink_to(tmp_path / "jobs" / "good")
    assert [(each.name, each.fault) for each in folders.list_records()] == [
        ("good", ""),
        ("link", "is a symbolic link"),
    ]
    for name in ("-rf", "../jobs/good", "link"):
        with pytest.raises(UserError, match=f"{name}: (job not found|is a symbolic link)"):
            folders.find(name)


def test_a_folder_is_its_owners_and_so_is_its_id() -> None:
    record = json.dumps(RECORD)
    lines = [f"0\t{owner}\t{of_id}\td\tf\trun\t12\t\t{record}" for owner, of_id in (("0", "0"), ("7", "7"), ("0", "7"))]
    found = parse_records("\n".join([*lines, f"0\t0\t\td\tf\trun\t\t\t{record}"]).encode())
    assert [each.owner for each in found] == [None, "7", "7", None]


class AnotherUser(SshConnection):
    """We are somebody else; the folders are the tests'. scripts: what has run."""

    scripts: ClassVar[list[str]] = []

    def run(self, script: str, *words: str, stdin: bytes = b"", seconds: float = 9) -> CommandResult:
        self.scripts.append(script)
        if "squeue" in script or "sacct" in script:
            # No Slurm is here: what its programs would say of the job.
            return CommandResult(0, b"", "")
        mallory = 'id() { if [ "$1" = -un ]; then echo ana; else echo 4294967; fi; }\n'
        return super().run(mallory + script, *words, stdin=stdin, seconds=seconds)


def test_neither_back_end_ends_another_users_job(folders: JobFolders) -> None:
    """Its id, which the other user writes, may be any job's or process'."""
    lab = {
        "slurm": {"directory": folders.directory, "pools": {"p": {}}},
        "hosts": {"directory": folders.directory, "hosts": ["a"]},
    }
    (Path(folders.path("good")) / "exit.txt").unlink()
    slurm, hosts = (read_settings({"jobs": lab}, "lab", on) for on in ("slurm", "hosts"))
    assert slurm.slurm is not None
    assert hosts.hosts is not None
    machine = AnotherUser()
    backends = (
        SlurmBackend(replace(slurm, slurm=replace(slurm.slurm, target=replace(slurm.slurm.target, machine=machine)))),
        HostsBackend(replace(hosts, hosts=replace(hosts.hosts, target=replace(hosts.hosts.target, machine=machine)))),
    )
    for backend in backends:
        assert [each["name"] for each in backend.list_jobs()] == ["good"]
        with pytest.raises(UserError) as error:
            backend.cancel("good")
        assert str(error.value) == "good: is the job of ana; only ana can cancel it"
    assert not any(word in script for script in machine.scripts for word in ("scancel", "kill", "rm -rf"))
