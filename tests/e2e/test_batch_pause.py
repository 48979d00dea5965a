"""BatchQueue on the real engine, at a clock that meets the time for which Batch holds what a queue has left."""

from pathlib import Path

import pytest

from tests.e2e.rehearsed_project import Project, held
from tests.e2e.tiny_program import set_config, tiny

QUEUE = "aws:batch/jobQueue:JobQueue"
ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
SLOW = ("rehearse", "dev", "--no-control-plane", "--latency-scale", "0.05")
"""The 60 seconds of the relation are three, and the component's pause of 90 is four and a half."""
PROGRAM = """
import pulumi
import pulumi_aws as aws

from gpufleet.aws.batch_environment import BatchEnvironment
from gpufleet.aws.batch_queue import BatchQueue

config = pulumi.Config()
network = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16")
subnet = aws.ec2.Subnet("subnet", vpc_id=network.id, cidr_block="10.0.0.0/20", availability_zone_id="use1-az1")
intent = {"region": "us-east-1", "types": ["g5.8xlarge"], "max": 2, "zones": ["use1-az1"]}
place = {"vpc_id": network.id, "subnet_ids": {"use1-az1": subnet.id}}
names = config.require("environments").split(",")
words = {"placement": config.get("placement") or "none"}
environments = [BatchEnvironment(name, {**intent, **place, **words}) for name in names]
BatchQueue("jobs", {"environments": [each.environment_arn for each in environments], "shares": {"vision": 2}})
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return tiny(tmp_path / "billing", PROGRAM, environments="first,second")


def up(project: Project, *slow: str) -> None:
    done = project.run(*slow) if slow else project.rehearse(environment="dev")
    assert done.returncode == 0, done.stdout + done.stderr


def queued(project: Project) -> list[str]:
    """ARNs of the queue's environments, in order, all of which are there."""
    (queue,) = project.cloud.store.resources(QUEUE)
    orders = sorted(queue.inputs["computeEnvironmentOrders"], key=lambda order: int(order["order"]))
    there = {each.view["arn"] for each in project.cloud.store.resources(ENVIRONMENT)}
    arns = [order["computeEnvironment"] for order in orders]
    assert there == set(arns)
    return arns


def test_environments_that_are_replaced_or_left_out_wait_for_the_queue(project: Project) -> None:
    up(project)
    before = queued(project)
    set_config(project, environments="first,second", placement="create")
    up(project, *SLOW)
    replaced = queued(project)
    assert not set(before) & set(replaced)
    set_config(project, environments="second", placement="create")
    up(project, *SLOW)
    assert queued(project) == replaced[1:]
    destroyed = project.rehearse("--destroy", environment="dev")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert held(project.cloud) == []
