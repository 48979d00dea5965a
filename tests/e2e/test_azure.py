"""The life of azure-dev and azure-prod: up, changes in place and by replacement, data that stays, and nothing left."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpufleet_rehearsal.critical_path import time_to_up
from tests.e2e.rehearsed_project import Project, held

ENVIRONMENT = "azure-dev"
POOL, AGENT_POOL = "azure-native:batch:Pool", "azure-native:containerservice:AgentPool"
GROUP, ACCOUNT = "azure-native:resources:ResourceGroup", "azure-native:storage:StorageAccount"
CREATES = Path(__file__).with_name("creates_of_azure_dev.txt").read_text().split()
LIMIT = 1.05
"""Estimate over lower bound that an environment of ours may cost at the most."""


@pytest.fixture
def erasing(project: Project) -> Project:
    project.configure(lambda config: config.update(erase=True), ENVIRONMENT)
    return project


def rehearse(project: Project, *arguments: str, environment: str = ENVIRONMENT) -> str:
    done = project.rehearse(*arguments, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def remaining(project: Project, environment: str = ENVIRONMENT) -> list[str]:
    return [line for line in held(project.cloud_of(environment)) if "kubernetes:" not in line]


def ids(project: Project) -> dict[str, str]:
    """Logical name to id of every pool."""
    store = project.cloud_of(ENVIRONMENT).store
    return {each.name: each.id for type_ in (POOL, AGENT_POOL) for each in store.resources(type_)}


def spot(config: dict[str, Any]) -> dict[str, Any]:
    return config["batch"]["pools"]["spot"]


def trainers(config: dict[str, Any]) -> dict[str, Any]:
    return config["pools"]["trainers"]


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], set[str]]] = {
    "most Batch nodes": (lambda config: spot(config).update(max=20), set()),
    "most nodes of the cluster": (lambda config: trainers(config).update(max=4), set()),
    "mounts": (lambda config: spot(config).update(mounts=["scripts"]), {"azure-dev-spot-pool"}),
    "size of the cluster's nodes": (
        lambda config: trainers(config).update(types=["Standard_NC8as_T4_v3"]),
        {"azure-dev-trainers-nodes"},
    ),
}
"""A change of the configuration, and the pools that Azure cannot change in place."""


def test_each_change_is_in_place_or_a_replacement(erasing: Project) -> None:
    up = rehearse(erasing)
    assert "SIMULATED" in up
    assert "the subscription 00000000-0000-0000-0000-000000000000 is not" in " ".join(up.split())
    assert "gpufleet jobs submit azure-dev --on azure-batch --nodes 2 --follow -- python3 train.py --synthetic" in up
    time = time_to_up(erasing.cloud_of(ENVIRONMENT), erasing.state(ENVIRONMENT))
    # Four minutes for the control plane and three for its pool: a bound that misses them would be a bound of nothing.
    assert time.lower_bound.seconds > 400
    assert 1.0 <= time.ratio <= LIMIT, time
    # One resource group holds all of it.
    store = erasing.cloud_of(ENVIRONMENT).store
    (group,) = store.resources(GROUP)
    outside = [each.name for each in store.resources() if not each.id.lower().startswith(group.id.lower())]
    assert [name for name in outside if not name.startswith(f"{ENVIRONMENT}-budget")] == []
    assert rehearse(erasing).count("created") == 0
    before = ids(erasing)
    for name, (change, replaced) in CHANGES.items():
        erasing.configure(change, ENVIRONMENT)
        rehearse(erasing)
        now = ids(erasing)
        operations = store.operations()
        done = {op.urn.split("::")[-1] for op in operations if op.operation == "delete"}
        assert {each for each in before if now[each] != before[each]} | (done & set(before)) >= replaced, name
        assert {each for each in before if now[each] != before[each]} <= replaced, name
        before = now
    rehearse(erasing, "--destroy")
    assert remaining(erasing) == []


def test_data_outlives_pool_and_cluster(project: Project) -> None:
    rehearse(project)
    first = {each.name: each.id for each in project.cloud_of(ENVIRONMENT).store.resources(ACCOUNT)}
    # Without the pool, as after `az batchai cluster delete`: the containers stay.
    project.configure(lambda config: config.pop("batch"), ENVIRONMENT)
    rehearse(project)
    assert not project.cloud_of(ENVIRONMENT).store.resources(POOL)
    rehearse(project, "--destroy")
    kept = {line.split(" azure-native:")[0] for line in remaining(project)}
    assert {
        "azuredevfiles",
        "azuredevshare",
        "azure-dev-files-container-result",
        "azure-dev-files-container-scripts",
        "azure-dev-share-share",
        "azuredevregistry",
        "azure-dev-group",
    } <= kept
    assert not any("network" in each or "cluster" in each or "trainers" in each for each in kept)
    rehearse(project)
    assert {each.name: each.id for each in project.cloud_of(ENVIRONMENT).store.resources(ACCOUNT)} == first


def test_azure_prod_comes_up_as_fast_as_the_cloud_allows_and_goes(project: Project) -> None:
    project.configure(lambda config: config.update(erase=True), "azure-prod")
    rehearse(project, environment="azure-prod")
    time = time_to_up(project.cloud_of("azure-prod"), project.state("azure-prod"))
    assert 1.0 <= time.ratio <= LIMIT, time
    rehearse(project, "--destroy", environment="azure-prod")
    assert remaining(project, "azure-prod") == []


def test_the_list_of_creates_is_true(project: Project) -> None:
    rehearse(project)
    made = [each for each in project.cloud_of(ENVIRONMENT).store.operations() if each.operation == "create"]
    assert sorted(operation.urn.split("::")[-1] for operation in made) == CREATES
    # Its Batch jobs are played, and nobody's real account is asked for them.
    command = ("gpufleet", "jobs", "list", ENVIRONMENT, "--on", "azure-batch")
    jobs = project.rehearse("--", *command, environment=ENVIRONMENT)
    assert jobs.returncode == 0, jobs.stderr
    assert jobs.stdout.startswith("no jobs in Batch account azuredevbatch")


def fails_converges_and_goes(project: Project, name: str) -> None:
    fault = f"create:@{name}"
    failed = project.rehearse("--fault", fault, environment=ENVIRONMENT)
    assert failed.returncode != 0, failed.stdout
    assert "Traceback" not in failed.stdout + failed.stderr
    # The same settings: a fault strikes once.
    rehearse(project, "--fault", fault)
    assert sorted(line.split(" azure-native:")[0] for line in remaining(project)) == CREATES
    rehearse(project, "--destroy")
    assert remaining(project) == []


@pytest.mark.sweep
@pytest.mark.parametrize("name", CREATES)
def test_every_fault(erasing: Project, name: str) -> None:
    fails_converges_and_goes(erasing, name)
