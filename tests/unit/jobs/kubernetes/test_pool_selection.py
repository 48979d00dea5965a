"""`--gpu V100 --place onprem`: which pools a job may run on, and what its pods say of it."""

from typing import Any

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.submission import build_submission
from gpufleet.jobs.settings import read_settings

POOLS = {
    "v100": {"gpu": "V100", "gpus": 4, "place": "onprem", "zones": ["onprem"], "max": 2, "label": "lab-v100"},
    "titan": {"gpu": "TITAN-V", "gpus": 2, "place": "onprem", "zones": ["onprem"], "max": 1, "label": "lab-titan"},
    "rented": {"types": ["p3dn.24xlarge"], "zones": ["use1-az1"], "max": 2, "label": "lab-rented"},
}
"""Own V100s and TITAN Vs, and rented V100s, 8 of a node."""
JOB = {"command": ["true"], "image": "r.invalid/train:1", "name": "first", "workers": 1}


def job(pools: object = POOLS, queue: str | None = None, **wanted: object) -> dict[str, Any]:
    outputs = {"kubeconfig": "unused", "jobs": {"pools": pools, **({"queue": queue} if queue else {})}}
    return build_submission(read_settings(outputs, "lab"), {**JOB, **wanted}).manifest  # type: ignore[typeddict-item]


def pod(**wanted: Any) -> dict[str, Any]:
    spec: dict[str, Any] = job(**wanted)["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    return spec


def places(**wanted: Any) -> dict[str, str]:
    return {key.rpartition("/")[2]: value for key, value in pod(**wanted)["nodeSelector"].items()}


def gpus(**wanted: Any) -> int:
    return int(pod(**wanted)["containers"][0]["resources"]["limits"]["nvidia.com/gpu"])


def test_a_type_in_a_place_is_its_only_pool() -> None:
    assert places(gpu="V100", place="onprem") == {"gpu.present": "true", "pool": "lab-v100", "zone-id": "onprem"}
    assert gpus(gpu="V100", place="onprem") == 4
    rented = places(gpu="V100", place="cloud")
    assert (rented["pool"], rented["instance-type"], rented["zone-id"]) == ("lab-rented", "p3dn.24xlarge", "use1-az1")
    assert places(gpu="TITAN-V")["pool"] == "lab-titan"


def test_any_place_prefers_own_servers_and_keeps_workers_together() -> None:
    wanted = {"gpu": "V100", "place": "any"}
    assert places(**wanted) == {"gpu.present": "true", "gpu": "V100"}
    affinity = pod(**wanted)["affinity"]
    (first,) = affinity["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert first["preference"]["matchExpressions"][0]["values"] == ["onprem"]
    (term,) = affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "gpufleet.dev/zone-id"
    # A node of either has four.
    assert gpus(**wanted) == 4
    preferred = pod(**wanted, prefer="cloud")["affinity"]["nodeAffinity"]
    (first,) = preferred["preferredDuringSchedulingIgnoredDuringExecution"]
    assert first["preference"]["matchExpressions"][0]["values"] == ["cloud"]


def launcher(**wanted: Any) -> dict[str, Any]:
    spec: dict[str, Any] = job(**wanted)["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]
    return spec


def domains(spec: dict[str, Any]) -> list[str]:
    terms = spec["affinity"].get("podAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])
    return [term["topologyKey"] for term in terms]


JOINED = {name: {**pool, "pod_network": "vpc-cni" if "types" in pool else "cilium"} for name, pool in POOLS.items()}
"""The same, where the own servers have joined a cluster of AWS."""


@pytest.mark.parametrize("place", ["onprem", "cloud", "any"])
def test_the_launcher_is_on_the_side_of_its_workers_in_a_cluster_with_two_pod_networks(place: str) -> None:
    assert domains(launcher(pools=JOINED, gpu="V100", place=place)) == ["gpufleet.dev/place"]
    assert domains(launcher(pools=JOINED, gpu="V100", place=place, queue="gpus")) == ["gpufleet.dev/place"]
    # Everywhere else it goes where there is room.
    assert domains(launcher(gpu="V100", place=place)) == []


def test_the_launcher_tolerates_gpu_nodes_where_own_servers_may_be_all_there_are() -> None:
    assert "tolerations" in launcher(gpu="V100", place="any")
    assert "tolerations" in launcher(gpu="TITAN-V")
    assert "tolerations" not in launcher(gpu="V100", place="cloud")


def test_with_a_queue_its_order_decides_and_pods_say_what_flavors_know() -> None:
    assert "nodeAffinity" not in pod(queue="gpus", gpu="V100", place="any")["affinity"]
    assert places(queue="gpus", pool="v100") == {
        "gpu.present": "true",
        "pool": "lab-v100",
        "zone-id": "onprem",
        "gpu": "V100",
        "place": "onprem",
    }


def test_workers_prefer_the_last_level_of_the_queues_topology() -> None:
    rack = {"topology": "example.com/rack", "queue": "gpus"}

    def preference(jobs: dict[str, Any], **wanted: object) -> str | None:
        outputs = {"kubeconfig": "unused", "jobs": {"pools": POOLS, **jobs}}
        made = build_submission(read_settings(outputs, "lab"), {**JOB, "pool": "v100", **wanted})  # type: ignore[typeddict-item]
        worker = made.manifest["spec"]["mpiReplicaSpecs"]["Worker"]["template"]
        launcher = made.manifest["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]
        name = "kueue.x-k8s.io/podset-preferred-topology"
        assert name not in launcher["metadata"].get("annotations", {}), "it needs no GPU"
        return worker["metadata"]["annotations"].get(name)

    assert preference(rack) == "example.com/rack"
    assert preference({"queue": "gpus"}) is None
    assert preference(rack, queue="of-somebody-else") is None


def test_several_types_of_one_place() -> None:
    assert places(place="onprem") == {"gpu.present": "true", "place": "onprem", "zone-id": "onprem"}
    assert gpus(place="onprem") == 2


def test_taints_of_every_pool_are_tolerated_once() -> None:
    taint = {"key": "lab", "effect": "NO_SCHEDULE"}
    pools = {name: {**pool, "taints": [taint]} for name, pool in POOLS.items()}
    keys = [each["key"] for each in pod(pools=pools, gpu="V100")["tolerations"]]
    assert keys == ["nvidia.com/gpu", "lab"]


def test_one_of_the_pools_has_room() -> None:
    """Of 4 GPUs each: two workers on own servers, four on rented ones."""
    assert job(gpu="V100", place="any", workers=4)["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"] == 4
    with pytest.raises(UserError) as refused:
        job(gpu="V100", place="any", workers=5)
    assert [line.split(",")[0] for line in str(refused.value).splitlines()] == [
        "first: workers=5: pool v100 has at most 2 nodes",
        "first: workers=5: pool rented has at most 2 nodes",
    ]


REFUSED = {
    "no such GPU": (
        {"gpu": "v10"},
        "lab: gpu=v10: no pool has it; use TITAN-V or V100",
    ),
    "not in this place": (
        {"gpu": "TITAN-V", "place": "cloud"},
        "lab: place=cloud: no pool has it with gpu=TITAN-V; use onprem or any",
    ),
    "no such place": (
        {"place": "onprm"},
        "lab: place=onprm: no pool has it; did you mean onprem? (use cloud, onprem or any)",
    ),
    "a preference without a choice": (
        {"place": "cloud", "prefer": "onprem"},
        "lab: prefer=onprem: has no effect with place=cloud; leave one of them out",
    ),
    "a preference for nothing": (
        {"gpu": "TITAN-V", "prefer": "cloud"},
        "lab: prefer=cloud: no nodes there to choose from; use onprem",
    ),
    "a pool of another GPU": (
        {"pool": "titan", "gpu": "V100"},
        "lab: gpu=V100: no pool has it; use TITAN-V",
    ),
    "a preference in a queue": (
        {"queue": "gpus", "gpu": "V100", "prefer": "cloud"},
        "first: prefer=cloud: has no effect in queue gpus, whose flavors have an order; leave it out [any-mpi-prefer]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_with_what_there_is(case: str) -> None:
    wanted, line = REFUSED[case]
    with pytest.raises(UserError) as refused:
        job(**wanted)  # type: ignore[arg-type]
    assert str(refused.value) == line


def test_a_job_does_not_go_where_its_shared_files_are_not_reached() -> None:
    pools = POOLS | {"rented": POOLS["rented"] | {"reaches_files": False}}
    wanted = {"gpu": "V100", "volume_claim": "shared"}
    for place in ("any", "cloud"):
        with pytest.raises(UserError) as refused:
            job(pools, **wanted, place=place)
        assert str(refused.value) == (
            "first: place=cloud: the job may run there, and its shared files at onprem are not reached from there; use "
            "--place onprem, or give the environment a gpufleet:link [any-job-reaches-files]"
        )
    assert job(pools, **wanted, place="onprem")
    assert job(pools, gpu="V100", place="any")
