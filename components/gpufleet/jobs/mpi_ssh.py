"""ssh from the launcher of an MPI job to its workers: sshd without root and without set-up in the image.

The MPI operator makes a key pair for each job and mounts it into every pod; everything else is here, on the
command lines, so that an image needs no more than sshd, ssh and a user of the job's uid. The job's key is its workers'
host key too: ssh accepts no other host.
"""

SSH_PORT = 2222
"""Above 1023: a user other than root may listen on it."""


def ssh_path(uid: int) -> str:
    """Where the operator mounts the job's keys: its files are id_rsa, id_rsa.pub and authorized_keys.

    Outside any home, which differs from image to image; but root's keys in root's home: only there the operator makes
    the key readable for its owner alone, and root's ssh and sshd refuse any other.
    Source: kubeflow/mpi-operator v0.7.0, pkg/controller/mpi_job_controller.go (setupSSHOnPod).
    """
    return "/etc/gpufleet/ssh" if uid else "/root/.ssh"


HOST_ALIAS = "gpufleet"
"""The name by which a file of known hosts lists the job's host keys, whatever its hosts are called."""
KNOWN_HOSTS = "/dev/shm/known_hosts"
"""Where the pods of an MPI job keep theirs: each mounts shared memory of its own there."""

_SSHD = {
    "PasswordAuthentication": "no",
    "KbdInteractiveAuthentication": "no",
    "PidFile": "none",
    # The keys lie in a volume that belongs to root; sshd would refuse files that are not the user's own.
    "StrictModes": "no",
    # PAM opens sessions for root only.
    "UsePAM": "no",
}


def public_key(uid: int) -> str:
    """The file of the public half of the job's key, for pods of the user ``uid``."""
    return f"{ssh_path(uid)}/id_rsa.pub"


def sshd_command(uid: int) -> list[str]:
    """sshd in the foreground, as the user ``uid``, with the job's key as its host key.

    A session of sshd starts with a bare environment, so that OpenMPI outside of /usr/bin (/opt/amazon/openmpi,
    /usr/local/mpi) would not be found: worker.sh, which knows them, adds the image's PATH and LD_LIBRARY_PATH.
    Source: man sshd_config (SetEnv, which overrides the default environment).
    """
    return sshd_with_keys(f"{ssh_path(uid)}/id_rsa", f"{ssh_path(uid)}/authorized_keys")


def sshd_with_keys(host_key: str, authorized_keys: str) -> list[str]:
    """sshd in the foreground with the key and the list of keys in these files."""
    settings = {"AuthorizedKeysFile": authorized_keys, **_SSHD}
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    return [*f"/usr/sbin/sshd -D -e -f /dev/null -p {SSH_PORT} -h {host_key}".split(), *options]


def ssh_arguments(uid: int) -> str:
    """The arguments with which OpenMPI starts ssh (its parameter plm_rsh_args), as the user ``uid``."""
    return ssh_with_key(f"{ssh_path(uid)}/id_rsa", KNOWN_HOSTS)


def ssh_with_key(key: str, known_hosts: str) -> str:
    """The arguments of ssh with the private key in the file ``key``, to hosts whose keys are in ``known_hosts``.

    The operator sets the same parameter in the environment, to ten attempts; the command line of mpirun wins over it,
    so the attempts are repeated here. Hosts and their addresses are new with every job, so their keys have one name.
    Sources: kubeflow/mpi-operator v0.7.0, pkg/controller/mpi_job_controller.go (ompiEnvVars); man ssh_config
    (HostKeyAlias).
    """
    options = (
        "StrictHostKeyChecking=yes",
        f"HostKeyAlias={HOST_ALIAS}",
        f"UserKnownHostsFile={known_hosts}",
        "LogLevel=ERROR",
        "ConnectionAttempts=10",
    )
    return " ".join([f"-p {SSH_PORT} -i {key}", *(f"-o {option}" for option in options)])
