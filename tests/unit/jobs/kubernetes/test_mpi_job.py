"""The manifest of an MPI job: what its pods ask for, run and may do."""

import copy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from kubernetes_validate import ValidationError, validate

from gpufleet.jobs.kubernetes.first_process import PATIENCE_SECONDS
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, launcher_command, mpi_job, mpirun_command, rank_environment
from gpufleet.jobs.mpi_network import network_environment
from gpufleet.jobs.mpi_ssh import ssh_arguments, sshd_command
from gpufleet.rules import Status, judge_arguments
from gpufleet.rules.kubernetes.mpi_job import judge_mpi_job

KUBERNETES = "1.34"
SMALL: MpiJobArgs = {
    "namespace": "vision",
    "workers": 2,
    "gpus_per_worker": 1,
    "image": "registry.example.com/train:1",
    "command": ["python3", "train.py"],
}
LARGE: MpiJobArgs = {
    **SMALL,
    "workers": 512,
    "gpus_per_worker": 8,
    "pool": "trainers",
    "instance_type": "p5.48xlarge",
    "zone": "use1-az1",
    "network": "efa",
    "volume_claim": "shared",
    "mount_path": "/data",
    "shared_memory_gib": 64,
    "cpus": 180,
    "memory_gib": 1800,
    "queue": "vision",
    "topology": "gpufleet.dev/zone-id",
    "retries": 3,
    "time_limit_seconds": 3600,
    "ttl_seconds": 600,
    "uid": 1001,
    "gid": 1002,
    "image_pull_secret": "ngc",
    "service_account": "trainer",
    "env": {"NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": "=net1"},
    "labels": {"owner": "ml"},
    "tolerations": [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}],
}


def role(manifest: dict, name: str) -> dict:
    return manifest["spec"]["mpiReplicaSpecs"][name]


def pod(manifest: dict, name: str) -> dict:
    return role(manifest, name)["template"]["spec"]


def container(manifest: dict, name: str) -> dict:
    (only,) = pod(manifest, name)["containers"]
    return only


def judged(args: MpiJobArgs) -> list[str]:
    findings = [*judge_arguments(args, MpiJobArgs), *judge_mpi_job("llm", args)]
    return [each.line("llm") for each in findings if each.status is not Status.PASS]


@pytest.mark.parametrize("args", [SMALL, LARGE], ids=["small", "large"])
def test_samples_are_legal(args):
    assert judged(args) == []


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


def test_a_manifest_is_plain_data_and_leaves_its_arguments_alone():
    before = copy.deepcopy(LARGE)
    manifest = mpi_job("llm", LARGE)
    assert before == LARGE
    assert yaml.safe_load(yaml.safe_dump(manifest)) == manifest


def test_null_is_not_given():
    optional = MpiJobArgs.__optional_keys__
    assert mpi_job("llm", SMALL | dict.fromkeys(optional)) == mpi_job("llm", SMALL)


def test_only_the_number_changes():
    small, large = mpi_job("llm", LARGE), mpi_job("llm", LARGE | {"workers": 2})
    role(large, "Worker")["replicas"] = 512
    words = container(large, "Launcher")["command"]
    words[words.index("16")] = "4096"
    assert small == large


def test_what_the_operator_is_told():
    manifest = mpi_job("llm", LARGE)
    assert manifest["metadata"] == {
        "name": "llm",
        "namespace": "vision",
        "labels": {"owner": "ml", "kueue.x-k8s.io/queue-name": "vision"},
    }
    spec = {key: value for key, value in manifest["spec"].items() if key != "mpiReplicaSpecs"}
    assert spec == {
        "slotsPerWorker": 8,
        "runPolicy": {
            "cleanPodPolicy": "Running",
            "ttlSecondsAfterFinished": 600,
            "backoffLimit": 3,
            "activeDeadlineSeconds": 3600,
            "suspend": True,
        },
        "sshAuthMountPath": "/etc/gpufleet/ssh",
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiImplementation": "OpenMPI",
    }
    assert (role(manifest, "Launcher")["replicas"], role(manifest, "Worker")["replicas"]) == (1, 512)


def test_without_a_queue_nothing_is_suspended():
    manifest = mpi_job("llm", SMALL)
    assert manifest["spec"]["runPolicy"] == {
        "cleanPodPolicy": "Running",
        "ttlSecondsAfterFinished": 86400,
        "backoffLimit": 0,
    }
    assert "labels" not in manifest["metadata"]


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
    ]
    assert container(mpi_job("llm", LARGE), name)["volumeMounts"] == [
        {"name": "shared-memory", "mountPath": "/dev/shm"},
        {"name": "shared-files", "mountPath": "/data"},
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


def test_the_command_runs_once_for_each_gpu():
    environment = rank_environment("llm", SMALL)
    assert mpirun_command(SMALL, environment) == [
        "mpirun",
        "-np",
        "2",
        "--map-by",
        "slot",
        "--bind-to",
        "none",
        "--mca",
        "plm_rsh_args",
        ssh_arguments(1000),
        *("-x", "GLOO_SOCKET_IFNAME", "-x", "MASTER_ADDR", "-x", "MASTER_PORT"),
        *("-x", "NCCL_IB_DISABLE", "-x", "NCCL_SOCKET_IFNAME"),
        "python3",
        "train.py",
    ]


@pytest.mark.parametrize("program", ["mpirun", "mpiexec", "/opt/amazon/openmpi/bin/mpirun"])
def test_a_command_of_mpiruns_own_stays(program):
    args = SMALL | {"command": [program, "-np", "4", "hostname"]}
    assert launcher_command(args, {})[7:] == [program, "-np", "4", "hostname"]


def test_the_launcher_waits_for_workers_and_both_pass_on_notice():
    manifest = mpi_job("llm", SMALL)
    shell, option, script, *words = container(manifest, "Launcher")["command"]
    assert (shell, option) == ("/bin/sh", "-c")
    assert words[:5] == ["launcher", str(PATIENCE_SECONDS), "100", ssh_arguments(1000), "mpirun"]
    assert "wait_for_workers\n" in script
    shell, option, script, *words = container(manifest, "Worker")["command"]
    assert (shell, option) == ("/bin/sh", "-c")
    assert words == ["worker", "100", *sshd_command(1000)]
    assert "trap leave TERM" in script
    assert not [line for line in script.splitlines() if line.lstrip().startswith("#")]


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
        assert str(seconds) in container(manifest, name)["command"][4:6]


def test_ssh_and_sshd_agree_on_port_and_key():
    sshd = " ".join(sshd_command(1000))
    assert "-p 2222 -h /etc/gpufleet/ssh/id_rsa" in sshd
    assert "AuthorizedKeysFile=/etc/gpufleet/ssh/authorized_keys" in sshd
    assert ssh_arguments(1000).startswith("-p 2222 -i /etc/gpufleet/ssh/id_rsa ")
    assert container(mpi_job("llm", SMALL), "Worker")["readinessProbe"]["tcpSocket"] == {"port": 2222}


def test_keys_of_root_lie_where_the_operator_makes_them_readable_for_root_alone():
    job = mpi_job("llm", SMALL | {"uid": 0})
    assert job["spec"]["sshAuthMountPath"] == "/root/.ssh"
    assert "-h /root/.ssh/id_rsa" in " ".join(container(job, "Worker")["command"])
    assert "AuthorizedKeysFile=/root/.ssh/authorized_keys" in " ".join(container(job, "Worker")["command"])
    assert "-i /root/.ssh/id_rsa " in " ".join(container(job, "Launcher")["command"])


PLAIN = {
    "GLOO_SOCKET_IFNAME": "eth0",
    "NCCL_IB_DISABLE": "1",
    "NCCL_SOCKET_IFNAME": "=eth0",
    "OMPI_MCA_btl": "tcp,self",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_pml": "ob1",
}


def test_environment_of_a_plain_network():
    assert network_environment("plain") == PLAIN


def test_environment_of_efa():
    efa = {"FI_PROVIDER": "efa", "FI_EFA_FORK_SAFE": "1", "FI_EFA_USE_DEVICE_RDMA": "1"}
    assert network_environment("efa") == {key: PLAIN[key] for key in PLAIN if key != "NCCL_IB_DISABLE"} | efa


def test_the_users_environment_wins_and_every_rank_has_it():
    manifest = mpi_job("llm", LARGE)
    for name in ("Launcher", "Worker"):
        variables = {each["name"]: each["value"] for each in container(manifest, name)["env"]}
        assert variables["NCCL_SOCKET_IFNAME"] == "=net1"
        assert variables["NCCL_DEBUG"] == "INFO"
        assert variables["MASTER_ADDR"] == "llm-worker-0.llm.vision.svc"
    words = container(manifest, "Launcher")["command"]
    passed_on = {words[index + 1] for index, word in enumerate(words) if word == "-x"}
    assert {name for name in variables if not name.startswith("OMPI_")} == passed_on


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({"workers": 0}, ["workers=0: no launcher is ever made for it; use 1 or more [any-mpi-workers]"]),
        (
            {"gpus_per_worker": 16},
            ["gpus_per_worker=16: is more than the 8 of p5.48xlarge; use 1 to 8 [any-mpi-gpus]"],
        ),
        (
            {"instance_type": "g5.48xlarge", "efa_per_worker": 2, "cpus": 8, "memory_gib": 32},
            ["efa_per_worker=2: is more than the 1 of g5.48xlarge; use 1 [aws-mpi-efa]"],
        ),
        (
            {"volume_zone": "use1-az2"},
            [
                "volume_zone=use1-az2: is where the volume is, and the workers run in use1-az1; set zone=use1-az2 "
                "[any-mpi-volume-zone]"
            ],
        ),
        (
            {"time_limit": 60},
            ["time_limit=60: there is no argument of this name; did you mean time_limit_seconds? [any-argument-known]"],
        ),
        ({"grace_seconds": 9}, ["grace_seconds=9: leaves ranks no time to save; use 10 or more [any-mpi-grace]"]),
        ({"grace_seconds": 120}, []),
        (
            {"grace_seconds": 121},
            [
                "grace_seconds=121: is longer than the 120 s after which AWS takes a Spot node; use 100 or less, or "
                "nodes on demand [any-mpi-grace-spot]"
            ],
        ),
        ({"command": []}, ["command=[]: is empty; give at least one word [any-argument-not-empty]"]),
        (
            {"network": "infiniband", "efa_per_worker": None},
            ["network=infiniband: is none of the legal words; use plain or efa [any-argument-word]"],
        ),
    ],
)
def test_mistakes(change, lines):
    assert judged(LARGE | change) == [f"llm: {line}" for line in lines]


ANY = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text(max_size=3))
FIELDS = sorted(MpiJobArgs.__annotations__)


@settings(max_examples=60, deadline=None)
@given(ANY, st.dictionaries(st.sampled_from(FIELDS), ANY | st.dictionaries(st.text(max_size=3), ANY, max_size=2)))
def test_the_door_never_raises(name, args):
    assert all(finding.line("x").isprintable() for finding in judge_mpi_job(name, args))
