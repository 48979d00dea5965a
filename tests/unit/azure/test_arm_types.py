"""arm_types.json agrees with the provider's SDK and with the simulated Azure, and reads ids."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest

from gpufleet.azure.arm_types import counted_tags, found_at, inside, row_of, rows
from gpufleet_rehearsal.table.loader import load_table

SDK = Path(importlib.util.find_spec("pulumi_azure_native").submodule_search_locations[0])
COMPONENTS = Path(importlib.util.find_spec("gpufleet.azure").submodule_search_locations[0])
SINGLE = {"azure-native:storage:ManagementPolicy"}
"""Azure has one of an account and no list of it; no component makes one."""
ON_ANOTHER = {"azure-native:monitor:DiagnosticSetting"}
"""Lies on another thing, is in no list of its group, and goes with that thing."""
HERE = "/subscriptions/00000000-0000-0000-0000-000000000001"
OF_OTHERS = {
    f"azure-native:{kind}"
    for kind in (
        "authorization:RoleDefinition",
        "batch:Application",
        "compute:DiskEncryptionSet",
        "compute:VirtualMachine",
        "compute:VirtualMachineScaleSet",
        "containerservice:MaintenanceConfiguration",
        "keyvault:Secret",
        "keyvault:Vault",
        "netapp:Account",
        "netapp:CapacityPool",
        "netapp:CapacityPoolVolume",
        "network:NetworkInterface",
        "network:PublicIPPrefix",
        "network:RouteTable",
        "network:SecurityRule",
        "network:VirtualNetworkPeering",
    )
}
"""What only programs of other teams make: no component does, so that none is left behind by one."""
IDS = [row.type for row in rows()]


def made_by_components():
    """Types that a component constructs: `storage.StorageAccount(...)` where storage is azure-native's."""
    made = set()
    for file in COMPONENTS.glob("*.py"):
        tree = ast.parse(file.read_text())
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        modules = {name.name for node in imports if node.module == "pulumi_azure_native" for name in node.names}
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        named = [call for call in calls if isinstance(call, ast.Attribute) and isinstance(call.value, ast.Name)]
        made |= {(call.value.id, call.attr) for call in named if call.value.id in modules}
    # Arguments of a resource have no file of that name; a function has, and is written small.
    made = {each for each in made if each[1][0].isupper() and (SDK / each[0] / f"{snake(each[1])}.py").exists()}
    return {f"azure-native:{module}:{name}" for module, name in made}


def snake(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=IP)(?=A[a-z])", "_", name).lower()


def test_every_type_that_components_make_is_in_the_table():
    made = made_by_components()
    assert "azure-native:storage:StorageAccount" in made
    assert len(made) > 20
    assert made <= set(IDS) | ON_ANOTHER


def test_every_type_of_the_simulated_azure_is_in_the_table():
    assert set(IDS) == set(load_table("azure-native").types) - SINGLE - ON_ANOTHER - OF_OTHERS
    assert len(IDS) == len(set(IDS))


@pytest.mark.parametrize("type_", IDS)
def test_a_row_is_as_the_simulated_azure_and_the_sdk_have_it(type_):
    row, theirs = row_of(type_), load_table("azure-native").types[type_]
    assert row.id == theirs.id.replace("{$account}", "{subscriptionId}")
    # Its own name is the one that the provider makes of the logical one.
    assert row.names[-1] == theirs.autoname.property
    nested = len(row.names) > 2 and not row.id.startswith("{scope}")
    assert row.tagged == (nested and theirs.taggable)
    _, module, name = type_.split(":")
    said = re.search(r"Uses Azure REST API version (\S+?)\.", (SDK / module / f"{snake(name)}.py").read_text())
    assert row.version == said.group(1)


@pytest.mark.parametrize("type_", IDS)
def test_an_id_is_read_back_and_by_no_other_row(type_):
    row = row_of(type_)
    values = {name: f"the-{name.lower()}" for name in row.names} | {"subscriptionId": "s"}
    values |= {"scope": f"{HERE}/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/a"}
    id_ = row.id.format(**values)
    assert [each.type for each in rows() if each.read(id_) is not None] == [type_]
    found = found_at(id_.upper().replace("THE-", "the-"), {}, {})
    assert found.type == type_
    assert set(found.inputs) == set(row.names)


def test_other_ids_are_nobodys():
    vaults = f"{HERE}/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v"
    assert [found_at(id_, {}, {}) for id_ in ("vpc-0a1b", vaults, f"{HERE}/resourceGroups/g/providers")] == [None] * 3


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("azure-native:resources:ResourceGroup", "Microsoft.Resources/subscriptions/resourceGroups"),
        (
            "azure-native:storage:BlobContainer",
            "Microsoft.Storage/storageAccounts/blobServices/containers",
        ),
        ("azure-native:authorization:RoleAssignment", "Microsoft.Authorization/roleAssignments"),
    ],
)
def test_the_type_in_azure(type_, kind):
    assert row_of(type_).kind == kind


def test_what_lies_in_what():
    account = row_of("azure-native:storage:StorageAccount")
    names = {row.type.rpartition(":")[2] for row in inside(account)}
    assert names == {"BlobContainer", "BlobServiceProperties", "FileServiceProperties", "FileShare"}
    assert account in inside(row_of("azure-native:resources:ResourceGroup"))
    assert inside(row_of("azure-native:network:Subnet")) == []


@pytest.mark.parametrize(
    ("filter_", "counted"),
    [
        (None, {}),
        ({}, {}),
        ({"tags": {"name": "environment", "values": ["dev"]}}, {"environment": "dev"}),
        ({"tags": {"name": "environment", "values": ["a", "b"]}}, {}),
        (
            {
                "and": [
                    {"dimensions": {}},
                    {"tags": {"name": "environment", "values": ["dev"]}},
                    {"tags": {"name": "owner", "values": ["us"]}},
                ]
            },
            {"environment": "dev", "owner": "us"},
        ),
    ],
)
def test_the_tags_of_what_a_budget_counts(filter_, counted):
    assert counted_tags(filter_) == counted
