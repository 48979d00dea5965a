"""What the inventory finds in a subscription, as what, and what it leaves to others; Resource Manager is played."""

import pytest

from gpufleet.azure.arm_types import rows
from gpufleet.azure.inventory import AzureInventory, resource_groups
from gpufleet.preflight.azure.arm import ArmError
from tests.unit.azure.azure_subscription import HERE

NODES, KUBELET, LOGIN = "principal-of-nodes", "principal-of-kubelet", "principal-of-login"
STORAGE = "Microsoft.Storage/storageAccounts"
IDENTITIES = "Microsoft.ManagedIdentity/userAssignedIdentities"
CLUSTERS = "Microsoft.ContainerService/managedClusters"
BY_TAG = {"tags": {"name": "environment", "operator": "In", "values": ["dev"]}}


def look(arm, *groups):
    return {found.import_id: found for found in AzureInventory(arm, groups).holds("dev")}


def token(module, name):
    return f"azure-native:{module}:{name}"


def one_of_each(subscription):
    """Ids to types of an environment that has everything."""
    group = subscription.group("dev-group0a1b2c3d", "dev")
    made = {group: token("resources", "ResourceGroup")}

    def thing(type_, module, name, **said):
        id_ = subscription.thing(group, type_, f"dev-{name.lower()}", "dev", **said)
        made[id_] = token(module, name)
        return id_

    def part(above, collection, module, name, **said):
        id_ = subscription.part(above, collection, "default" if name.endswith("ServiceProperties") else "one", **said)
        made[id_] = token(module, name)
        return id_

    account = thing(STORAGE, "storage", "StorageAccount", kind="StorageV2")
    part(account, "blobServices", "storage", "BlobServiceProperties")
    part(account, "blobServices/default/containers", "storage", "BlobContainer")
    part(account, "fileServices", "storage", "FileServiceProperties")
    part(account, "fileServices/default/shares", "storage", "FileShare")
    batch = thing("Microsoft.Batch/batchAccounts", "batch", "BatchAccount")
    part(batch, "pools", "batch", "Pool")
    registry = thing("Microsoft.ContainerRegistry/registries", "containerregistry", "Registry")
    part(registry, "cacheRules", "containerregistry", "CacheRule")
    part(registry, "credentialSets", "containerregistry", "CredentialSet", identity={"principalId": LOGIN})
    profile = {"identityProfile": {"kubeletidentity": {"objectId": KUBELET}}}
    cluster = thing(CLUSTERS, "containerservice", "ManagedCluster", properties=profile)
    part(cluster, "agentPools", "containerservice", "AgentPool", properties={"mode": "User"})
    vnet = thing("Microsoft.Network/virtualNetworks", "network", "VirtualNetwork")
    part(vnet, "subnets", "network", "Subnet")
    thing("Microsoft.OperationalInsights/workspaces", "operationalinsights", "Workspace")
    thing("Microsoft.Network/networkSecurityGroups", "network", "NetworkSecurityGroup")
    thing("Microsoft.Network/natGateways", "network", "NatGateway")
    thing("Microsoft.Network/virtualNetworkGateways", "network", "VirtualNetworkGateway")
    thing("Microsoft.Network/localNetworkGateways", "network", "LocalNetworkGateway")
    thing("Microsoft.Network/connections", "network", "VirtualNetworkGatewayConnection")
    thing("Microsoft.Network/publicIPAddresses", "network", "PublicIPAddress")
    endpoint = thing("Microsoft.Network/privateEndpoints", "network", "PrivateEndpoint")
    part(endpoint, "privateDnsZoneGroups", "network", "PrivateDnsZoneGroup")
    zone = thing("Microsoft.Network/privateDnsZones", "privatedns", "PrivateZone")
    part(zone, "virtualNetworkLinks", "privatedns", "VirtualNetworkLink")
    thing("Microsoft.StorageCache/amlFilesystems", "storagecache", "AmlFilesystem")
    nodes = thing(IDENTITIES, "managedidentity", "UserAssignedIdentity", properties={"principalId": NODES})
    part(nodes, "federatedIdentityCredentials", "managedidentity", "FederatedIdentityCredential")
    thing("Microsoft.Compute/proximityPlacementGroups", "compute", "ProximityPlacementGroup")
    reserved = thing("Microsoft.Compute/capacityReservationGroups", "compute", "CapacityReservationGroup")
    part(reserved, "capacityReservations", "compute", "CapacityReservation")
    made[subscription.role(account, "role-1", NODES)] = token("authorization", "RoleAssignment")
    made[subscription.budget(group, "dev-budget")] = token("consumption", "Budget")
    return made


def test_everything_that_components_make_is_found(subscription, arm, azure):
    made = one_of_each(subscription)
    found = look(arm)
    assert {id_: each.type for id_, each in found.items()} == made
    assert set(made.values()) == {row.type for row in rows()}
    assert len(AzureInventory(arm).holds("dev")) == len(made)
    versions = {row.kind.lower(): row.version for row in rows()}
    for path, query, _ in azure.asked:
        kind = path.rpartition("/providers/")[2].replace("/default", "")
        parts = kind.split("/")
        asked = "/".join((parts[0], parts[1], *parts[3::2])).lower() if len(parts) > 1 else ""
        assert query["api-version"] == [versions.get(asked, "2024-03-01")], path


def test_a_thing_is_known_by_its_place_and_tags(subscription, arm):
    group = subscription.group("dev-group0a1b2c3d", "dev")
    account = subscription.thing(group, STORAGE, "devfiles0a1b2c3d", "dev", kind="StorageV2")
    share = subscription.part(account, "fileServices/default/shares", "logs")
    found = look(arm)
    place = {"resourceGroupName": "dev-group0a1b2c3d", "accountName": "devfiles0a1b2c3d"}
    assert (found[account].inputs, found[account].own, found[account].name) == (place, "accountName", None)
    assert found[account].tags == {"environment": "dev", "project": "training"}
    assert (found[share].inputs, found[share].own) == (place | {"shareName": "logs"}, "shareName")
    # What takes no tags has those of what it lies in.
    assert found[share].tags == {"environment": "dev", "project": "training"}
    assert str(found[share]) == f"logs (azure-native:storage:FileShare {share})"


def test_ids_are_spelled_as_the_provider_does(subscription, arm):
    group = subscription.group("dev-group0a1b2c3d", "dev")
    odd = f"{HERE}/resourcegroups/dev-group0a1b2c3d/providers/microsoft.network/natgateways/Dev-nat"
    subscription.thing(group, "Microsoft.Network/natGateways", "Dev-nat", "dev", id=odd)
    assert f"{group}/providers/Microsoft.Network/natGateways/Dev-nat" in look(arm)


def test_what_is_others_is_left_alone(subscription, arm):
    group = subscription.group("dev-group0a1b2c3d", "dev")
    subscription.thing(group, STORAGE, "anybodys", kind="StorageV2")
    subscription.thing(group, IDENTITIES, "of-prod", "prod", properties={"principalId": "of-prod"})
    subscription.thing(subscription.group("prod-group", "prod"), STORAGE, "prodfiles", "dev", kind="StorageV2")
    nodes = subscription.group("MC_dev", "dev", managedBy=f"{group}/providers/{CLUSTERS}/dev")
    subscription.thing(nodes, "Microsoft.Network/publicIPAddresses", "kubernetes", "dev")
    subscription.role(f"{HERE}/resourceGroups/vaults", "role-2", "of-prod")
    subscription.budget(HERE, "prod-budget", {"tags": {"name": "environment", "values": ["prod"]}})
    subscription.budget(HERE, "everything")
    assert list(look(arm)) == [group]


def test_a_group_that_is_named_needs_no_tag(subscription, arm):
    theirs = subscription.group("Theirs")
    account = subscription.thing(theirs, STORAGE, "devfiles0a1b2c3d", "dev", kind="StorageV2")
    assert look(arm) == {}
    assert list(look(arm, "theirs")) == [account]
    tagged = subscription.group("tagged", "dev")
    assert not look(arm)[tagged].quiet
    assert look(arm, "tagged")[tagged].quiet


def test_a_pool_in_somebody_elses_cluster_is_found_by_its_own_tag(subscription, arm):
    group = subscription.group("theirs")
    cluster = subscription.thing(group, CLUSTERS, "theirs")
    pool = subscription.part(cluster, "agentPools", "trainers", properties={"tags": {"environment": "dev"}})
    subscription.part(cluster, "agentPools", "theirs")
    assert list(look(arm, "theirs")) == [pool]


def test_what_comes_by_itself_is_not_worth_a_word(subscription, arm):
    found = look_at_all(subscription, arm)
    quiet = {each.type.rpartition(":")[2] for each in found.values() if each.quiet}
    assert quiet == {"BlobServiceProperties", "FileServiceProperties", "RoleAssignment"}
    cluster = next(id_ for id_, each in found.items() if each.type == token("containerservice", "ManagedCluster"))
    system = subscription.part(cluster, "agentPools", "system", properties={"mode": "System"})
    assert look(arm)[system].quiet


def look_at_all(subscription, arm):
    one_of_each(subscription)
    return look(arm)


@pytest.mark.parametrize("principal", [NODES, KUBELET, LOGIN])
def test_roles_of_our_identities_are_found_elsewhere(subscription, arm, principal):
    one_of_each(subscription)
    vault = f"{HERE}/resourceGroups/vaults/providers/Microsoft.KeyVault/vaults/keys"
    role = subscription.role(vault, "role-3", principal)
    assert look(arm)[role].inputs == {"scope": vault, "roleAssignmentName": "role-3"}


@pytest.mark.parametrize("filter_", [BY_TAG, {"and": [{"dimensions": {"name": "ResourceId"}}, BY_TAG]}])
def test_a_budget_of_the_subscription_is_known_by_what_it_counts(subscription, arm, filter_):
    budget = subscription.budget(HERE, "dev-budget", filter_)
    assert look(arm)[budget].inputs == {"scope": HERE, "budgetName": "dev-budget"}


@pytest.mark.parametrize(
    ("kind", "collection"),
    [("FileStorage", "fileServices/default/shares"), ("BlockBlobStorage", "blobServices/default/containers")],
)
def test_azure_is_not_asked_for_what_an_account_cannot_have(subscription, arm, kind, collection):
    group = subscription.group("dev-group0a1b2c3d", "dev")
    account = subscription.thing(group, STORAGE, "devshare0a1b2c3d", "dev", kind=kind)
    inside = subscription.part(account, collection, "shared")
    assert list(look(arm)) == [group, account, inside]


def test_services_that_the_subscription_does_not_use_are_not_asked(subscription, arm):
    used = {"Microsoft.Storage": "Registered", "Microsoft.Network": "Registering"}
    others = ("Batch", "Compute", "ContainerRegistry", "ContainerService", "ManagedIdentity", "Consumption")
    subscription.register(used | {f"Microsoft.{name}": "NotRegistered" for name in others})
    group = subscription.group("dev-group0a1b2c3d", "dev")
    account = subscription.thing(group, STORAGE, "devfiles0a1b2c3d", "dev", kind="StorageV2")
    assert list(look(arm)) == [group, account]


def test_what_is_going_is_gone(subscription, arm):
    group = subscription.group("dev-group0a1b2c3d", "dev")
    going = {"properties": {"provisioningState": "Deleting"}}
    subscription.thing(group, CLUSTERS, "dev-cluster", "dev", **going)
    subscription.group("dev-group11111111", "dev", **going)
    assert list(look(arm)) == [group]


def test_a_type_that_is_not_read_is_named_all_the_same(subscription, arm):
    group = subscription.group("dev-group0a1b2c3d", "dev")
    vault = subscription.thing(group, "Microsoft.KeyVault/vaults", "keys", "dev")
    subscription.thing(group, "Microsoft.Compute/disks", "of-a-machine", "dev", managedBy="a machine")
    subscription.thing(group, "Microsoft.KeyVault/vaults", "theirs")
    found = look(arm)
    assert list(found) == [group, vault]
    assert str(found[vault]) == f"keys (Microsoft.KeyVault/vaults {vault})"


def test_what_cannot_be_seen_is_not_taken_for_absent(subscription, arm, azure):
    group = subscription.group("dev-group0a1b2c3d", "dev")
    account = subscription.thing(group, STORAGE, "devfiles0a1b2c3d", "dev", kind="StorageV2")
    denied = {"error": {"code": "AuthorizationFailed", "message": "no"}}
    azure.says(f"{account}/fileServices/default/shares", (403, {}, denied))
    with pytest.raises(ArmError) as error:
        look(arm)
    assert str(error.value) == (
        "Microsoft.Storage/storageAccounts/fileServices/shares/read: denied by Azure; the role Reader on the "
        "subscription allows it (AuthorizationFailed: no)"
    )


def test_groups_are_named_by_configuration_and_state():
    state = [
        {"type": "pulumi:pulumi:Stack"},
        {"type": token("resources", "ResourceGroup"), "id": f"{HERE}/resourceGroups/one"},
        {"type": token("storage", "StorageAccount"), "id": f"{HERE}/resourcegroups/two/providers/x/y/z"},
        {"type": token("consumption", "Budget"), "id": f"{HERE}/providers/Microsoft.Consumption/budgets/b"},
    ]
    assert resource_groups({}, state) == {"one", "two"}
    assert resource_groups({"gpufleet:resource_group": "theirs"}, ()) == {"theirs"}
