"""torchrun on the nodes of a Batch job: what is submitted, what a node starts, what the main node hears of others."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.aws_batch.entrypoint import container_command, multinode_command
from gpufleet.jobs.node_runtime import process_tree, torchrun_main, torchrun_ranks
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import NodeExit
from gpufleet.jobs.node_runtime.torchrun_rendezvous import TorchrunRendezvous
from gpufleet.jobs.torchrun import LAUNCHERS, torchrun_command
from tests.tools.fake_aws import DEFINITIONS, IMAGE, FakeAws
from tests.unit.jobs.embedded import plan_of, text_of, undefined_names

TRAIN = ["python3", "train.py"]


def submitted(here: FakeAws, run: Any, launcher: str) -> tuple[dict[str, Any], list[str]]:
    """SubmitJob's arguments, and the command of each node."""
    sizes = ("--nodes", "3", "--gpus", "4", "--retries", "2")
    done = run(
        *("jobs", "submit", "dev", "--name", launcher, "--image", IMAGE, *sizes, "--launcher", launcher), "--", *TRAIN
    )
    assert done.exit_code == 0, done.output
    job = here.bodies("submitjob")[-1]
    [every] = job["nodeOverrides"]["nodePropertyOverrides"]
    return job, every["containerOverrides"].pop("command")


def test_submission_differs_from_an_mpi_jobs_by_the_command(here: FakeAws, run: Any) -> None:
    mpi, _ = submitted(here, run, "mpi")
    job, command = submitted(here, run, "torchrun")
    known = {"DATA": "/mnt/data"}
    assert command == multinode_command(TRAIN, 4, launcher="torchrun", network="efa", environment=known)
    assert (job.pop("jobName"), mpi.pop("jobName")) == ("torchrun", "mpi")
    assert job["jobDefinition"] == f"{DEFINITIONS}/dev-nodes:1"
    for each in (job, mpi):
        [every] = each["nodeOverrides"]["nodePropertyOverrides"]
        drawn = ("GPUFLEET_JOB", "GPUFLEET_JOB_KEY", "GPUFLEET_OUTPUTS")
        variables = every["containerOverrides"]["environment"]
        every["containerOverrides"]["environment"] = [one for one in variables if one["name"] not in drawn]
    assert job == mpi


def test_single_job_runs_torchrun_on_one_gpu_too(here: FakeAws, run: Any) -> None:
    """A program for torchrun needs its variables."""
    options = ("--name", "one", "--image", IMAGE, "--launcher", "torchrun")
    done = run("jobs", "submit", "dev", *options, "--", *TRAIN)
    assert done.exit_code == 0, done.output
    command = here.bodies("submitjob")[-1]["containerOverrides"]["command"]
    assert command == container_command(TRAIN, 1, launcher="torchrun", environment={"DATA": "/mnt/data"})


def test_command_of_a_node() -> None:
    command = multinode_command(TRAIN, 4, launcher="torchrun", network="efa")
    assert command[4:] == TRAIN
    plan = plan_of(command[3])
    named = {"node_rank": "{node}", "address": "{address}", "port": "{port}"}
    words = torchrun_command(TRAIN, nodes="{nodes}", ranks=4, **named)
    assert plan["torchrun"] == words[:-2]
    assert plan["env"]["NCCL_NET"] == "AWS Libfabric"
    assert (plan["env"]["MASTER_ADDR"], plan["env"]["MASTER_PORT"]) == ("{main}", "29500")
    text = text_of(command[3])
    assert [word for word in ("sshd", "ssh-keygen", "mpirun", "OMPI") if word in text] == []


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_program_of_several_nodes_has_what_it_calls(launcher: str) -> None:
    assert undefined_names(text_of(multinode_command(TRAIN, 4, launcher=launcher)[3])) == set()


def test_command_of_one_container_runs(tmp_path: Path) -> None:
    """Really, but for a Python that says with what it would run torchrun."""
    python = tmp_path / "python3"
    python.write_text('#!/bin/sh\necho "$MASTER_ADDR $GLOO_SOCKET_IFNAME"\nprintf "%s\\n" "$@"\nexit 1\n')
    python.chmod(0o755)
    words = [str(python), "train.py", "--lr", "1"]
    about_aws = {name: text for name, text in os.environ.items() if not name.startswith("AWS_BATCH_")}
    command = container_command(words, 2, launcher="torchrun")
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=about_aws)
    assert (done.returncode, done.stderr) == (1, "")
    where, *told = done.stdout.splitlines()
    port = told[told.index("--master_port") + 1]
    at = {"node_rank": "0", "address": "127.0.0.1", "port": port}
    assert [str(python), *told] == torchrun_command(words, nodes=1, ranks=2, **at)
    assert (where, int(port) > 1023) == ("127.0.0.1 lo", True)


@pytest.mark.parametrize("name", ["MASTER_PORT", "NCCL_NET"])
def test_variables_of_the_job_win(name: str) -> None:
    for command in (multinode_command, container_command):
        given = command(TRAIN, 4, launcher="torchrun", environment={name: "1"})
        assert name not in plan_of(given[3])["env"]


@pytest.mark.parametrize(("main", "index", "rank"), [(0, 0, "0"), (0, 2, "2"), (1, 1, "0"), (1, 0, "2"), (1, 2, "1")])
def test_main_node_has_rank_0_whatever_its_index(
    monkeypatch: pytest.MonkeyPatch, main: int, index: int, rank: str
) -> None:
    numbers = {"NUM_NODES": 3, "MAIN_NODE_INDEX": main, "NODE_INDEX": index}
    for name, number in numbers.items():
        monkeypatch.setenv(f"AWS_BATCH_JOB_{name}", str(number))
    monkeypatch.setenv("MASTER_ADDR", "10.0.0.5")
    monkeypatch.setenv("MASTER_PORT", "29500")
    started: list[list[str]] = []
    monkeypatch.setattr(torchrun_ranks, "start_process", lambda words: started.append(words) or 7)
    plan = plan_of(multinode_command(["python3", "{node}.py"], 4, launcher="torchrun")[3])
    assert torchrun_ranks.start_torchrun(plan, ["python3", "{node}.py"]) == 7
    told = {"node_rank": rank, "address": "10.0.0.5", "port": "29500"}
    assert started == [torchrun_command(["python3", "{node}.py"], nodes=3, ranks=4, **told)]


def test_image_without_the_python_that_the_command_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASTER_ADDR", "10.0.0.5")
    monkeypatch.setenv("MASTER_PORT", "29500")
    plan = plan_of(multinode_command(["/no/python3", "train.py"], 4, launcher="torchrun")[3])
    with pytest.raises(NodeExit, match=r"^the image has no /no/python3; install Python with PyTorch in it$") as end:
        torchrun_ranks.start_torchrun(plan, [])
    assert end.value.code == 127


@pytest.fixture
def meeting() -> Iterator[TorchrunRendezvous]:
    made = TorchrunRendezvous({"port": 0, "slots": 4, "patience": 1}, 3)
    yield made
    made.server.close()


@pytest.fixture
def node() -> Iterator[NodeConnection]:
    here, there = socket.socketpair()
    with here, there:
        link = object.__new__(NodeConnection)
        link.sock, link.address, link.index = here, "10.0.0.6", 1
        yield link


def test_what_is_heard_of_another_nodes_torchrun(
    meeting: TorchrunRendezvous, node: NodeConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    meeting.missing.clear()
    meeting.handle_line(node, "ended 0")
    assert (meeting.running, meeting.code, capsys.readouterr().err) == ({2}, 0, "")
    node.index = 2
    meeting.handle_line(node, "ended 1")
    assert (meeting.running, meeting.code) == (set(), 1)
    told = "gpufleet: torchrun of node 2 (10.0.0.6) has ended with code 1; look at its log\n"
    assert capsys.readouterr().err == told


def test_what_azures_nodes_send_is_printed(
    meeting: TorchrunRendezvous, node: NodeConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    meeting.handle_line(node, "log step=10 loss=1.5")
    assert capsys.readouterr().out == "step=10 loss=1.5\n"


def test_torchrun_that_fails_before_all_nodes_have_come(meeting: TorchrunRendezvous, node: NodeConnection) -> None:
    with pytest.raises(NodeExit, match=r"^torchrun of node 1 \(10.0.0.6\) has ended with code 1; look at its log$"):
        meeting.handle_line(node, "ended 1")


def test_who_has_not_proved_itself_is_not_heard(
    meeting: TorchrunRendezvous, node: NodeConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    node.index = -1
    for line in ("ended 1", "log x"):
        meeting.handle_line(node, line)
    assert (meeting.running, meeting.code, capsys.readouterr().out) == ({1, 2}, 0, "")


class PlayedMeeting(TorchrunRendezvous):
    """Nodes whose lines come at the looks at which they are due."""

    def __init__(self, lines: dict[int, list[str]]) -> None:
        self.lines, self.looks = lines, 0
        self.running, self.code, self.missing, self.links = {1}, 0, set(), []

    def listen(self, seconds: float) -> list[NodeConnection]:
        self.looks += 1
        link = object.__new__(NodeConnection)
        link.index, link.address = 1, "10.0.0.6"
        for line in self.lines.get(self.looks, []):
            if line == "gone":
                return [link]
            self.handle_line(link, line)
        return []


@pytest.mark.parametrize(
    ("program", "lines", "code", "looks"),
    [
        pytest.param("exit 0", {40: ["ended 0"]}, 0, 40, id="the other ends later"),
        pytest.param("exit 0", {40: ["ended 1"]}, 1, 40, id="the other fails later"),
        pytest.param("exit 0", {40: ["gone"]}, 1, 40, id="the other goes away later"),
        pytest.param("exit 1", {}, 1, None, id="this one fails"),
    ],
)
def test_how_the_job_ends(
    monkeypatch: pytest.MonkeyPatch, program: str, lines: dict[int, list[str]], code: int, looks: int | None
) -> None:
    monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
    monkeypatch.setenv("MASTER_PORT", "1")
    meeting = PlayedMeeting(lines)
    real = meeting.listen
    monkeypatch.setattr(meeting, "listen", lambda seconds: (torchrun_main.time.sleep(0.01), real(seconds))[1])
    plan = {"torchrun": ["sh", "-c"], "grace": 30}
    assert torchrun_main.run_launcher(plan, [program], meeting, "127.0.0.1", []) == code
    assert looks is None or meeting.looks == looks


def test_ranks_in_their_own_sessions_end_with_a_torchrun_that_is_killed() -> None:
    """As newer versions of PyTorch start them: torch/distributed/elastic/multiprocessing/subprocess_handler."""
    command = ["sh", "-c", "setsid sh -c 'echo $$; exec sleep 300' & wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as torchrun:
        assert torchrun.stdout
        rank = int(torchrun.stdout.readline())
        assert os.getsid(rank) != os.getsid(torchrun.pid)
        process_tree.kill_tree(torchrun.pid)
        # The end of the output: nobody has it open any more.
        assert torchrun.stdout.read() == ""
        assert torchrun.wait(600) == -9
