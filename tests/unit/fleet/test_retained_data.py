"""Which resources are data: what `reap` deletes only by the configuration's word, and `adopt --delete` never."""

import json
from pathlib import Path

import pytest

import gpufleet.fleet
import gpufleet.report
from gpufleet.fleet.retained_data import erases_data, holds_data, is_data_store

TYPES = json.loads(Path(gpufleet.fleet.__file__).with_name("data_types.json").read_text())
HOLDINGS = json.loads(Path(gpufleet.report.__file__).with_name("holdings.json").read_text())


@pytest.mark.parametrize(
    ("kind", "stores", "holds"),
    [
        ("aws:efs/fileSystem:FileSystem", True, True),
        ("aws:efs/mountTarget:MountTarget", False, True),
        ("aws:s3/bucketPolicy:BucketPolicy", False, True),
        ("aws:rds/instance:Instance", True, True),
        ("aws:dynamodb/table:Table", True, True),
        ("azure-native:storage/v20230101:StorageAccount", True, True),
        ("azure-native:resources:ResourceGroup", False, True),
        ("azure-native:sql:Database", True, True),
        ("aws:eks/cluster:Cluster", False, False),
        ("aws:ec2/vpc:Vpc", False, False),
    ],
)
def test_types(kind: str, stores: bool, holds: bool) -> None:
    assert (is_data_store({"type": kind}), holds_data(kind)) == (stores, holds)


def test_what_reports_call_held_data_is_data_here_too() -> None:
    """But for what dies with compute, or is no data of a user's."""
    held = {kind for kind, what in HOLDINGS.items() if "holds" in what and "ends" not in what}
    assert sorted(held - set(TYPES)) == [
        "aws:cloudwatch/logGroup:LogGroup",
        "aws:kms/key:Key",
        "aws:secretsmanager/secret:Secret",
        "azure-native:keyvault:Vault",
        "azure-native:operationalinsights:Workspace",
        "azure-native:resources:ResourceGroup",
        "kubernetes:apiextensions.k8s.io:CustomResourceDefinition",
        "kubernetes:core:PersistentVolumeClaim",
        "kubernetes:core:Secret",
    ]
    assert sorted(TYPES) == TYPES


@pytest.mark.parametrize(
    ("outputs", "erases"),
    [({"erase": True}, True), ({"erase": False}, False), ({"erase": "true"}, False), ({}, False), (None, False)],
)
def test_word_of_the_configuration_is_an_output(outputs: object, erases: bool) -> None:
    root = {"urn": "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev", "type": "pulumi:pulumi:Stack", "outputs": outputs}
    assert erases_data([root]) is erases
    assert erases_data([]) is False
