"""`gpufleet nodes`: what a cluster's nodes and the servers of the configuration are told as, and a script's file."""

import json
import stat

import pytest
from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.onprem.listing import as_json, lines, rows
from gpufleet.onprem.secret_file import write_secret_file
from gpufleet.onprem.servers import onprem_servers_of

LABELS = {"gpufleet.dev/pool": "lab-v100", "gpufleet.dev/gpu": "V100", "gpufleet.dev/place": "onprem"}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}
OWN = {
    "cluster_name": "lab",
    "region": "us-east-1",
    "kind": "ssm",
    "credentials": {"activation_id": "a-1", "activation_code": "secret-code"},
    "nfs": "10.80.0.5:/export/shared",
    "kubernetes_version": "1.34",
    "nodeadm": {"version": "v1.0.9", "sha256": "a" * 64},
    "driver": "580-server",
    "nodes": {
        "gpu-1": {"pool": "v100", "labels": LABELS, "taints": [TAINT]},
        "gpu-2": {"pool": "v100", "labels": LABELS, "taints": []},
    },
}


def node(name, labels, *, ready="True", cordoned=False, gpus="4"):
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {"conditions": [{"type": "Ready", "status": ready}], "allocatable": {"nvidia.com/gpu": gpus}},
    }


SERVER = LABELS | {"gpufleet.dev/server": "gpu-1", "gpufleet.dev/zone-id": "onprem"}
CLOUD = {"gpufleet.dev/pool": "lab-rented", "gpufleet.dev/gpu": "A10G", "gpufleet.dev/place": "cloud"}
NODES = [
    node("system-1", {}),
    node("mi-1", SERVER, cordoned=True),
    node("ip-10-0-0-9", CLOUD, ready="Unknown"),
]


def test_nodes_are_listed_by_pool_with_servers_that_have_not_joined():
    own = onprem_servers_of({"own_servers": OWN}, "lab")
    found = rows(NODES, own.servers)
    assert [(each.node, each.server, each.state, each.cordoned) for each in found] == [
        ("ip-10-0-0-9", "", "not ready", False),
        ("mi-1", "gpu-1", "ready", True),
        ("", "gpu-2", "not joined", False),
    ]
    assert lines(found) == [
        "NODE         SERVER  POOL        GPU       PLACE   ZONE    STATE",
        "ip-10-0-0-9  -       lab-rented  4 x A10G  cloud   -       not ready",
        "mi-1         gpu-1   lab-v100    4 x V100  onprem  onprem  ready, cordoned",
        "-            gpu-2   lab-v100    0 x V100  onprem  -       not joined",
    ]
    assert as_json(found)[1]["gpus"] == 4
    assert rows([], {}) == []


def test_an_environment_without_own_servers_has_none_and_hidden_ones_are_said():
    assert onprem_servers_of({}, "lab") is None
    with pytest.raises(UserError, match=r"lab: the stack's output own_servers is hidden; .*--show-secrets"):
        onprem_servers_of({"own_servers": "[secret]"}, "lab")


def script(tmp_path, *words, outputs=None):
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps({"own_servers": OWN} if outputs is None else outputs))
    return CliRunner().invoke(main, ["nodes", "script", "lab", *words, "--outputs", str(file)])


def test_a_script_goes_to_stdout_and_the_warning_beside_it(tmp_path):
    done = script(tmp_path, "gpu-1")
    assert done.exit_code == 0
    assert done.stdout.startswith("#!/usr/bin/env bash\n")
    assert "secret-code" in done.stdout
    assert done.stderr == "the script: holds a secret; copy it to gpu-1, run it there as root, and delete it\n"


def test_a_scripts_file_is_its_owners_even_where_one_was_everybodys(tmp_path):
    file = tmp_path / "join.sh"
    file.write_text("old")
    file.chmod(0o644)
    done = script(tmp_path, "gpu-1", "--to", str(file))
    assert (done.exit_code, done.stdout) == (0, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "secret-code" in file.read_text()
    assert "secret-code" not in done.stderr
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


FAULTS = {
    "unknown server": (
        ["gpu-3"],
        None,
        "Error: lab: node=gpu-3: no pool of gpufleet:own_servers names it; did you mean gpu-2? (use gpu-1 or gpu-2)\n",
    ),
    "no own servers": (
        ["gpu-1"],
        {"kubeconfig": "x"},
        "Error: lab: node=gpu-1: the environment joins no own servers; name them under gpufleet:own_servers and run "
        "`pulumi up`\n",
    ),
    "no such directory": (
        ["gpu-1", "--to", "/no/such/join.sh"],
        None,
        "Error: /no/such/join.sh: No such file or directory\n",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_one_line(case, tmp_path):
    words, outputs, line = FAULTS[case]
    done = script(tmp_path, *words, outputs=outputs)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", line)


def test_a_private_file_is_whole_or_not_there(tmp_path):
    with pytest.raises(UserError, match="Is a directory"):
        write_secret_file(tmp_path, "text")
    assert list(tmp_path.iterdir()) == []
