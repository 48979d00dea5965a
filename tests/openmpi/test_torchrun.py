"""The same training on two hosts by mpirun and by torchrun: a rank is killed, the retry resumes, and both end alike."""

import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.ssh import follow
from tests.openmpi.log_lines import progress
from tests.openmpi.own_hosts import UID, OwnHosts, own_hosts
from tests.openmpi.pod import Pod, send

pytestmark = pytest.mark.cluster

EXAMPLE = Path(__file__).parents[2] / "examples" / "train"
SECONDS = 600
STEPS, EVERY = 40, 20
DEBIAN = ("--env", "PET_REDIRECTS=9:1", "--env", "PET_TEE=9:1")
"""torchrun of PyTorch 1.13 does not start on Python 3.11, Debian's, unless its options on logs are maps: iterating an
enum.Flag leaves out zero there (docs.python.org/3/whatsnew/3.11.html#enum). This one maps a rank that no host has."""
Run = Callable[..., Result]


@pytest.fixture
def hosts(tmp_path: Path, python: Path) -> Iterator[OwnHosts]:
    with own_hosts(tmp_path) as made:
        shutil.copytree(EXAMPLE, made.shared / "train")
        yield made


@pytest.fixture
def run(hosts: OwnHosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(follow.SshJobFollower, "shortest", 0.2)
    monkeypatch.setattr(follow.SshJobFollower, "longest", 0.5)
    file = tmp_path / "lab.yaml"
    file.write_text(yaml.safe_dump({"jobs": {"on": "hosts", "hosts": hosts.told()}}))

    def invoke(verb: str, *words: str, command: Sequence[str] = ()) -> Result:
        end = ("--", *command) if command else ()
        return CliRunner().invoke(main, ["jobs", verb, "--outputs", str(file), "lab", *words, *end])

    return invoke


def submit(run: Run, hosts: OwnHosts, launcher: str, *words: str, steps: int = STEPS) -> None:
    folder = f"{hosts.shared}/{launcher}"
    program = [f"{hosts.shared}/train/train.py", "--synthetic", "--checkpoints", folder, "--steps", str(steps)]
    sizes = ["--batch", "16", "--log-every", "10", "--checkpoint-every", str(EVERY), "--notice-every", "1"]
    done = run(
        *("submit", "--name", launcher, "--launcher", launcher, "--nodes", "2", "--env", "OMP_NUM_THREADS=1"),
        *DEBIAN,
        *words,
        command=["/usr/bin/python3", *program, *sizes],
    )
    assert done.exit_code == 0, done.output


def log(hosts: OwnHosts, job: str) -> str:
    return (hosts.shared / "jobs" / job / "log.txt").read_text(errors="replace")


def wait_for_line(hosts: OwnHosts, job: str, word: str) -> None:
    end = time.monotonic() + SECONDS
    while word not in log(hosts, job):
        ended = (hosts.shared / "jobs" / job / "exit.txt").exists()
        assert not ended, log(hosts, job)
        assert time.monotonic() < end, log(hosts, job)
        time.sleep(0.1)


def rank(pod: Pod, variable: str) -> int:
    """The pid of the rank that has the variable, as the launcher sets it."""
    for pid in pod.running(f"{variable}\0".encode(), "environ"):
        if Path(f"/proc/{pid}/exe").readlink().name.startswith("python"):
            return pid
    raise AssertionError(f"{pod.name}: no process has {variable}")


def test_a_killed_rank_resumes_and_both_launchers_reach_the_same_loss(run: Run, hosts: OwnHosts) -> None:
    losses = {}
    for launcher, variable in (("mpi", "OMPI_COMM_WORLD_RANK=3"), ("torchrun", "RANK=3")):
        submit(run, hosts, launcher, "--retries", "1")
        wait_for_line(hosts, launcher, f"step={EVERY + 10} ")
        send(rank(hosts.pods["host-1"], variable), signal.SIGKILL)
        followed = run("logs", launcher, "--follow")
        assert followed.exit_code == 0, followed.output
        text = log(hosts, launcher)
        assert re.search(rf"gpufleet: {launcher}: try 1 of 2 ended with code [1-9]", text), text
        resumed = int(re.findall(r"^resumed step=(\d+)$", text, re.MULTILINE)[-1])
        assert resumed == EVERY
        assert "ranks=4 device=cpu" in text
        losses[launcher] = {line.step: line.loss for line in progress(text)}
        assert max(losses[launcher]) == STEPS
        assert sorted(path.stat().st_uid for path in (hosts.shared / launcher).iterdir())[0] == UID
    assert losses["torchrun"] == losses["mpi"]


def test_cancel_reaches_the_ranks_of_torchrun_which_save(run: Run, hosts: OwnHosts) -> None:
    submit(run, hosts, "torchrun", "--gpus", "1", steps=5000)
    wait_for_line(hosts, "torchrun", "step=10 ")
    done = run("cancel", "torchrun")
    assert done.output.startswith("torchrun: cancelled; "), done.output
    end = time.monotonic() + SECONDS
    while any(pod.running(b"train.py") for pod in hosts.pods.values()):
        assert time.monotonic() < end, log(hosts, "torchrun")
        time.sleep(0.2)
    text = log(hosts, "torchrun")
    (step,) = re.findall(r"^reclaimed step=(\d+): start again to go on$", text, re.MULTILINE)
    assert (hosts.shared / "torchrun" / f"step-{int(step):09}.pt").exists()


def test_torchrun_needs_no_openmpi_and_names_the_code(run: Run, hosts: OwnHosts) -> None:
    say = 'echo "rank $RANK of $WORLD_SIZE on $(hostname) of $GPUFLEET_JOB: $GREETING"; exit 7'
    words = ("--launcher", "torchrun", "--name", "seven", "--nodes", "2", "--gpus", "1", "--env", 'GREETING=it\'s "me"')
    done = run("submit", *words, *DEBIAN, "--follow", command=["sh", "-c", say])
    assert done.exit_code == 1, done.output
    lines = set(re.findall(r"^rank \d of .*$", done.stdout, re.MULTILINE))
    assert lines <= {f'rank {n} of 2 on host-{n} of seven: it\'s "me"' for n in range(2)}
    assert {line.split(" on ")[1][:6] for line in lines} == {"host-0", "host-1"}
    assert "mpirun" not in (hosts.shared / "jobs" / "seven" / "job.sh").read_text()
