"""What jobs need to know of an environment, from the outputs of its stack."""

from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.settings import read_settings

BATCH = {"on": "batch", "region": "eu-west-1", "queue": "q"}


def settings(jobs: dict[str, Any], on: str | None = None, **outputs: Any) -> Any:
    return read_settings({"jobs": jobs, **outputs}, "dev", on)


def test_a_stack_says_what_runs_its_jobs() -> None:
    assert settings({}, kubeconfig="k").on == "kubernetes"
    assert settings(BATCH).on == "batch"
    # A stack with both.
    assert settings(BATCH, "kubernetes", kubeconfig="k").on == "kubernetes"
    assert settings({**BATCH, "on": "kubernetes"}, "batch", kubeconfig="k").on == "batch"


def test_defaults_of_batch() -> None:
    batch = settings(BATCH).batch
    assert (batch.log_group, batch.queues, batch.outputs("train"), batch.key("train")) == (
        "/aws/batch/job",
        ["q"],
        None,
        "jobs/train",
    )


def test_multi_node_jobs_may_have_a_queue_of_their_own() -> None:
    given = {
        **BATCH,
        "multinode": {"definition": "d", "queue": "arn:q2", "nodes": 4.0},
        "bucket": "b",
        "prefix": "/runs/",
    }
    batch = settings(given).batch
    assert (batch.queues, batch.multinode.nodes) == (["q", "arn:q2"], 4)
    assert batch.outputs("train") == "s3://b/runs/train"


@pytest.mark.parametrize(
    ("jobs", "on", "line"),
    [
        (
            {"on": "nomad"},
            None,
            "dev: the stack's output jobs.on=nomad: use kubernetes, batch, azure-batch, slurm or hosts",
        ),
        ({"on": "slurm"}, None, "dev: its outputs have no Slurm (jobs.slurm); write a file with it (docs/jobs.md)"),
        (
            {"on": "hosts"},
            None,
            "dev: its outputs have no hosts (jobs.hosts); write a file with them (docs/jobs.md)",
        ),
        ({}, "batch", "dev: the stack's outputs have no AWS Batch (jobs.region); run `pulumi up -s dev` first, or"),
        (BATCH, "kubernetes", "dev: the stack's outputs have no kubeconfig; run `pulumi up -s dev` first"),
        ({**BATCH, "multinode": {"nodes": 2}}, None, "dev: the stack's output jobs.multinode has no definition; run"),
    ],
)
def test_outputs_that_will_not_do(jobs: dict[str, Any], on: str | None, line: str) -> None:
    with pytest.raises(UserError) as error:
        settings(jobs, on)
    assert str(error.value).startswith(line)


def test_a_cluster_on_which_nothing_is_installed_yet() -> None:
    with pytest.raises(UserError) as error:
        read_settings({"kubeconfig": "{}", "phase": "cloud"}, "dev")
    assert str(error.value) == (
        "dev: gpufleet:phase=cloud: nothing is installed on its cluster yet; `gpufleet link dev` says what comes next"
    )
