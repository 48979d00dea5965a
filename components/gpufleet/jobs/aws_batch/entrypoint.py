"""What the containers of a job on AWS Batch run: one rank for each GPU, on one node or on several.

Batch starts the same command on all nodes of a multi-node parallel job and tells each its index and, but the main node
itself, the main node's address; keys, a list of hosts and the order in which nodes come are the job's own affair.
Sources: docs.aws.amazon.com/batch/latest/userguide/mnp-env-vars.html (the variables; the address on children only),
docs.aws.amazon.com/batch/latest/userguide/job-lifecycle.html (children start after the main node, in any order; its
exit code is the job's; a child's end changes nothing for the others), job_timeouts.html (SIGTERM, SIGKILL 30 s later).
"""

import json
from collections.abc import Mapping, Sequence

from gpufleet.jobs.embedded_program import program_text, python_command
from gpufleet.jobs.mpi_network import network_environment
from gpufleet.jobs.mpi_run import MASTER_PORT, is_mpirun, mpirun_options
from gpufleet.jobs.mpi_ssh import SSH_PORT, ssh_with_key, sshd_with_keys
from gpufleet.jobs.torchrun import torchrun_on_node

OVERRIDES_LIMIT = 8192
"""Characters that a container's command and environment may have as JSON.

Batch runs a job's command as an override of an ECS task; what is longer ends the job with "Container Overrides length
must be at most 8192". Sources: docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html (overrides),
github.com/ASFHyP3/hyp3/issues/3041.
"""
RENDEZVOUS_PORT = 2223
"""TCP port of the main node at which the others report. Next to sshd's, and above 1023 as that."""
RENDEZVOUS_TIMEOUT_SECONDS = 1800
"""How long nodes wait for each other. Their instances are there when the main node starts; what differs is how long
they pull the image. Half an hour, as of a launcher on Kubernetes."""
GRACE_SECONDS = 30
"""From SIGTERM to SIGKILL. Source: docs.aws.amazon.com/batch/latest/userguide/job_timeouts.html."""

_HERE = "/dev/shm/gpufleet"
_PACKAGE = "gpufleet.jobs.node_runtime"
_FIRST = ("process", "aws_context")
_MEETING = ("connection", "proof")
_SINGLE_NODE_MODULES = {
    "mpi": (*_FIRST, "mpi_ranks", "termination", "keys", "rank_variables", "mpi_main", "main_node", "aws_main"),
    "torchrun": (
        *(*_FIRST, "process_tree", "torchrun_ranks", "termination", "rank_variables"),
        *("torchrun_main", "main_node", "aws_main"),
    ),
}
"""The modules that a job of one node needs, by its launcher: it waits for no other node."""
_MODULES = {
    "mpi": (
        *(*_FIRST, "mpi_ranks", "termination", *_MEETING, "keys", "mpi_worker", "worker_node"),
        *("rendezvous", "rank_variables", "mpi_main", "main_node", "aws_main"),
    ),
    "torchrun": (
        *(*_FIRST, "process_tree", "torchrun_ranks", "termination", *_MEETING, "aws_output", "rank_variables"),
        *(
            "torchrun_worker",
            "worker_node",
            "rendezvous",
            "torchrun_rendezvous",
            "torchrun_main",
            "main_node",
            "aws_main",
        ),
    ),
}


def multinode_command(
    command: Sequence[str],
    gpus_per_node: int,
    *,
    launcher: str = "mpi",
    network: str = "plain",
    network_interface: str = "",
    environment: Mapping[str, str] | None = None,
    rendezvous_timeout_seconds: int = RENDEZVOUS_TIMEOUT_SECONDS,
    grace_seconds: int = GRACE_SECONDS,
) -> list[str]:
    """The command of every node, main and child, of a multi-node parallel job that runs ``command`` on each GPU.

    The image has python3, 3.8 or newer, and what the ``launcher`` needs: mpi what an MPI job's image has (OpenMPI, ssh,
    sshd, a user of the uid it runs as), torchrun PyTorch. With mpi a ``command`` that begins with mpirun is taken as it
    is; it finds its hosts and ssh's arguments in the environment. With torchrun every node runs its own torchrun, whose
    ranks write to their node's log, and the main node's has rank 0.
    ``network``: plain or efa. ``network_interface``: default the one with the node's own address, which the nodes find
    out: beside it, ECS gives containers of network mode awsvpc another one, that does not reach the other nodes.
    ``environment``: the variables that the job definition sets, which every rank then has; they win over those here.

    Exit codes: mpirun's on all nodes, or 1 when a node's torchrun fails; 1, with one line, when nodes do not join
    within ``rendezvous_timeout_seconds`` or go away; 127 when the image lacks a program; 143 at SIGTERM, if the ranks
    have not ended by themselves with another code ``grace_seconds`` minus 6 later.
    Sources: docs.aws.amazon.com/batch/latest/userguide/networking-modes-jobs.html (awsvpc).
    """
    rank_network = network_environment(network, network_interface or "{interface}")
    master = {"MASTER_ADDR": "{main}", "MASTER_PORT": str(MASTER_PORT)}
    ours = _without({**master, **rank_network}, environment)
    plan = {"port": RENDEZVOUS_PORT, "patience": rendezvous_timeout_seconds, "env": ours}
    if launcher == "torchrun":
        return _torchrun_nodes(command, gpus_per_node, plan, grace_seconds, _MODULES[launcher])
    # All ssh from the main node, which alone has the key: OpenMPI would have nodes start others from 65 hosts on.
    flat = ["--mca", "plm_rsh_no_tree_spawn", "1"]
    sshd = [
        *sshd_with_keys(f"{_HERE}/host", f"{_HERE}/authorized_keys"),
        *("-o", f"ForceCommand=exec /bin/sh {_HERE}/session"),
    ]
    plan |= {"ssh_port": SSH_PORT, "sshd": sshd}
    return _mpi_nodes(command, gpus_per_node, plan, flat, grace_seconds, _MODULES[launcher])


def container_command(
    command: Sequence[str],
    gpus: int,
    *,
    launcher: str = "mpi",
    environment: Mapping[str, str] | None = None,
    grace_seconds: int = GRACE_SECONDS,
) -> list[str]:
    """The command of a job of one container: a rank of ``command`` on each GPU; with mpi, of one GPU, only ``command``.

    Several ranks need OpenMPI, or PyTorch, and python3 in the image, and meet over the loopback interface at a free
    port: containers of single jobs share their instance's network. ``launcher``, ``environment`` as of
    `multinode_command`.
    """
    ours = {"MASTER_ADDR": "{main}", "MASTER_PORT": "{port}", **network_environment("plain", "lo")}
    plan = {"env": _without(ours, environment)}
    if launcher == "torchrun":
        return _torchrun_nodes(command, max(gpus, 1), plan, grace_seconds, _SINGLE_NODE_MODULES[launcher])
    if gpus <= 1:
        return list(command)
    return _mpi_nodes(command, gpus, plan, [], grace_seconds, _SINGLE_NODE_MODULES[launcher])


def overrides_length(command: Sequence[str], environment: Mapping[str, str] | None = None) -> int:
    """Characters of the limit `OVERRIDES_LIMIT` that these take, besides those of Batch's own variables."""
    variables = [{"name": name, "value": value} for name, value in (environment or {}).items()]
    overrides = {"containerOverrides": [{"name": "default", "command": list(command), "environment": variables}]}
    return len(json.dumps(overrides, separators=(",", ":")))


def _without(ours: Mapping[str, str], theirs: Mapping[str, str] | None) -> dict[str, str]:
    return {name: value for name, value in sorted(ours.items()) if name not in (theirs or {})}


def _mpi_nodes(
    command: Sequence[str],
    slots: int,
    plan: Mapping[str, object],
    options: list[str],
    grace: int,
    modules: tuple[str, ...],
) -> list[str]:
    own = plan["env"]
    assert isinstance(own, dict)
    ssh = ssh_with_key(f"{_HERE}/key", f"{_HERE}/known_hosts")
    hosts = {"OMPI_MCA_orte_default_hostfile": f"{_HERE}/hostfile", "OMPI_MCA_plm_rsh_args": ssh}
    mpirun = [] if is_mpirun(command) else ["--hostfile", f"{_HERE}/hostfile", *mpirun_options(ssh, own), *options]
    whole = {
        **plan,
        "slots": slots,
        "grace": grace,
        "env": {**own, **(hosts if is_mpirun(command) else {})},
        "mpirun": mpirun,
    }
    return _node_command(command, whole, modules)


def _torchrun_nodes(
    command: Sequence[str], slots: int, plan: Mapping[str, object], grace: int, modules: tuple[str, ...]
) -> list[str]:
    own = plan["env"]
    assert isinstance(own, dict)
    environment = {name: value for name, value in own.items() if not name.startswith("OMPI_")}
    whole = {
        **plan,
        "slots": slots,
        "grace": grace,
        "env": environment,
        "torchrun": torchrun_on_node(command, slots),
    }
    return _node_command(command, whole, modules)


def _node_command(command: Sequence[str], plan: Mapping[str, object], modules: tuple[str, ...]) -> list[str]:
    told = json.dumps(plan, separators=(",", ":"), sort_keys=True)
    return python_command(f"{program_text(_PACKAGE, modules)}\nsys.exit(main({told!r}))", command)
