"""A subscription that Resource Manager answers for: what is in it is listed, everything else is refused as by Azure.

What lies in what is written down here by hand, from the REST reference of each service
(https://learn.microsoft.com/rest/api), and not taken from arm_types.json, which it is to check.
"""

HERE = "/subscriptions/00000000-0000-0000-0000-000000000001"
_FILES = ("fileServices", "fileServices/default/shares")
_BLOBS = ("blobServices", "blobServices/default/containers")
COLLECTIONS = {
    "Microsoft.Batch/batchAccounts": ("pools", "applications"),
    "Microsoft.Compute/capacityReservationGroups": ("capacityReservations",),
    "Microsoft.Compute/proximityPlacementGroups": (),
    "Microsoft.ContainerRegistry/registries": ("cacheRules", "credentialSets", "replications"),
    "Microsoft.ContainerService/managedClusters": ("agentPools",),
    "Microsoft.ManagedIdentity/userAssignedIdentities": ("federatedIdentityCredentials",),
    "Microsoft.Network/connections": (),
    "Microsoft.Network/localNetworkGateways": (),
    "Microsoft.Network/natGateways": (),
    "Microsoft.Network/networkSecurityGroups": ("securityRules",),
    "Microsoft.Network/privateDnsZones": ("virtualNetworkLinks",),
    "Microsoft.Network/privateEndpoints": ("privateDnsZoneGroups",),
    "Microsoft.Network/publicIPAddresses": (),
    "Microsoft.Network/virtualNetworkGateways": (),
    "Microsoft.Network/virtualNetworks": ("subnets", "virtualNetworkPeerings"),
    "Microsoft.OperationalInsights/workspaces": (),
    "Microsoft.StorageCache/amlFilesystems": (),
    "Microsoft.Storage/storageAccounts": (*_BLOBS, *_FILES),
}
EXTENSIONS = ("Microsoft.Authorization/roleAssignments", "Microsoft.Consumption/budgets")
REFUSED = {"FileStorage": _BLOBS, "BlockBlobStorage": _FILES}


class Subscription:
    """azure: the played Resource Manager. Whoever asks for a list of what is not there gets Azure's 404."""

    def __init__(self, azure):
        self.azure = azure
        spaces = {name.partition("/")[0] for name in (*COLLECTIONS, *EXTENSIONS)}
        self.register(dict.fromkeys(spaces, "Registered"))
        self._list(f"{HERE}/resourceGroups")
        for kind in EXTENSIONS:
            self._list(f"{HERE}/providers/{kind}")

    def register(self, states):
        """states: namespace -> Registered, Registering, NotRegistered. Of the last one nothing can be listed."""
        listed = [{"namespace": name, "registrationState": state} for name, state in states.items()]
        self.azure.says(f"{HERE}/providers", {"value": listed})
        self.unused = {name for name, state in states.items() if state == "NotRegistered"}

    def group(self, name, environment=None, **said):
        """A resource group; returns its id."""
        id_ = f"{HERE}/resourceGroups/{name}"
        self._entry(f"{HERE}/resourceGroups", id_, "Microsoft.Resources/resourceGroups", environment, said)
        self._list(f"{id_}/resources")
        self._list(f"{id_}/providers/Microsoft.Consumption/budgets")
        for kind in COLLECTIONS:
            if kind.partition("/")[0] not in self.unused:
                self._list(f"{id_}/providers/{kind}")
        return id_

    def thing(self, group, type_, name, environment=None, **said):
        """Something in a group, by its type in Azure; returns its id."""
        id_ = f"{group}/providers/{type_}/{name}"
        self._entry(f"{group}/resources", id_, type_, environment, {**said, "properties": {}})
        if type_ in COLLECTIONS:
            self._entry(f"{group}/providers/{type_}", id_, type_, environment, said)
            for collection in COLLECTIONS[type_]:
                if collection not in REFUSED.get(said.get("kind"), ()):
                    self._list(f"{id_}/{collection}")
        return id_

    def part(self, above, collection, name, environment=None, **said):
        """Something in a thing; returns its id."""
        id_ = f"{above}/{collection}/{name}"
        self._entry(f"{above}/{collection}", id_, collection, environment, said)
        return id_

    def role(self, scope, name, principal):
        """A role assignment; the subscription lists all of them, wherever they are given."""
        kind = "Microsoft.Authorization/roleAssignments"
        id_ = f"{scope}/providers/{kind}/{name}"
        said = {"properties": {"scope": scope, "principalId": principal, "principalType": "ServicePrincipal"}}
        self._entry(f"{HERE}/providers/{kind}", id_, kind, None, said)
        return id_

    def budget(self, scope, name, filter_=None):
        """A budget of a group or, with scope HERE, of the subscription."""
        said = {"properties": {"amount": 100, **({"filter": filter_} if filter_ else {})}}
        return self.part(f"{scope}/providers/Microsoft.Consumption", "budgets", name, **said)

    def _list(self, path):
        self.azure.answers.setdefault(path, [(200, {}, {"value": []})])

    def _entry(self, path, id_, type_, environment, said):
        tags = {"tags": {"environment": environment, "project": "training"}} if environment else {}
        entry = {"id": id_, "name": id_.rpartition("/")[2], "type": type_, **tags, **said}
        self.azure.answers[path][0][2]["value"].append(entry)
