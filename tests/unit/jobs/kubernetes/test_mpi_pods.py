"""The pods of an MPI job: what they ask for, where they go, and what they may do."""

import copy

import pytest
from kubernetes_validate import ValidationError, validate

from gpufleet.jobs.kubernetes.mpi_job import mpi_job, rank_environment
from tests.unit.jobs.kubernetes.mpi_jobs import LARGE, SMALL, container, pod, role

KUBERNETES = "1.34"


@pytest.mark.parametrize("args", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("name", ["Launcher", "Worker"])
def test_pods_fit_the_schema_of_kubernetes(args, name):
    template = role(mpi_job("llm", args), name)["template"]
    whole = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": {**template["metadata"], "name": "llm"}}
    validate(whole, KUBERNETES, strict=True)
    broken = copy.deepcopy(whole)
    broken["spec"]["containers"][0]["imagee"] = "typo"
    with pytest.raises(ValidationError):
        validate(broken, KUBERNETES, strict=True)


def test_workers_of_efa_nodes():
    devices = {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32", "hugepages-2Mi": "5120Mi"}
    worker = container(mpi_job("llm", LARGE), "Worker")
    assert worker["resources"] == {
        "limits": devices,
        "requests": {"cpu": "180", "memory": "1800Gi", **devices},
    }


def test_workers_of_plain_nodes():
    assert container(mpi_job("llm", SMALL), "Worker")["resources"] == {
        "limits": {"nvidia.com/gpu": "1"},
        "requests": {"cpu": "1", "memory": "4Gi", "nvidia.com/gpu": "1"},
    }


@pytest.mark.parametrize(
    ("change", "count"),
    [
        ({"gpus_per_worker": 2}, "8"),
        ({"efa_per_worker": 4}, "4"),
        ({"instance_type": "own"}, "1"),
        ({"instance_type": "g5.8xlarge", "gpus_per_worker": 1}, "1"),
    ],
    ids=["share", "given", "unknown type", "single"],
)
def test_efa_interfaces_of_a_worker(change, count):
    assert container(mpi_job("llm", LARGE | change), "Worker")["resources"]["limits"]["vpc.amazonaws.com/efa"] == count


def test_the_launcher_needs_no_gpu_and_no_gpu_node():
    manifest = mpi_job("llm", LARGE)
    launcher = pod(manifest, "Launcher")
    assert container(manifest, "Launcher")["resources"] == {"requests": {"cpu": "500m", "memory": "1Gi"}}
    assert "tolerations" not in launcher
    assert "nodeSelector" not in launcher


def test_the_launcher_is_where_its_workers_are_if_the_cluster_has_two_pod_networks():
    launcher = pod(mpi_job("llm", SMALL | {"launcher_domain": "gpufleet.dev/place"}), "Launcher")
    (term,) = launcher["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term == {
        "labelSelector": {
            "matchLabels": {"training.kubeflow.org/job-name": "llm", "training.kubeflow.org/job-role": "worker"}
        },
        "topologyKey": "gpufleet.dev/place",
    }
    # Nodes without GPUs are better, on that side too.
    assert "nodeAffinity" in launcher["affinity"]
    assert "podAffinity" not in pod(mpi_job("llm", SMALL), "Launcher")["affinity"]


def test_the_launcher_tolerates_gpu_nodes_where_there_may_be_no_others():
    own = {"launcher_on_gpu_nodes": True, "tolerations": [{"key": "lab", "effect": "NO_SCHEDULE"}]}
    launcher = pod(mpi_job("llm", SMALL | own), "Launcher")
    # Not whatever value: the flavors of a queue have one of their own, so that launchers get none of them.
    assert launcher["tolerations"] == [
        *(
            {"key": "nvidia.com/gpu", "operator": "Equal", "value": value, "effect": "NoSchedule"}
            for value in ("present", "true", "")
        ),
        {"key": "lab", "operator": "Exists", "effect": "NoSchedule"},
    ]


def test_workers_go_to_the_nodes_of_the_pool():
    worker = pod(mpi_job("llm", LARGE), "Worker")
    assert worker["nodeSelector"] == {
        "nvidia.com/gpu.present": "true",
        "gpufleet.dev/pool": "trainers",
        "node.kubernetes.io/instance-type": "p5.48xlarge",
        "gpufleet.dev/zone-id": "use1-az1",
        "gpufleet.dev/network": "efa",
    }
    assert worker["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "team", "operator": "Equal", "value": "vision", "effect": "NoSchedule"},
    ]
    assert "affinity" not in worker


def test_workers_without_a_zone_follow_the_first_one():
    worker = pod(mpi_job("llm", SMALL), "Worker")
    assert worker["nodeSelector"] == {"nvidia.com/gpu.present": "true"}
    (term,) = worker["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term == {
        "labelSelector": {
            "matchLabels": {"training.kubeflow.org/job-name": "llm", "training.kubeflow.org/job-role": "worker"}
        },
        "topologyKey": "topology.kubernetes.io/zone",
    }


def test_topology_is_asked_for_on_the_workers_only():
    manifest = mpi_job("llm", LARGE)
    stay = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}
    topology = {"kueue.x-k8s.io/podset-required-topology": "gpufleet.dev/zone-id"}
    assert role(manifest, "Worker")["template"]["metadata"]["annotations"] == stay | topology
    assert role(manifest, "Launcher")["template"]["metadata"]["annotations"] == stay


@pytest.mark.parametrize("name", ["Launcher", "Worker"])
def test_volumes(name):
    assert pod(mpi_job("llm", LARGE), name)["volumes"] == [
        {"name": "shared-memory", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}},
        {"name": "shared-files", "persistentVolumeClaim": {"claimName": "shared"}},
        {"name": "read-0", "persistentVolumeClaim": {"claimName": "images", "readOnly": True}},
    ]
    assert container(mpi_job("llm", LARGE), name)["volumeMounts"] == [
        {"name": "shared-memory", "mountPath": "/dev/shm"},
        {"name": "shared-files", "mountPath": "/data"},
        {"name": "read-0", "mountPath": "/images", "readOnly": True},
    ]


@pytest.mark.parametrize("name", ["Launcher", "Worker"])
def test_pods_keep_to_pod_security_restricted(name):
    """What the profile demands: kubernetes.io/docs/concepts/security/pod-security-standards/#restricted."""
    manifest = mpi_job("llm", LARGE)
    assert pod(manifest, name)["securityContext"] == {
        "runAsUser": 1001,
        "runAsGroup": 1002,
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container(manifest, name)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {*(next(iter(each.keys() - {"name"})) for each in pod(manifest, name)["volumes"])} <= {
        "emptyDir",
        "persistentVolumeClaim",
    }
    assert pod(manifest, name)["automountServiceAccountToken"] is False


def test_a_job_of_root_keeps_the_runtimes_capabilities():
    manifest = mpi_job("llm", SMALL | {"uid": 0})
    assert pod(manifest, "Worker")["securityContext"]["runAsNonRoot"] is False
    assert container(manifest, "Worker")["securityContext"] == {"allowPrivilegeEscalation": False}
    environment = rank_environment("llm", SMALL | {"uid": 0})
    assert environment["OMPI_ALLOW_RUN_AS_ROOT"] == environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] == "1"


def test_identity_of_pods():
    spec = pod(mpi_job("llm", LARGE), "Worker")
    assert spec["imagePullSecrets"] == [{"name": "ngc"}]
    assert spec["serviceAccountName"] == "trainer"
    assert not {"imagePullSecrets", "serviceAccountName"} & set(pod(mpi_job("llm", SMALL), "Worker"))


@pytest.mark.parametrize(
    ("change", "seconds"),
    [
        ({}, 100),
        ({"instance_type": "p5.48xlarge"}, 100),
        ({"instance_type": "Standard_ND96asr_v4"}, 25),
        ({"instance_type": "Standard_ND96asr_v4", "grace_seconds": 40}, 40),
    ],
)
def test_grace(change, seconds):
    manifest = mpi_job("llm", SMALL | change)
    for name in ("Launcher", "Worker"):
        assert pod(manifest, name)["terminationGracePeriodSeconds"] == seconds
        assert str(seconds) in container(manifest, name)["command"][5:7]
