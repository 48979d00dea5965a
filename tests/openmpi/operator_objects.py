"""What the MPI operator adds to an MPIJob, as files and variables: hostfile, ssh secret, environment of the pods.

Source: kubeflow/mpi-operator v0.7.0, pkg/controller/mpi_job_controller.go (newConfigMap, newSSHAuthSecret,
setupSSHOnPod, newLauncherPodTemplate). tests/cluster/test_operator_objects.py compares all of it with what the real
operator makes.
"""

import subprocess
from pathlib import Path
from typing import Any

HOSTFILE_FOLDER = "/etc/mpi"
"""Where the job's ConfigMap is mounted; in the launcher only."""
SSH_FILES = {"id_rsa": "ssh-privatekey", "id_rsa.pub": "ssh-publickey", "authorized_keys": "ssh-publickey"}
"""Files of the mounted ssh secret, by the secret's keys."""
PRIVATE_KEY_BEGINS = "-----BEGIN EC PRIVATE KEY-----\n"
PUBLIC_KEY_BEGINS = "ecdsa-sha2-nistp521 "


def worker_name(job: dict[str, Any], number: int) -> str:
    return f"{job['metadata']['name']}-worker-{number}"


def launcher_name(job: dict[str, Any]) -> str:
    return f"{job['metadata']['name']}-launcher"


def service_name(job: dict[str, Any], pod: str) -> str:
    """The name of ``pod`` by the job's headless service."""
    return f"{pod}.{job['metadata']['name']}.{job['metadata']['namespace']}.svc"


def workers(job: dict[str, Any]) -> list[str]:
    return [worker_name(job, number) for number in range(job["spec"]["mpiReplicaSpecs"]["Worker"]["replicas"])]


def hostfile(job: dict[str, Any]) -> str:
    slots = job["spec"]["slotsPerWorker"]
    return "".join(f"{service_name(job, name)} slots={slots}\n" for name in workers(job))


def launcher_environment(job: dict[str, Any]) -> dict[str, str]:
    return {
        "K_MPI_JOB_ROLE": "launcher",
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "OMPI_MCA_orte_default_hostfile": f"{HOSTFILE_FOLDER}/hostfile",
        "OMPI_MCA_plm_rsh_args": "-o ConnectionAttempts=10",
        "OMPI_MCA_orte_set_default_slots": str(job["spec"]["slotsPerWorker"]),
        "NVIDIA_VISIBLE_DEVICES": "",
        "NVIDIA_DRIVER_CAPABILITIES": "",
    }


def worker_environment() -> dict[str, str]:
    return {"K_MPI_JOB_ROLE": "worker"}


def write_hostfile(job: dict[str, Any], folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "hostfile").write_text(hostfile(job))
    return folder


def ssh_path(job: dict[str, Any]) -> str:
    """Where the secret `<job>-ssh` is mounted, in every pod."""
    return str(job["spec"].get("sshAuthMountPath", "/root/.ssh"))


def ssh_mode(job: dict[str, Any]) -> int:
    """Of the mounted files, which belong to root."""
    return 0o600 if ssh_path(job) == "/root/.ssh" else 0o644


def file_over(pod: dict[str, Any], path: str) -> str | None:
    """What a kubelet mounts over the file ``path`` of the image: of a downwardAPI volume's annotation; else None.

    Source: kubernetes.io/docs/concepts/workloads/pods/downward-api (metadata.annotations['KEY']).
    """
    spec, annotations = pod["spec"], pod["metadata"]["annotations"]
    for mount in spec["containers"][0]["volumeMounts"]:
        if mount["mountPath"] == path:
            [volume] = [each for each in spec["volumes"] if each["name"] == mount["name"]]
            [item] = [each for each in volume["downwardAPI"]["items"] if each["path"] == mount["subPath"]]
            key = item["fieldRef"]["fieldPath"].removeprefix("metadata.annotations['").removesuffix("']")
            return str(annotations[key])
    return None


def write_ssh_secret(job: dict[str, Any], folder: Path) -> Path:
    """The volume of the secret `<job>-ssh`: an ECDSA P-521 key in PEM."""
    folder.mkdir(parents=True)
    key = folder / "id_rsa"
    make = ["ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-m", "PEM", "-N", "", "-C", "", "-f", str(key)]
    subprocess.run(make, check=True, timeout=600, capture_output=True)
    secret = {"ssh-privatekey": key.read_bytes(), "ssh-publickey": key.with_suffix(".pub").read_bytes()}
    assert secret["ssh-privatekey"].startswith(PRIVATE_KEY_BEGINS.encode())
    assert secret["ssh-publickey"].startswith(PUBLIC_KEY_BEGINS.encode())
    for name, source in SSH_FILES.items():
        (folder / name).write_bytes(secret[source])
        (folder / name).chmod(ssh_mode(job))
    return folder
