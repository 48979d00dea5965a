"""Arguments for each component of Azure that make all kinds of its children, and what Azure answers to them."""

import base64
import json

GROUP = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/fleet"
LOGS = f"{GROUP}/providers/Microsoft.OperationalInsights/workspaces/logs"
NETWORK = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/net"
NODES, BATCH, ENDPOINTS = (f"{NETWORK}/subnets/{each}" for each in ("nodes", "batch", "endpoints"))
IDENTITY = f"{GROUP}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes"
STORAGE = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/fleetfiles"
TAGS = {"owner": "ml", "project": "speech", "environment": "dev", "expires-at": "2027-01-31"}
PLACE: dict[str, object] = {"region": "eastus", "resource_group_name": "fleet", "tags": TAGS}

SAMPLES: dict[str, dict[str, object]] = {
    "ResourceGroup": {"region": "eastus", "tags": TAGS},
    "Network": {**PLACE, "cidr": "10.64.0.0/16"},
    "NodeIdentity": PLACE,
    "SharedFiles": {
        "access_logs": True,
        **PLACE,
        "containers": ["scripts", "result"],
        "shares": ["logs"],
        "share_gib": 200,
        "access": "private-endpoint",
        "endpoint_subnet_id": ENDPOINTS,
        "vnet_id": NETWORK,
        "client_principal_ids": {"nodes": "principal-1"},
        "shared_keys": True,
        "retention_days": 14,
    },
    "LustreFiles": {**PLACE, "filesystem_subnet_id": NODES, "sku": "AMLFS-Durable-Premium-500", "tib": 8, "zone": "2"},
    "NfsShare": {**PLACE, "client_subnet_ids": {"nodes": NODES}, "gib": 200, "log_workspace_id": LOGS},
    "SiteLink": {
        **PLACE,
        "kind": "vpn",
        "vnet_id": NETWORK,
        "vnet_cidr": "10.64.0.0/16",
        "site_cidrs": ["192.168.10.0/24"],
        "customer_address": "203.0.113.7",
        "static_routes": ["192.168.0.0/16"],
        "pre_shared_key": "a-long-enough-key-for-a-test",
    },
    "Registry": {
        **PLACE,
        "repositories": ["training/llm"],
        "pull_principal_ids": {"nodes": "principal-1"},
        "pull_through": {"quay": "quay.io"},
    },
    "Budget": {
        "scope": GROUP,
        "environment": "dev",
        "usd_per_month": 2500.5,
        "emails": ["ml@example.com"],
        "actual_percents": [50, 100],
    },
    "BatchAccount": {**PLACE, "identity_id": IDENTITY, "storage_account_id": STORAGE},
    "BatchPool": {
        **PLACE,
        "types": ["Standard_NC4as_T4_v3"],
        "max": 10,
        "capacity": "spot",
        "account_name": "fleetbatch",
        "identity_id": IDENTITY,
        "subnet_id": BATCH,
        "mounts": [
            {"kind": "blob", "account": "fleetfiles", "container": "scripts", "path": "scripts", "region": "eastus"}
        ],
        "registry_servers": ["fleet.azurecr.io"],
    },
    "Cluster": {
        **PLACE,
        "version": "1.36",
        "subnet_id": NODES,
        "admins": {"platform": "11111111-2222-3333-4444-555555555555"},
        "authorized_ranges": ["203.0.113.0/24"],
        "outbound_addresses": ["198.51.100.7"],
        "zones": ["1", "2"],
        "system_min": 1,
        "system_max": 4,
        "idle_minutes": 5,
    },
    "GpuNodeGroup": {
        **PLACE,
        "types": ["Standard_ND96isr_H100_v5"],
        "min": 1,
        "desired": 2,
        "max": 4,
        "zones": ["1"],
        "placement": "create",
        "disk_gib": 500,
        "labels": {"team": "vision"},
        "taints": [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}],
        "cluster_name": "fleet",
        "subnet_id": NODES,
    },
}
"""Class name -> arguments, in Python's spelling."""

# A list in the inputs, a map in what Azure answers.
_IDENTITIES = {"userAssignedIdentities": {"an-id": {"clientId": "c", "principalId": "p"}}}
COMPUTED: dict[str, dict[str, object]] = {
    "azure-native:batch:BatchAccount": {"accountEndpoint": "{name}.eastus.batch.invalid", "identity": _IDENTITIES},
    "azure-native:containerregistry:Registry": {"loginServer": "{name}.azurecr.invalid"},
    "azure-native:containerservice:ManagedCluster": {
        "identity": _IDENTITIES,
        "identityProfile": {"kubeletidentity": {"objectId": "{name}-kubelet", "clientId": "c", "resourceId": "r"}},
        "nodeResourceGroup": "MC_fleet_{name}_eastus",
        "oidcIssuerProfile": {"enabled": True, "issuerURL": "https://oidc.invalid/{name}"},
    },
    "azure-native:network:PublicIPAddress": {"ipAddress": "198.51.100.7"},
    "azure-native:managedidentity:UserAssignedIdentity": {
        "principalId": "{name}-principal",
        "clientId": "{name}-client",
    },
    "azure-native:storage:StorageAccount": {
        "primaryEndpoints": {"blob": "https://{name}.blob.invalid/", "file": "https://{name}.file.invalid/"},
    },
}
"""What Azure computes, per type; ``{name}`` is the logical name."""

_LISTED = {"clusters": [{"name": "aks", "cluster": {"server": "https://aks", "certificate-authority-data": "Y2E="}}]}
ANSWERS: dict[str, dict[str, object]] = {
    "azure-native:containerservice:listManagedClusterUserCredentials": {
        "kubeconfigs": [{"name": "clusterUser", "value": base64.b64encode(json.dumps(_LISTED).encode()).decode()}]
    },
    "azure-native:storage:listStorageAccountKeys": {"keys": [{"keyName": "key1", "value": "c2VjcmV0"}]},
}
"""What the functions of the provider return that components ask, by token."""
