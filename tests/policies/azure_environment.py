"""Every resource that an Azure environment is made of, raw: network, storage, registry, AKS with GPU nodes, Batch.

Cost and policy packs are tried on it. Where its resources come from does not matter to them; the stacks' own programs
are checked by the rehearsals.
"""

from copy import deepcopy
from datetime import date, timedelta
from typing import Any

from gpufleet.azure.autoscale_formula import autoscale_formula

TAGS = {"owner": "ops", "project": "llm", "expires-at": str(date.today() + timedelta(days=365))}
Resources = dict[str, dict[str, Any]]


def made(kind: str, /, **inputs: Any) -> dict[str, Any]:
    return {"type": f"azure-native:{kind}", "inputs": inputs}


def tagged(kind: str, /, **inputs: Any) -> dict[str, Any]:
    return made(kind, resourceGroupName="${group.name}", tags=TAGS, **inputs)


def azure_environment() -> Resources:
    """A fresh copy of the environment, for `raw_program`."""
    return deepcopy(_ENVIRONMENT)


def _pool(name: str, size: str, **inputs: Any) -> dict[str, Any]:
    return tagged(
        "containerservice:AgentPool",
        resourceName="${cluster.name}",
        agentPoolName=name,
        vmSize=size,
        vnetSubnetID="${nodes.id}",
        enableAutoScaling=True,
        osDiskSizeGB=128,
        **inputs,
    )


def _role(scope: str) -> dict[str, Any]:
    return made(
        "authorization:RoleAssignment",
        scope=scope,
        principalId="${identity.principalId}",
        principalType="ServicePrincipal",
    )


_ENVIRONMENT: Resources = {
    "group": made("resources:ResourceGroup", location="eastus", tags=TAGS),
    "identity": tagged("managedidentity:UserAssignedIdentity"),
    "reads-blobs": _role("${data.id}"),
    "pulls": _role("${images.id}"),
    "net": tagged("network:VirtualNetwork", addressSpace={"addressPrefixes": ["10.60.0.0/16"]}),
    "nsg": tagged("network:NetworkSecurityGroup", securityRules=[]),
    "address": tagged("network:PublicIPAddress", sku={"name": "Standard"}, publicIPAllocationMethod="Static"),
    "nat": tagged("network:NatGateway", sku={"name": "Standard"}, publicIpAddresses=[{"id": "${address.id}"}]),
    "nodes": made("network:Subnet", virtualNetworkName="${net.name}", natGateway={"id": "${nat.id}"}),
    "batch": made("network:Subnet", virtualNetworkName="${net.name}", natGateway={"id": "${nat.id}"}),
    "endpoints": made("network:Subnet", virtualNetworkName="${net.name}"),
    "data": tagged(
        "storage:StorageAccount",
        accountName="traindata01",
        kind="StorageV2",
        sku={"name": "Standard_LRS"},
        allowSharedKeyAccess=False,
        publicNetworkAccess="Disabled",
    ),
    "kept": made("storage:BlobServiceProperties", accountName="${data.name}", blobServicesName="default"),
    "kept-files": made("storage:FileServiceProperties", accountName="${data.name}", fileServicesName="default"),
    "scripts": made("storage:BlobContainer", accountName="${data.name}", containerName="scripts"),
    "result": made("storage:BlobContainer", accountName="${data.name}", containerName="result"),
    "logs": made("storage:FileShare", accountName="${data.name}", shareName="logs", shareQuota=100),
    "old": made("storage:ManagementPolicy", accountName="${data.name}", managementPolicyName="default"),
    "endpoint": tagged("network:PrivateEndpoint", subnet={"id": "${endpoints.id}"}),
    "zone": tagged("privatedns:PrivateZone", location="global", privateZoneName="privatelink.blob.core.windows.net"),
    "zone-link": tagged("privatedns:VirtualNetworkLink", location="global", privateZoneName="${zone.name}"),
    "zone-group": made("network:PrivateDnsZoneGroup", privateEndpointName="${endpoint.name}"),
    "images": tagged("containerregistry:Registry", registryName="trainimages01", sku={"name": "Standard"}),
    "hub": made("containerregistry:CacheRule", registryName="${images.name}", sourceRepository="mcr.microsoft.com/*"),
    "login": made("containerregistry:CredentialSet", registryName="${images.name}"),
    "cluster": tagged(
        "containerservice:ManagedCluster",
        sku={"name": "Base", "tier": "Standard"},
        networkProfile={"outboundType": "userAssignedNATGateway"},
        identity={"type": "UserAssigned", "userAssignedIdentities": ["${identity.id}"]},
        agentPoolProfiles=[
            {
                "name": "system",
                "mode": "System",
                "vmSize": "Standard_D4s_v5",
                "count": 1,
                "enableAutoScaling": True,
                "minCount": 1,
                "maxCount": 3,
                "osDiskSizeGB": 128,
            }
        ],
    ),
    "near": tagged("compute:ProximityPlacementGroup", intent={"vmSizes": ["Standard_NC24ads_A100_v4"]}),
    "trainers": _pool(
        "trainers",
        "Standard_NC24ads_A100_v4",
        minCount=0,
        maxCount=2,
        count=0,
        scaleSetPriority="Spot",
        nodeTaints=["sku=gpu:NoSchedule"],
        proximityPlacementGroupID="${near.id}",
    ),
    "group-reserved": tagged("compute:CapacityReservationGroup"),
    "capacity": tagged(
        "compute:CapacityReservation",
        capacityReservationGroupName="${group-reserved.name}",
        sku={"name": "Standard_NC4as_T4_v3", "capacity": 2},
    ),
    "reserved": _pool(
        "reserved",
        "Standard_NC4as_T4_v3",
        minCount=0,
        maxCount=3,
        count=0,
        capacityReservationGroupID="${group-reserved.id}",
        nodeTaints=["sku=gpu:NoSchedule"],
    ),
    "account": tagged(
        "batch/v20250601:BatchAccount",
        accountName="trainbatch01",
        identity={"type": "UserAssigned", "userAssignedIdentities": ["${identity.id}"]},
        autoStorage={"storageAccountId": "${data.id}", "authenticationMode": "BatchAccountManagedIdentity"},
    ),
    "spot": tagged(
        "batch/v20250601:Pool",
        accountName="${account.name}",
        vmSize="STANDARD_NC4AS_T4_V3",
        scaleSettings={"autoScale": {"formula": autoscale_formula(min=0, max=10, spot=True, task_nodes=2)}},
        networkConfiguration={
            "subnetId": "${batch.id}",
            "publicIPAddressConfiguration": {"provision": "NoPublicIPAddresses"},
        },
    ),
    "ring": tagged(
        "batch/v20250601:Pool",
        accountName="${account.name}",
        vmSize="STANDARD_NC4AS_T4_V3",
        scaleSettings={"fixedScale": {"targetDedicatedNodes": 0, "targetLowPriorityNodes": 0}},
        networkConfiguration={
            "subnetId": "${batch.id}",
            "publicIPAddressConfiguration": {"provision": "NoPublicIPAddresses"},
        },
    ),
    "budget": made("consumption:Budget", amount=5000, timePeriod={"startDate": "2026-12-01T00:00:00Z"}),
}
