"""What the MPI operator adds to an MPIJob, as files and variables: hostfile, ssh secret, environment of the launcher.

Source: kubeflow/mpi-operator v0.7.0, pkg/controller/mpi_job_controller.go (newConfigMap, newSSHAuthSecret,
setupSSHOnPod, newLauncherPodTemplate). That the operator really makes these is checked on the control plane.
"""

import subprocess
from pathlib import Path
from typing import Any

HOSTFILE_FOLDER = "/etc/mpi"
"""Where the job's ConfigMap is mounted; in the launcher only."""


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


def write_ssh_secret(job: dict[str, Any], folder: Path) -> Path:
    """The volume of the secret `<job>-ssh`: an ECDSA P-521 key in PEM, as root's files of the mode that the operator
    asks for."""
    folder.mkdir(parents=True)
    key = folder / "id_rsa"
    make = ["ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-m", "PEM", "-N", "", "-C", "", "-f", str(key)]
    subprocess.run(make, check=True, timeout=20, capture_output=True)
    public = folder / "id_rsa.pub"
    (folder / "authorized_keys").write_bytes(public.read_bytes())
    mode = 0o600 if job["spec"].get("sshAuthMountPath", "/root/.ssh") == "/root/.ssh" else 0o644
    for file in folder.iterdir():
        file.chmod(mode)
    return folder
