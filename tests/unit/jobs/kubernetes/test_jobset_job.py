"""The JobSet of a torchrun job, and what its status says."""

from typing import Any

import pytest

from gpufleet.jobs.kubernetes.job_kind import JOB_SET, MPI_JOB, kind_of, part_of
from gpufleet.jobs.kubernetes.jobs import job_summary
from gpufleet.jobs.kubernetes.jobset_job import jobset_job, name_errors
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from gpufleet.jobs.kubernetes.secrets import secrets_of
from gpufleet.jobs.kubernetes.status import JobState, job_status

ARGS: MpiJobArgs = {
    "namespace": "vision",
    "workers": 2,
    "gpus_per_worker": 4,
    "image": "r.invalid/train:1",
    "command": ["python3", "train.py"],
    "pool": "near",
}


def made(**more: Any) -> dict[str, Any]:
    return jobset_job("train", {**ARGS, **more})  # type: ignore[typeddict-item]


def job_of(document: dict[str, Any]) -> dict[str, Any]:
    return dict(document["spec"]["replicatedJobs"][0]["template"]["spec"])


def test_workers_prefer_a_level_of_the_topology() -> None:
    annotations = job_of(made(queue="gpus", prefer_topology="example.com/rack"))["template"]["metadata"]["annotations"]
    assert annotations["kueue.x-k8s.io/podset-preferred-topology"] == "example.com/rack"


def test_workers_run_torchrun_and_meet_at_the_first() -> None:
    job = job_of(made())
    (container,) = job["template"]["spec"]["containers"]
    assert container["command"][:2] == ["/bin/sh", "-c"]
    assert container["command"][3:5] == ["torchrun_worker", "100"]
    words = container["command"][5:]
    assert words[:3] == ["python3", "-m", "torch.distributed.run"]
    options = dict(zip(words[3:-3:2], words[4:-3:2], strict=True))
    assert options["--nnodes"] == "2"
    assert options["--nproc_per_node"] == "4"
    assert options["--node_rank"] == "$(JOB_COMPLETION_INDEX)"
    assert options["--master_addr"] == "train-worker-0-0.train"
    assert words[-3:] == ["--no_python", "python3", "train.py"]
    assert (job["parallelism"], job["completions"], job["completionMode"]) == (2, 2, "Indexed")
    assert (job["backoffLimit"], job["template"]["spec"]["restartPolicy"]) == (0, "Never")
    assert "MASTER_ADDR" not in {each["name"] for each in container["env"]}


def test_workers_are_where_those_of_an_mpi_job_are() -> None:
    other = part_of(mpi_job("train", ARGS), MPI_JOB.worker_pod)
    own = part_of(made(), JOB_SET.worker_pod)
    for field in ("nodeSelector", "tolerations", "securityContext", "volumes"):
        assert own[field] == other[field]
    assert own["containers"][0]["resources"] == other["containers"][0]["resources"]
    (near,) = own["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert near["labelSelector"] == {"matchLabels": {"jobset.sigs.k8s.io/jobset-name": "train"}}


def test_a_retry_makes_all_workers_anew_and_the_time_limit_none() -> None:
    assert made(retries=3)["spec"]["failurePolicy"] == {"maxRestarts": 3, "restartStrategy": "BlockingRecreate"}
    limited = made(retries=3, time_limit_seconds=60)
    assert job_of(limited)["activeDeadlineSeconds"] == 60
    (rule,) = limited["spec"]["failurePolicy"]["rules"]
    assert (rule["action"], rule["onJobFailureReasons"]) == ("FailJobSet", ["DeadlineExceeded"])


def test_with_a_queue_it_is_made_suspended() -> None:
    document = made(queue="gpus")
    assert document["spec"]["suspend"] is True
    assert document["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "gpus"}
    assert "suspend" not in made()["spec"]


def test_secrets_are_found_in_its_workers() -> None:
    assert list(secrets_of(made(secrets={"TOKEN": "hub/key"}))) == [("TOKEN", "hub", "key")]


def test_name_leaves_room_for_the_names_of_pods() -> None:
    assert name_errors("a" * 46, 2) == []
    assert name_errors("a" * 47, 2) == [
        f"{'a' * 47}: name: is 47 characters long, too long for the pods of 2 workers; use 46 or fewer"
    ]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ({}, JobState.SUBMITTED),
        ({"restarts": 0}, JobState.CREATED),
        ({"conditions": [{"type": "Suspended", "status": "True"}]}, JobState.SUSPENDED),
        ({"replicatedJobsStatus": [{"name": "worker", "ready": 1}]}, JobState.RUNNING),
        ({"restarts": 1, "replicatedJobsStatus": [{"name": "worker", "ready": 0}]}, JobState.RESTARTING),
        ({"conditions": [{"type": "Completed", "status": "True"}]}, JobState.SUCCEEDED),
        ({"conditions": [{"type": "Failed", "status": "True"}]}, JobState.FAILED),
    ],
)
def test_state(status: dict[str, Any], state: JobState) -> None:
    document = made() | {"status": status}
    document["metadata"]["creationTimestamp"] = "2026-11-28T06:00:00Z"
    assert job_status(document).state is state
    told = job_summary(document)
    assert (told["workers"], told["gpusPerWorker"]) == (2, 4)


def test_kinds_are_told_apart() -> None:
    assert (kind_of(made()), kind_of(mpi_job("train", ARGS))) == (JOB_SET, MPI_JOB)
