"""The program of an Azure environment `dev`."""

import json
from base64 import b64encode

from tests.unit.stacks.stack_programs import Program

POOL = {"types": ["Standard_NC4as_T4_v3"], "max": 2, "zones": ["1"]}
BATCH_POOL = {"types": ["Standard_NC4as_T4_v3"], "max": 10, "capacity": "spot", "task_nodes": 2}
CLUSTER = {"version": "1.36", "admins": {"team": "11111111-2222-3333-4444-555555555555"}}
CONFIG = {
    "azure-native:location": "eastus",
    "gpufleet:cloud": "azure",
    "gpufleet:owner": "team",
    "gpufleet:project": "training",
    "gpufleet:cluster": CLUSTER,
    "gpufleet:pools": {"trainers": POOL},
    "gpufleet:batch": {"pools": {"spot": BATCH_POOL}},
    "gpufleet:registry": {"repositories": ["training"]},
}

COMPUTED = {
    "azure-native:resources:ResourceGroup": {"id": "/subscriptions/s-1/resourceGroups/{name}"},
    "azure-native:managedidentity:UserAssignedIdentity": {
        "principalId": "{name}-principal",
        "clientId": "{name}-client",
    },
    "azure-native:containerservice:ManagedCluster": {
        "nodeResourceGroup": "MC_{name}",
        "identityProfile": {"kubeletidentity": {"objectId": "{name}-kubelet"}},
        "oidcIssuerProfile": {"enabled": True, "issuerURL": "https://oidc.invalid/{name}"},
        "identity": {"userAssignedIdentities": {}},
    },
    "azure-native:containerregistry:Registry": {"loginServer": "{name}.azurecr.invalid"},
    "azure-native:storage:StorageAccount": {
        "primaryEndpoints": {"blob": "https://{name}.blob.invalid/", "file": "https://{name}.file.invalid/"}
    },
}
"""What Azure computes of what the components make."""
KUBECONFIG = {
    "clusters": [{"name": "aks", "cluster": {"server": "https://aks:443", "certificate-authority-data": "Y2E="}}]
}
ANSWERS = {
    "azure-native:containerservice:listManagedClusterUserCredentials": {
        "kubeconfigs": [{"name": "clusterUser", "value": b64encode(json.dumps(KUBECONFIG).encode()).decode()}]
    },
    "azure-native:storage:listStorageAccountKeys": {"keys": [{"keyName": "key1", "value": "a-key"}]},
}
program = Program("dev", CONFIG, COMPUTED, ANSWERS)
