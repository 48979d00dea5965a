"""What a person may ask of Azure Batch that it does not have, or this environment: one line, before Azure is asked."""

from typing import Any

import pytest

from tests.tools.batch_account import FakeBatch

MISTAKES = [
    (["--nodes", "0"], "train: nodes=0: use 1 or more"),
    (["--nodes", "2", "--workers", "3"], "train: workers=3: conflicts with nodes=2; give only one of them"),
    (["--nodes", "11"], "train: nodes=11: pool spot has at most 10; use 10 or fewer, or raise its max and run"),
    (["--nodes", "5"], "train: nodes=5: pool spot is made for tasks of at most 4 nodes; use another --pool"),
    (["--pool", "fixed", "--nodes", "2"], "train: nodes=2: pool fixed is made for tasks of one node; use another"),
    (["--gpus", "0"], "train: gpus=0: use 1 or more"),
    (["--gpus", "5"], "train: gpus=5: a node of pool spot has 4 (Standard_NC64as_T4_v3); use 4 or fewer"),
    (["--retries", "-1"], "train: retries=-1: use 0 or more"),
    (["--time-limit", "0"], "train: time_limit_minutes=0: use 1 or more"),
    (["--env", "AZ_BATCH_X=1"], "train: env=AZ_BATCH_X: Azure Batch sets variables of this beginning itself; use"),
    (["--env", "GPUFLEET_OUTPUTS=1"], "train: env=GPUFLEET_OUTPUTS: is set for every job; use another"),
    (["--name", "a b"], "a b: name=a b: use letters, digits, - and _, at most 64"),
    (["--name", "a" * 65], f"{'a' * 65}: name={'a' * 65}: use letters"),
    (["--pool", "none"], "dev: pool=none: no such pool; use spot or fixed"),
    (["--script", "/no/such"], "train: script=/no/such: file or directory not found; give one"),
    (["--array", "3"], "job: array=3: is for AWS Batch (--on batch); on Azure Batch submit each run"),
    (["--grid", "lr=1,2"], "job: grid={lr: [1, 2]}: is for AWS Batch (--on batch)"),
    (["--vcpus", "3"], "job: vcpus=3: is for AWS Batch (--on batch)"),
    (["--share", "a"], "job: share=a: is for AWS Batch (--on batch)"),
    (
        ["--queue", "q"],
        "job: queue=q: is for Kubernetes and AWS Batch; on Azure Batch a pool has the nodes, use --pool",
    ),
    (["--grace", "30"], "job: grace_seconds=30: is for Kubernetes; Azure Batch does not say how long it waits"),
    (["--volume-claim", "x"], "job: volume_claim=x: is for Kubernetes; on Azure Batch the pool mounts the storage"),
    (["--image-pull-secret", "x"], "job: image_pull_secret=x: is for Kubernetes; on Azure Batch the pool's identity"),
    (["--on", "batch"], "dev: the stack's outputs have no AWS Batch (jobs.region)"),
]


@pytest.mark.parametrize(("options", "line"), MISTAKES, ids=lambda each: str(each)[:40])
def test_mistake_is_one_line(here: FakeBatch, run: Any, options: list[str], line: str) -> None:
    done = _submit(run, *options)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"Error: {line}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert here.asked == []


def _submit(run: Any, *options: str) -> Any:
    name = () if "--name" in options else ("--name", "train")
    pool = () if "--pool" in options else ("--pool", "spot")
    return run("jobs", "submit", "dev", "--image", "training:base", *name, *pool, *options, "--", "python3", "train.py")
