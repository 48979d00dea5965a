"""`gpufleet check` from its first line to the verdict on nccl-tests' own output.

Nodes, plugins' DaemonSets, claim and MPI job are real objects of a real control plane. Played is what happens behind
them: no machine is behind a node, which check is told to overlook, and the launcher's log is a file in the format of
nccl-tests that the test writes.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main
from gpufleet.jobs.kubernetes import nccl_test
from gpufleet.kubernetes.device_plugin import plan_device_plugin
from gpufleet.kubernetes.efa_plugin import plan_efa_plugin
from gpufleet.kubernetes.shared_volume import plan_claim, plan_volume
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

GPUFLEET = str(Path(sys.executable).with_name("gpufleet"))
TYPE = "p4d.24xlarge"
"""8 GPUs, 4 EFA interfaces, 400 Gbit/s: the floor is 25 GB/s."""
DAEMON_SETS = "/apis/apps/v1/namespaces/kube-system/daemonsets"
LAUNCHER = "training.kubeflow.org/job-role=launcher"
CODE = "rehearsal.gpufleet.dev/exit-code"


class Environment:
    """An environment's outputs, and `gpufleet check` for it."""

    def __init__(self, operator: ControlPlane, namespace: str, pool: str, folder: Path) -> None:
        self.operator, self.namespace, self.pool, self.folder = operator, namespace, pool, folder
        output = {"types": [TYPE], "zones": ["use1-az1"], "network": "efa", "max": 2}
        jobs = {"namespace": namespace, "pools": {pool: output}, "volume_claim": "shared"}
        self.outputs = folder / "outputs.json"
        self.outputs.write_text(json.dumps({"kubeconfig": operator.kubeconfig.read_text(), "jobs": jobs}))

    def words(self, *more: str) -> list[str]:
        return ["check", "dev", "--outputs", str(self.outputs), "--nodes", "2", *more]

    def check(self, *more: str) -> "subprocess.CompletedProcess[str]":
        """As users run it."""
        command = [GPUFLEET, *self.words(*more)]
        return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture
def plugins(plane: ControlPlane) -> Iterator[None]:
    """The device plugins' DaemonSets, up on every GPU node that is there."""
    names = []
    for document in (plan_device_plugin({}), plan_efa_plugin({})):
        plane.client.apply(document)
        names.append(document["metadata"]["name"])
    yield
    for name in names:
        plane.client.delete(f"{DAEMON_SETS}/{name}")


@pytest.fixture
def environment(
    operator: ControlPlane, nodes: Nodes, namespace: str, plugins: None, tmp_path: Path
) -> Iterator[Environment]:
    """With a bound volume; the pool, which is called like the test's namespace, has no node yet."""
    args: Any = {"namespace": namespace, "source": {"nfs": "10.0.0.5:/export"}}
    operator.client.apply(plan_volume(args))
    operator.client.apply(plan_claim(args))
    yield Environment(operator, namespace, namespace, tmp_path)
    nodes.remove(node["metadata"]["name"] for node in nodes.of_pool(namespace))


def up(
    environment: Environment, nodes: Nodes, zones: Mapping[str, int], words: Mapping[str, str] | None = None
) -> None:
    """Add nodes by zone, and wait until check has no more to wait for."""
    for zone, count in zones.items():
        nodes.add(count, TYPE, zone, environment.pool, network="efa", words=words or {"placement": "create"})
    client = environment.operator.client
    made = sum(zones.values())

    def ready() -> bool:
        here = {node["metadata"]["name"] for node in nodes.of_pool(environment.pool)}
        up = [
            pod["spec"]["nodeName"]
            for pod in pods(environment.operator, "kube-system")
            if pod["spec"].get("nodeName") in here and pod["status"].get("phase") == "Running"
        ]
        return nodes.ready(environment.pool) == made and len(up) == 2 * made

    def bound() -> bool:
        claim = client.get(f"/api/v1/namespaces/{environment.namespace}/persistentvolumeclaims/shared")
        return bool(claim["status"].get("phase") == "Bound")

    wait_until("nodes and plugins are ready", ready)
    wait_until("the claim is bound", bound)


def nccl(hosts: list[str], busbw: float, *, writes: list[str] | None = None) -> str:
    """The output of all_reduce_perf on 8 GPUs of each host, in its format; and what ranks say before."""
    ranks = [(host, device) for host in hosts for device in range(8)]
    lines = [f"gpufleet: writable on {host}" for host in (hosts if writes is None else writes) for _ in range(8)]
    lines += [
        "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 1073741824 step: 1048576(bytes) warmup iters: 5 iters: 20 "
        "agg iters: 1 validation: 1 graph: 0",
        "#",
        "# Using devices",
        *(
            f"#  Rank {rank:2} Group  0 Pid {100 + device:6} on {host:>10} device {device:2} [0x{16 * (device + 1):x}] "
            "NVIDIA A100-SXM4-40GB"
            for rank, (host, device) in enumerate(ranks)
        ),
        f"{hosts[0]}:100:100 [0] NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)",
        f"{hosts[0]}:100:100 [0] NCCL INFO Using network AWS Libfabric",
        "#",
        "#                                                              out-of-place                       in-place",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
    ]
    factor = 2 * (len(ranks) - 1) / len(ranks)
    algbw = busbw / factor
    measured = f"{2**30 / algbw / 1000:8.0f}  {algbw:6.2f}  {busbw:6.2f}      0"
    lines += [
        f"{2**30:12}     {2**28}     float     sum      -1 {measured} {measured}",
        "# Out of bounds values : 0 OK",
        f"# Avg bus bandwidth    : {busbw:.4f}",
        "#",
    ]
    return "".join(f"2026-11-21T10:00:00.{number:09d}Z stdout F {line}\n" for number, line in enumerate(lines))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`gpufleet check` in this process, with its launcher played: what it writes, and with which code it ends.

    It has ended when its log is read: kwok, other than kubelets, does not end a log that is being followed.
    """

    def run(environment: Environment, *words: str, log: Callable[[list[str]], str], code: int = 0) -> Result:
        client = environment.operator.client
        real = nccl_test.create_job

        def submitted(api: Any, manifest: Any, say: Any) -> Any:
            template = manifest["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]
            template["metadata"].setdefault("annotations", {})[CODE] = "none"
            made = real(api, manifest, say)
            wait_until(
                "the launcher is there", lambda: pods(environment.operator, environment.namespace, LAUNCHER) != [], 60
            )
            play(manifest["metadata"]["name"])
            return made

        def play(job: str) -> None:
            [launcher] = pods(environment.operator, environment.namespace, LAUNCHER)
            file = environment.folder / "launcher.log"
            file.write_text(log([f"{job}-worker-{number}" for number in (0, 1)]))
            name = {"name": launcher["metadata"]["name"], "namespace": environment.namespace}
            spec = {"logs": [{"logsFile": str(file)}]}
            client.apply({"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Logs", "metadata": name, "spec": spec})
            path = client.path(launcher | {"apiVersion": "v1", "kind": "Pod"})
            client.merge(path, {"metadata": {"annotations": {CODE: str(code)}}})
            ended = ("Succeeded", "Failed")
            wait_until("the launcher has ended", lambda: client.get(path)["status"]["phase"] in ended)

        monkeypatch.setattr(nccl_test, "is_fake", lambda node: False)
        monkeypatch.setattr(nccl_test, "create_job", submitted)
        done = CliRunner().invoke(main, environment.words(*words))
        print(done.stderr)
        return done

    return run


def jobs(environment: Environment) -> list[Any]:
    path = f"/apis/kubeflow.org/v2beta1/namespaces/{environment.namespace}/mpijobs"
    return list(environment.operator.client.get(path)["items"])


LOOKED = [
    "pass        MPI operator: kubeflow.org/v2beta1 is served",
    "pass        nodes: 2 of 2 nodes of pool {pool} are Ready",
    "pass        zone: 2 of 2 Ready nodes are in use1-az1",
    "pass        placement: the nodes are of a pool with one placement group",
    "pass        GPUs: 8 allocatable on each of 2 nodes",
    "pass        EFA: 4 allocatable on each of 2 nodes",
]


def test_ready_nodes_and_a_quick_network_pass(
    environment: Environment, nodes: Nodes, run: Callable[..., Result]
) -> None:
    up(environment, nodes, {"use1-az1": 2})
    done = run(environment, log=lambda hosts: nccl(hosts, 29.6))
    assert done.exit_code == 0, done.output
    said = done.stdout.splitlines()
    assert said[:6] == [line.format(pool=environment.pool) for line in LOOKED]
    assert said[6:] == [
        "pass        device plugin: kube-system/nvidia-device-plugin is up on 2 nodes",
        "pass        EFA plugin: kube-system/aws-efa-k8s-device-plugin is up on 2 nodes",
        "pass        shared volume: claim shared is bound, ReadWriteMany",
        "pass        volume writes: written from 2 of 2 nodes",
        "pass        bandwidth: 29.6 GB/s bus bandwidth with 1024 MiB on 2 nodes over AWS Libfabric (efa), 59% of 400 "
        "Gbit/s, floor 25.0 GB/s (50%)",
        f"dev, 2 nodes of {environment.pool}: ready; 0 failed, 0 not verified",
    ]
    assert "submitted" in done.stderr
    wait_until("the job of the measurement is deleted", lambda: jobs(environment) == [])


def test_below_the_floor_fails_and_json_says_the_same(
    environment: Environment, nodes: Nodes, run: Callable[..., Result]
) -> None:
    up(environment, nodes, {"use1-az1": 2})
    done = run(environment, "--json", log=lambda hosts: nccl(hosts, 11.9, writes=hosts[:1]))
    assert done.exit_code == 1, done.output
    found = json.loads(done.stdout)
    assert (found["environment"], found["pool"], found["nodes"], found["code"]) == ("dev", environment.pool, 2, 1)
    assert [each["status"] for each in found["checks"]] == ["pass"] * 9 + ["fail"] * 2
    writes, measured = found["checks"][-2:]
    assert writes["text"] == "written from 1 of 2 nodes"
    assert measured["text"] == (
        "11.9 GB/s bus bandwidth with 1024 MiB on 2 nodes over AWS Libfabric (efa), 24% of 400 Gbit/s, floor 25.0 GB/s "
        "(50%)"
    )
    assert measured["fix"] == "look for one slow node by halves: check each half of the nodes"


def test_run_that_ends_with_an_error_is_told_by_its_last_words(
    environment: Environment, nodes: Nodes, run: Callable[..., Result]
) -> None:
    up(environment, nodes, {"use1-az1": 2})
    words = "check-worker-1: Test NCCL failure common.cu:958 'unhandled system error'"
    done = run(environment, log=lambda hosts: f"2026-11-21T10:00:00.000000000Z stdout F {words}\n", code=2)
    assert done.exit_code == 1, done.output
    assert "the launcher's exit code is 2" in done.stdout
    assert f"last output: {words}; fix that and check again" in done.stdout
    wait_until("its job is deleted", lambda: jobs(environment) == [])


def test_node_of_another_zone_fails_and_nothing_is_measured(environment: Environment, nodes: Nodes) -> None:
    up(environment, nodes, {"use1-az1": 1, "use1-az2": 1})
    done = environment.check()
    assert done.returncode == 1, done.stderr
    said = done.stdout.splitlines()
    assert f"fail        zone: 1 of 2 Ready nodes are in use1-az2; give pool {environment.pool} one zone" in said
    assert "unverified  bandwidth: not measured while something else fails; fix that first" in said
    assert said[-1] == f"dev, 2 nodes of {environment.pool}: not ready; 1 failed, 1 not verified"
    assert jobs(environment) == []


def test_plugin_that_does_not_run_on_one_node_fails(environment: Environment, nodes: Nodes) -> None:
    """It waits there for its image."""
    up(environment, nodes, {"use1-az1": 2})
    client = environment.operator.client
    node = nodes.of_pool(environment.pool)[1]["metadata"]["name"]
    [plugin] = [
        pod
        for pod in pods(environment.operator, "kube-system", "app.kubernetes.io/name=nvidia-device-plugin")
        if pod["spec"].get("nodeName") == node
    ]
    path = f"/api/v1/namespaces/kube-system/pods/{plugin['metadata']['name']}/status"
    client.merge(path, {"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    done = environment.check()
    assert done.returncode == 1, done.stderr
    assert (
        f"fail        device plugin: kube-system/nvidia-device-plugin is up on 1 of 2 nodes, not on {node}; "
        "see `kubectl describe daemonset -n kube-system nvidia-device-plugin`"
    ) in done.stdout.splitlines()


def test_missing_plugins_fail(environment: Environment, nodes: Nodes) -> None:
    """Without NVIDIA's plugin, and so without the GPUs that it would tell of; that of EFA is not taken for it."""
    up(environment, nodes, {"use1-az1": 2})
    client = environment.operator.client
    client.delete(f"{DAEMON_SETS}/nvidia-device-plugin")
    gone = {"nvidia.com/gpu": None}
    for node in nodes.of_pool(environment.pool):
        path = f"/api/v1/nodes/{node['metadata']['name']}/status"
        client.merge(path, {"status": {"capacity": gone, "allocatable": gone}})
    done = environment.check()
    assert done.returncode == 1, done.stderr
    failed = [line for line in done.stdout.splitlines() if line.startswith("fail")]
    names = f"{environment.pool}-use1-az1-0..1"
    assert failed == [
        f"fail        GPUs: none allocatable on {names}; look at the NVIDIA device plugin and the node's driver",
        "fail        device plugin: there is no DaemonSet of it; install it with `pulumi up`",
    ]
    client.delete(f"{DAEMON_SETS}/aws-efa-k8s-device-plugin")
    line = "fail        EFA plugin: there is no DaemonSet of it; install it with `pulumi up`"
    assert line in environment.check().stdout.splitlines()


def test_fake_nodes_are_not_measured(environment: Environment, nodes: Nodes) -> None:
    """What a rehearsal shows: nothing is claimed of a network that is not there."""
    up(environment, nodes, {"use1-az1": 2})
    done = environment.check()
    assert done.returncode == 0, done.stdout
    assert "unverified  bandwidth: the nodes are fake: no container runs on them; run it on real nodes" in done.stdout
    assert environment.check("--strict").returncode == 1
    assert jobs(environment) == []


def test_too_few_nodes_say_how_many_there_can_be(environment: Environment, nodes: Nodes) -> None:
    done = environment.check()
    assert done.returncode == 1
    assert (
        f"fail        nodes: 0 of 2 nodes of pool {environment.pool} are Ready; submit a job that makes it grow"
        in done.stdout
    )
