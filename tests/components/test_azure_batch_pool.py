"""BatchPool: exact inputs of its child, what another intent changes, and what is refused."""

from typing import cast

import pulumi
import pytest
from azure.mgmt.batch.models import Pool

from gpufleet.azure.autoscale_formula import autoscale_formula
from gpufleet.azure.batch_pool import REPLACING, BatchPool, BatchPoolArgs
from tests.components.recorder import MARK, UNKNOWN, Recording, Secret, construct, refusal

POOL = "azure-native:batch:Pool"
IDENTITY = "/subscriptions/s/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes"
SUBNET = "/subscriptions/s/resourceGroups/fleet/providers/Microsoft.Network/virtualNetworks/net/subnets/batch"
BASE = {
    "types": ["Standard_NC4as_T4_v3"],
    "max": 10,
    "capacity": "spot",
    "region": "eastus",
    "resource_group_name": "fleet",
    "account_name": "trainbatch01",
    "identity_id": IDENTITY,
    "subnet_id": SUBNET,
    "tags": {"owner": "ml"},
}
BLOB = {"kind": "blob", "account": "trainstore01", "container": "scripts", "path": "scripts", "region": "eastus"}
LOGS = {"kind": "files", "account": "trainstore01", "share": "logs", "path": "logs", "region": "eastus"}
LOGS |= {"account_key": "c2VjcmV0", "shared_keys": True}
DATA = {"kind": "nfs", "source": "trainstore01.blob.core.windows.net:/trainstore01/data", "path": "data"}


def build(preview: bool, **changes: object) -> Recording[BatchPool]:
    args = {word: value for word, value in {**BASE, **changes}.items() if value is not None}
    return construct(lambda: BatchPool("workers", cast(BatchPoolArgs, args)), preview)


def inputs(preview: bool, **changes: object) -> dict[str, object]:
    return build(preview, **changes).one(POOL, "workers-pool").inputs


def machine(preview: bool, **changes: object) -> dict[str, object]:
    deployment = cast("dict[str, dict[str, object]]", inputs(preview, **changes)["deploymentConfiguration"])
    return deployment["virtualMachineConfiguration"]


def test_plain_pool(preview: bool) -> None:
    recording = build(preview)
    pool = recording.one(POOL, "workers-pool")
    assert pool.inputs == {
        "resourceGroupName": "fleet",
        "accountName": "trainbatch01",
        "vmSize": "Standard_NC4as_T4_v3",
        "deploymentConfiguration": {
            "virtualMachineConfiguration": {
                "imageReference": {
                    "publisher": "microsoft-dsvm",
                    "offer": "ubuntu-hpc",
                    "sku": "2404",
                    "version": "latest",
                },
                "nodeAgentSkuId": "batch.node.ubuntu 24.04",
                "osDisk": {"diskSizeGB": 128},
                "containerConfiguration": {"type": "DockerCompatible"},
            }
        },
        "networkConfiguration": {
            "subnetId": SUBNET,
            "dynamicVnetAssignmentScope": "none",
            "publicIPAddressConfiguration": {"provision": "NoPublicIPAddresses"},
        },
        "targetNodeCommunicationMode": "Simplified",
        "interNodeCommunication": "Disabled",
        "taskSlotsPerNode": 1,
        "scaleSettings": {"autoScale": {"formula": autoscale_formula(max=10, spot=True), "evaluationInterval": "PT5M"}},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": [IDENTITY]},
        "tags": {"owner": "ml", **MARK},
    }
    assert (pool.parent, pool.delete_before_replace, pool.ignore_changes) == ("workers", True, ())
    assert pool.replace_on_changes == REPLACING
    assert recording.outputs["workers"] == {
        "pool_name": UNKNOWN if preview else "workers-pool",
        "pool_id": UNKNOWN if preview else "workers-pool-id",
    }


@pytest.mark.parametrize("scaling", ["auto", "fixed"])
def test_microsofts_own_model_knows_every_property(preview: bool, scaling: str) -> None:
    """What their client (API 2024-07-01) does not know is gone after a round trip through its model."""
    mounts = [BLOB, LOGS, DATA]
    images = {"registry_servers": ["images.azurecr.io"], "container_images": ["images.azurecr.io/llm:1"]}
    sent = inputs(preview, scaling=scaling, mounts=mounts, start_command="true", **images)
    around = ("resourceGroupName", "accountName", "identity", "tags")
    body = cast("dict[str, object]", plain({name: each for name, each in sent.items() if name not in around}))
    assert round_trip(body) == body
    assert round_trip({**body, "vmsize": "Standard_NC6"}) == body


def round_trip(properties: dict[str, object]) -> object:
    return Pool.deserialize({"properties": properties}).serialize()["properties"]


def plain(value: object) -> object:
    """Without the marks of secrets."""
    if isinstance(value, Secret):
        return value.value
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def test_what_azure_cannot_change_is_named_as_on_the_wire(preview: bool) -> None:
    """A name that no input has would protect nothing."""
    sent = inputs(preview, mounts=[BLOB])
    assert set(REPLACING) <= set(sent)
    assert "scaleSettings" not in REPLACING


def test_formula_has_the_words_of_the_pool(preview: bool) -> None:
    wanted = autoscale_formula(min=1, max=8, spot=False, idle_minutes=30, task_nodes=4)
    sent = inputs(preview, min=1, max=8, capacity=None, idle_minutes=30, task_nodes=4)
    assert cast("dict[str, dict[str, object]]", sent["scaleSettings"])["autoScale"]["formula"] == wanted
    assert (sent["interNodeCommunication"], sent["taskSlotsPerNode"]) == ("Enabled", 1)


@pytest.mark.parametrize(
    ("words", "dedicated", "spot"),
    [
        ({}, 0, 0),
        ({"desired": 0}, 0, 0),
        ({"desired": 3}, 0, 3),
        ({"min": 2}, 0, 2),
        ({"desired": 3, "capacity": "on-demand"}, 3, 0),
    ],
)
def test_fixed_pool(preview: bool, words: dict[str, object], dedicated: int, spot: int) -> None:
    assert inputs(preview, scaling="fixed", **words)["scaleSettings"] == {
        "fixedScale": {
            "targetDedicatedNodes": dedicated,
            "targetLowPriorityNodes": spot,
            "resizeTimeout": "PT15M",
            "nodeDeallocationOption": "TaskCompletion",
        }
    }


def test_mounts(preview: bool) -> None:
    assert inputs(preview, mounts=[BLOB, LOGS, DATA])["mountConfiguration"] == [
        {
            "azureBlobFileSystemConfiguration": {
                "accountName": "trainstore01",
                "containerName": "scripts",
                "relativeMountPath": "scripts",
                "identityReference": {"resourceId": IDENTITY},
            }
        },
        {
            "azureFileShareConfiguration": {
                "accountName": "trainstore01",
                "accountKey": Secret("c2VjcmV0"),
                "azureFileUrl": "https://trainstore01.file.core.windows.net/logs",
                "relativeMountPath": "logs",
                "mountOptions": "-o vers=3.0,dir_mode=0777,file_mode=0777,sec=ntlmssp",
            }
        },
        {
            "nfsMountConfiguration": {
                "source": "trainstore01.blob.core.windows.net:/trainstore01/data",
                "relativeMountPath": "data",
                "mountOptions": "-o vers=3,nolock,proto=tcp,sec=sys",
            }
        },
    ]


def test_mounts_with_options_and_an_endpoint(preview: bool) -> None:
    share = {**LOGS, "endpoint": "https://trainstore01.file.core.chinacloudapi.cn/", "options": "-o vers=3.1.1"}
    blob, files = cast(
        "list[dict[str, dict[str, object]]]",
        inputs(preview, mounts=[{**BLOB, "options": "-o allow_other"}, share])["mountConfiguration"],
    )
    assert blob["azureBlobFileSystemConfiguration"]["blobfuseOptions"] == "-o allow_other"
    found = files["azureFileShareConfiguration"]
    assert found["azureFileUrl"] == "https://trainstore01.file.core.chinacloudapi.cn/logs"
    assert found["mountOptions"] == "-o vers=3.1.1"


def test_a_key_that_is_not_known_yet_stays_a_secret(preview: bool) -> None:
    def later() -> BatchPool:
        key = pulumi.Output.secret("c2VjcmV0")
        return BatchPool("workers", cast(BatchPoolArgs, {**BASE, "mounts": [BLOB, {**LOGS, "account_key": key}]}))

    mounts = cast(
        "list[dict[str, dict[str, object]]]", construct(later, preview).one(POOL).inputs["mountConfiguration"]
    )
    assert mounts[1]["azureFileShareConfiguration"]["accountKey"] == Secret("c2VjcmV0")


def test_images_are_pulled_by_the_identity(preview: bool) -> None:
    sent = machine(preview, registry_servers=["images.azurecr.io"], container_images=["images.azurecr.io/llm:1"])
    assert sent["containerConfiguration"] == {
        "type": "DockerCompatible",
        "containerImageNames": ["images.azurecr.io/llm:1"],
        "containerRegistries": [{"registryServer": "images.azurecr.io", "identityReference": {"resourceId": IDENTITY}}],
    }


def test_empty_lists_are_left_out(preview: bool) -> None:
    """Azure rejects them when a pool is written again."""
    assert inputs(preview, mounts=[], registry_servers=[], container_images=[]) == inputs(preview)


def test_another_image(preview: bool) -> None:
    sent = machine(preview, image="canonical:ubuntu-24_04-lts:server:24.04.202601010", disk_gib=256)
    assert sent == {
        "imageReference": {
            "publisher": "canonical",
            "offer": "ubuntu-24_04-lts",
            "sku": "server",
            "version": "24.04.202601010",
        },
        "nodeAgentSkuId": "batch.node.ubuntu 24.04",
        "osDisk": {"diskSizeGB": 256},
    }


def test_image_of_a_gallery_with_its_node_agent(preview: bool) -> None:
    mine = "/subscriptions/s/resourceGroups/images/providers/Microsoft.Compute/galleries/g/images/trainer"
    sent = machine(preview, image=mine, node_agent="batch.node.el 9")
    assert (sent["imageReference"], sent["nodeAgentSkuId"]) == ({"id": mine}, "batch.node.el 9")
    assert "containerConfiguration" not in sent
    with_images = machine(preview, image=mine, node_agent="batch.node.el 9", registry_servers=["images.azurecr.io"])
    assert "containerConfiguration" in with_images


def test_start_command_runs_in_bash_as_root(preview: bool) -> None:
    assert inputs(preview, start_command="echo 'a b'\nmodprobe nvidia")["startTask"] == {
        "commandLine": "/bin/bash -c 'set -e; echo '\"'\"'a b'\"'\"'\nmodprobe nvidia'",
        "userIdentity": {"autoUser": {"scope": "Pool", "elevationLevel": "Admin"}},
        "maxTaskRetryCount": 1,
        "waitForSuccess": True,
    }


def test_inputs_that_are_not_known_yet_are_waited_for(preview: bool) -> None:
    def later() -> BatchPool:
        words = {word: pulumi.Output.from_input(BASE[word]) for word in ("account_name", "identity_id", "subnet_id")}
        mount = {**BLOB, "account": pulumi.Output.from_input("trainstore01")}
        return BatchPool("workers", cast(BatchPoolArgs, {**BASE, **words, "mounts": [mount]}))

    assert construct(later, preview).one(POOL).inputs == inputs(preview, mounts=[BLOB])


def test_every_fault_is_refused_at_once(preview: bool) -> None:
    lines = refusal(
        lambda: build(
            preview,
            types=["Standard_NC6"],
            max=2,
            min=3,
            zones=["1"],
            network="efa",
            region="westus2",
            subnet_id=None,
            mounts=[BLOB, {"kind": "files", "account": "trainstore01", "path": "/logs", "region": "westus2"}],
        ),
        preview,
    )
    assert [line.partition(": ")[2].partition(": ")[0] for line in lines] == [
        "zones=[1]",
        "subnet_id=null",
        "network=efa",
        "min=3",
        "types=Standard_NC6",
        "mounts[0]=trainstore01",
        "mounts[1].share=null",
        "mounts[1].path=/logs",
        "mounts[1]=file share",
    ]
    assert "use Standard_NC4as_T4_v3 [azure-size-current]" in "\n".join(lines)
    assert "this storage account lies in eastus, the pool in westus2" in "\n".join(lines)


def test_the_command_of_2018_is_refused_with_the_successor(preview: bool) -> None:
    """`az batchai cluster create`: two low-priority Standard_NC6."""
    lines = refusal(lambda: build(preview, types=["Standard_NC6"], min=2, max=2), preview)
    assert lines == [
        "workers: types=Standard_NC6: is retired since 2023-09-06; use Standard_NC4as_T4_v3 [azure-size-current]"
    ]
