"""What Slurm's programs write, and what becomes of it: states, exit codes, why a job waits."""

from collections.abc import Mapping

import pytest

from gpufleet.jobs.slurm.client import SlurmClient
from gpufleet.jobs.slurm.pending_reasons import pending_reasons, reason_texts
from gpufleet.jobs.slurm.status import SacctRow, SlurmJob, exit_code_from_sacct, exit_code_from_squeue
from gpufleet.jobs.ssh.connection import CommandResult, SshConnection, SshError, SshUnreachable
from gpufleet.jobs.ssh.job_record import JobRecord


class FakeMachine(SshConnection):
    """Answers in place of a machine, by the program that is asked."""

    answers: Mapping[str, CommandResult]

    def run(self, script: str, *words: str, stdin: bytes = b"", seconds: float = 1) -> CommandResult:
        return next(answer for program, answer in self.answers.items() if program in script)


def slurm(**answers: CommandResult) -> SlurmClient:
    machine = FakeMachine()
    object.__setattr__(machine, "answers", answers)
    return SlurmClient(machine)


def record(exit_code: int | None = None, job: str = "7") -> JobRecord:
    return JobRecord("run", job, exit_code, nodes=2)


def row(
    state: str, reason: str = "None", code: int | None = None, started: str = "N/A", ended: str = "N/A"
) -> SacctRow:
    return SacctRow(state, reason, code, "", started, ended, 0)


QUEUE = (
    b"7|RUNNING|None|0|2|node[0-1]|2026-11-21T21:54:02|2027-11-21T21:54:02|1|\n"
    b"8|FAILED|NonZeroExitCode|1792|1|node0|2026-11-21T21:54:02|2026-11-21T21:54:08|0|\n"
    b"a line of something else\n"
)


def test_squeues_lines() -> None:
    found = slurm(squeue=CommandResult(0, QUEUE, "")).queue_rows(["run"])
    assert sorted(found) == ["7", "8"]
    assert found["7"] == SacctRow("RUNNING", "None", 0, "node[0-1]", "2026-11-21T21:54:02", "2027-11-21T21:54:02", 1)
    assert found["8"].exit_code == 7


def test_saccts_lines() -> None:
    told = (
        b"8|FAILED|3:0|node0|2026-11-21T22:08:16|2026-11-21T22:09:16\n"
        b"9|CANCELLED by 1000|0:15|None assigned|Unknown|2026-11-21T22:09:16\n"
    )
    found = slurm(sacct=CommandResult(0, told, "")).accounting_rows(["8", "9"])
    assert (found["8"].state, found["8"].exit_code) == ("FAILED", 3)
    assert found["9"].state == "CANCELLED"
    assert SlurmJob(record(), found["8"]).duration_seconds == 60
    assert SlurmJob(record(), found["9"]).duration_seconds is None


def test_a_cluster_without_accounting() -> None:
    assert slurm(sacct=CommandResult(1, b"", "Slurm accounting storage is disabled\n")).accounting_rows(["8"]) == {}


@pytest.mark.parametrize(
    ("told", "kind", "line"),
    [
        (
            CommandResult(127, b"", "sh: 1: squeue: not found\n"),
            SshError,
            "squeue: program not found on this machine; name a machine with Slurm's clients as jobs.slurm.login",
        ),
        (
            CommandResult(1, b"", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"),
            SshUnreachable,
            "squeue on this machine: Unable to contact slurm controller (connect failure)",
        ),
        (CommandResult(1, b"", "squeue: error: Access/permission denied\n"), SshError, "squeue on this "
         "machine: Access/permission denied"),
    ],
)  # fmt: skip
def test_what_slurm_refuses(told: CommandResult, kind: type[SshError], line: str) -> None:
    with pytest.raises(SshError) as error:
        slurm(squeue=told).queue_rows(["run"])
    assert (type(error.value), str(error.value)) == (kind, line)


@pytest.mark.parametrize(("status", "code"), [("0", 0), ("1792", 7), ("9", 137), ("", None), ("N/A", None)])
def test_a_wait_status(status: str, code: int | None) -> None:
    assert exit_code_from_squeue(status) == code


@pytest.mark.parametrize(("text", "code"), [("0:0", 0), ("7:0", 7), ("0:9", 137), ("", None)])
def test_saccts_exit_code(text: str, code: int | None) -> None:
    assert exit_code_from_sacct(text) == code


@pytest.mark.parametrize(
    ("job", "described", "ended", "code"),
    [
        (SlurmJob(record(), row("PENDING", "Resources")), "PENDING (Resources)", False, None),
        (SlurmJob(record(), row("RUNNING")), "RUNNING", False, None),
        (SlurmJob(record(), row("COMPLETING")), "COMPLETING", False, None),
        (SlurmJob(record(0), row("COMPLETED", code=0)), "COMPLETED", True, 0),
        (SlurmJob(record(), row("FAILED", "NonZeroExitCode", 3)), "FAILED", True, 3),
        (
            SlurmJob(record(), row("TIMEOUT", "TimeLimit", 0)),
            "TIMEOUT (its time limit was reached; give a longer --time-limit)",
            True,
            None,
        ),
        (SlurmJob(record(), row("NODE_FAIL")), "NODE_FAIL (a node failed)", True, None),
        (SlurmJob(record(), row("CANCELLED", "DependencyNeverSatisfied", 0)), "CANCELLED "
         "(DependencyNeverSatisfied)", True, None),
        (SlurmJob(record(9), None), "FAILED", True, 9),
        (SlurmJob(record(), None), "UNKNOWN (neither squeue nor sacct know it any more, and it left no "
         "exit code)", True, None),
        (SlurmJob(record(job=""), None), "UNSUBMITTED (its submission broke off; cancel it, and submit "
         "it again)", True, None),
    ],
)  # fmt: skip
def test_states(job: SlurmJob, described: str, ended: bool, code: int | None) -> None:
    assert (job.state_text, job.ended, job.exit_code) == (described, ended, code)


@pytest.mark.parametrize(
    ("reason", "lines"),
    [
        ("None", []),
        ("Priority", ["Priority: jobs of higher priority come first"]),
        ("QOSGrpGRES", ["QOSGrpGRES: all GPUs that its quality of service may use are in use"]),
        ("SomethingNew", ["SomethingNew"]),
        (
            "ReqNodeNotAvail, UnavailableNodes:node1",
            [
                "ReqNodeNotAvail: nodes that it needs are down, drained or reserved",
                "node node1 is down (fan broken)",
                "node node2 is drained",
            ],
        ),
    ],
)
def test_why_a_job_waits(reason: str, lines: list[str]) -> None:
    sinfo = CommandResult(0, b"node1|down|fan broken|\nnode2|drained|none|\n", "")
    assert pending_reasons(slurm(sinfo=sinfo), SlurmJob(record(), row("PENDING", reason)), "train") == lines


def test_when_slurm_expects_to_start_it() -> None:
    job = SlurmJob(record(), row("PENDING", "Priority", started="2026-11-22T08:00:00"))
    assert pending_reasons(slurm(), job, "train")[-1] == "Slurm expects to start it at 2026-11-22T08:00:00 UTC"


def test_reasons_are_sorted_lines() -> None:
    found = reason_texts()
    assert list(found) == sorted(found)
    assert all(text and text[-1] != "." for text in found.values())
