"""The two command lines of a task on Azure Batch: whole in themselves, and read alike by whatever parses them."""

import ast
import json
import re
import shlex
import sys

import pytest

from gpufleet.jobs.aws_batch.entrypoint import multinode_command
from gpufleet.jobs.azure_batch.entrypoint import (
    EVICTED,
    VaultSecrets,
    application_command,
    coordination_command,
    torchrun_commands,
)
from gpufleet.jobs.mpi_network import network_environment
from gpufleet.jobs.mpi_ssh import SSH_PORT
from gpufleet.jobs.torchrun import torchrun_command
from tests.unit.jobs.embedded import plan_of, text_of, undefined_names

TRAIN = ["python3", "train.py", "--name", 'it\'s "$HOME"']
SECRETS = VaultSecrets({"KEY": "wandb"}, "https://lab.vault.azure.net", "/subscriptions/1/identity")


LINES = [
    coordination_command(8),
    application_command(TRAIN, 8, "infiniband"),
    application_command(TRAIN, 8, "infiniband", secrets=SECRETS),
    *torchrun_commands(TRAIN, 8, "infiniband", secrets=SECRETS),
]
BOTH = pytest.mark.parametrize("line", LINES)


@BOTH
def test_read_alike_with_or_without_a_shell(line: str):
    """Azure Batch does not say how it splits a command line; in double quotes nothing of this means anything."""
    assert re.fullmatch(r"python3 -I -c \"[^\"\\\\$`\n]+\"", line)
    assert shlex.split(line)[:3] == ["python3", "-I", "-c"]
    assert len(shlex.split(line)) == 4


@pytest.mark.parametrize(("line", "room"), list(zip(LINES, (1000, 1000, 300, 800, 300), strict=True)))
def test_short_enough_for_any_parser_of_command_lines(line: str, room: int):
    """Azure documents no limit for Linux nodes; cmd.exe's is the shortest in use. room: of the user's own words."""
    assert len(line) + room < 8191


@BOTH
def test_the_program_needs_nothing_but_python_3_8(line: str):
    tree = ast.parse(text_of(line), feature_version=(3, 8))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {each.partition(".")[0] for each in imported} <= sys.stdlib_module_names


@BOTH
def test_its_modules_do_not_take_each_others_names(line: str):
    tree = ast.parse(text_of(line))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert len(names) > 10
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("line", "role", "missing"),
    [
        (LINES[0], "coordinate", {"run_main_node", "follow_log"}),
        (LINES[1], "apply", {"run_worker_node"}),
        (LINES[2], "apply", {"run_worker_node"}),
        (LINES[3], "coordinate", {"run_main_node", "follow_log"}),
        (LINES[4], "apply", {"run_worker_node"}),
    ],
)
def test_each_role_has_what_it_calls(line: str, role: str, missing: set[str]):
    """Only what starts the other role, whose modules are not sent, is undefined."""
    assert plan_of(line)["role"] == role
    assert undefined_names(text_of(line)) == missing


def test_the_users_words_are_not_changed():
    assert plan_of(application_command(TRAIN, 8))["command"] == TRAIN


def test_both_commands_agree():
    """A node reports to the port at which the master node listens, and with the slots it expects."""
    here, there = plan_of(coordination_command(4)), plan_of(application_command(TRAIN, 4))
    assert {name: here[name] for name in ("port", "slots")} == {name: there[name] for name in ("port", "slots")}


@pytest.mark.parametrize("network", ["plain", "infiniband"])
def test_ranks_are_started_as_on_aws(network: str):
    plan = plan_of(application_command(TRAIN, 4, network))
    environment = {**network_environment(network, "{interface}"), "MASTER_ADDR": "{main}", "MASTER_PORT": "29500"}
    assert plan["env"] == environment
    if network == "plain":
        assert json.dumps(plan["mpirun"], separators=(",", ":")) in text_of(multinode_command(TRAIN, 4)[3])
    for name in environment:
        assert (name in plan["mpirun"]) is not name.startswith("OMPI_")


def test_infiniband_or_nothing():
    environment = plan_of(application_command(TRAIN, 8, "infiniband"))["env"]
    assert (environment["NCCL_NET"], environment["NCCL_IB_HCA"]) == ("IB", "mlx5_ib")
    assert environment["UCX_NET_DEVICES"] == "mlx5_ib0:1"
    assert "NCCL_IB_DISABLE" not in environment


def test_the_tasks_variables_win():
    plan = plan_of(application_command(TRAIN, 4, environment={"NCCL_SOCKET_IFNAME": "=eth1"}))
    assert "NCCL_SOCKET_IFNAME" not in plan["env"]
    assert "NCCL_SOCKET_IFNAME" not in plan["mpirun"]


def test_an_mpirun_of_the_users_own():
    plan = plan_of(application_command(["/opt/hpcx/bin/mpirun", "-np", "2", "true"], 4))
    assert plan["mpirun"] == []
    assert plan["env"]["OMPI_MCA_orte_default_hostfile"] == "/dev/shm/gpufleet/hostfile"


def test_where_a_node_that_is_gone_is_looked_for():
    """The node program has the number of sshd's port in itself."""
    assert f"node.address,{SSH_PORT})" in text_of(application_command(TRAIN, 4))
    assert EVICTED == 75


def test_both_commands_of_torchrun_start_the_same_on_each_node():
    folders = {"GPUFLEET_OUTPUTS": "$AZ_BATCH_NODE_MOUNTS_DIR/result/jobs/train"}
    given = {"NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": "=eth1"}
    lines = torchrun_commands(
        TRAIN, 4, "infiniband", directory="$AZ_BATCH_TASK_SHARED_DIR", folders=folders, environment=given
    )
    here, there = (plan_of(line) for line in lines)
    assert (here.pop("role"), here.pop("programs")) == ("coordinate", [[], []])
    assert (there.pop("role"), there.pop("logs")) == ("apply", [])
    assert here == there
    named = {"node_rank": "{node}", "address": "{address}", "port": "{port}"}
    assert here["torchrun"] == torchrun_command(TRAIN, nodes="{nodes}", ranks=4, **named)[: -len(TRAIN)]
    assert (here["command"], here["directory"], here["folders"]) == (TRAIN, "$AZ_BATCH_TASK_SHARED_DIR", folders)
    assert here["env"].keys() & given.keys() == set()
    assert (here["env"]["NCCL_NET"], here["env"]["MASTER_ADDR"]) == ("IB", "{main}")


def test_both_commands_of_torchrun_read_the_secrets_and_need_no_ssh():
    """Each node has the pool's identity, and no secret is sent between nodes."""
    for line in torchrun_commands(TRAIN, 4, secrets=SECRETS):
        text = text_of(line)
        assert "\nread_secrets('http://169.254.169.254/" in text
        assert [
            word for word in ("sshd", "ssh-keygen", "mpirun", "OMPI") if word in text.replace('"mpirun"]=[]', "")
        ] == []
