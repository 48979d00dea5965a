"""`--pools own,spot-a,on-demand`: the steps of a job, what is known of each, and what leads from one to the next."""

import json
from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.ordered_submission import build_ordered_submission
from gpufleet.jobs.kubernetes.overflow_program import LABEL, STEPS
from gpufleet.jobs.kubernetes.pool_steps import merge_patch
from gpufleet.jobs.settings import read_settings

CLOUD = {"types": ["g5.12xlarge"], "max": 4}
POOLS: dict[str, Any] = {
    "own": {"gpu": "A10G", "gpus": 4, "place": "onprem", "zones": ["onprem"], "max": 2},
    "reserved": {**CLOUD, "zones": ["use1-az1"], "capacity": "reservation"},
    "spot-a": {**CLOUD, "zones": ["use1-az1"], "capacity": "spot"},
    "on-demand": {**CLOUD, "zones": ["use1-az2"]},
}
ORDER = list(POOLS)
JOB: Any = {"command": ["true"], "image": "r.invalid/train:1", "name": "first", "workers": 2}


def build(changes: dict[str, Any] | None = None, **wanted: Any) -> Any:
    jobs = {
        "pools": POOLS,
        "queue": "gpus",
        "overflow": {"capacity_timeout_minutes": 10, "pools": ORDER},
        "quota": dict.fromkeys(ORDER, 16),
        "usd_per_gpu_hour": {"own": 0.25},
    }
    settings = read_settings({"kubeconfig": "unused", "jobs": jobs | (changes or {})}, "lab")
    return build_ordered_submission(settings, {**JOB, **wanted})


def steps(job: Any) -> list[dict[str, Any]]:
    return list(json.loads(job.manifest["metadata"]["annotations"][STEPS]))


def test_the_environments_order_is_that_of_jobs_without_a_pool() -> None:
    job = build()
    rows = steps(job)
    assert [each["pool"] for each in rows] == ORDER
    assert [each["zone"] for each in rows] == ["onprem", "use1-az1", "use1-az1", "use1-az2"]
    assert [each["market"] for each in rows] == ["own", "reservation", "spot", "on-demand"]
    assert {each["nodes"] for each in rows} == {2}
    assert {each["seconds"] for each in rows} == {600}
    assert rows[0]["usd_per_hour"] == 2 * 4 * 0.25
    assert rows[1]["usd_per_hour"] is None, "what a reservation costs is in no price list"
    assert 0 < rows[2]["usd_per_hour"] < rows[3]["usd_per_hour"]
    assert job.manifest["metadata"]["labels"][LABEL] == "true"
    assert job.advice[0] == "step 1: pool own, zone onprem, own, 2 nodes, 2.00 USD an hour, at most 10 min"
    assert job.advice[1].endswith("reservation, 2 nodes, price not known, at most 10 min")
    assert "2 nodes, up to " in job.advice[2]
    assert job.advice[3].endswith(" USD an hour, until capacity comes")


def test_patches_lead_from_step_to_step() -> None:
    job = build()
    specs = job.manifest["spec"]["mpiReplicaSpecs"]
    pools = []
    for row in steps(job):
        specs = patched(specs, row["patch"])
        worker = specs["Worker"]["template"]["spec"]
        pools.append(worker["nodeSelector"]["gpufleet.dev/pool"])
        # Kueue notices a changed toleration, and no changed node selector.
        told = [each["value"] for each in worker["tolerations"] if each["key"] == "gpufleet.dev/step"]
        assert told == [row["pool"]]
        limits = worker["containers"][0]["resources"]["limits"]
        assert limits["nvidia.com/gpu"] == "4"
    assert pools == ORDER


def patched(before: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    result = dict(before) if isinstance(before, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = patched(result.get(key), value)
    return result


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"a": 1}),
        ({"a": 1, "b": {"c": 2, "d": [1]}}, {"b": {"c": 3, "d": [1, 2]}}),
        ({"a": {"b": 1}}, {"a": [1]}),
        ({"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_merge_patch(before: Any, after: Any) -> None:
    assert patched(before, merge_patch(before, after)) == after


def test_a_pool_or_place_of_ones_own_is_no_overflow() -> None:
    for wanted in ({"pool": "own"}, {"gpu": "A10G", "place": "onprem"}):
        assert "annotations" not in build(**wanted).manifest["metadata"]


def test_own_order_and_advice_on_prices() -> None:
    job = build(pools=["on-demand", "own"])
    assert [each["pool"] for each in steps(job)] == ["on-demand", "own"]
    [advice] = [line for line in job.advice if "costs less" in line]
    assert advice.startswith("pools=on-demand,own: own costs less (2.00 USD an hour, on-demand: ")


def test_a_pool_that_can_never_hold_the_job_is_left_out() -> None:
    job = build(workers=3)
    assert [each["pool"] for each in steps(job)] == ORDER[1:]
    assert job.advice[3] == (
        "pool own is left out: first: workers=3: pool own has at most 2 nodes, room for 2 workers of 4 GPUs; use 2 or "
        "fewer, or raise the pool's max and run `pulumi up`"
    )


def test_a_job_that_no_pool_can_ever_hold_is_refused_with_a_line_for_each_error() -> None:
    with pytest.raises(UserError) as refused:
        build({"quota": {"spot-a": 4}}, workers=2, pools=["spot-a", "on-demand"])
    assert str(refused.value).splitlines() == [
        "first: pools=spot-a: the job needs 8 GPUs, and the quota of namespace default there is 4; use fewer workers, "
        "or raise the quota",
        "first: pools=on-demand: the job needs 8 GPUs, and the quota of namespace default there is 0; use fewer "
        "workers, or raise the quota",
    ]


WIDE = {**POOLS, "wide": {**CLOUD, "zones": ["use1-az1", "use1-az2"]}}


@pytest.mark.parametrize(
    ("changes", "wanted", "line"),
    [
        ({}, {"pools": ["spot-b"]}, "lab: pool=spot-b: no such pool; did you mean spot-a?"),
        ({}, {"pools": ["own", "own"]}, "lab: pools=own,own: must name each pool once; write --pools spot-a,on-demand"),
        ({}, {"pools": []}, "lab: pools=: must name each pool once; write --pools spot-a,on-demand"),
        ({}, {"pools": ["own"], "pool": "own"}, "lab: pools=own: has no effect with pool; leave one of them out"),
        (
            {"overflow": {}},
            {"pools": ["own"]},
            "lab: pools=own: the environment's queue does not overflow; add gpufleet:queue.overflow, or use --pool",
        ),
        (
            {"pools": WIDE, "quota": {"wide": 99}},
            {"pools": ["wide"]},
            "first: pools=wide: has zones use1-az1, use1-az2; a step is a pool in one zone",
        ),
    ],
)
def test_refusals(changes: dict[str, Any], wanted: dict[str, Any], line: str) -> None:
    with pytest.raises(UserError) as refused:
        build(changes, **wanted)
    assert str(refused.value).startswith(line)
    assert len(str(refused.value).splitlines()) == 1
