"""A program of raw Azure resources in which nothing is wrong: AKS with GPU nodes, Batch for MPI, storage, registry.

Tests change a copy of it at one place and look for the one rule that says so.
"""

from copy import deepcopy
from typing import Any

OPERATOR = "/subscriptions/s/providers/Microsoft.Authorization/roleDefinitions/f1a07417-d97a-45cb-824c-7a7467783830"
FORMULA = """
percent = $PendingTasks.GetSamplePercent(TimeInterval_Minute * 5);
tasks = percent < 70 ? 0 : avg($PendingTasks.GetSample(TimeInterval_Minute * 5));
$TargetDedicatedNodes = min(8, tasks);
$NodeDeallocationOption = taskcompletion;
"""


def resource(kind: str, /, **inputs: Any) -> dict[str, Any]:
    token = f"azure-native:{kind}" if not kind.startswith("batch:") else f"azure-native_batch_v20250601:{kind}"
    return {"type": token, "inputs": inputs}


def legal_azure_program() -> dict[str, dict[str, Any]]:
    """A fresh copy of the program, for `raw_program`."""
    return deepcopy(_PROGRAM)


def _in_group(kind: str, /, **inputs: Any) -> dict[str, Any]:
    return resource(kind, resourceGroupName="${group.name}", **inputs)


_PROGRAM: dict[str, dict[str, Any]] = {
    "group": resource("resources:ResourceGroup", location="eastus"),
    "net": _in_group("network:VirtualNetwork", addressSpace={"addressPrefixes": ["10.0.0.0/16"]}),
    "nsg": _in_group(
        "network:NetworkSecurityGroup",
        securityRules=[
            {
                "name": "within",
                "priority": 100,
                "direction": "Inbound",
                "access": "Allow",
                "protocol": "*",
                "sourceAddressPrefix": "VirtualNetwork",
                "destinationAddressPrefix": "*",
                "destinationPortRange": "*",
            }
        ],
    ),
    "no-more": _in_group(
        "network:SecurityRule",
        networkSecurityGroupName="${nsg.name}",
        priority=4000,
        direction="Inbound",
        access="Deny",
        protocol="*",
        sourceAddressPrefix="*",
        destinationAddressPrefix="*",
        destinationPortRange="*",
    ),
    "subnet": _in_group(
        "network:Subnet",
        virtualNetworkName="${net.name}",
        addressPrefix="10.0.0.0/20",
        networkSecurityGroup={"id": "${nsg.id}"},
    ),
    "reader": _in_group("managedidentity:UserAssignedIdentity"),
    "control": _in_group("managedidentity:UserAssignedIdentity"),
    "operator": resource(
        "authorization:RoleAssignment",
        scope="${reader.id}",
        principalId="${control.principalId}",
        principalType="ServicePrincipal",
        roleDefinitionId=OPERATOR,
    ),
    "store": _in_group(
        "storage:StorageAccount",
        accountName="traindata01",
        kind="StorageV2",
        sku={"name": "Standard_LRS"},
        allowSharedKeyAccess=False,
    ),
    "share": _in_group("storage:FileShare", accountName="${store.name}", enabledProtocols="SMB"),
    "images": _in_group("containerregistry:Registry", registryName="trainimages01", sku={"name": "Premium"}),
    "hub": _in_group(
        "containerregistry:CacheRule", registryName="${images.name}", sourceRepository="mcr.microsoft.com/*"
    ),
    "account": _in_group(
        "batch:BatchAccount",
        accountName="trainbatch01",
        identity={"type": "SystemAssigned"},
        autoStorage={"storageAccountId": "${store.id}", "authenticationMode": "BatchAccountManagedIdentity"},
    ),
    "ring": _in_group(
        "batch:Pool",
        accountName="${account.name}",
        vmSize="Standard_ND96isr_H100_v5",
        interNodeCommunication="Enabled",
        taskSlotsPerNode=1,
        targetNodeCommunicationMode="Simplified",
        identity={"type": "UserAssigned", "userAssignedIdentities": ["${reader.id}"]},
        scaleSettings={"autoScale": {"formula": FORMULA, "evaluationInterval": "PT5M"}},
        networkConfiguration={
            "subnetId": "${subnet.id}",
            "publicIPAddressConfiguration": {"provision": "NoPublicIPAddresses"},
        },
        deploymentConfiguration={
            "virtualMachineConfiguration": {
                "imageReference": {"publisher": "microsoft-dsvm", "offer": "ubuntu-hpc", "sku": "2404"},
                "nodeAgentSkuId": "batch.node.ubuntu 24.04",
                "containerConfiguration": {
                    "type": "DockerCompatible",
                    "containerRegistries": [
                        {
                            "registryServer": "${images.loginServer}",
                            "identityReference": {"resourceId": "${reader.id}"},
                        }
                    ],
                },
            }
        },
        mountConfiguration=[
            {
                "azureBlobFileSystemConfiguration": {
                    "accountName": "${store.name}",
                    "containerName": "data",
                    "relativeMountPath": "data",
                    "identityReference": {"resourceId": "${reader.id}"},
                }
            },
            {"nfsMountConfiguration": {"source": "10.0.9.9:/logs", "relativeMountPath": "logs"}},
        ],
    ),
    "cluster": _in_group(
        "containerservice:ManagedCluster",
        identity={"type": "UserAssigned", "userAssignedIdentities": ["${control.id}"]},
        identityProfile={"kubeletidentity": {"resourceId": "${reader.id}"}},
        agentPoolProfiles=[
            {"name": "system", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5", "osType": "Linux"}
        ],
    ),
    "near": _in_group(
        "compute:ProximityPlacementGroup",
        intent={"vmSizes": ["Standard_ND96isr_H100_v5"]},
    ),
    "reserved": _in_group("compute:CapacityReservationGroup"),
    "trainers": _in_group(
        "containerservice:AgentPool",
        resourceName="${cluster.name}",
        agentPoolName="trainers",
        mode="User",
        vmSize="Standard_ND96isr_H100_v5",
        enableAutoScaling=True,
        minCount=0,
        maxCount=4,
        nodeTaints=["sku=gpu:NoSchedule"],
        vnetSubnetID="${subnet.id}",
        proximityPlacementGroupID="${near.id}",
    ),
    "budget": resource(
        "consumption:Budget",
        amount=1000,
        timePeriod={"startDate": "2026-12-01T00:00:00Z"},
        notifications={"most": {"threshold": 80}},
    ),
}
# A cluster that is made before the assignment is refused.
_PROGRAM["cluster"]["dependsOn"] = ["operator"]
