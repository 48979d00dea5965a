"""`gpufleet jobs --on hosts`: real mpirun over real sshd, as a user and not as root."""

import json
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.ssh import follow
from tests.openmpi.own_hosts import UID, OwnHosts, own_hosts
from tests.openmpi.pod import send

pytestmark = pytest.mark.cluster

SLEEP = ["sh", "-c", "echo up; exec sleep 1200"]


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[OwnHosts]:
    if lacking := [each for each in ("mpirun", "ssh-keygen") if not shutil.which(each)]:
        pytest.exit(f"missing: {' '.join(lacking)}; run: python -m tools.openmpi.install", returncode=1)
    with own_hosts(tmp_path) as made:
        yield made


@pytest.fixture
def run(hosts: OwnHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setattr(follow.SshJobFollower, "shortest", 0.2)
    monkeypatch.setattr(follow.SshJobFollower, "longest", 0.5)

    def invoke(verb: str, *words: str, command: Sequence[str] = (), **changed: object) -> Result:
        """changed: keys of the outputs that differ."""
        file = tmp_path / "lab.yaml"
        file.write_text(yaml.safe_dump({"jobs": {"on": "hosts", "hosts": {**hosts.told(), **changed}}}))
        end = ("--", *command) if command else ()
        return CliRunner().invoke(main, ["jobs", verb, "--outputs", str(file), "lab", *words, *end])

    return invoke


def status(run: Any, job: str) -> dict[str, Any]:
    done = run("status", job, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def wait_for(wanted: Callable[[], bool], what: str, seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < end, what
        time.sleep(0.3)


def test_sum_over_two_hosts(run: Any, hosts: OwnHosts) -> None:
    sent = hosts.network.sent_bytes("host-1")
    done = run("submit", "--name", "sum", "--nodes", "2", "--follow", command=["/usr/bin/python3", "allreduce.py"])
    assert done.exit_code == 0, done.output
    ranks = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert sorted((each["rank"], each["host"]) for each in ranks) == [
        (0, "host-0"), (1, "host-0"), (2, "host-1"), (3, "host-1")
    ]  # fmt: skip
    assert all((each["size"], each["least"], each["most"]) == (4, 10, 10) for each in ranks)
    # 1 MiB at least has to leave each host for the sum to be right on the other.
    assert hosts.network.sent_bytes("host-1") - sent > 1 << 20
    assert done.stderr.endswith("sum: succeeded\n")
    assert (hosts.shared / "jobs" / "sum" / "log.txt").stat().st_uid == UID


def test_exit_code_tries_and_variables(run: Any) -> None:
    say = 'echo "try $GPUFLEET_TRY of $GPUFLEET_JOB: $GREETING at $MASTER_ADDR, $NCCL_SOCKET_IFNAME"; exit 7'
    words = ("--name", "seven", "--nodes", "2", "--gpus", "1", "--retries", "1", "--env", 'GREETING=it\'s "me"')
    done = run("submit", *words, "--follow", command=["sh", "-c", say])
    assert done.exit_code == 7, done.output
    lines = set(re.findall(r"^try .*$", done.stdout, re.MULTILINE))
    assert lines == {f'try {number} of seven: it\'s "me" at host-0, =eth0' for number in (1, 2)}
    assert status(run, "seven")["exitCode"] == 7


def test_jobs_wait_for_hosts_and_are_cancelled(run: Any, hosts: OwnHosts) -> None:
    assert run("submit", "--name", "first", "--nodes", "2", command=SLEEP).exit_code == 0
    wait_for(lambda: run("logs", "first").stdout.count("up\n") == 4, "ranks of first")
    assert run("submit", "--name", "second", "--nodes", "1", command=["true"]).exit_code == 0
    waiting = status(run, "second")
    assert (waiting["state"], waiting["waiting"]) == ("waiting", ["no host is free; first has host-0 host-1"])
    before = len(hosts.pods["host-1"].processes())
    assert run("cancel", "first").output.startswith("first: cancelled; ")
    wait_for(lambda: len(hosts.pods["host-1"].processes()) < before, "end of ranks on host-1")
    assert status(run, "first")["state"] == "cancelled"
    followed = run("logs", "second", "--follow")
    assert followed.exit_code == 0, followed.output
    states = {each["name"]: each["state"] for each in json.loads(run("list", "--json").stdout)}
    assert states == {"first": "cancelled", "second": "succeeded"}


def test_a_script_that_is_killed_is_lost(run: Any, hosts: OwnHosts) -> None:
    submitted = run("submit", "--name", "lost", "--nodes", "2", command=SLEEP)
    assert submitted.exit_code == 0, submitted.output
    wait_for(lambda: run("logs", "lost").stdout.count("up\n") == 4, "ranks")
    for pid in hosts.pods["host-0"].running(b"job.sh"):
        with suppress(ProcessLookupError):  # ended with its parent
            send(pid, signal.SIGKILL)
    wait_for(lambda: status(run, "lost")["state"] == "lost", "the end of its script")
    assert status(run, "lost")["message"].startswith("its script ended without a word: ")


def test_a_host_that_is_away_or_lacks_the_files(run: Any, hosts: OwnHosts) -> None:
    named = [*hosts.told()["hosts"], {"name": "host-9", "slots": 2}]
    done = run("submit", "--name", "away", "--nodes", "3", "--follow", command=["true"], hosts=named)
    assert done.exit_code == 1
    assert "gpufleet: host host-9: ssh: Could not resolve hostname host-9" in done.stdout


def test_its_time_limit_ends_it(run: Any, hosts: OwnHosts) -> None:
    job = run("submit", "--dry-run", "--json", "--name", "long", "--time-limit", "5", command=["true"])
    words = next(line for line in json.loads(job.stdout)["job.sh"] if "mpirun" in line).split()
    assert words[:5] == ["timeout", "--foreground", "--kill-after=30s", "5m", "mpirun"]


def test_without_a_container_program_the_job_says_so(run: Any, hosts: OwnHosts) -> None:
    (hosts.shared / "rank.sif").write_text("no image\n")
    done = run("submit", "--name", "bare", "--image", "rank.sif", "--follow", command=["true"])
    assert done.exit_code == 127
    assert re.search(
        r"^gpufleet: neither apptainer nor singularity is on host-0; install one there, or submit without an image$",
        done.stdout,
        re.M,
    )
