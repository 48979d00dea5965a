"""An on-prem cluster in a rehearsal: its servers are those of the account's file, its kubeconfig leads nowhere else."""

import json

import pytest
import yaml

from gpufleet.kubernetes.kubeconfig_portability import kubeconfig_faults
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.seed_resources import SeedError, seed_account
from gpufleet_rehearsal.kubernetes.kubeconfig import read_kubeconfig
from gpufleet_rehearsal.kubernetes.onprem_servers import follow
from gpufleet_rehearsal.onprem_cluster import JOINED, NODES, is_onprem_config, kubeconfig_text
from gpufleet_rehearsal.stack_config import stack_config
from tools.kubernetes.fake_node import DEVICES
from tools.kubernetes.own_node import own_node


class Table:
    """The nodes of no control plane at all."""

    def __init__(self):
        self.made, self.asked = {}, []

    def add_own(self, servers):
        self.made |= {server["name"]: server["gpus"] for server in servers}
        self.asked += [f"add {server['name']}" for server in servers]
        return [server["name"] for server in servers]

    def own(self):
        return dict(self.made)

    def remove(self, names):
        for name in names:
            del self.made[name]
        self.asked += [f"remove {name}" for name in names]


@pytest.fixture
def account(tmp_path):
    """Furnishes a simulated account from the rows of `nodes`."""
    cloud = open_cloud("aws", tmp_path)

    def furnished(**content):
        file = tmp_path / "rehearsal.lab.yaml"
        file.write_text(yaml.safe_dump(content))
        seed_account(cloud, file)
        return cloud.store

    yield furnished
    cloud.store.close()


def test_servers_come_and_go_without_touching_the_others(account):
    table = Table()
    one, two = {"name": "gpu-1", "gpus": 4}, {"name": "gpu-2", "gpus": 4}
    assert follow(account(nodes=[one, two]), table) == ["on-prem servers: 0 -> 2 nodes"]
    assert follow(account(nodes=[one, two]), table) == []
    table.asked.clear()
    assert follow(account(nodes=[two, {"name": "gpu-3", "gpus": 8}]), table) == ["on-prem servers: 2 -> 2 nodes"]
    assert table.asked == ["remove gpu-1", "add gpu-3"]


def test_a_server_with_other_gpus_is_another_one(account):
    table = Table()
    follow(account(nodes=[{"name": "gpu-1", "gpus": 4}]), table)
    table.asked.clear()
    follow(account(nodes=[{"name": "gpu-1", "gpus": 8}]), table)
    assert table.asked == ["remove gpu-1", "add gpu-1"]


def test_servers_that_join_a_clouds_cluster_are_nodes_once_they_have_joined(account):
    table = Table()
    store = account(nodes=[{"name": "gpu-1", "gpus": 4}, {"name": "gpu-2", "gpus": 4}])
    store.remember(JOINED, "{}")
    assert follow(store, table) == []
    node = {"name": "mi-1", "labels": {"gpufleet.dev/gpu": "V100"}, "taints": []}
    store.remember(JOINED, json.dumps({"gpu-2": node}))
    assert follow(store, table) == ["on-prem servers: 0 -> 1 nodes"]
    assert table.made == {"mi-1": 4}
    # An on-prem cluster's are all of them again.
    store.remember(JOINED, "")
    follow(store, table)
    assert table.made == {"gpu-1": 4, "gpu-2": 4}


def test_a_node_has_the_labels_that_its_server_joined_with():
    node = own_node("mi-1", 4, labels={"gpufleet.dev/gpu": "V100"})
    assert node["metadata"]["labels"]["gpufleet.dev/gpu"] == "V100"
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "mi-1"


def test_an_account_without_servers_leaves_those_of_another_environment(account):
    follow(account(nodes=[{"name": "gpu-1", "gpus": 4}]), Table())
    assert json.loads(account(quotas=[]).fact(NODES))[0]["name"] == "gpu-1"


def test_a_misspelt_key_of_a_server_is_one_line(account):
    with pytest.raises(SeedError, match=r"nodes\.0\.gpu: unknown key; must be one of name, gpus, vcpus, memory_gib"):
        account(nodes=[{"name": "gpu-1", "gpus": 4, "gpu": "V100"}])


def test_a_server_has_no_label_of_gpufleet_before_up():
    node = own_node("gpu-1", 4)
    assert not any(key.startswith(("gpufleet.dev/", "nvidia.com/")) for key in node["metadata"]["labels"])
    # Its GPUs are in the machine; a device plugin tells of them.
    assert node["metadata"]["annotations"][DEVICES] == '{"nvidia.com/gpu": 4}'
    assert "nvidia.com/gpu" not in node["status"]["allocatable"]
    assert node["spec"]["taints"] == []


def test_the_kubeconfig_leads_to_the_rehearsals_own_control_plane():
    assert read_kubeconfig(kubeconfig_text()).simulated
    assert kubeconfig_faults(kubeconfig_text()) == []


def test_the_users_own_kubeconfig_is_neither_read_nor_decrypted(tmp_path):
    file = tmp_path / "Pulumi.lab.yaml"
    config = {"gpufleet:cloud": "onprem", "gpufleet:kubeconfig": {"secure": "AAAB"}}
    file.write_text(yaml.safe_dump({"encryptionsalt": "v1:salt", "config": config}))
    seen = stack_config(file, tmp_path / "copy", tmp_path / "state")
    assert not seen.own_passphrase
    assert yaml.safe_load(seen.text)["config"]["gpufleet:kubeconfig"] == kubeconfig_text()
    assert not is_onprem_config({"gpufleet:cloud": "aws"})
