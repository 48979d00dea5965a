"""The manifest of an MPI job: what the operator is told, what its pods run, and what is wrong with a job."""

import copy

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, launcher_command, mpi_job, mpirun_command, rank_environment
from gpufleet.jobs.kubernetes.pod_entrypoints import PATIENCE_SECONDS
from gpufleet.jobs.mpi_ssh import ssh_arguments, sshd_command
from gpufleet.rules import Status, validate_arguments
from gpufleet.rules.kubernetes.mpi_job import validate_mpi_job
from tests.unit.jobs.kubernetes.mpi_jobs import LARGE, SMALL, container, role


def judged(args: MpiJobArgs) -> list[str]:
    findings = [*validate_arguments(args, MpiJobArgs), *validate_mpi_job("llm", args)]
    return [each.line("llm") for each in findings if each.status is not Status.PASS]


@pytest.mark.parametrize("args", [SMALL, LARGE], ids=["small", "large"])
def test_samples_are_legal(args):
    assert judged(args) == []


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
        *("-x", "NCCL_NET", "-x", "NCCL_SOCKET_IFNAME"),
        "python3",
        "train.py",
    ]


@pytest.mark.parametrize("program", ["mpirun", "mpiexec", "/opt/amazon/openmpi/bin/mpirun"])
def test_a_command_of_mpiruns_own_stays(program):
    args = SMALL | {"command": [program, "-np", "4", "hostname"]}
    assert launcher_command(args, {})[8:] == [program, "-np", "4", "hostname"]


def test_the_launcher_waits_for_workers_and_both_pass_on_notice():
    manifest = mpi_job("llm", SMALL)
    shell, option, script, *words = container(manifest, "Launcher")["command"]
    assert (shell, option) == ("/bin/sh", "-c")
    key = "/etc/gpufleet/ssh/id_rsa.pub"
    assert words[:6] == ["launcher", key, str(PATIENCE_SECONDS), "100", ssh_arguments(1000), "mpirun"]
    assert "wait_for_workers\n" in script
    shell, option, script, *words = container(manifest, "Worker")["command"]
    assert (shell, option) == ("/bin/sh", "-c")
    assert words == ["worker", key, "100", *sshd_command(1000)]
    assert "trap leave TERM" in script
    assert not [line for line in script.splitlines() if line.lstrip().startswith("#")]


def test_ssh_and_sshd_agree_on_port_and_key():
    sshd = " ".join(sshd_command(1000))
    assert "-p 2222 -h /etc/gpufleet/ssh/id_rsa" in sshd
    assert "AuthorizedKeysFile=/etc/gpufleet/ssh/authorized_keys" in sshd
    assert ssh_arguments(1000).startswith("-p 2222 -i /etc/gpufleet/ssh/id_rsa ")
    assert "-o StrictHostKeyChecking=yes -o HostKeyAlias=gpufleet -o UserKnownHostsFile=" in ssh_arguments(1000)
    assert container(mpi_job("llm", SMALL), "Worker")["readinessProbe"]["tcpSocket"] == {"port": 2222}


def test_keys_of_root_lie_where_the_operator_makes_them_readable_for_root_alone():
    job = mpi_job("llm", SMALL | {"uid": 0})
    assert job["spec"]["sshAuthMountPath"] == "/root/.ssh"
    assert "-h /root/.ssh/id_rsa" in " ".join(container(job, "Worker")["command"])
    assert "AuthorizedKeysFile=/root/.ssh/authorized_keys" in " ".join(container(job, "Worker")["command"])
    assert "-i /root/.ssh/id_rsa " in " ".join(container(job, "Launcher")["command"])


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
            ["time_limit=60: unknown argument; did you mean time_limit_seconds? [any-argument-known]"],
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
            ["network=infiniband: is not an allowed value; use plain or efa [any-argument-word]"],
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
    assert all(finding.line("x").isprintable() for finding in validate_mpi_job(name, args))
