"""The account of GPU-hours, against numbers worked out by hand."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpufleet.catalog import aws
from gpufleet.errors import UserError
from gpufleet.usage.allocation import GpuAllocation
from gpufleet.usage.collect import allocated_by_jobs, allocated_by_pods, ends_of_jobs
from gpufleet.usage.ledger import merge_allocations, read_ledger, write_ledger
from gpufleet.usage.rows import prices, total_row, usage_rows
from gpufleet.usage.summary import UsageSummary

DAY = datetime(2026, 11, 20, tzinfo=UTC)
NOW = DAY + timedelta(hours=24)
G5 = "g5.12xlarge"
PRICE = aws().prices[(G5, "us-east-1", "on-demand")].usd_per_hour


def at(hour: float) -> str:
    return (DAY + timedelta(hours=hour)).isoformat().replace("+00:00", "Z")


def node(name: str, **labels: str) -> dict:
    own = {
        "gpufleet.dev/pool": "lab-rented",
        "gpufleet.dev/place": "cloud",
        "gpufleet.dev/capacity": "on-demand",
        "node.kubernetes.io/instance-type": G5,
        "topology.kubernetes.io/region": "us-east-1",
    }
    own |= {key.replace("__", "/").replace("_", "-"): value for key, value in labels.items()}
    return {"metadata": {"name": name, "labels": own}, "status": {"capacity": {"nvidia.com/gpu": "4"}}}


OWN = node("gpu-1")
OWN["metadata"]["labels"] = {"gpufleet.dev/pool": "lab-v100", "gpufleet.dev/place": "onprem"}
NODES = [node("n1"), node("n2"), OWN]


def pod(name: str, start: float | None, end: float | None, gpus: int = 4, on: str = "n1", **more: str) -> dict:
    """A worker's pod, bound at `start` and ended at `end`, hours of the day; None: it is not."""
    user, team, job = more.get("user", "ana"), more.get("team", "vision"), more.get("job", "train")
    labels = {"gpufleet.dev/user": user, "gpufleet.dev/project": "llm", "training.kubeflow.org/job-name": job}
    owner = {"controller": True, "kind": "MPIJob", "uid": f"uid-{job}"}
    ended = {"state": {"terminated": {"finishedAt": at(end)}}} if end is not None else {"state": {"running": {}}}
    phase = "Pending" if start is None else "Running" if end is None else more.get("phase", "Succeeded")
    told = [] if start is None else [ended]
    scheduled = {"type": "PodScheduled", "status": "False" if start is None else "True", "reason": "x"}
    scheduled["lastTransitionTime"] = at(start or 0)
    return {
        "metadata": {
            "name": name,
            "namespace": team,
            "uid": f"uid-{name}",
            "labels": labels,
            "ownerReferences": [owner],
            "creationTimestamp": at(0),
        },
        "spec": {
            "containers": [{"resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}],
            **({"nodeName": on} if start is not None else {}),
        },
        "status": {"phase": phase, "conditions": [scheduled], "containerStatuses": told},
    }


def job(name: str, start: float | None, end: float | None, workers: int = 2, gpus: int = 4) -> dict:
    template = {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": gpus}}}]}}
    status = {"startTime": at(start)} if start is not None else {}
    status |= {"completionTime": at(end)} if end is not None else {}
    labels = {"gpufleet.dev/user": "ana"}
    return {
        "metadata": {"name": name, "namespace": "vision", "uid": f"uid-{name}", "labels": labels},
        "spec": {"mpiReplicaSpecs": {"Worker": {"replicas": workers, "template": template}}},
        "status": status,
    }


def held(*pods: dict, now: datetime = NOW) -> list[GpuAllocation]:
    return list(allocated_by_pods(pods, NODES, "lab", "llm", now))


def hours(records, by: str = "team", since: datetime = DAY, until: datetime = NOW, **own: float) -> dict:
    rows = usage_rows(records, since, until, by, prices(own))
    return {row.name: (row.jobs, row.gpu_hours, round(row.usd, 4), row.unpriced) for row in rows}


def test_one_worker_for_three_hours():
    # 4 GPUs from 1:00 to 4:00 are 12 GPU-hours: all of the node, 3 hours of its price.
    assert hours(held(pod("a", 1, 4))) == {"vision": (1, 12.0, round(3 * PRICE, 4), 0)}


def test_half_a_node_is_half_its_price():
    assert hours(held(pod("a", 1, 4, gpus=2))) == {"vision": (1, 6.0, round(1.5 * PRICE, 4), 0)}


def test_overlapping_pods_add_up_and_one_job_is_one():
    # 2 workers x 4 GPUs x 2 h, and 1 GPU of another job for half an hour meanwhile.
    found = held(pod("a", 1, 3), pod("b", 1, 3, on="n2"), pod("c", 2, 2.5, gpus=1, job="test"))
    assert hours(found) == {"vision": (2, 16.5, round(4.125 * PRICE, 4), 0)}


def test_a_worker_that_was_made_anew_counts_for_each_of_its_lives():
    # Reclaimed at 2:00, its next pod got a node at 3:00: the hour between is nobody's.
    assert hours(held(pod("a", 1, 2, phase="Failed"), pod("a-again", 3, 5))) == {
        "vision": (1, 12.0, round(3 * PRICE, 4), 0)
    }


def test_a_pod_that_never_got_a_node_held_nothing():
    assert held(pod("a", None, None)) == []


def test_pods_without_gpus_hold_none():
    assert held(pod("launcher", 1, 4, gpus=0)) == []


def test_what_runs_is_counted_until_now():
    assert hours(held(pod("a", 22, None))) == {"vision": (1, 8.0, round(2 * PRICE, 4), 0)}


def test_only_the_part_within_the_time_counts():
    found = held(pod("a", 1, 11), pod("b", 20, 21, job="other"))
    since, until = DAY + timedelta(hours=10), DAY + timedelta(hours=12)
    assert hours(found, since=since, until=until) == {"vision": (1, 4.0, round(PRICE, 4), 0)}
    assert hours(found, since=DAY + timedelta(hours=12), until=DAY + timedelta(hours=13)) == {}


def test_a_suspended_jobs_time_between_is_not_counted():
    # Kueue suspends by deleting the pods: the ledger has the first ones, ended when they were seen last.
    first = held(pod("a", 1, None), now=DAY + timedelta(hours=2))
    later = merge_allocations(first, held(pod("b", 5, 6)), {}, "lab")
    assert hours(later) == {"vision": (1, 8.0, round(2 * PRICE, 4), 0)}
    assert [each.exact for each in later] == [False, True]


def test_several_pools_by_user_with_and_without_a_price():
    found = held(
        pod("a", 0, 1), pod("b", 0, 2, on="gpu-1", user="ben", job="own"), pod("c", 0, 1, on="gpu-1", job="other")
    )
    # ana: 4 GPU-hours rented and 4 on an own server; ben: 8 on own servers.
    assert hours(found, "user") == {"ana": (2, 8.0, round(PRICE, 4), 4.0), "ben": (1, 8.0, 0, 8.0)}
    assert hours(found, "user", **{"lab-v100": 0.5}) == {
        "ana": (2, 8.0, round(PRICE + 2, 4), 0),
        "ben": (1, 8.0, 4.0, 0),
    }
    # Nothing, where the owner says so.
    assert hours(found, "user", **{"lab-v100": 0.0})["ben"] == (1, 8.0, 0, 0)
    assert hours(found, "project") == {"llm": (3, 16.0, round(PRICE, 4), 12.0)}


def test_spot_and_other_capacity():
    spot = node("n1", gpufleet_dev__capacity="spot")
    spot["metadata"]["labels"]["gpufleet.dev/capacity"] = "spot"
    [record] = allocated_by_pods([pod("a", 0, 1)], [spot], "lab", None, NOW)
    known = aws().spot_prices.get((G5, "us-east-1"))
    assert prices({})(record) == (known.usd_high / 4 if known else None)
    block = node("n1")
    block["metadata"]["labels"]["gpufleet.dev/capacity"] = "capacity-block"
    [record] = allocated_by_pods([pod("a", 0, 1)], [block], "lab", None, NOW)
    assert prices({})(record) is None


def test_jobs_whose_pods_are_gone_count_by_their_own_times():
    jobs = [job("gone", 1, 3), job("known", 1, 3), job("runs", 1, None), job("never", None, None)]
    found = list(allocated_by_jobs(jobs, {"uid-known": {"known-worker-0"}}, "lab", "llm", NOW))
    assert [(each.job, each.gpus, each.exact) for each in found] == [("gone", 8, False)]
    assert hours(found)["vision"][:2] == (1, 16.0)


def job_set(name: str, *conditions: tuple[str, str, float], workers: int = 3) -> dict:
    """A JobSet of workers with 4 GPUs, made at midnight. conditions: type, status and hour of the day."""
    pod_spec = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "4"}}}]}
    spec = {"parallelism": workers, "template": {"spec": pod_spec}}
    told = [{"type": type_, "status": status, "lastTransitionTime": at(hour)} for type_, status, hour in conditions]
    return {
        "kind": "JobSet",
        "metadata": {
            "name": name,
            "namespace": "vision",
            "uid": f"uid-{name}",
            "labels": {"gpufleet.dev/user": "ana"},
            "creationTimestamp": at(0),
        },
        "spec": {"replicatedJobs": [{"name": "worker", "template": {"spec": spec}}]},
        "status": {"conditions": told},
    }


def test_workers_of_a_jobset_that_are_gone_count_from_when_its_queue_let_it_begin():
    jobs = [
        job_set("queued", ("Suspended", "False", 1), ("Completed", "True", 3)),
        job_set("free", ("Failed", "True", 2), workers=1),
        job_set("runs", ("Suspended", "False", 1)),
        job_set("waits", ("Suspended", "True", 1)),
    ]
    found = list(allocated_by_jobs(jobs, {}, "lab", "llm", NOW))
    assert [(each.name, each.gpus, each.exact) for each in found] == [
        ("queued-worker-0-0", 4, False),
        ("queued-worker-0-1", 4, False),
        ("queued-worker-0-2", 4, False),
        ("free-worker-0-0", 4, False),
    ]
    # 12 GPUs for 2 hours, and 4 for 2.
    assert hours(found)["vision"][:2] == (2, 32.0)


def test_failed_jobset_counts_the_workers_that_are_gone_beside_the_one_that_is_left():
    """The Job controller deletes what ran when a worker failed."""
    left = pod("train-worker-0-1-abcde", 1, 3, phase="Failed", job="x")
    left["metadata"]["labels"] |= {
        "jobset.sigs.k8s.io/jobset-name": "train",
        "jobset.sigs.k8s.io/jobset-uid": "uid-train",
    }
    del left["metadata"]["labels"]["training.kubeflow.org/job-name"]
    seen = held(left)
    assert [(each.job, each.job_uid) for each in seen] == [("train", "uid-train")]
    failed = [job_set("train", ("Suspended", "False", 1), ("Failed", "True", 3), workers=11)]
    gone = list(allocated_by_jobs(failed, {"uid-train": {seen[0].name}}, "lab", "llm", NOW))
    # Worker 10 is not worker 1.
    assert [int(each.name.rpartition("-")[2]) for each in gone] == [0, *range(2, 11)]
    merged = merge_allocations([], [*seen, *gone], ends_of_jobs(failed), "lab")
    assert hours(merged) == {"vision": (1, 88.0, round(2 * PRICE, 4), 80.0)}
    # The next look finds nobody else.
    names = {each.name for each in merged}
    assert list(allocated_by_jobs(failed, {"uid-train": names}, "lab", "llm", NOW)) == []


def test_a_pod_that_is_gone_ended_with_its_job_or_when_it_was_seen():
    seen = DAY + timedelta(hours=2)
    before = held(pod("a", 1, None), pod("b", 1, None, job="other", on="n2"), now=seen)
    after = merge_allocations(before, [], ends_of_jobs([job("train", 1, 4)]), "lab")
    ends = {each.job: (each.end, each.exact) for each in after}
    assert ends == {"train": (DAY + timedelta(hours=4), True), "other": (seen, False)}
    # And is not counted any further by the next look.
    assert merge_allocations(after, [], {}, "lab") == after


def test_another_environments_records_stay_as_they_are():
    before = held(pod("a", 1, None))
    assert merge_allocations(before, [], {}, "rented") == before


def test_a_job_that_was_counted_by_its_times_gives_way_to_its_pods():
    by_job = list(allocated_by_jobs([job("train", 1, 3)], {}, "lab", None, NOW))
    assert [each.uid for each in merge_allocations(by_job, held(pod("a", 1, 3)), {}, "lab")] == ["uid-a"]


def test_a_node_that_is_gone_keeps_its_price():
    before = held(pod("a", 1, None), now=DAY + timedelta(hours=2))
    now = list(allocated_by_pods([pod("a", 1, 3)], [], "lab", "llm", NOW))
    assert prices({})(now[0]) is None
    assert hours(merge_allocations(before, now, {}, "lab")) == {"vision": (1, 8.0, round(2 * PRICE, 4), 0)}


def test_an_evicted_pod_ends_by_its_conditions():
    evicted = pod("a", 1, 9, phase="Failed")
    evicted["status"]["containerStatuses"] = []
    evicted["status"]["conditions"].append({"type": "DisruptionTarget", "status": "True", "lastTransitionTime": at(2)})
    [record] = held(evicted)
    assert (record.end, record.exact) == (DAY + timedelta(hours=2), False)


def test_clocks_that_disagree_hold_nothing_back():
    [record] = held(pod("a", 5, 4))
    assert hours([record]) == {}


def test_the_ledger_is_one_record_for_each_pod(tmp_path: Path):
    file = tmp_path / "usage.jsonl"
    assert read_ledger(file) == []
    for hour in (2, 3, 4):
        look = held(pod("a", 1, None if hour < 4 else 3.5), now=DAY + timedelta(hours=hour))
        write_ledger(file, merge_allocations(read_ledger(file), look, {}, "lab"))
    [record] = read_ledger(file)
    assert record.end == DAY + timedelta(hours=3.5)
    assert hours([record]) == {"vision": (1, 10.0, round(2.5 * PRICE, 4), 0)}
    file.write_text(json.dumps(json.loads(file.read_text()) | {"later": 1}) + "\n")
    assert read_ledger(file) == [record]


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"uid": "a"}'])
def test_a_broken_ledger_says_which_line(tmp_path: Path, line: str):
    file = tmp_path / "usage.jsonl"
    write_ledger(file, held(pod("a", 1, 2)))
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(UserError, match=f"{file}: line 2: .*; correct or remove the line"):
        read_ledger(file)


def test_a_ledger_that_cannot_be_written(tmp_path: Path):
    with pytest.raises(UserError, match=r"cannot be written: No such file"):
        write_ledger(tmp_path / "none" / "usage.jsonl", [])


def test_what_a_person_sees():
    found = held(pod("a", 0, 1), pod("b", 0, 2, on="gpu-1", user="ben", job="own"))
    lines = list(UsageSummary("lab", "user", DAY, NOW, found, prices({}), ledger=False).lines())
    assert lines == [
        "user    jobs     GPU-hours           USD",
        "ben        1          8.00       unknown",
        f"ana        1          4.00  {f'{PRICE:,.2f}':>12}",
        f"all        2         12.00  {PRICE:,.2f} and more",
        "lab: 8.00 GPU-hours have no price and are in no sum (lab-v100); own servers get one by "
        "gpufleet:usd_per_gpu_hour",
        "lab: without --record this is what the cluster still knows, about a day",
        "Held GPUs only, at their part of the node's price: no idle nodes, no disks, no network.",
    ]
    shown = UsageSummary("lab", "user", DAY, NOW, found, prices({}), ledger=True).as_json()
    assert shown["rows"][0]["usd"] is None
    assert shown["all"] == {
        "name": "all",
        "jobs": 2,
        "gpuHours": 12.0,
        "usd": round(PRICE, 4),
        "gpuHoursWithoutPrice": 8.0,
        "gpuHoursInexact": 0,
    }
    assert total_row([]).gpu_hours == 0
