"""The cluster's login node is reached by OpenSSH, with a key of the tests' own, on loopback."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.slurm_cluster import SlurmCluster, listens
from tools.ports import free_ports

pytestmark = pytest.mark.cluster


@pytest.fixture
def login(slurm: SlurmCluster, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A machine to log in to, and the arguments of ssh that it takes."""
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True, timeout=600)
    port = free_ports(1)[0]
    Path("/run/sshd").mkdir(exist_ok=True)
    options = {
        "AuthorizedKeysFile": tmp_path / "user.pub",
        "ListenAddress": f"127.0.0.1:{port}",
        "PasswordAuthentication": "no",
        "PidFile": "none",
        "SetEnv": f"SLURM_CONF={slurm.environment['SLURM_CONF']}",
        "StrictModes": "no",
        "UsePAM": "no",
    }
    words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
    slurm.start("sshd", "/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-h", str(tmp_path / "host"), *words)
    try:
        slurm.until(lambda: listens(port), "sshd")
        known = f"-o StrictHostKeyChecking=no -o UserKnownHostsFile={tmp_path}/known -o LogLevel=ERROR"
        yield "root@127.0.0.1", f"-p {port} -i {tmp_path}/user {known}"
    finally:
        slurm.end("sshd")


def test_a_job_from_another_machine(
    run: Any, told: dict[str, Any], login: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told["login"], told["ssh"] = login
    # This shell does not know where the cluster is; the machine that is logged in to does.
    monkeypatch.setenv("SLURM_CONF", "/nonexistent/slurm.conf")
    words = ("--name", "far", "--gpus", "1", "--env", "SAID=it's $HOME", "--follow")
    done = run("submit", *words, command=["sh", "-c", 'echo "$SAID"; exit 3'])
    assert done.exit_code == 3, done.output
    assert "it's $HOME\n" in done.stdout
    assert run("list").output.startswith("far ")


def test_a_machine_that_is_not_there(run: Any, told: dict[str, Any]) -> None:
    told["login"], told["ssh"] = "127.0.0.1", f"-p {free_ports(1)[0]}"
    done = run("list")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: ssh 127.0.0.1: ssh: connect to host 127.0.0.1 port ")
    assert done.stderr.endswith("Connection refused; is the machine up, and the network there?\n")


def test_a_key_that_is_not_taken(run: Any, told: dict[str, Any], login: tuple[str, str], tmp_path: Path) -> None:
    told["login"], told["ssh"] = login[0], login[1].replace("/user ", "/host ")
    done = run("list")
    assert done.exit_code == 1
    assert "Permission denied (publickey" in done.stderr
    assert done.stderr.endswith("try `ssh root@127.0.0.1 true` by hand: it must ask for nothing\n")
