"""GPU-hours of jobs on AWS Batch, Azure Batch and Slurm, against numbers worked out by hand."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.catalog import aws
from gpufleet.cli import main
from gpufleet.jobs.azure_batch.status import AzureBatchJob
from gpufleet.jobs.pool_info import pool_info
from gpufleet.jobs.settings import read_settings
from gpufleet.usage.allocation import GpuAllocation
from gpufleet.usage.aws_batch import allocations_of as of_aws_batch
from gpufleet.usage.azure_batch import allocations_of as of_azure_batch
from gpufleet.usage.known_nodes import on_known_nodes
from gpufleet.usage.ledger import write_ledger
from gpufleet.usage.rows import prices, usage_rows
from gpufleet.usage.running_jobs import running_jobs
from gpufleet.usage.slurm import FIELDS
from gpufleet.usage.slurm import allocations_of as of_slurm
from tests.tools import fake_aws, fake_azure_batch
from tests.tools.fake_aws import FakeAws, played

DAY = datetime(2026, 11, 20, tzinfo=UTC)
NOW = DAY + timedelta(hours=24)
BATCH = read_settings(fake_aws.outputs(), "dev")
QUEUE = "arn:aws:batch:us-east-1:123456789012:job-queue/dev-queue"
INSTANCE = "arn:aws:ecs:us-east-1:123456789012:container-instance/dev-cluster/0123"


def ms(hour: float) -> int:
    return int((DAY + timedelta(hours=hour)).timestamp() * 1000)


def batch_job(identity: str, status: str, start: float | None, stop: float | None, **more: Any) -> dict[str, Any]:
    """A job as DescribeJobs tells it."""
    container = {"resourceRequirements": [{"type": "GPU", "value": "4"}], "containerInstanceArn": INSTANCE}
    times = {"startedAt": ms(start)} if start is not None else {}
    times |= {"stoppedAt": ms(stop)} if stop is not None else {}
    tags = {"environment": "dev", "project": "llm", "user": "ana"}
    job = {"jobId": identity, "jobName": "train", "jobQueue": QUEUE, "status": status, "tags": tags}
    return {**job, "container": container, **times, **more}


def hours(records: list[GpuAllocation], by: str = "user") -> dict[str, tuple[int, float, float, float]]:
    rows = usage_rows(records, DAY, NOW, by, prices({}))
    return {row.name: (row.jobs, row.gpu_hours, round(row.usd, 2), row.unpriced) for row in rows}


def held(*jobs: dict[str, Any]) -> list[GpuAllocation]:
    types = {INSTANCE: "p4d.24xlarge"}
    return [each for job in jobs for each in of_aws_batch(job, BATCH, types, NOW)]


def test_tries_of_a_job_on_aws_batch() -> None:
    usd = aws().prices[("p4d.24xlarge", "us-east-1", "on-demand")].usd_per_hour / 8
    # Two hours on a node that is lost, one that runs since 20:00: four GPUs each.
    lost = [{"startedAt": ms(10), "stoppedAt": ms(12)}]
    runs = batch_job("j-1", "RUNNING", 20, None, attempts=lost)
    assert hours(held(runs)) == {"ana": (1, 24, round(24 * usd, 2), 0)}
    assert [each.uid for each in held(runs)] == ["j-1#try-0", "j-1#try-1"]
    # When it has ended, its last try is told among the attempts, and counts once.
    over = batch_job("j-1", "SUCCEEDED", 20, 22, attempts=[*lost, {"startedAt": ms(20), "stoppedAt": ms(22)}])
    assert [each.uid for each in held(over)] == ["j-1#try-0", "j-1#try-1"]
    assert hours(held(over))["ana"][1] == 16
    assert held(batch_job("j-2", "RUNNABLE", None, None)) == []


def test_children_are_one_job_and_nodes_hold_all_their_gpus() -> None:
    children = [batch_job(f"j-3:{index}", "SUCCEEDED", 1, 2) for index in range(3)]
    assert hours(held(*children))["ana"][:2] == (1, 12)
    whole = [{"targetNodes": "0:", "container": {"resourceRequirements": [{"type": "GPU", "value": "8"}]}}]
    properties = {"numNodes": 2, "nodeRangeProperties": whole}
    nodes = batch_job("j-4", "SUCCEEDED", 0, 1, container={}, nodeProperties=properties)
    (record,) = held(nodes)
    assert (record.gpus, record.type, record.pool, record.region) == (16, "p4d.24xlarge", "trainers", "us-east-1")


def test_a_job_of_an_older_release_has_no_user_and_one_on_an_unknown_node_no_price() -> None:
    job = batch_job("j-5", "SUCCEEDED", 0, 1, tags={"environment": "dev"})
    found = list(of_aws_batch(job, BATCH, {}, NOW))
    assert hours(found) == {"(not told)": (1, 4, 0, 4)}
    assert hours(found, "project") == {"llm": (1, 4, 0, 4)}


def test_jobs_on_azure_batch() -> None:
    settings = read_settings(fake_azure_batch.outputs(), "dev")
    assert settings.azure_batch is not None
    name, pool = next((name, pool) for name, pool in settings.pools.items() if pool.gpus)
    pool_id = settings.azure_batch.pools[name].pool_id

    def job(own: str, state: str, **ran: Any) -> AzureBatchJob:
        told = [{"name": "environment", "value": "dev"}, {"name": "user", "value": "ben"}]
        task = {"state": state, "executionInfo": ran, "multiInstanceSettings": {"numberOfInstances": 2}}
        return AzureBatchJob({"id": own, "state": "active", "poolInfo": {"poolId": pool_id}, "metadata": told}, task)

    begun, ended = "2026-11-20T10:00:00Z", "2026-11-20T11:30:00Z"
    jobs = [
        job("over", "completed", startTime=begun, endTime=ended, result="success"),
        job("runs", "running", startTime="2026-11-20T23:00:00Z"),
        job("waits", "active"),
    ]
    found = list(of_azure_batch(jobs, settings, NOW))
    assert [(each.job, each.gpus, each.user, each.project, each.end is None) for each in found] == [
        ("over", 2 * (pool.gpus or 0), "ben", "llm", False),
        ("runs", 2 * (pool.gpus or 0), "ben", "llm", True),
    ]
    assert sum(each.gpus * each.seconds(DAY, NOW) / 3600 for each in found) == 2 * (pool.gpus or 0) * 2.5


LAB = {"jobs": {"on": "slurm", "slurm": {"directory": "/srv", "pools": {"v100": {"partition": "gpu", "gpus": 4}}}}}
SACCT = """\
101|train|ana|vision|gpu|2026-11-20T10:00:00|2026-11-20T12:00:00|billing=8,cpu=8,gres/gpu=4,gres/gpu:v100=4,node=1
102|search|ben|speech|gpu|2026-11-20T23:00:00|Unknown|cpu=8,gres/gpu:v100=2,gres/gpu=2,node=1
103|waits|ben|speech|gpu|Unknown|Unknown|
104|tidy|ben|speech|gpu|2026-11-20T01:00:00|2026-11-20T02:00:00|cpu=8,mem=1G,node=1
"""


def test_jobs_in_slurms_accounting() -> None:
    found = list(of_slurm([line.split("|") for line in SACCT.splitlines()], read_settings(LAB, "lab"), NOW))
    assert hours(found) == {"ana": (1, 8, 0, 8), "ben": (1, 2, 0, 2)}
    assert hours(found, "project") == {"vision": (1, 8, 0, 8), "speech": (1, 2, 0, 2)}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose sacct answers as the real one does: the fields that are asked for, of the partitions."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "sacct"
    (tmp_path / "rows").write_text(SACCT)
    program.write_text(
        f'#!/bin/sh\necho "$@" >{tmp_path}/asked\n[ -f {tmp_path}/fault ] && {{ cat {tmp_path}/fault >&2; exit 1; }}\n'
        f"cat {tmp_path}/rows\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    slurm = {**LAB["jobs"]["slurm"], "directory": str(tmp_path)}
    rates = {"usd_per_gpu_hour": {"v100": 0.5}}
    (tmp_path / "lab.json").write_text(json.dumps({"jobs": {**LAB["jobs"], "slurm": slurm, **rates}}))
    return tmp_path


def usage(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["usage", "lab", "--outputs", str(folder / "lab.json"), *words])


def test_usage_of_a_slurm_cluster(lab: Path) -> None:
    done = usage(lab, "--by", "user", "--since", "9999d")
    assert done.exit_code == 0, done.output
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["user", "jobs", "GPU-hours", "USD"]
    assert ["ana", "1", "8.00", "4.00"] in [row.split() for row in rows]
    assert "without --record" not in done.stdout
    asked = (lab / "asked").read_text()
    assert asked.split()[:5] == ["--allusers", "--allocations", "--noheader", "--parsable2", asked.split()[4]]
    assert asked.split()[5:] == ["--partition=gpu", f"--format={','.join(FIELDS)}"]


def test_slurm_without_accounting_is_one_line(lab: Path) -> None:
    (lab / "fault").write_text("Slurm accounting storage is disabled\n")
    done = usage(lab)
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: lab: its Slurm keeps no accounting, so usage is not known; set AccountingStorageType in slurm.conf "
        "(slurmdbd)\n",
    )


def test_plain_hosts_keep_no_record(tmp_path: Path) -> None:
    hosts = {"jobs": {"on": "hosts", "hosts": {"directory": str(tmp_path), "hosts": ["gpu-1"], "gpus": 4}}}
    (tmp_path / "lab.json").write_text(json.dumps(hosts))
    done = usage(tmp_path)
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: lab: plain hosts keep no record of who held their GPUs; let Slurm run their jobs\n",
    )


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAws]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("LOGNAME", "ana")
    with played() as found:
        monkeypatch.setenv("AWS_ENDPOINT_URL", found.url)
        yield found


def test_usage_of_aws_batch(account: FakeAws, tmp_path: Path) -> None:
    (tmp_path / "lab.json").write_text(json.dumps(fake_aws.outputs()))
    outputs = ["--outputs", str(tmp_path / "lab.json")]
    submit = ["jobs", "submit", "lab", *outputs, "--name", "train", "--image", fake_aws.IMAGE, "--", "true"]
    done = CliRunner().invoke(main, submit)
    assert done.exit_code == 0, done.output
    job = account.wait_for_job("train")
    (sent,) = account.bodies("submitjob")
    now = datetime.now(UTC).timestamp() * 1000
    times = {"startedAt": now - 7_200_000, "stoppedAt": now}
    # moto tells neither times nor GPUs: as AWS's own answer has them, with the tags that were sent.
    described = {**batch_job(job.job_id, "SUCCEEDED", 0, 2, tags=sent["tags"]), **times}
    answer = 200, json.dumps({"jobs": [described]}).encode()
    account.refusals.append(lambda service, path, body: answer if "describejobs" in path else None)
    done = usage(tmp_path, "--by", "user")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[1].split()[:3] == ["ana", "1", "8.00"]
    assert "lab: without --record this is what AWS Batch still knows, about a week" in done.stdout


def test_a_node_that_is_gone_has_its_pools_price() -> None:
    """A worker's pod outlives its rented node: the pool of one type and region tells what the node was."""
    pool = pool_info("rented", {"types": ["g5.12xlarge"], "zones": ["use1-az1"], "label": "lab-rented"})
    gone = GpuAllocation(**{**record_of(), "pool": "lab-rented"})
    (known,) = on_known_nodes([gone], {"rented": pool})
    assert (known.type, known.region, known.capacity, known.place) == ("g5.12xlarge", "us-east-1", "on-demand", "cloud")
    assert prices({})(known) == aws().prices[("g5.12xlarge", "us-east-1", "on-demand")].usd_per_hour / 4
    several = pool_info("rented", {"types": ["g5.12xlarge", "g5.xlarge"], "zones": ["use1-az1"], "label": "lab-rented"})
    assert list(on_known_nodes([gone], {"rented": several})) == [gone]


def record_of() -> dict[str, Any]:
    """Fields of a record whose node is gone."""
    words = dict.fromkeys(("place", "type", "region", "capacity", "pool"), "")
    names = {"uid": "u", "environment": "lab", "namespace": "n", "name": "w", "job": "j", "job_uid": "ju"}
    own = {"user": "ana", "team": "t", "project": "p", "gpus": 4, "node_gpus": None}
    return {**words, **names, **own, "start": DAY, "end": None, "seen": NOW}


def submitted(account: FakeAws, folder: Path, budgets: dict[str, Any], *words: str) -> Result:
    """A job's submission on AWS Batch where ana has held four GPUs of a p4d.24xlarge for two hours this month."""
    told = fake_aws.outputs()
    told["jobs"]["budgets"] = budgets
    (folder / "lab.json").write_text(json.dumps(told))
    start = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    (record,) = of_aws_batch(batch_job("j-1", "SUCCEEDED", 0, 2), BATCH, {INSTANCE: "p4d.24xlarge"}, NOW)
    held_now = replace(record, environment="lab", start=start, end=start + timedelta(hours=2), seen=start)
    write_ledger(folder / "usage.jsonl", [held_now])
    outputs = ["--outputs", str(folder / "lab.json")]
    command = ["jobs", "submit", "lab", *outputs, "--name", "train", "--image", fake_aws.IMAGE, *words, "--", "true"]
    return CliRunner().invoke(main, command)


def test_a_spent_budget_refuses_or_warns(account: FakeAws, tmp_path: Path) -> None:
    usd = aws().prices[("p4d.24xlarge", "us-east-1", "on-demand")].usd_per_hour
    ledger, month = str(tmp_path / "usage.jsonl"), f"{datetime.now(UTC):%B %Y}"
    spent = f"lab: user=ana: the budget of $10.00 for {month} is spent (${usd:,.2f})"
    small = {"users": {"ana": {"usd_per_month": 10}}, "ledger": ledger}
    refused = submitted(account, tmp_path, small)
    assert (refused.exit_code, refused.stderr) == (
        1,
        f"Error: {spent}; wait for the next month, or raise gpufleet:budgets.users.ana.usd_per_month and run "
        "`pulumi up`\n",
    )
    assert account.bodies("submitjob") == []
    # What would be sent may be looked at.
    assert submitted(account, tmp_path, small, "--dry-run").exit_code == 0
    warned = submitted(account, tmp_path, {"users": {"ana": {"usd_per_month": 10, "at_end": "warn"}}, "ledger": ledger})
    assert warned.exit_code == 0, warned.output
    assert f"note: {spent}; the job is submitted all the same\n" in warned.stderr
    assert len(account.bodies("submitjob")) == 1


@pytest.mark.parametrize(
    "budgets",
    [
        {},
        {"users": {"ben": {"usd_per_month": 1}}},
        # Half of a p4d.24xlarge for two hours costs 21.96 USD.
        {"users": {"ana": {"usd_per_month": 22}}},
        {"projects": {"other": {"usd_per_month": 1}}},
    ],
)
def test_a_budget_that_is_not_spent_or_anothers_says_nothing(
    account: FakeAws, tmp_path: Path, budgets: dict[str, Any]
) -> None:
    done = submitted(account, tmp_path, {**budgets, "ledger": str(tmp_path / "usage.jsonl")})
    assert (done.exit_code, done.stderr) == (0, ""), done.output


def test_a_projects_budget_refuses_all_of_its_users(account: FakeAws, tmp_path: Path) -> None:
    budgets = {"projects": {"llm": {"usd_per_month": 10}}, "ledger": str(tmp_path / "usage.jsonl")}
    done = submitted(account, tmp_path, budgets)
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: lab: project=llm: the budget of $10.00 for ")
    assert submitted(account, tmp_path, budgets, "--tag", "project=thesis").exit_code == 0


def test_ps_lists_what_runs_by_user_and_project(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    (lab / "states").mkdir()
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    (lab / "rows").write_text(SACCT.replace("2026-11-20T23:00:00", now).replace("2026-11-20T1", "2020-11-20T1"))
    command = ["ps", "--backend", f"file://{lab}/states", "--jobs", f"lab={lab / 'lab.json'}"]
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0, shown.output
    head, *rows = [line.split() for line in shown.stdout.splitlines() if "lab" in line or "activity" in line]
    assert head == ["cluster", "job", "user", "project", "GPUs", "up", "use", "activity"]
    assert rows[0] == ["lab", "gpu/search", "ben", "speech", "2", "0", "min", "?", "?"]
    assert "lab: no exporter is asked on slurm, so GPU use is unknown" in shown.stdout
    (cluster,) = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)["clusters"]
    assert (cluster["context"], cluster["on"], cluster["gpus"], cluster["fault"]) == ("lab", "slurm", None, None)
    assert [(each["name"], each["user"], each["project"], each["gpus"]) for each in cluster["jobs"]] == [
        ("search", "ben", "speech", 2)
    ]


def test_ps_says_what_it_cannot_ask(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (lab / "states").mkdir()
    (lab / "fault").write_text("Slurm accounting storage is disabled\n")
    command = ["ps", "--backend", f"file://{lab}/states", "--jobs", f"lab={lab / 'lab.json'}"]
    shown = CliRunner().invoke(main, command)
    assert (shown.exit_code, shown.stderr) == (
        1,
        "Error: lab: its Slurm keeps no accounting, so usage is not known; set AccountingStorageType in slurm.conf "
        "(slurmdbd)\n",
    )


def test_ps_of_aws_batch_shows_an_array_once(account: FakeAws, tmp_path: Path) -> None:
    children = [batch_job(f"j-3:{index}", "RUNNING", 20, None) for index in range(3)]
    (job,) = running_jobs(held(*children))
    assert (job.namespace, job.name, job.gpus, job.pods, job.user, job.project) == (
        "dev-queue", "train", 12, 3, "ana", "llm",
    )  # fmt: skip
    (tmp_path / "states").mkdir()
    (tmp_path / "dev.json").write_text(json.dumps(fake_aws.outputs()))
    asked = f"dev={tmp_path / 'dev.json'}"
    shown = CliRunner().invoke(main, ["ps", "--backend", f"file://{tmp_path}/states", "--jobs", asked, "--json"])
    assert shown.exit_code == 0, shown.output
    (cluster,) = json.loads(shown.stdout)["clusters"]
    assert (cluster["on"], cluster["jobs"]) == ("batch", [])
