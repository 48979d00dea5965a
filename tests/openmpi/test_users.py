"""Two users' jobs, of an image that knows neither: each writes under their own uid, and nothing needs root."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.mpi_job import mpi_job
from tests.openmpi.job_run import job_run

pytestmark = pytest.mark.cluster

SECONDS = 600
TEAM = 3000
IDS = {"ana": (1501, 1601), "ben": (1502, 1602)}
WRITE = """
set -e
cd ~
echo $OMPI_COMM_WORLD_RANK > result-$OMPI_COMM_WORLD_RANK
echo "$(id -un) $(id -u) $(id -G) $HOME $(umask)"
umask 002
echo "$USER" >> /mnt/team/notes-$OMPI_COMM_WORLD_RANK
"""


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    """Shared files as docs/teams.md says to set them up, once, on the server."""
    tmp_path.chmod(0o755)
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    for name, mode, group in (("home", 0o1777, 0), ("team", 0o2770, TEAM)):
        (folder / name).mkdir()
        os.chown(folder / name, 0, group)
        (folder / name).chmod(mode)
    return folder


def job_of(user: str, *command: str) -> dict[str, Any]:
    uid, gid = IDS[user]
    return {
        "namespace": "research",
        "workers": 2,
        "gpus_per_worker": 1,
        "image": "registry.example/train:1",
        "command": list(command),
        "volume_claim": "shared-files",
        "uid": uid,
        "gid": gid,
        "user": user,
        "groups": [TEAM],
    }


def ran(user: str, python: Path, volume: Path, folder: Path, script: str) -> tuple[int, str]:
    """Exit code and log of a whole job of the user."""
    folder.mkdir()
    job = mpi_job(user, job_of(user, "sh", "-c", script))
    with job_run(job, folder, python, volume) as run, run.launcher() as launcher:
        return launcher.wait(SECONDS), launcher.text()


def owner(path: Path) -> tuple[int, int, str]:
    status = path.stat()
    return status.st_uid, status.st_gid, stat.filemode(status.st_mode)


def test_each_ones_files_are_theirs(python: Path, volume: Path, tmp_path: Path):
    for user, (uid, gid) in IDS.items():
        code, said = ran(user, python, volume, tmp_path / user, WRITE)
        assert code == 0, said
        assert said.count(f"{user} {uid} {gid} {TEAM} /mnt/home/{user} 0022\n") == 2, said
        assert owner(volume / "home" / user) == (uid, gid, "drwx------")
        for rank in (0, 1):
            assert owner(volume / "home" / user / f"result-{rank}") == (uid, gid, "-rw-r--r--")
    # What is in the team's directory belongs to the first who wrote it, and all of the team may continue with it.
    assert owner(volume / "team" / "notes-0") == (1501, TEAM, "-rw-rw-r--")
    assert (volume / "team" / "notes-0").read_text() == "ana\nben\n"

    code, said = ran("ben", python, volume, tmp_path / "again", "echo mine > /mnt/home/ana/result-0")
    assert code != 0
    assert "ermission denied" in said
    assert (volume / "home" / "ana" / "result-0").read_text() == "0\n"


def test_a_file_that_others_may_read_is_not_overwritten(python: Path, volume: Path, tmp_path: Path):
    """Where a user has opened their home: files of jobs are nobody else's to write, and not to delete."""
    home = volume / "home" / "ana"
    home.mkdir()
    (home / "model").write_text("ana's")
    for path in (home, home / "model"):
        os.chown(path, *IDS["ana"])
    home.chmod(0o755)
    (home / "model").chmod(0o644)
    script = "cat /mnt/home/ana/model; (echo taken > /mnt/home/ana/model); rm -f /mnt/home/ana/model; true"
    code, said = ran("ben", python, volume, tmp_path / "ben", script)
    assert code == 0, said
    assert "ana's" in said
    assert "ermission denied" in said
    assert (home / "model").read_text() == "ana's"


def test_without_the_file_ssh_knows_no_such_user(python: Path, volume: Path, tmp_path: Path):
    """What the mounted /etc/passwd is for: without a name the same job never reaches its workers."""
    args = job_of("ana", "true")
    del args["user"]
    (tmp_path / "job").mkdir()
    with job_run(mpi_job("ana", args), tmp_path / "job", python, volume) as run, run.launcher() as launcher:
        launcher.wait_for("No user exists for uid 1501", SECONDS)


def test_no_place_for_homes_is_one_line(python: Path, volume: Path, tmp_path: Path):
    (volume / "home").chmod(0o755)
    job = mpi_job("ana", job_of("ana", "true"))
    (tmp_path / "job").mkdir()
    with pytest.raises(AssertionError) as failure, job_run(job, tmp_path / "job", python, volume):
        pass
    said = "gpufleet: /mnt/home/ana, the home of ana, cannot be made: Permission denied; its folder has to be there,"
    assert f"{said} writable for all (mode 1777)" in str(failure.value)
