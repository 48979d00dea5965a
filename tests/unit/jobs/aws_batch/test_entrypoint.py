"""The commands of a job's containers: whole in themselves, within ECS's limit, and the same ranks as on Kubernetes."""

import ast
import json
import sys

import pytest

from gpufleet.jobs.aws_batch.entrypoint import (
    OVERRIDES_LIMIT,
    container_command,
    multinode_command,
    overrides_length,
)
from gpufleet.jobs.kubernetes.mpi_job import MpiJobArgs, mpirun_command, rank_environment
from gpufleet.jobs.torchrun import LAUNCHERS
from tests.unit.jobs import embedded

TRAIN = ["python3", "train.py", "--name", "it's $HOME"]
BATCHS_OWN = 900
"""Characters of the variables that Batch adds itself, at most: nine with names of up to 43 characters."""


def text_of(command: list[str]) -> str:
    return embedded.text_of(command[3])


def plan_of(command: list[str]) -> dict:
    return embedded.plan_of(command[3])


def test_the_users_command_is_not_changed():
    command = multinode_command(TRAIN, 8)
    assert command[:3] == ["python3", "-I", "-c"]
    assert command[4:] == TRAIN


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("network", ["plain", "efa"])
def test_within_the_limit_of_overrides(network: str, launcher: str):
    """With room for a long command line and a dozen of variables."""
    command = multinode_command(["x"], 16, launcher=launcher, network=network, network_interface="eth0")
    length = overrides_length(command)
    assert length + BATCHS_OWN + 600 < OVERRIDES_LIMIT, length


def test_length_counts_what_json_adds():
    """As ECS counts: every quote of a command takes two characters."""
    assert overrides_length(['say "x"']) == overrides_length(["say -x-"]) + 2
    variable = '{"name":"A","value":"1"}'
    assert overrides_length(["x"], {"A": "1"}) == overrides_length(["x"]) + len(variable)


def test_nothing_that_batch_or_json_would_change():
    told = multinode_command(["x"], 8)[3]
    assert json.dumps(told) == f'"{told}"'
    assert "Ref::" not in told
    assert "$" not in told


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_the_program_needs_nothing_but_python_3_8(launcher: str):
    tree = ast.parse(text_of(multinode_command(TRAIN, 8, launcher=launcher)), feature_version=(3, 8))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names
    # Annotations such as list[int] would be evaluated there.
    annotated = [node for node in ast.walk(tree) if getattr(node, "annotation", None) or getattr(node, "returns", None)]
    assert annotated == []


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_its_modules_do_not_take_each_others_names(launcher: str):
    tree = ast.parse(text_of(multinode_command(TRAIN, 8, launcher=launcher)))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert len(names) > 10
    assert len(names) == len(set(names))


def test_the_program_is_always_the_same():
    """Or every `pulumi up` would register a new revision."""
    assert multinode_command(TRAIN, 8) == multinode_command(list(TRAIN), 8)


@pytest.mark.parametrize("network", ["plain", "efa"])
def test_ranks_are_started_as_on_kubernetes(network: str):
    """The same options and variables, but for hosts, key and what each node finds out by itself."""
    job: MpiJobArgs = {
        "namespace": "n",
        "workers": 2,
        "gpus_per_worker": 4,
        "image": "i:1",
        "command": TRAIN,
        "network": network,
    }
    theirs = mpirun_command(job, rank_environment("digits", job))
    plan = plan_of(multinode_command(TRAIN, 4, network=network))
    key = "/etc/gpufleet/ssh/id_rsa"
    there = [
        word.replace(key, "/dev/shm/gpufleet/key").replace("/dev/shm/known_hosts", "/dev/shm/gpufleet/known_hosts")
        for word in theirs[3 : -len(TRAIN)]
    ]
    assert plan["mpirun"] == [
        "--hostfile",
        "/dev/shm/gpufleet/hostfile",
        *there,
        "--mca",
        "plm_rsh_no_tree_spawn",
        "1",
    ]
    environment = rank_environment("digits", {**job, "network_interface": "{interface}"})
    assert plan["env"] == {**environment, "MASTER_ADDR": "{main}"}


def test_a_named_interface():
    plan = plan_of(multinode_command(TRAIN, 4, network_interface="eth1"))
    assert plan["env"]["OMPI_MCA_btl_tcp_if_include"] == "eth1"
    assert "{interface}" not in json.dumps(plan)


def test_the_job_definitions_variables_win():
    """They are in every container already."""
    plan = plan_of(multinode_command(TRAIN, 4, environment={"NCCL_SOCKET_IFNAME": "=eth1", "NCCL_DEBUG": "INFO"}))
    assert "NCCL_SOCKET_IFNAME" not in plan["env"]
    assert "NCCL_SOCKET_IFNAME" not in plan["mpirun"]
    assert "NCCL_DEBUG" not in plan["env"]


def test_an_mpirun_of_the_users_own():
    plan = plan_of(multinode_command(["/opt/amazon/openmpi/bin/mpirun", "-np", "2", "true"], 4))
    assert plan["mpirun"] == []
    assert plan["env"]["OMPI_MCA_orte_default_hostfile"] == "/dev/shm/gpufleet/hostfile"
    assert plan["env"]["OMPI_MCA_plm_rsh_args"].startswith(
        "-p 2222 -i /dev/shm/gpufleet/key -o StrictHostKeyChecking=yes "
    )


def test_sshd_lets_in_the_main_nodes_key_alone():
    words = plan_of(multinode_command(TRAIN, 4))["sshd"]
    assert words[0] == "/usr/sbin/sshd"
    assert "AuthorizedKeysFile=/dev/shm/gpufleet/authorized_keys" in words
    assert "PasswordAuthentication=no" in words


@pytest.mark.parametrize("gpus", [0, 1])
def test_a_container_of_one_gpu_runs_the_command_itself(gpus: int):
    assert container_command(TRAIN, gpus) == TRAIN


def test_a_container_of_several_gpus_runs_a_rank_on_each():
    command = container_command(TRAIN, 4, environment={"OMPI_MCA_btl": "vader,self"})
    plan = plan_of(command)
    assert command[4:] == TRAIN
    assert plan["slots"] == 4
    assert (plan["env"]["MASTER_ADDR"], plan["env"]["MASTER_PORT"]) == ("{main}", "{port}")
    assert plan["env"]["NCCL_SOCKET_IFNAME"] == "=lo"
    assert "OMPI_MCA_btl" not in plan["env"]
