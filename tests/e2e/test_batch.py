"""AWS Batch on the real engine: what is updated in place, what is replaced, and what AWS then refuses."""

from pathlib import Path

from gpufleet_rehearsal.cloud.store import SimulatedResource
from tests.e2e.batch_program import batch_project
from tests.e2e.rehearsed_project import Project, held
from tests.e2e.tiny_program import set_config

ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
QUEUE = "aws:batch/jobQueue:JobQueue"
DEFINITION = "aws:batch/jobDefinition:JobDefinition"
BUCKET = "aws:s3/bucket:Bucket"
RELATION = "ClientException: Cannot delete, found existing JobQueue relationship"
SLOW = ("rehearse", "dev", "--no-control-plane", "--latency-scale", "0.05")
"""Slow enough for windows of time to be met: 60 of the cloud's seconds are three."""


def only(project: Project, type_: str) -> SimulatedResource:
    (found,) = project.cloud.store.resources(type_)
    return found


def up(project: Project) -> None:
    done = project.rehearse(environment="dev")
    assert done.returncode == 0, done.stdout + done.stderr
    # The queue never is without an environment that is there.
    (order,) = only(project, QUEUE).inputs["computeEnvironmentOrders"]
    assert order["computeEnvironment"] == only(project, ENVIRONMENT).view["arn"]


def test_life_of_an_environment(tmp_path: Path) -> None:
    project = batch_project(tmp_path / "billing")
    up(project)
    first, queue, definition = (only(project, type_) for type_ in (ENVIRONMENT, QUEUE, DEFINITION))
    assert (first.view["status"], first.view["state"]) == ("VALID", "ENABLED")

    # Types, size, image and template in place; a new image of the job is a new revision of its definition.
    now = {"types": "g5.8xlarge,g5.16xlarge", "max": 128, "disk": 200, "image": "ami-0aaaaaaaaaaaaaaaa"}
    set_config(project, **now, container="trainer:2")
    up(project)
    changed = only(project, ENVIRONMENT)
    assert changed.serial == first.serial
    resources = changed.inputs["computeResources"]
    assert resources["instanceTypes"] == ["g5.8xlarge", "g5.16xlarge"]
    assert (resources["maxVcpus"], resources["launchTemplate"]["version"]) == (128, "2")
    assert only(project, QUEUE).version == queue.version
    assert only(project, DEFINITION).view["arn"] == f"{definition.view['arnPrefix']}:2"

    # Another placement group replaces it, whatever the strategy.
    set_config(project, **now, group="far")
    up(project)
    replaced = only(project, ENVIRONMENT)
    assert replaced.id != first.id
    assert only(project, QUEUE).id == queue.id

    destroyed = project.rehearse("--destroy", environment="dev")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert held(project.cloud) == []


def test_a_strategy_that_batch_cannot_update_replaces(tmp_path: Path) -> None:
    project = batch_project(tmp_path / "billing", strategy="BEST_FIT")
    up(project)
    first = only(project, ENVIRONMENT)
    set_config(project, strategy="BEST_FIT", max=128)
    up(project)
    assert only(project, ENVIRONMENT).serial == first.serial
    set_config(project, strategy="BEST_FIT", max=128, types="g5.16xlarge")
    up(project)
    assert only(project, ENVIRONMENT).serial != first.serial


def test_a_replacement_without_a_pause_is_refused_and_the_next_up_ends_it(tmp_path: Path) -> None:
    project = batch_project(tmp_path / "billing")
    up(project)
    old = only(project, ENVIRONMENT)
    set_config(project, group="far")
    hasty = project.run(*SLOW)
    assert hasty.returncode == 1
    assert RELATION in hasty.stdout
    # The queue was moved, and the old environment stayed.
    first, second = project.cloud.store.resources(ENVIRONMENT)
    assert first.serial == old.serial
    assert only(project, QUEUE).inputs["computeEnvironmentOrders"][0]["computeEnvironment"] == second.view["arn"]

    up(project)
    assert only(project, ENVIRONMENT).serial == second.serial


def test_a_replacement_that_pauses_passes(tmp_path: Path) -> None:
    project = batch_project(tmp_path / "billing", pause=75)
    up(project)
    old = only(project, ENVIRONMENT)
    set_config(project, group="far", pause=75)
    patient = project.run(*SLOW)
    assert patient.returncode == 0, patient.stdout + patient.stderr
    assert only(project, ENVIRONMENT).serial != old.serial


def test_a_fixed_name_cannot_be_replaced(tmp_path: Path) -> None:
    """The old one must go first then, and the queue still names it: whatever is waited for."""
    project = batch_project(tmp_path / "billing", name="trainers")
    up(project)
    old = only(project, ENVIRONMENT)
    set_config(project, name="trainers", group="far")
    refused = project.rehearse(environment="dev")
    assert refused.returncode == 1
    assert RELATION in refused.stdout
    assert only(project, ENVIRONMENT).serial == old.serial


def test_a_fault_of_the_queue_is_overcome_by_the_next_up(tmp_path: Path) -> None:
    project = batch_project(tmp_path / "billing")
    broken = project.rehearse("--fault", f"create:{QUEUE}", environment="dev")
    assert broken.returncode == 1
    assert project.cloud.store.resources(QUEUE) == []
    up(project)


def test_a_bucket_with_results_is_not_deleted_unless_told_to(tmp_path: Path) -> None:
    project = batch_project(tmp_path / "billing")
    up(project)
    bucket = only(project, BUCKET)
    project.cloud.store.put_file(bucket, "run-1/model.bin", b"learned")
    refused = project.rehearse("--destroy", environment="dev")
    assert refused.returncode == 1
    assert "BucketNotEmpty: The bucket you tried to delete is not empty" in refused.stdout
    assert project.cloud.store.files(only(project, BUCKET)) == {"run-1/model.bin": b"learned"}

    set_config(project, erase=True)
    up(project)
    destroyed = project.rehearse("--destroy", environment="dev")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert held(project.cloud) == []
