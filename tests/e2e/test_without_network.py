"""A machine without a network that has fetched nothing yet: what plans, compares and estimates works all the same."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.rehearsed_project import Project

CLOSED = "http://127.0.0.1:9"
"""Where nothing answers."""


@pytest.fixture
def machine(tmp_path: Path) -> Mapping[str, str]:
    """Variables of an empty home, from which there is no way out but to this machine."""
    proxies = {f"{scheme}_proxy": CLOSED for scheme in ("http", "https", "all")}
    proxies |= {name.upper(): value for name, value in proxies.items()}
    local = {"no_proxy": "127.0.0.1,localhost", "NO_PROXY": "127.0.0.1,localhost"}
    homes = {name: str(tmp_path / name) for name in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "PULUMI_HOME")}
    return proxies | local | homes


WITHOUT = "this rehearsal is without the operator's objects, until it runs once with a network"


@pytest.mark.smoke
def test_choose_and_cost(project: Project, machine: dict[str, str]) -> None:
    done = project.run("choose", "--gpus", "8", "--hours", "24", "--json", env=machine)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["options"]
    done = project.run("cost", "aws-dev", "--json", env=machine)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["totals"]["ceiling"]["usd_per_month"] > 1000
    # What is left out is nothing that has a price.
    assert found["free"]["gpufleet-kubernetes:index:MpiOperator"]["count"] == 1
    assert "kubernetes:apps/v1:Deployment" not in found["free"]
    assert (found["unknown"], found["not_priced"]) == ([], {})


def test_report_and_preview_say_what_they_leave_out(project: Project, machine: dict[str, str]) -> None:
    done = project.run("report", "onprem", "--json", env=machine)
    # An environment of its own servers has no budget in any cloud.
    assert (done.returncode, done.stderr) == (1, "")
    (stack,) = json.loads(done.stdout)["stacks"]
    assert [each["rule"] for each in stack["issues"] if each["severity"] == "error"] == ["any-cost-budget"]
    assert [each["severity"] for each in stack["issues"] if WITHOUT in each["line"]] == ["warning"]
    done = project.run("preview", "onprem", "--simulated", "--to", "report", env=machine)
    assert "Traceback" not in done.stderr
    assert "onprem: previewing on simulated clouds" in done.stderr
    assert WITHOUT in (project.folder / "report" / "gpufleet.onprem.md").read_text()


def test_rehearsal_says_what_it_leaves_out(project: Project, machine: dict[str, str]) -> None:
    home = Path(machine["XDG_CACHE_HOME"])
    done = project.run("rehearse", "onprem", "--latency-scale", "0", "--no-control-plane", env=machine)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"warning: onprem-mpi-operator: {WITHOUT}: https://raw.githubusercontent.com" in done.stdout
    assert not list(home.rglob("*.yaml"))
