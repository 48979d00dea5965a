"""What the clouds of tests/graphs compute and answer."""

import json
from base64 import b64encode

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
