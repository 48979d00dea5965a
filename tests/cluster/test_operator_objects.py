"""What tests/openmpi plays is what the real operator makes: the same hostfile, secret, mounts and environment."""

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpi_job
from tests.cluster.workloads import condition, pods
from tests.openmpi import operator_objects as played
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

LAUNCHER = "training.kubeflow.org/job-role=launcher"
WORKER = "training.kubeflow.org/job-role=worker"
JOB: MpiJobArgs = {
    "namespace": "",
    "workers": 2,
    "gpus_per_worker": 2,
    "image": "registry.example/train:1",
    "command": ["python3", "train.py"],
    "env": {"OMP_NUM_THREADS": "1"},
}
NCCL = {
    "plain": {"NCCL_NET": "Socket", "NCCL_SOCKET_IFNAME": "=eth0"},
    "efa": {
        "NCCL_SOCKET_IFNAME": "=eth0",
        "FI_PROVIDER": "efa",
        "FI_EFA_FORK_SAFE": "1",
        "FI_EFA_USE_DEVICE_RDMA": "1",
        "NCCL_NET": "AWS Libfabric",
    },
}


@pytest.mark.parametrize(
    "change", [{}, {"uid": 0, "gid": 0}, {"network": "efa", "gpus_per_worker": 8}], ids=["plain", "root", "efa"]
)
def test_the_operator_makes_what_is_played(
    operator: ControlPlane, nodes: Nodes, namespace: str, change: Mapping[str, Any]
) -> None:
    network = change.get("network", "plain")
    pool = f"objects-{network}"
    nodes.add(2, "p5.48xlarge", "use1-az1", pool, network=network)
    job = mpi_job("digits", {**JOB, "namespace": namespace, "pool": pool, **change})
    # Workers stay to be looked at; the played ones live as long as their test.
    job["spec"]["runPolicy"]["cleanPodPolicy"] = "None"
    operator.client.apply(job)
    assert condition(operator, job, ("Succeeded", "Failed")) == "Succeeded"

    core = f"/api/v1/namespaces/{namespace}"
    configmap = operator.client.get(f"{core}/configmaps/digits-config")["data"]
    assert configmap["hostfile"] == played.hostfile(job)
    secret_is_as_played(operator.client.get(f"{core}/secrets/digits-ssh"))
    names_are_as_played(operator, job)

    workers = pods(operator, namespace, WORKER)
    assert [pod["metadata"]["name"] for pod in workers] == played.workers(job)
    for pod in workers:
        pod_is_as_played(job, "Worker", pod["spec"], played.worker_environment(), launched=False)
    # The Job's template too: of it every retry is made.
    launcher = operator.client.get(f"/apis/batch/v1/namespaces/{namespace}/jobs/{played.launcher_name(job)}")
    (launched,) = pods(operator, namespace, LAUNCHER)
    for spec in (launcher["spec"]["template"]["spec"], launched["spec"]):
        pod_is_as_played(job, "Launcher", spec, played.launcher_environment(job), launched=True)
        environment = environment_of(spec["containers"][0])
        told = {name: value for name, value in environment.items() if name.startswith(("NCCL_", "FI_"))}
        assert told == NCCL[network]


def secret_is_as_played(secret: Mapping[str, Any]) -> None:
    assert secret["type"] == "kubernetes.io/ssh-auth"
    keys = {name: base64.b64decode(value).decode() for name, value in secret["data"].items()}
    assert set(keys) == set(played.SSH_FILES.values())
    assert keys["ssh-privatekey"].startswith(played.PRIVATE_KEY_BEGINS)
    assert keys["ssh-publickey"].startswith(played.PUBLIC_KEY_BEGINS)


def names_are_as_played(operator: ControlPlane, job: Mapping[str, Any]) -> None:
    """Each host of the hostfile is a pod of the headless service, by its hostname and subdomain."""
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    service = operator.client.get(f"/api/v1/namespaces/{namespace}/services/{name}")["spec"]
    assert service["clusterIP"] == "None"
    # Names of workers that are not ready lead nowhere: the launcher's wait sees it.
    assert not service.get("publishNotReadyAddresses")
    labels = ",".join(f"{key}={value}" for key, value in service["selector"].items())
    found = pods(operator, namespace, labels)
    assert len(found) == 1 + len(played.workers(dict(job)))
    for pod in found:
        spec = pod["spec"]
        served = f"{spec['hostname']}.{spec['subdomain']}.{namespace}.svc"
        assert served == played.service_name(dict(job), spec["hostname"])
        assert spec["hostname"] in (*played.workers(dict(job)), played.launcher_name(dict(job)))


def pod_is_as_played(
    job: dict[str, Any], kind: str, spec: Mapping[str, Any], added: Mapping[str, str], launched: bool
) -> None:
    """All of the pod that tests/openmpi uses: command, user, environment, mounts, and how long it may take to end."""
    asked = job["spec"]["mpiReplicaSpecs"][kind]["template"]["spec"]
    (container,), (wanted,) = spec["containers"], asked["containers"]
    assert container["command"] == wanted["command"]
    assert "args" not in container
    assert spec["terminationGracePeriodSeconds"] == asked["terminationGracePeriodSeconds"]
    for user in ("runAsUser", "runAsGroup"):
        assert spec["securityContext"][user] == asked["securityContext"][user]
    assert environment_of(container) == environment_of(wanted) | added

    mounts = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
    own = {each["mountPath"]: each["name"] for each in wanted["volumeMounts"]}
    configured = {played.HOSTFILE_FOLDER: "mpi-job-config"} if launched else {}
    assert mounts == {**own, played.ssh_path(job): "ssh-auth", **configured}
    volumes = {each["name"]: each for each in spec["volumes"]}
    assert set(volumes) == set(mounts.values())
    secret = volumes["ssh-auth"]["secret"]
    assert secret["secretName"] == "digits-ssh"
    assert {each["path"]: each["key"] for each in secret["items"]} == played.SSH_FILES
    assert secret["defaultMode"] == played.ssh_mode(job)
    assert not [each for each in secret["items"] if "mode" in each]
    if launched:
        config = volumes["mpi-job-config"]["configMap"]
        assert config["name"] == "digits-config"
        assert "hostfile" in {each["path"] for each in config["items"] if each["key"] == "hostfile"}


def environment_of(container: Mapping[str, Any]) -> dict[str, str]:
    """As a process has it: the last of two variables of one name wins."""
    return {each["name"]: each.get("value", "") for each in container["env"]}
