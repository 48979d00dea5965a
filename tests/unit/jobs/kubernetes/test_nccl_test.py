"""A run of nccl-tests against the floor, and nodes against what a run needs."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.kubernetes import nccl_test
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.nccl_parser import NcclRow, NcclRun
from gpufleet.jobs.kubernetes.nccl_test import FLOOR, PROGRAM, check_events, check_run, rank_command
from gpufleet.jobs.kubernetes.node_readiness import check_nodes
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.jobs.settings import read_settings
from gpufleet.rules.rule import Status
from tests.tools.fake_cluster import FakeCluster, played


def pool(type_name: str, network: str = "efa", most: int = 4) -> PoolInfo:
    output = {"types": [type_name], "zones": ["use1-az1"], "network": network, "max": float(most)}
    return read_settings({"kubeconfig": "k", "jobs": {"pools": {"p": output}}}, "dev").pool("p")


def run(busbw: float, size: int = 2**30, wrong: int = 0, hosts: int = 2) -> NcclRun:
    return NcclRun([NcclRow(size, busbw, busbw, wrong)], {f"h{number}": {number} for number in range(hosts)})


RUN = "bus bandwidth with 1024 MiB on 2 nodes"
EFA_FIX = "use an image with aws-ofi-nccl: --image; look at the EFA device plugin and the pods' ulimit -l"
IB_FIX = "use an image with libibverbs: --image; look at the RDMA device plugin"
H100 = "Standard_ND96isr_H100_v5"


def took(busbw: float, network: str, provider: str | None = None) -> NcclRun:
    return replace(run(busbw), network=network, provider=provider)


@pytest.mark.parametrize(
    ("type_name", "found", "nodes", "line"),
    [
        # p4d.24xlarge: 400 Gbit/s are 50 GB/s, half of it is the floor.
        (
            "p4d.24xlarge",
            took(25.0, "AWS Libfabric", "efa"),
            2,
            f"pass        bandwidth: 25.0 GB/s {RUN} over AWS Libfabric (efa), 50% of 400 "
            "Gbit/s, floor 25.0 GB/s (50%)",
        ),
        (
            "p4d.24xlarge",
            run(25.0),
            2,
            f"pass        bandwidth: 25.0 GB/s {RUN}, 50% of 400 Gbit/s, floor 25.0 GB/s (50%)",
        ),
        (
            "p4d.24xlarge",
            took(24.9, "Libfabric", "efa;ofi_rxr"),
            2,
            f"fail        bandwidth: 24.9 GB/s {RUN} over Libfabric (efa;ofi_rxr), 50% of "
            "400 Gbit/s, floor 25.0 GB/s (50%); look for one slow node by halves: check each half of the nodes",
        ),
        (
            "p4d.24xlarge",
            run(99, 2**26),
            2,
            "unverified  bandwidth: 99.0 GB/s bus bandwidth with 64 MiB on 2 nodes: too small a size to tell; run with "
            "128 MiB or more",
        ),
        (
            "p4d.24xlarge",
            run(99),
            1,
            "unverified  bandwidth: 99.0 GB/s bus bandwidth with 1024 MiB on 1 nodes: one node's GPUs do not use the "
            "network; check with --nodes 2 or more",
        ),
        (
            "p4d.24xlarge",
            run(99, wrong=3),
            2,
            "fail        bandwidth: 3 values were wrong; a GPU or its memory is broken: run dcgmi diag on each node",
        ),
        (
            "p4d.24xlarge",
            run(99, hosts=1),
            2,
            "fail        bandwidth: it ran on 1 of 2 nodes; look at the hostfile and mpirun's options",
        ),
        (
            "p4d.24xlarge",
            NcclRun(),
            2,
            "fail        bandwidth: the run printed no result of nccl-tests; look at the image: --image",
        ),
        (
            "not.known",
            run(99),
            2,
            f"unverified  bandwidth: 99.0 GB/s {RUN}; the network of not.known is not in "
            "the catalog; compare it yourself",
        ),
    ],
)
def test_bandwidth_is_judged(type_name: str, found: NcclRun, nodes: int, line: str) -> None:
    assert check_run(found, pool(type_name), nodes, FLOOR).line == line


@pytest.mark.parametrize(
    ("type_name", "network", "found", "line"),
    [
        (
            "p4d.24xlarge",
            "efa",
            took(49, "Socket"),
            f"fail        bandwidth: 49.0 GB/s {RUN} over Socket (TCP), not over the pool's EFA; {EFA_FIX}",
        ),
        (
            "p4d.24xlarge",
            "efa",
            took(49, "Libfabric", "tcp;ofi_rxm"),
            f"fail        bandwidth: 49.0 GB/s {RUN} over Libfabric (tcp;ofi_rxm), not over the pool's EFA; {EFA_FIX}",
        ),
        (
            "g6e.xlarge",
            "plain",
            took(1.5, "Socket"),
            f"pass        bandwidth: 1.5 GB/s {RUN} over Socket (TCP), 60% of 20 Gbit/s, floor 1.2 GB/s (50%)",
        ),
        # 3200 Gbit/s of InfiniBand, not the 80 of its Ethernet.
        (
            H100,
            "infiniband",
            took(199, "IBext_v8"),
            f"fail        bandwidth: 199.0 GB/s {RUN} over IBext_v8, 50% of 3200 Gbit/s, "
            "floor 200.0 GB/s (50%); look for one slow node by halves: check each half of the nodes",
        ),
        (
            H100,
            "infiniband",
            took(9, "Socket"),
            f"fail        bandwidth: 9.0 GB/s {RUN} over Socket (TCP), not over the pool's InfiniBand; {IB_FIX}",
        ),
        (
            H100,
            "plain",
            took(9, "Socket"),
            f"pass        bandwidth: 9.0 GB/s {RUN} over Socket (TCP), 90% of 80 Gbit/s, floor 5.0 GB/s (50%)",
        ),
    ],
)
def test_network_that_nccl_took_is_told_and_compared_with_the_pools(
    type_name: str, network: str, found: NcclRun, line: str
) -> None:
    assert check_run(found, pool(type_name, network), 2, FLOOR).line == line


@pytest.mark.parametrize(("network", "fabric", "fix"), [("efa", "EFA", EFA_FIX), ("infiniband", "InfiniBand", IB_FIX)])
def test_image_without_the_network_is_told_as_that(network: str, fabric: str, fix: str) -> None:
    events = [
        Event(EventKind.LINE, "c-worker-0:21:21 [0] net.cc:330 NCCL WARN Failed to initialize any NET plugin"),
        Event(EventKind.LINE, "c-worker-0: Test NCCL failure common.cu:1005 'invalid usage'"),
        Event(EventKind.END, "c: failed: the launcher's exit code is 3", 3),
    ]
    [check] = check_events(events, pool("p4d.24xlarge", network), 2, FLOOR, volume=False)
    assert check.line == f"fail        bandwidth: NCCL cannot use {fabric}; {fix}"


@pytest.mark.parametrize(("rank", "said"), [("0", "INFO INIT"), ("1", " ")])
def test_rank_0_alone_tells_the_network(rank: str, said: str) -> None:
    [shell, option, text] = rank_command(volume=False)
    text = text.replace(f"exec {PROGRAM}", 'echo "$NCCL_DEBUG $NCCL_DEBUG_SUBSYS" #').replace("; }", "\n}")
    environment = {"PATH": os.environ["PATH"], "OMPI_COMM_WORLD_RANK": rank}
    done = subprocess.run([shell, option, text], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{said}\n"


def test_run_that_fails_is_told_by_its_last_words_and_writes_by_node() -> None:
    events = [
        Event(EventKind.LINE, "[1,0]<stdout>:gpufleet: writable on c-worker-0"),
        Event(EventKind.LINE, "touch: /mnt/.x: Permission denied"),
        Event(EventKind.END, "c: failed: the launcher's exit code is 1", 1),
    ]
    writes, nccl_test = check_events(events, pool("p4d.24xlarge"), 2, FLOOR, volume=True)
    assert (writes.status, writes.text) == (Status.FAIL, "written from 1 of 2 nodes")
    assert nccl_test.status is Status.FAIL
    assert nccl_test.text.endswith("exit code is 1; last output: touch: /mnt/.x: Permission denied")


def test_run_that_never_starts_is_told_by_what_it_waits_for() -> None:
    [check] = check_events(
        [Event(EventKind.WAITING, "c-worker-0 waits: ImagePullBackOff")], pool("p4d.24xlarge"), 2, FLOOR, volume=False
    )
    assert (check.status, check.text) == (Status.FAIL, "no result after 20 min: c-worker-0 waits: ImagePullBackOff")


def test_ranks_of_one_node_write_at_once_and_leave_nothing(tmp_path: Path) -> None:
    [shell, option, text] = rank_command(volume=True)
    text = text.replace("/mnt", str(tmp_path)).replace(PROGRAM, "echo ran")
    ranks = [subprocess.Popen([shell, option, text], stdout=subprocess.PIPE, text=True) for _ in range(8)]
    said = [rank.communicate(timeout=300)[0].splitlines() for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * 8
    assert said == [[f"gpufleet: writable on {os.uname().nodename}", "ran -b 1G -e 1G -n 20 -g 1"]] * 8
    assert list(tmp_path.iterdir()) == []


def test_rank_that_cannot_write_does_not_measure(tmp_path: Path) -> None:
    [shell, option, text] = rank_command(volume=True)
    text = text.replace("/mnt", str(tmp_path / "missing")).replace(PROGRAM, "echo ran")
    done = subprocess.run([shell, option, text], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode != 0, done.stdout) == (True, "")


def test_job_that_waits_for_ever_is_given_up_and_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing new happens to it: the time is up all the same."""
    pod = {
        "metadata": {"name": "c-worker-0", "uid": "w"},
        "status": {
            "phase": "Pending",
            "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff", "message": "gone"}}}],
        },
    }
    cluster = FakeCluster(
        objects={"/apis/kubeflow.org/v2beta1": {}, "/api/v1/namespaces/team": {"metadata": {}}},
        lists={"/api/v1/namespaces/team/pods": [pod], "/api/v1/namespaces/team/events": []},
    )
    minutes = count(0, 60)
    monkeypatch.setattr(nccl_test, "time", SimpleNamespace(monotonic=lambda: float(next(minutes))))
    deleted: list[str] = []
    monkeypatch.setattr(nccl_test, "cancel_job", lambda api, namespace, name: deleted.append(name))
    with played(cluster):
        jobs = {"namespace": "team", "pools": {"p": {"types": ["p4d.24xlarge"], "zones": ["use1-az1"]}}}
        settings = read_settings({"kubeconfig": json.dumps(cluster.kubeconfig), "jobs": jobs}, "dev")
        api = KubernetesApi.of(settings.kubeconfig, "dev")
        [check] = nccl_test.check_bandwidth(api, settings, settings.pool("p"), 2, [], print)
    assert check.status is Status.FAIL
    assert check.text == "no result after 20 min: c-worker-0 waits: ImagePullBackOff: gone"
    assert deleted == [each["metadata"]["name"] for each in cluster.created]


def node(number: int, **more: object) -> dict:
    labels = {"gpufleet.dev/zone-id": "use1-az1", "gpufleet.dev/placement": "create"}
    allocatable = {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "4"}
    made = {
        "metadata": {"name": f"n-{number}", "labels": labels},
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": allocatable},
    }
    return json.loads(json.dumps(made | more))


def not_ready(nodes: list[dict]) -> None:
    nodes[1]["status"]["conditions"][0]["status"] = "False"


def cordoned(nodes: list[dict]) -> None:
    nodes[1]["spec"]["unschedulable"] = True


def elsewhere(nodes: list[dict]) -> None:
    nodes[1]["metadata"]["labels"]["gpufleet.dev/zone-id"] = "use1-az2"


def no_zone(nodes: list[dict]) -> None:
    for each in nodes:
        del each["metadata"]["labels"]["gpufleet.dev/zone-id"]


def lost_gpu(nodes: list[dict]) -> None:
    nodes[0]["status"]["allocatable"]["nvidia.com/gpu"] = "7"


def no_gpus(nodes: list[dict]) -> None:
    for each in nodes:
        del each["status"]["allocatable"]["nvidia.com/gpu"]


def lost_efa(nodes: list[dict]) -> None:
    nodes[0]["status"]["allocatable"]["vpc.amazonaws.com/efa"] = "3"


def loose(nodes: list[dict]) -> None:
    nodes[0]["metadata"]["labels"]["gpufleet.dev/placement"] = "none"
    nodes[1]["metadata"]["labels"]["gpufleet.dev/placement"] = "none"


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (not_ready, "fail        nodes: 1 of 2 nodes of pool p are Ready; not ready: n-1; see `kubectl describe node`"),
        (cordoned, "fail        nodes: 1 of 2 nodes of pool p are Ready; not ready: n-1; see `kubectl describe node`"),
        (elsewhere, "fail        zone: 1 of 2 Ready nodes are in use1-az2; give pool p one zone"),
        (no_zone, "unverified  zone: no node tells its zone; label the nodes with topology.kubernetes.io/zone"),
        (
            lost_gpu,
            "fail        GPUs: of 8 on each node, n-0 has 7; look at the NVIDIA device plugin and the node's driver "
            "there; replace the node if one is broken",
        ),
        (
            no_gpus,
            "fail        GPUs: none allocatable on n-0..1; look at the NVIDIA device plugin and the node's driver",
        ),
        (
            lost_efa,
            "fail        EFA: of 4 on each node, n-0 has 3; look at the EFA device plugin there; replace the node if "
            "one is broken",
        ),
        (
            loose,
            "unverified  placement: the pool has no placement group; set placement: create where the network counts",
        ),
    ],
)
def test_what_is_broken_on_nodes_is_one_line_with_the_fix(broken: Callable[[list[dict]], None], line: str) -> None:
    nodes = [node(0), node(1)]
    assert [check.status for check in check_nodes(pool("p4d.24xlarge"), 2, nodes)] == [Status.PASS] * 5
    broken(nodes)
    assert line in [check.line for check in check_nodes(pool("p4d.24xlarge"), 2, nodes)]


def test_pool_that_is_empty_or_too_small_says_so() -> None:
    [empty] = check_nodes(pool("p4d.24xlarge"), 2, [])
    assert empty.line == (
        "fail        nodes: 0 of 2 nodes of pool p are Ready; submit a job that makes it grow, or keep nodes running: "
        "raise the pool's min"
    )
    [small] = check_nodes(pool("p4d.24xlarge"), 5, [])
    assert small.line == (
        "fail        nodes: 0 of 5 nodes of pool p are Ready, and it has at most 4; raise its max and run `pulumi up`"
    )
