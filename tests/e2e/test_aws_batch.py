"""The life of aws-batch-dev: up, one change after the other, in place or by a safe replacement, and nothing left."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.rehearsed_project import Project, held

ENVIRONMENT = "aws-batch-dev"
COMPUTE, QUEUE = "aws:batch/computeEnvironment:ComputeEnvironment", "aws:batch/jobQueue:JobQueue"
CREATES = Path(__file__).with_name("creates_of_aws_batch_dev.txt").read_text().split()
SAMPLE = sorted(random.Random(2017).sample(CREATES, 1))


@pytest.fixture
def erasing(project: Project) -> Project:
    project.configure(lambda config: config.update(erase=True), ENVIRONMENT)
    return project


def rehearse(project: Project, *arguments: str) -> str:
    done = project.rehearse(*arguments, environment=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def arns(project: Project) -> dict[str, str]:
    """Logical name to ARN of every compute environment."""
    return {each.name: str(each.view["arn"]) for each in project.cloud.store.resources(COMPUTE)}


def served(project: Project) -> dict[str, list[str]]:
    """Each queue with the ARNs of its environments in order, all of which exist."""
    there = set(arns(project).values())
    found = {}
    for queue in project.cloud.store.resources(QUEUE):
        orders: Any = queue.view["computeEnvironmentOrders"]
        found[queue.name] = [row["computeEnvironment"] for row in sorted(orders, key=lambda row: int(row["order"]))]
        assert found[queue.name], queue.name
        assert set(found[queue.name]) <= there
    return found


def spot(config: dict[str, Any]) -> dict[str, Any]:
    return config["pools"]["spot"]


def ondemand(config: dict[str, Any]) -> dict[str, Any]:
    return config["pools"]["ondemand"]


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], set[str]]] = {
    "types": (lambda config: spot(config).update(types=["g6.xlarge"]), set()),
    "max nodes": (lambda config: spot(config).update(max=6), set()),
    "disk": (lambda config: ondemand(config).update(disk_gib=300), set()),
    "image": (lambda config: spot(config).update(image="ami-0bbbbbbbbbbbbbbbb"), set()),
    "placement group": (lambda config: ondemand(config).update(placement="none"), {"ondemand"}),
    "strategy": (lambda config: ondemand(config).update(strategy="BEST_FIT"), {"ondemand"}),
    "types, with a strategy that updates nothing": (
        lambda config: ondemand(config).update(types=["g5.12xlarge"]),
        {"ondemand"},
    ),
}
"""A change of the configuration, and the pools that Batch cannot change in place."""


def test_each_change_is_in_place_or_a_safe_replacement(erasing: Project) -> None:
    up = rehearse(erasing)
    assert "(ratio 1.0" in up
    assert "gpufleet jobs submit aws-batch-dev --follow -- python3 train.py --synthetic" in up
    before = arns(erasing)
    # The two queues are made at once: which one comes first is nobody's business.
    assert sorted(len(each) for each in served(erasing).values()) == [1, 2]
    assert rehearse(erasing).count("created") == 0
    for name, (change, replaced) in CHANGES.items():
        erasing.configure(change, ENVIRONMENT)
        rehearse(erasing)
        now = arns(erasing)
        other = {each for each in before if now[each] != before[each]}
        assert other == {f"{ENVIRONMENT}-{pool}-environment" for pool in replaced}, name
        served(erasing)
        before = now
    rehearse(erasing, "--destroy")
    assert held(erasing.cloud) == []


def test_the_list_of_creates_is_true(project: Project) -> None:
    rehearse(project)
    made = [operation for operation in project.cloud.store.operations() if operation.operation == "create"]
    assert sorted(operation.urn.split("::")[-1] for operation in made) == CREATES
    # Jobs are asked of what plays the queue, and of nobody's real account.
    listed = project.rehearse("--", "gpufleet", "jobs", "list", ENVIRONMENT, environment=ENVIRONMENT)
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.startswith("no jobs in queue aws-batch-dev-queue-queue-")


def fails_converges_and_goes(project: Project, name: str) -> None:
    fault = f"create:@{name}"
    failed = project.rehearse("--fault", fault, environment=ENVIRONMENT)
    assert failed.returncode != 0, failed.stdout
    assert "InternalFailure" in failed.stdout
    # The same settings: a fault strikes once.
    rehearse(project, "--fault", fault)
    assert sorted(line.split(" aws:")[0] for line in held(project.cloud)) == CREATES
    rehearse(project, "--destroy")
    assert held(project.cloud) == []


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_faults(erasing: Project, name: str) -> None:
    fails_converges_and_goes(erasing, name)


@pytest.mark.sweep
@pytest.mark.parametrize("name", CREATES)
def test_every_fault(erasing: Project, name: str) -> None:
    fails_converges_and_goes(erasing, name)


def test_data_outlives_the_compute(project: Project) -> None:
    rehearse(project)
    rehearse(project, "--destroy")
    kept = {line.split(" aws:")[0].removeprefix(f"{ENVIRONMENT}-") for line in held(project.cloud)}
    assert {"outputs-bucket", "files-files", f"registry-{ENVIRONMENT}/training"} <= kept
    assert not any("environment" in each or "queue" in each for each in kept)
