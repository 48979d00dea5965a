"""Secret variables on Slurm and plain hosts: a file of mode 600 of the user's own, read by the job's script in bash."""

import stat
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from gpufleet.jobs.ssh.connection import SshConnection
from gpufleet.jobs.ssh.job_folders import _packed
from gpufleet.jobs.ssh.secrets import put_secret, secret_lines, validate_secrets

CANARY = "canary 5f3a'$(x)\""
END = 'end() { exit "$1"; }'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def job(*before: str, **secrets: str) -> "subprocess.CompletedProcess[str]":
    lines = [END, *before, *secret_lines("lab", secrets), 'printf %s "$KEY" >told']
    return subprocess.run(
        ["bash", "-c", "\n".join(lines)], capture_output=True, text=True, check=False, cwd=Path.home()
    )


def test_put_and_read(home: Path) -> None:
    where = put_secret(SshConnection(), "lab", "wandb", CANARY)
    assert where == "~/.gpufleet/secrets/lab/wandb on this machine, mode 600"
    file = home / ".gpufleet" / "secrets" / "lab" / "wandb"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {stat.S_IMODE(each.stat().st_mode) for each in (home / ".gpufleet", file.parent, file.parent.parent)} == {
        0o700
    }
    # A line of the set-up that traces what bash does must not show it.
    done = job("set -x", KEY="wandb")
    assert (done.returncode, (home / "told").read_text()) == (0, CANARY)
    assert CANARY not in done.stderr
    assert [each.name for each in file.parent.iterdir()] == ["wandb"]


@pytest.mark.parametrize("reference", ["~/keys/wandb", "{home}/keys/wandb"])
def test_path_of_ones_own(home: Path, reference: str) -> None:
    (home / "keys").mkdir()
    (home / "keys" / "wandb").write_text("value\n")
    (home / "keys" / "wandb").chmod(0o400)
    done = job(KEY=reference.format(home=home))
    assert (done.returncode, (home / "told").read_text()) == (0, "value"), done.stderr


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o700])
def test_wider_mode_is_refused(home: Path, mode: int) -> None:
    put_secret(SshConnection(), "lab", "wandb", CANARY)
    file = home / ".gpufleet" / "secrets" / "lab" / "wandb"
    file.chmod(mode)
    done = job(KEY="wandb")
    assert done.returncode == 1
    assert f"has the owner and mode 0 {mode:o}; it has to be yours alone: chmod 600 {file}" in done.stderr.replace(
        f" {file.stat().st_uid} ", " 0 "
    )
    assert not (home / "told").exists()
    assert CANARY not in done.stderr


def test_another_owner_is_refused(home: Path) -> None:
    put_secret(SshConnection(), "lab", "wandb", CANARY)
    done = job("id() { echo 4711; }", KEY="wandb")
    assert (done.returncode, (home / "told").exists()) == (1, False)


def test_missing_file_is_one_line(home: Path) -> None:
    done = job(KEY="wandb")
    assert done.returncode == 1
    assert done.stderr.startswith(f"gpufleet: secret KEY: {home}/.gpufleet/secrets/lab/wandb is not there on ")
    assert done.stderr.endswith("; store it with gpufleet secrets put\n")


def test_references() -> None:
    assert validate_secrets("run", {"A": "wandb", "B": "~/x", "C": "/x/y"}, ["GPUFLEET_JOB"]) == []
    assert validate_secrets("run", {"A": "../x", "B": "/x y", "GPUFLEET_JOB": "x"}, ["GPUFLEET_JOB"]) == [
        "run: secrets.A: use the name of a secret, or the path of your own file with mode 600",
        "run: secrets.B: use the name of a secret, or the path of your own file with mode 600",
        "run: secrets=GPUFLEET_JOB: is set for every job; use another",
    ]
    assert secret_lines("lab", {}) == []


def test_script_of_a_job_is_the_users_own() -> None:
    """It has the job's variables, on disks that others read too; the record, which all list, has none."""
    with tarfile.open(fileobj=BytesIO(_packed({"job.sh": "", "job.json": "{}"}, ()))) as packed:
        modes = {each.name: f"{each.mode:o}" for each in packed if each.isfile()}
    assert modes == {"job.sh": "600", "job.json": "644"}
