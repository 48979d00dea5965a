"""A fault at each single create of aws-dev: `up` fails in the cloud's words, the next converges, destroy leaves none.

All of them in `make sweep`; in `make e2e` a sample with a fixed seed. The list of creates is a file, so that each is a
test of its own; the first test tells when the file is not true any more.
"""

import random
from pathlib import Path

import pytest

from tests.e2e.rehearsed_project import Project, held

LIST = Path(__file__).parent / "creates_of_aws_dev.txt"
CREATES = LIST.read_text().split()
SAMPLE = sorted(random.Random(2018).sample(CREATES, 1))


def test_the_list_of_creates_is_true(project: Project) -> None:
    assert project.rehearse().returncode == 0
    made = [operation for operation in project.cloud.store.operations() if operation.operation == "create"]
    assert sorted(operation.urn.split("::")[-1] for operation in made) == CREATES


def fails_converges_and_goes(project: Project, fault: str, words: str) -> None:
    failed = project.rehearse("--fault", fault)
    assert failed.returncode != 0, failed.stdout
    assert words in failed.stdout
    assert "Traceback" not in failed.stdout + failed.stderr
    # The same settings: a fault strikes once.
    converged = project.rehearse("--fault", fault)
    assert converged.returncode == 0, converged.stdout + converged.stderr
    names = [line.split(" aws:")[0] for line in held(project.cloud)]
    assert sorted(names) == CREATES, "the second `up` made something twice or not at all"
    destroyed = project.rehearse("--destroy")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert held(project.cloud) == []


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_faults(erasing: Project, name: str) -> None:
    fails_converges_and_goes(erasing, f"create:@{name}", "InternalFailure")


@pytest.mark.sweep
@pytest.mark.parametrize("name", CREATES)
def test_every_fault(erasing: Project, name: str) -> None:
    fails_converges_and_goes(erasing, f"create:@{name}", "InternalFailure")


def test_no_capacity_is_said_in_the_status_and_the_next_up_converges(erasing: Project) -> None:
    erasing.configure(lambda config: config["pools"]["trainers"].update(desired=1))
    fault = "capacity:g5.8xlarge:use1-az1"
    fails_converges_and_goes(erasing, fault, "InsufficientInstanceCapacity")
