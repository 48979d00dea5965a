"""What jobs are submitted with, and what is left of them."""

import json
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.broken_input import as_json_lines, as_yaml
from tests.fuzz.reader import NOW, ROOT, Reader, try_all


def _allocations() -> list[Any]:
    from gpufleet.usage.allocation import GpuAllocation

    words = ("u1", "lab", "vision", "pod", "train", "j1", "ana", "vision", "llm", "p5", "cloud", "p5.48xlarge")
    one = GpuAllocation(*words, "us-east-1", "spot", 8, 8, NOW - timedelta(hours=3), NOW, NOW, True)
    others: list[dict[str, Any]] = [{}, {"end": None}, {"node_gpus": None}]
    return [[{**one.as_json(), "uid": f"u{n}", **more} for n, more in enumerate(others)]]


def _ledger(file: Path) -> object:
    from gpufleet.usage.ledger import merge_allocations, read_ledger, write_ledger
    from gpufleet.usage.rows import prices
    from gpufleet.usage.summary import UsageSummary

    found = merge_allocations(read_ledger(file), [], {"j1": NOW}, "lab")
    write_ledger(file.with_name("other.jsonl"), found)
    summaries = [
        UsageSummary("lab", by, NOW - timedelta(days=30), NOW, found, prices({"p5": 2.0}), True)
        for by in ("team", "user", "project")
    ]
    return [([*each.lines()], each.as_json()) for each in summaries]


_RECORD = {
    "name": "a",
    "environment": "lab",
    "created": "2026-11-21T00:00:00Z",
    "nodes": 2,
    "pool": "p",
    "time_limit_minutes": 60,
    "command": ["x"],
}


def _listing(record: Any) -> str:
    """As the script on the machine prints two folders."""
    return f"0\t0\t0\td\tf\ta\t12\t\t{json.dumps(record)}\n0\t0\t\td\tf\tb\t\t1\t{json.dumps(record)}\n"


def _job_folders(file: Path) -> object:
    from gpufleet.durations import format_age
    from gpufleet.jobs.hosts.status import HostJob
    from gpufleet.jobs.slurm.status import SlurmJob
    from gpufleet.jobs.ssh.job_record import parse_records

    records = sorted(parse_records(file.read_bytes()), key=lambda each: each.created)
    return [
        (job.summary(), job.state_text, format_age(job.record.created))
        for each in records
        for job in (SlurmJob(each, None), HostJob(each, "running on a", alive=True))
    ]


def _slurm_rows() -> list[bytes]:
    return [
        b"7|RUNNING|None|0|2|node[0-1]|2026-11-21T21:54:02|2027-11-21T21:54:02|1|\n",
        b"7|COMPLETED|0:0|node[0-1]|2026-11-21T21:54:02|2026-11-21T22:54:02|\n8|CANCELLED by 0|0:9||Unknown|Unknown|\n",
    ]


def _slurm(file: Path) -> object:
    from gpufleet.jobs.slurm.client import SlurmClient
    from gpufleet.jobs.slurm.status import SlurmJob
    from gpufleet.jobs.ssh.connection import CommandResult, SshConnection

    class Answering(SshConnection):
        def run(self, script: str, *words: str, stdin: bytes = b"", seconds: float = 1) -> CommandResult:
            return CommandResult(0, file.read_bytes(), "")

    client = SlurmClient(Answering())
    rows = [*client.queue_rows(["a"]).values(), *client.accounting_rows(["7"]).values()]
    record: Any = type("R", (), {"name": "a", "fault": "", "id": "7", "exit_code": None, "nodes": 1, "created": ""})()
    found = [SlurmJob(record, row) for row in rows]
    return client.unavailable_nodes("p"), [(each.summary(), each.duration_seconds) for each in found]


def _request(file: Path) -> object:
    from gpufleet.jobs.hosts.submission import build_submission as hosts_submission
    from gpufleet.jobs.request import parse_request, read_request
    from gpufleet.jobs.settings import read_settings
    from gpufleet.jobs.slurm.submission import build_submission as slurm_submission

    given = read_request(file)
    lab = {
        "slurm": {"directory": "/srv", "pools": {"train": {"gpus": 4}}},
        "hosts": {"directory": "/srv", "hosts": [{"name": "a", "slots": 4}]},
    }
    slurm, hosts = (read_settings({"jobs": lab}, "lab", on) for on in ("slurm", "hosts"))
    assert slurm.slurm is not None
    assert hosts.hosts is not None
    return try_all(
        *(partial(parse_request, given, str(file), on) for on in ("kubernetes", "batch", "azure-batch")),
        lambda: slurm_submission(slurm.slurm, "lab", parse_request(given, str(file), "slurm")),
        lambda: hosts_submission(hosts.hosts, "lab", parse_request(given, str(file), "hosts")),
    )


_REQUESTS = (
    {"command": ["python3", "train.py"], "workers": 2, "gpus": 8, "retries": 1, "env": {"A": "b"}},
    {"command": "python3 train.py", "nodes": 2, "retries": 1, "time_limit_minutes": 60, "name": "run", "after": "x"},
    {"command": ["a"], "nodes": 1, "pool": "train", "gpu": "v100", "vcpus": 8, "memory_gib": 16, "share": "vision"},
)


def _table(file: Path) -> object:
    from gpufleet.jobs.aws_batch.parameter_sweep import expand_grid, read_csv

    found = read_csv(file)
    return found.csv(), found.plan(None), expand_grid({"a": [1, 2]})


def _result(file: Path) -> object:
    from gpufleet.jobs.aws_batch.sweep_results import _result

    return _result(file)


def _data_listing(file: Path) -> object:
    from gpufleet.jobs.kubernetes.volume_files import VolumeFiles

    return VolumeFiles(lambda command, given: iter([file.read_bytes()])).list_files(".")


def _idle(file: Path) -> object:
    from gpufleet.fleet.gpu_jobs import GpuJob
    from gpufleet.fleet.idle_history import IdleHistory

    history = IdleHistory(file)
    job = GpuJob("vision", "run", 8, 1, NOW - timedelta(hours=5), 0.0, "idle")
    history.update("https://a", [job], NOW)
    return history.save(NOW)


def _metrics_samples() -> list[bytes]:
    files = sorted((ROOT / "tests/unit/fleet/metrics").glob("*.txt"))
    return [b"\n".join(file.read_bytes().split(b"\n")[:60]) for file in files]


def _metrics(file: Path) -> object:
    from gpufleet.fleet.gpu_metrics import gpu_uses

    return [each.activity for each in gpu_uses(file.read_bytes().decode("utf-8", "replace"))]


def _steps(file: Path) -> object:
    from gpufleet.jobs.kubernetes.overflow_program import RECORD, STEPS
    from gpufleet.jobs.kubernetes.step_states import step_lines, step_states

    planned = file.read_text(encoding="utf-8", errors="replace")
    tried = json.dumps([{"pool": "a", "since": "2026-11-28T05:00:00Z"}])
    jobs = [{STEPS: planned, RECORD: tried}, {STEPS: planned, RECORD: planned}]
    return [step_lines(step_states({"metadata": {"annotations": each}})) for each in jobs]


READERS = {
    "ledger": Reader(_ledger, ["usage/ledger.py", "usage/allocation.py"], _allocations, form=as_json_lines),
    "job folders": Reader(_job_folders, ["jobs/ssh/job_record.py"], lambda: [_RECORD], form=_listing),
    "Slurm's tables": Reader(_slurm, ["jobs/slurm/client.py"], texts=_slurm_rows),
    "job request": Reader(_request, ["jobs/request.py"], lambda: _REQUESTS, form=as_yaml),
    "parameters": Reader(
        _table, ["jobs/aws_batch/parameter_sweep.py"], texts=lambda: [b"lr,seed\n0.1,1\n0.2,2\n", b'"a"\n"b,c"\n']
    ),
    "result of a sweep": Reader(_result, ["jobs/aws_batch/sweep_results.py"], lambda: [{"loss": 0.1, "at": [1]}]),
    "listing of a volume": Reader(
        _data_listing,
        ["jobs/kubernetes/volume_files.py"],
        texts=lambda: [b"12 1700000000 ./a/b.txt//\n4 1700000000 ./c\nd//\n"],
    ),
    "steps of a job": Reader(
        _steps,
        ["jobs/kubernetes/step_states.py"],
        lambda: [[{"pool": "a", "zone": "z", "market": "spot", "nodes": 2, "usd_per_hour": 1.5, "seconds": 60}]],
    ),
    "idle history": Reader(
        _idle,
        ["fleet/idle_history.py"],
        lambda: [
            {"https://a vision/run": {"up": NOW.isoformat(), "last": NOW.isoformat(), "idle_since": NOW.isoformat()}}
        ],
    ),
    "metrics": Reader(_metrics, ["fleet/gpu_metrics.py"], texts=_metrics_samples),
}
