"""Served to other languages, a component registers the same resources as in a Python program.

Over the wire names are camelCase and every number is a float.
"""

import re
from collections.abc import Mapping

import pulumi
import pytest
from pulumi.provider.experimental.component import ComponentProvider
from recorder import Recording, Registered, construct

from gpufleet.aws.gpu_node_group import GpuNodeGroup
from gpufleet.aws.registry import Registry
from gpufleet.aws.shared_files import SharedFiles

PACKAGE = "gpufleet-aws"
SUBNETS = {"use1-az1": "subnet-1", "use1-az2": "subnet-2"}
CASES: dict[type[pulumi.ComponentResource], Mapping[str, object]] = {
    GpuNodeGroup: {
        "region": "us-east-1",
        "types": ["p4d.24xlarge"],
        "min": 1,
        "desired": 2,
        "max": 4,
        "zones": ["use1-az1"],
        "placement": "create",
        "network": "efa",
        "disk_gib": 500,
        "labels": {"team": "vision"},
        "taints": [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}],
        "cluster_name": "fleet",
        "vpc_id": "vpc-1",
        "subnet_ids": SUBNETS,
        "cluster_security_group_id": "sg-cluster",
        "security_group_ids": ["sg-extra"],
        "tags": {"owner": "ml"},
    },
    SharedFiles: {
        "region": "us-east-1",
        "zones": ["use1-az1", "use1-az2"],
        "vpc_id": "vpc-1",
        "subnet_ids": SUBNETS,
        "client_security_group_ids": {"nodes": "sg-cluster"},
        "uid": 1001,
        "throughput": "provisioned",
        "provisioned_mibps": 256,
        "infrequent_access_days": 7,
        "tags": {"owner": "ml"},
    },
    Registry: {
        "region": "us-east-1",
        "repositories": ["training/llm"],
        "untagged_days": 3,
        "pull_through": {"quay": "quay.io"},
        "tags": {"owner": "ml"},
    },
}


def over_the_wire(value: object) -> object:
    """``value`` as it arrives: numbers as floats."""
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    return float(value)


def camel(name: str) -> str:
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def by_name(recording: Recording[object]) -> dict[str, Registered]:
    return {each.name: each for each in recording.resources}


@pytest.mark.parametrize("component", CASES, ids=lambda each: each.__name__)
def test_served_component_registers_the_same(component: type[pulumi.ComponentResource], preview: bool) -> None:
    args = CASES[component]
    provider = ComponentProvider([component], PACKAGE)
    wire = {camel(key): over_the_wire(value) for key, value in args.items()}
    token = f"{PACKAGE}:index:{component.__name__}"
    served = construct(lambda: provider.construct("it", token, wire), preview)
    direct = construct(lambda: component("it", args), preview)
    assert by_name(served) == by_name(direct)
    assert len(direct.resources) > 3


@pytest.mark.parametrize("component", CASES, ids=lambda each: each.__name__)
def test_served_component_publishes_what_it_declares(component: type[pulumi.ComponentResource]) -> None:
    provider = ComponentProvider([component], PACKAGE)
    declared = set(provider._component_defs[component.__name__].outputs_mapping.values())
    computed = {
        "aws:eks/nodeGroup:NodeGroup": {
            "nodeGroupName": "{name}-1234567",
            "resources": [{"autoscalingGroups": [{"name": "{name}-asg"}]}],
        }
    }
    recording = construct(lambda: component("it", CASES[component]), False, computed)
    assert recording.outputs["it"].keys() == declared
