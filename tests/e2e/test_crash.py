"""After a crash in the middle of an `up`: what the cloud holds and the state does not is named, and imported."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpufleet_rehearsal.cloud.store import SimulatedResource
from tests.e2e.rehearsed_project import GPUFLEET, Project, held
from tests.e2e.tiny_program import tiny

CLUSTER = "aws:eks/cluster:Cluster"


def wait_for(what: str, found: Callable[[], bool], seconds: float = 600) -> None:
    """Look until it is there. Errors: AssertionError after so many seconds."""
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def engine_of(parent: int) -> int | None:
    """The process id of the engine that a `gpufleet rehearse` started, by the operating system's own list."""
    listed = subprocess.run(
        ["ps", "-o", "pid=,args=", "--ppid", str(parent)], capture_output=True, text=True, check=False
    )
    lines = [line.split(None, 1) for line in listed.stdout.splitlines()]
    return next((int(pid) for pid, command in lines if "pulumi up" in command), None)


def kill_in_the_middle(project: Project) -> None:
    """Bring aws-dev up, and end the engine by force while the cloud is at work on the cluster."""
    process = subprocess.Popen(
        [GPUFLEET, "rehearse", "aws-dev", "--latency-scale", "0.02"],
        cwd=project.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def clusters() -> list[SimulatedResource]:
        return project.cloud.store.resources(CLUSTER) if project.home.exists else []

    wait_for("the cluster was never asked for", lambda: bool(clusters()))
    engine = engine_of(process.pid)
    assert engine is not None
    os.kill(engine, signal.SIGKILL)
    process.wait(timeout=600)


def orphans(project: Project, environment: str = "aws-dev") -> set[str]:
    known = {(resource["type"], resource.get("id")) for resource in project.state(environment)}
    return {r.name for r in project.cloud.store.resources() if r.owner is None and (r.type, r.id) not in known}


SWEPT = pytest.mark.sweep


@SWEPT
@pytest.mark.parametrize("delete", [False, True], ids=["imported", "deleted"])
def test_killed_engine(erasing: Project, delete: bool) -> None:
    kill_in_the_middle(erasing)
    lost = orphans(erasing)
    assert "aws-dev-cluster-cluster" in lost

    locked = erasing.rehearse()
    assert locked.returncode != 0
    assert "locked" in locked.stdout + locked.stderr

    adopt = ["--", "gpufleet", "adopt", "aws-dev", "--unlock", *(["--delete"] if delete else [])]
    listed = erasing.rehearse(*adopt)
    assert listed.returncode == 1
    for name in lost:
        assert f"in the cloud, not in the state: {name} (" in listed.stdout
    assert orphans(erasing) == lost, "nothing happens without --yes"
    adopted = erasing.rehearse(*adopt, "--yes")
    assert adopted.returncode == 0, adopted.stdout + adopted.stderr
    assert f" {'deleted' if delete else 'imported'}, 0 left; continue with `pulumi up`" in adopted.stdout
    assert orphans(erasing) == set()

    before = {r.name: r.id for r in erasing.cloud.store.resources(CLUSTER)}
    assert bool(before) is not delete
    up = erasing.rehearse()
    assert up.returncode == 0, up.stdout + up.stderr
    assert "pending operations" not in up.stdout
    names = [line.split(" aws:")[0] for line in held(erasing.cloud)]
    assert len(names) == len(set(names)), "something was made twice"
    assert erasing.rehearse("--destroy").returncode == 0
    assert held(erasing.cloud) == []


TAGGED, UNTAGGED, DRAWN = "aws-dev-network-vpc", "aws-dev-files-mount-use1-az2", "aws-dev-autoscaler-identity-policy"
"""DRAWN: without tags, and each `up` draws another name for it, so that a second one would be accepted."""


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=SWEPT) for name in (TAGGED, DRAWN)), UNTAGGED])
def test_provider_that_dies_after_the_cloud_has_acted(erasing: Project, name: str) -> None:
    """No pending operation is left then: only tags, or what an untagged thing connects, lead to the orphan."""
    assert erasing.rehearse("--fault", f"die:@{name}").returncode != 0
    assert orphans(erasing) == {name}
    adopted = erasing.rehearse("--", "gpufleet", "adopt", "aws-dev", "--yes")
    assert adopted.returncode == 0, adopted.stdout + adopted.stderr
    assert f"in the cloud, not in the state: {name} (" in adopted.stdout
    up = erasing.rehearse()
    assert up.returncode == 0, up.stdout + up.stderr
    assert [each.name for each in erasing.cloud.store.resources()].count(name) == 1
    assert erasing.rehearse("--destroy").returncode == 0
    assert held(erasing.cloud) == []


FILES = """
import pulumi_aws as aws

tags = {"gpufleet-stack": "billing/dev", "environment": "dev", "project": "billing", "owner": "team"}
network = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16", tags=tags)
subnet = aws.ec2.Subnet(
    "subnet", vpc_id=network.id, cidr_block="10.0.1.0/24", availability_zone="us-east-1a", tags=tags
)
files = aws.efs.FileSystem("files", tags=tags)
aws.efs.MountTarget("mount", file_system_id=files.id, subnet_id=subnet.id)
"""


def test_the_same_in_a_program_of_four_resources(tmp_path: Path) -> None:
    """Like aws-dev's, the mount target has no tags."""
    program = tiny(tmp_path / "billing", FILES)
    rehearse = ("rehearse", "dev", "--latency-scale", "0")
    assert program.run(*rehearse, "--fault", "die:@mount").returncode != 0
    assert orphans(program, "dev") == {"mount"}
    adopted = program.run(*rehearse, "--", "gpufleet", "adopt", "dev", "--yes", "--json")
    assert adopted.returncode == 0, adopted.stdout + adopted.stderr
    found = json.loads(adopted.stdout)
    assert (found["action"], found["changed"], found["left"]) == ("import", 1, 0)
    assert found["found"][0].startswith("in the cloud, not in the state: mount (")
    up = program.run(*rehearse, "--json")
    assert up.returncode == 0, up.stdout + up.stderr
    made = json.loads(up.stdout)
    assert (made["action"], made["code"], made["left_behind"]) == ("up", 0, [])
    assert {each["name"] for each in made["resources"]} == {"net", "subnet", "files", "mount"}
    assert made["first_up_seconds"] >= made["lower_bound_seconds"] > 0
    destroyed = program.run(*rehearse, "--destroy", "--json")
    assert destroyed.returncode == 0
    assert json.loads(destroyed.stdout)["resources"] == []
    assert held(program.cloud) == []
