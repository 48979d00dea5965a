"""The keys of a configuration: which there are, and where one belongs."""

import pytest

from gpufleet.config.aws import AwsConfig
from gpufleet.config.azure import AzureConfig
from gpufleet.config.keys import key_elsewhere, walk
from gpufleet.config.stacks import CLOUDS, KINDS, stack_kind
from gpufleet.typed_dicts import Default


@pytest.mark.parametrize("cloud", KINDS)
def test_every_key_has_a_description(cloud):
    keys = {key: text for key, _, text in walk(KINDS[cloud].config)}
    assert {"owner", "quotas[].family", "suppress[].rule", "erase"} <= set(keys)
    assert [key for key, text in keys.items() if not text] == []


def test_keys_are_named_as_they_are_written():
    keys = {key: field for key, field, _ in walk(AwsConfig)}
    assert {
        "network.zones",
        "cluster.zones",
        "budget.emails",
        "quotas[].family",
        "pools",
        "pools.<name>.types",
        "pools.<name>.taints",
        "pools.<name>.taints[].key",
        "pools.<name>.schedule[].at",
        "own_servers.networks.nodes",
        "own_servers.pools.<name>.nodes",
        "teams.<name>.users.<name>.uid",
        "team.namespace",
    } <= set(keys)
    # An object that a configuration has in any case is no key of its own.
    assert not {"network", "cluster", "files", "own_servers.networks"} & set(keys)
    assert {"budget", "existing_cluster", "own_servers"} <= set(keys)
    assert keys["network.zones"].required
    assert keys["erase"].default == Default(False)
    assert not {"region", "tags", "cluster_name"} & {key.rpartition(".")[2] for key in keys if "." in key}


def test_keys_come_in_the_order_of_their_declarations():
    keys = [key for key, _, _ in walk(AzureConfig)]
    assert len(keys) == len(set(keys))
    assert keys.index("cloud") < keys.index("location") < keys.index("network.cidr") < keys.index("batch")
    assert keys.index("batch.pools") + 1 == keys.index("batch.pools.<name>.types")


@pytest.mark.parametrize(
    ("path", "rented", "hint"),
    [
        (("pools", "a", "schedule"), True, "only pools on EKS have sizes by the hours"),
        (("batch", "pools", "a", "schedule"), True, "only pools on EKS have sizes by the hours"),
        (("pools", "a", "schedule"), False, "own servers are not rented by the hour"),
        (("own_servers", "pools", "a", "schedule"), True, "own servers are not rented by the hour"),
        (("schedule",), True, None),
        (("network", "schedule"), True, None),
        (("pools", "a", "size"), True, None),
    ],
)
def test_where_a_key_belongs(path, rented, hint):
    found = key_elsewhere(path, "dev", rented=rented)
    assert found == hint if hint is None else found.startswith(hint)


def test_each_cloud_has_a_configuration_and_a_provider():
    assert tuple(KINDS) == CLOUDS
    assert {cloud: (kind.provider, kind.provider_keys) for cloud, kind in KINDS.items()} == {
        "aws": ("aws", ("region",)),
        "aws-batch": ("aws", ("region",)),
        "azure": ("azure-native", ("location",)),
        "onprem": ("kubernetes", ()),
    }
    assert stack_kind("azure") is KINDS["azure"]
    assert stack_kind("Azure") is KINDS["aws"]
