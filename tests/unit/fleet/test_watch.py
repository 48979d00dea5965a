"""`gpufleet watch`: the page of one environment, once on a pipe, renewed on a terminal."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.catalog import aws
from gpufleet.cli import main
from gpufleet.fleet import live_state
from gpufleet.fleet.bad_nodes import UNHEALTHY
from gpufleet.jobs.settings import read_settings
from gpufleet.usage.allocation import GpuAllocation
from tests.unit.fleet.cluster_api import Api, pod

G5 = aws().price("g5.12xlarge", "us-east-1")
READY, UNREADY = ({"type": "Ready", "status": status} for status in ("True", "Unknown"))


def node(name: str, pool: str, gpus: int, condition: dict[str, str] = READY, **labels: str) -> dict[str, Any]:
    words = {
        "gpufleet.dev/pool": pool,
        "gpufleet.dev/capacity": "on-demand",
        "topology.kubernetes.io/region": "us-east-1",
    }
    own = {f"node.kubernetes.io/{key.replace('_', '-')}": value for key, value in labels.items()}
    capacity = {"nvidia.com/gpu": str(gpus)} if gpus else {"cpu": "2"}
    return {
        "metadata": {"name": name, "labels": (words if pool else {}) | own},
        "spec": {},
        "status": {"capacity": capacity, "conditions": [condition]},
    }


@pytest.fixture
def pools(busy: Api) -> Api:
    """A pool of two g5.12xlarge, of which one is not ready; an own server; and a node without GPUs."""
    busy.answers["/api/v1/nodes"] = {
        "items": [
            node("a", "dev-trainers", 4, instance_type="g5.12xlarge"),
            node("b", "dev-trainers", 4, UNREADY, instance_type="g5.12xlarge"),
            node("lab-1", "dev-own", 8),
            node("system", "", 0, instance_type="m6i.large"),
        ]
    }
    busy.answers["/api/v1/pods"]["items"] += [  # type: ignore[index]
        pod("waits", "three", phase="Pending", node=""), pod("done", "four", phase="Succeeded"),
    ]  # fmt: skip
    return busy


def watch(outputs: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["watch", "dev", "--outputs", str(outputs), *words])


def test_pipe_gets_it_once(pools: Api, outputs: Path) -> None:
    assert G5
    done = watch(outputs)
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[1:5] == [
        ["pool", "nodes", "GPUs", "USD/h"],
        ["dev-own", "1/1", "0/8", "?"],
        ["dev-trainers", "1/2", "2/8", f"{2 * G5:,.2f}"],
        ["all", "2", f">{2 * G5:,.2f}"],
    ]
    jobs = [line for line in lines if line and line[0].startswith("t/")]
    assert [(row[0], row[-1]) for row in jobs] == [("t/one", "busy"), ("t/two", "idle")]
    assert "renewed" not in done.stdout
    assert max(map(len, done.stdout.splitlines()[:9])) <= 80


def test_bad_node_is_said(pools: Api, outputs: Path) -> None:
    record = {"since": "2026-11-21T10:00:00Z", "faults": ["xid-79"], "reason": "XID 79 of GPU 3", "fix": "replace it"}
    (first, *_) = pools.answers["/api/v1/nodes"]["items"]  # type: ignore[index]
    first["metadata"]["annotations"] = {UNHEALTHY: json.dumps(record)}
    first["spec"]["unschedulable"] = True
    lines = watch(outputs).stdout.splitlines()
    after = lines[lines.index("Bad nodes") + 1]
    assert after.startswith("dev: a of pool dev-trainers: bad for ")
    assert after.endswith(", cordoned: XID 79 of GPU 3; replace it")
    # Neither of the two takes pods now.
    assert [line.split()[1] for line in lines if line.startswith("dev-trainers ")] == ["0/2"]


def test_json_has_the_same(pools: Api, outputs: Path) -> None:
    found = json.loads(watch(outputs, "--json").stdout)
    assert found["usd_per_hour"] == {"usd": pytest.approx(2 * (G5 or 0), abs=1e-5), "complete": False}
    assert found["pools"][1] == {
        "name": "dev-trainers", "ready": 1, "nodes": 2, "gpus": 8, "used": 2, "usd_hour": pytest.approx(2 * (G5 or 0)),
    }  # fmt: skip
    assert [(job["name"], job["activity"]) for job in found["jobs"]] == [("one", "busy"), ("two", "idle")]


def test_price_of_own_servers_is_the_configurations(pools: Api, outputs: Path) -> None:
    told = json.loads(outputs.read_text())
    told["jobs"] |= {"usd_per_gpu_hour": {"own": 0.5}, "pools": {"own": {"label": "dev-own", "gpus": 8}}}
    outputs.write_text(json.dumps(told))
    assert json.loads(watch(outputs, "--json").stdout)["pools"][0]["usd_hour"] == 4.0


def test_cluster_that_does_not_answer_is_one_line(outputs: Path, api: Api) -> None:
    api.answers.clear()
    done = watch(outputs)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: dev: ")
    assert done.stderr.count("\n") == 1


def test_without_kubernetes_it_is_what_jobs_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 11, 28, tzinfo=UTC)

    def held(uid: str, gpus: int, end: datetime | None = None, kind: str = "g5.12xlarge") -> GpuAllocation:
        begin = now - timedelta(hours=2)
        who = {"namespace": "", "name": uid, "job": uid, "job_uid": uid, "user": "ana", "team": "t", "project": "p"}
        where = {"pool": "", "place": "", "type": kind, "region": "us-east-1", "capacity": "", "node_gpus": 4}
        return GpuAllocation(uid, "dev", gpus=gpus, start=begin, end=end, seen=now, **who, **where)  # type: ignore[arg-type]

    records = [held("one", 4), held("two", 2), held("ended", 4, now), held("odd", 1, kind="x9.large")]
    monkeypatch.setattr(live_state, "allocated_by_backend", lambda *_: records)
    state = live_state.live_state(read_settings({"jobs": {"on": "slurm", "slurm": SLURM}}, "dev"), now)
    assert [(pool.name, pool.nodes, pool.used, pool.usd_hour) for pool in state.pools] == [
        ("g5.12xlarge", None, 6, pytest.approx(1.5 * (G5 or 0))),
        ("x9.large", None, 1, None),
    ]
    assert [job.name for job in state.cluster.jobs] == ["odd", "one", "two"]
    assert state.usd_hour == (pytest.approx(1.5 * (G5 or 0)), False)


SLURM = {"directory": "/shared", "pools": {"a": {"partition": "a", "gpus": 4}}}


class Terminal:
    """A terminal of 80 columns with a command in it."""

    def __init__(self, *command: str) -> None:
        self.screen, inside = pty.openpty()
        self.text = ""
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "40"}
        self.process = subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, env=environment)
        os.close(inside)

    def wait_for(self, pattern: str) -> None:
        """Read until a text appears that was not there before."""
        end = time.monotonic() + 120
        while not (seen := re.search(pattern, self.text)):
            assert time.monotonic() < end, self.text
            try:
                self.text += os.read(self.screen, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"it ended: {self.text}") from None
        self.text = self.text[seen.end() :]

    def rest(self) -> str:
        """What it prints until its end."""
        while True:
            try:
                part = os.read(self.screen, 65536)
            except OSError:
                return self.text
            if not part:
                return self.text
            self.text += part.decode(errors="replace")


def test_terminal_is_renewed_until_ctrl_c(pools: Api, outputs: Path) -> None:
    words = ["watch", "dev", "--outputs", str(outputs), "--every", "2"]
    # As in a terminal: a shell without job control starts what is in the background with this signal ignored.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    terminal = Terminal(sys.executable, "-c", f"{program}; from gpufleet.cli import main; main()", *words)
    try:
        terminal.wait_for(r"dev-trainers +1/2 +2/8")
        terminal.wait_for(r"renewed every 2 s")
        nodes = pools.answers.pop("/api/v1/nodes")
        # A failure shows the last state, and is asked again.
        terminal.wait_for(r"dev-trainers +1/2 +2/8")
        terminal.wait_for(r"Error: dev: .*trying again every 2 s")
        nodes["items"].pop(1)  # type: ignore[index]
        pools.answers["/api/v1/nodes"] = nodes
        terminal.wait_for(r"dev-trainers +1/1 +2/4")
        terminal.process.send_signal(signal.SIGINT)
        # The screen that was there before comes back.
        assert "\x1b[?1049l" in terminal.rest()
        assert terminal.process.wait(60) == 0
    finally:
        terminal.process.kill()
        terminal.process.wait(60)
        os.close(terminal.screen)
