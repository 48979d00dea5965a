"""What the nodes of a task on Azure Batch run: one rank for each GPU, on one node or on several.

Of a multi-instance task Azure Batch runs the coordination command on every node and waits until it has returned
everywhere; then it runs the application command on the master node alone. The exit code of the latter is the task's,
and with its end all others are ended. Names and meanings of the AZ_BATCH_ variables are those of
learn.microsoft.com/azure/batch/batch-compute-node-environment-variables; the rest is of
learn.microsoft.com/azure/batch/batch-mpi (order, lifetime).

How the nodes trust each other. Azure Batch has ssh between nodes for named users only, whose private key is an input of
the pool, would be the same for all tasks, and does not exist within containers
(learn.microsoft.com/azure/batch/batch-user-accounts). So, as on AWS Batch, each try of a task has its own key: the
application command makes it, in memory, and hands its public half to the nodes over the pool's network; there the
coordination command has left a process that waits for that and then starts sshd as the task's own user. Nobody but the
address in AZ_BATCH_MASTER_NODE is asked for it, and mpirun starts ranks at the addresses of AZ_BATCH_HOST_LIST only.
The process is also how a node that goes away is noticed.

Containers share the network of their node (``--network host``), as those addresses are the nodes' own.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from gpufleet.jobs.embedded_program import program_text, python_command
from gpufleet.jobs.mpi_network import network_environment
from gpufleet.jobs.mpi_run import MASTER_PORT, is_mpirun, mpirun_options
from gpufleet.jobs.mpi_ssh import SSH_PORT, ssh_with_key, sshd_with_keys
from gpufleet.jobs.node_runtime.azure_context import EVICTED
from gpufleet.jobs.torchrun import torchrun_on_node

__all__ = ["EVICTED", "NODE_LOG", "application_command", "coordination_command", "torchrun_commands"]

NODE_LOG = "wd/node.txt"
"""Where a subtask's node, in its task directory, writes what stays behind of the coordination command."""
RENDEZVOUS_PORT = 2223
"""TCP port of the master node at which the others report. Not AZ_BATCH_MASTER_NODE's, which is Azure Batch's own."""
RENDEZVOUS_TIMEOUT_SECONDS = 600
"""How long nodes wait for each other once the coordination command has returned everywhere: one may have been evicted
since. What stays behind waits as long for a master node that never starts."""
GRACE_SECONDS = 30
"""From SIGTERM to the end of the ranks. Azure Batch does not document how long it waits itself."""

LOG_SECONDS = 60.0
"""How often the log is copied: the most of it that is lost with a Spot node."""

METADATA = "http://169.254.169.254/metadata/identity/oauth2/token"
"""Where a node gets tokens of its identities. Source:
learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token."""

_HERE = "/dev/shm/gpufleet"
_PACKAGE = "gpufleet.jobs.node_runtime"
_BOTH = ("process", "process_tree", "azure_context")
_TORCHRUN = (*_BOTH, "torchrun_ranks", "termination", "connection", "proof", "rank_variables")
_MPI = (*_BOTH, "mpi_ranks", "termination", "connection", "proof", "keys")
_MODULES = {
    "mpi": {
        "coordinate": (*_MPI, "mpi_worker", "worker_node", "azure_main"),
        "apply": (*_MPI, "rendezvous", "rank_variables", "mpi_main", "main_node", "log_copies", "azure_main"),
    },
    "torchrun": {
        "coordinate": (*_TORCHRUN, "azure_output", "torchrun_worker", "worker_node", "azure_main"),
        "apply": (
            *(*_TORCHRUN, "rendezvous", "torchrun_rendezvous", "torchrun_main", "main_node"),
            *("log_copies", "azure_main"),
        ),
    },
}
"""Of what a role needs, by its launcher: neither `coordinate` calls what only `apply` does, nor the other way round. A
task with secrets has the module that reads them too."""
_MPI_PROGRAMS = (
    (("ssh-keygen", "openssh-client"), ("sshd", "openssh-server")),
    (("ssh-keygen", "openssh-client"), ("ssh", "openssh-client"), ("mpirun", "openmpi-bin")),
)
"""What another node, and what the master node needs, with the package that has it."""


@dataclass(frozen=True)
class VaultSecrets:
    """Secrets that a task reads. names: variable to the secret's name. vault: https://NAME.vault.azure.net. identity:
    the resource id of the nodes'. metadata: where tokens are.

    Azure Batch has no variables of its own that come from a key vault; nodes read it by the pool's identity:
    learn.microsoft.com/azure/batch/managed-identity-pools.
    """

    names: Mapping[str, str]
    vault: str
    identity: str
    metadata: str = METADATA

    @property
    def token_url(self) -> str:
        """Where a node gets its identity's token for key vaults."""
        audience = f"https://{urlsplit(self.vault).netloc.partition('.')[2]}"
        query = urlencode({"api-version": "2018-02-01", "resource": audience, "msi_res_id": self.identity})
        return f"{self.metadata}?{query}"

    @property
    def urls(self) -> dict[str, str]:
        """Where the value of each variable is."""
        return {name: f"{self.vault}/secrets/{each}?api-version=7.4" for name, each in sorted(self.names.items())}


def coordination_command(
    processes_per_node: int,
    *,
    rendezvous_timeout_seconds: int = RENDEZVOUS_TIMEOUT_SECONDS,
    grace_seconds: int = GRACE_SECONDS,
) -> str:
    """The coordination command line, of every node, to an `application_command` of as many processes.

    The image, or the node where tasks run without containers, has OpenMPI, ssh, sshd, a name for the task's user and
    python3, 3.8 or newer. Of characters that neither a shell nor Azure Batch gives a meaning.

    Exit codes: 0; 127, with one line, when a program is missing; 1 when none of the task's addresses is the node's.
    """
    plan = {
        "role": "coordinate",
        "programs": _MPI_PROGRAMS,
        "slots": processes_per_node,
        "port": RENDEZVOUS_PORT,
        "ssh_port": SSH_PORT,
        "patience": rendezvous_timeout_seconds,
        "grace": grace_seconds,
        "sshd": [
            *sshd_with_keys(f"{_HERE}/host", f"{_HERE}/authorized_keys"),
            *("-o", f"ForceCommand=exec /bin/sh {_HERE}/session"),
        ],
    }
    return _line(plan, "mpi")


def application_command(
    command: Sequence[str],
    processes_per_node: int,
    network: str = "plain",
    *,
    directory: str = "",
    network_interface: str = "",
    environment: Mapping[str, str] | None = None,
    folders: Mapping[str, str] | None = None,
    secrets: VaultSecrets | None = None,
    log_copies: str = "",
    log_seconds: float = LOG_SECONDS,
    rendezvous_timeout_seconds: int = RENDEZVOUS_TIMEOUT_SECONDS,
    grace_seconds: int = GRACE_SECONDS,
) -> str:
    """The command line of a task that runs ``command`` as so many processes on each of its nodes.

    On one node without multi-instance settings too: several processes meet over the loopback interface, a single one
    is ``command`` itself, without OpenMPI. A ``command`` that begins with mpirun is taken as it is; it finds its hosts
    and ssh's arguments in the environment. $AZ_BATCH_NAME or ${AZ_BATCH_NAME} in its words and in ``directory``, where
    it starts (default: where Azure Batch starts the task), is replaced by the node's value: mounts lie under
    $AZ_BATCH_NODE_MOUNTS_DIR. Nothing else is expanded but $GPUFLEET_NAME, and there is no shell.
    ``folders``: variables of every rank with paths, in which such names are replaced too; the master node makes them.
    ``secrets``: variables of every rank whose values the master node reads from a key vault.
    ``log_copies``: a path, likewise, below which the master node copies its stdout.txt and stderr.txt every
    ``log_seconds`` while ranks run, into a folder called after the time at which this try began. Default: no copies.
    ``network``: plain or infiniband. ``network_interface``: default the one with the master node's address.
    ``environment``: the task's own variables, which every rank has; they win over those here.

    Exit codes: mpirun's; 75 (`EVICTED`), with one line, when another node goes away in the middle; 1, with one line,
    when nodes do not join within ``rendezvous_timeout_seconds``; 127 when a program is missing. Any code but 0 has
    Azure Batch try the task again up to its maxTaskRetryCount, the ranks' own codes too: it knows no retries by exit
    code. A master node that is evicted writes nothing more; Azure Batch requeues the task by itself.
    Sources: learn.microsoft.com/azure/batch/batch-spot-vms (interrupted tasks are requeued, and local files are lost),
    learn.microsoft.com/rest/api/batchservice/task/add (maxTaskRetryCount: for any non-zero exit code).
    """
    given = environment or {}
    rank_network = network_environment(network, network_interface or "{interface}")
    ours = {"MASTER_ADDR": "{main}", "MASTER_PORT": str(MASTER_PORT), **rank_network}
    own = {name: value for name, value in sorted(ours.items()) if name not in given}
    places = dict(sorted((folders or {}).items()))
    read = sorted(secrets.names) if secrets else []
    ssh = ssh_with_key(f"{_HERE}/key", f"{_HERE}/known_hosts")
    hosts = {"OMPI_MCA_orte_default_hostfile": f"{_HERE}/hostfile", "OMPI_MCA_plm_rsh_args": ssh}
    started = is_mpirun(command)
    # All ssh from the master node, which alone has the key: OpenMPI would have nodes start others from 65 hosts on.
    options = [
        "--hostfile",
        f"{_HERE}/hostfile",
        *mpirun_options(ssh, [*own, *places, *read]),
        "--mca",
        "plm_rsh_no_tree_spawn",
        "1",
    ]
    plan = {
        "role": "apply",
        "slots": processes_per_node,
        "port": RENDEZVOUS_PORT,
        "patience": rendezvous_timeout_seconds,
        "grace": grace_seconds,
        "env": {**own, **(hosts if started else {})},
        "mpirun": [] if started else options,
        "command": list(command),
        "directory": directory,
        "folders": places,
        "logs": [(log_copies, log_seconds)] if log_copies else [],
    }
    return _line(plan, "mpi", secrets)


def torchrun_commands(
    command: Sequence[str],
    processes_per_node: int,
    network: str = "plain",
    *,
    directory: str = "",
    network_interface: str = "",
    environment: Mapping[str, str] | None = None,
    folders: Mapping[str, str] | None = None,
    secrets: VaultSecrets | None = None,
    log_copies: str = "",
    log_seconds: float = LOG_SECONDS,
    rendezvous_timeout_seconds: int = RENDEZVOUS_TIMEOUT_SECONDS,
    grace_seconds: int = GRACE_SECONDS,
) -> tuple[str, str]:
    """The coordination and the application command line of a task whose ranks torchrun starts, on several nodes or one.

    Arguments and exit codes are those of `application_command`; torchrun's own code is 1. What stays behind of the
    coordination command runs torchrun on its node, with the same words, folders and secrets as the master node, and
    sends what its ranks write there: Azure Batch shows the primary's output alone. The image has python3, 3.8 or newer,
    and PyTorch, and needs neither OpenMPI nor ssh.
    """
    given = environment or {}
    rank_network = network_environment(network, network_interface or "{interface}")
    ours = {"MASTER_ADDR": "{main}", "MASTER_PORT": str(MASTER_PORT), **rank_network}
    both = {
        "slots": processes_per_node,
        "port": RENDEZVOUS_PORT,
        "patience": rendezvous_timeout_seconds,
        "grace": grace_seconds,
        "env": {name: ours[name] for name in sorted(ours) if name not in given and not name.startswith("OMPI_")},
        "torchrun": torchrun_on_node(command, processes_per_node),
        "command": list(command),
        "directory": directory,
        "folders": dict(sorted((folders or {}).items())),
    }
    coordinate = {**both, "role": "coordinate", "programs": ((), ())}
    apply = {**both, "role": "apply", "logs": [(log_copies, log_seconds)] if log_copies else []}
    return _line(coordinate, "torchrun", secrets), _line(apply, "torchrun", secrets)


def _line(plan: Mapping[str, Any], launcher: str, secrets: VaultSecrets | None = None) -> str:
    told = json.dumps(plan, separators=(",", ":"), sort_keys=True)
    modules, first = _MODULES[launcher][plan["role"]], ""
    if secrets:
        modules, first = (*modules, "key_vault"), f"read_secrets({secrets.token_url!r}, {secrets.urls!r})\n"
    *words, text = python_command(f"{program_text(_PACKAGE, modules)}\n{first}sys.exit(main({told!r}))", [])
    return f'{" ".join(words)} "{text}"'
