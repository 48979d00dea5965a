"""How the launcher of an MPI job reaches its workers: sshd without root, and without any set-up in the image.

The MPI operator makes a key pair for each job and mounts it into every pod; everything else is said here, on the
command lines, so that an image needs no more than sshd, ssh and a user of the job's uid.
"""

SSH_PORT = 2222
"""Above 1023: a user other than root may listen on it."""

SSH_PATH = "/etc/gpufleet/ssh"
"""Where the operator mounts the job's keys: its files are id_rsa, id_rsa.pub and authorized_keys. Outside any home,
which differs from image to image, and outside /root, which only root may read."""

_SSHD = {
    "AuthorizedKeysFile": f"{SSH_PATH}/authorized_keys",
    "PasswordAuthentication": "no",
    "KbdInteractiveAuthentication": "no",
    "PidFile": "none",
    # The keys lie in a volume that belongs to root; sshd would refuse files that are not the user's own.
    "StrictModes": "no",
    # PAM opens sessions for root only.
    "UsePAM": "no",
}


def sshd_command(uid: int) -> list[str]:
    """The command of a worker: sshd in the foreground, as the user ``uid``, with the job's key as its host key.

    A session of sshd starts with a bare environment, so that OpenMPI outside of /usr/bin (/opt/amazon/openmpi,
    /usr/local/mpi) would not be found: sessions get the image's PATH and LD_LIBRARY_PATH.
    Source: man sshd_config (SetEnv, which overrides the default environment).
    """
    options = " ".join(f"-o {name}={value}" for name, value in _SSHD.items())
    # Only root needs the directory that root's sshd locks itself into.
    prepare = "mkdir -p /run/sshd && " if uid == 0 else ""
    sshd = f"/usr/sbin/sshd -D -e -f /dev/null -p {SSH_PORT} -h {SSH_PATH}/id_rsa {options}"
    return ["/bin/sh", "-c", f'{prepare}exec {sshd} -o "SetEnv=PATH=$PATH LD_LIBRARY_PATH=$LD_LIBRARY_PATH"']


def ssh_arguments() -> str:
    """The arguments with which OpenMPI starts ssh (its parameter plm_rsh_args).

    The operator sets the same parameter in the environment, to ten attempts; the command line of mpirun wins over it,
    so the attempts are said again. Hosts are new with every job: there is nothing to compare their keys with.
    Source: kubeflow/mpi-operator v0.7.0, pkg/controller/mpi_job_controller.go (ompiEnvVars).
    """
    options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR", "ConnectionAttempts=10")
    return " ".join([f"-p {SSH_PORT} -i {SSH_PATH}/id_rsa", *(f"-o {option}" for option in options)])
