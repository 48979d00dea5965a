"""Azure's resource manager, as the table and the machine play it: ids, parents, names, cascades, replacement."""

import re

import pytest

from gpufleet_rehearsal.cloud.checks import CloudError
from tests.rehearsal.scenarios import AZURE, NAME, in_scenario, open_scenario, urn

GROUP = "azure-native:resources:ResourceGroup"
ACCOUNT = "azure-native:storage:StorageAccount"
CONTAINER = "azure-native:storage:BlobContainer"
SUBNET = "azure-native:network:Subnet"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
SUBSCRIPTION = "/subscriptions/00000000-0000-0000-0000-000000000000"


@pytest.fixture
def empty(tmp_path):
    return open_scenario(AZURE, tmp_path)


@pytest.fixture
def everything(tmp_path):
    return in_scenario(AZURE, "everything", tmp_path)


def account(group, name="fleetdata", **more):
    return {
        "resourceGroupName": group,
        "accountName": name,
        "location": "eastus",
        "kind": "StorageV2",
        "sku": {"name": "Standard_LRS"},
        **more,
    }


def refused(scenario, type_, inputs):
    before = scenario.state()
    with pytest.raises(CloudError) as found:
        scenario.create(type_, NAME, inputs)
    assert scenario.state() == before
    return str(found.value)


def test_ids_are_the_resource_managers(empty):
    group = empty.create(GROUP, "group", {"resourceGroupName": "fleet", "location": "East US"})
    assert group.id == f"{SUBSCRIPTION}/resourceGroups/fleet"
    assert group.view["location"] == "eastus"
    stored = empty.create(ACCOUNT, "data", account("fleet"))
    assert stored.id == f"{group.id}/providers/Microsoft.Storage/storageAccounts/fleetdata"
    assert stored.view["primaryEndpoints"]["blob"] == "https://fleetdata.blob.core.rehearsal.invalid/"
    inside = {"resourceGroupName": "fleet", "accountName": "fleetdata", "containerName": "result"}
    assert empty.create(CONTAINER, "result", inside).id == f"{stored.id}/blobServices/default/containers/result"


def test_outputs_are_not_those_of_another_cloud(empty):
    group = empty.create(GROUP, "group", {"resourceGroupName": "fleet", "location": "eastus", "tags": {"a": "b"}})
    assert not {"region", "tagsAll"} & group.view.keys()


def test_the_group_must_be_there(empty):
    assert refused(empty, ACCOUNT, account("fleet")) == (
        "ResourceGroupNotFound: Resource group 'fleet' could not be found."
    )


def test_the_parent_must_be_there_and_in_the_same_group(empty):
    for name in ("fleet", "other"):
        empty.create(GROUP, name, {"resourceGroupName": name, "location": "eastus"})
    empty.create(ACCOUNT, "data", account("other"))
    inside = {"resourceGroupName": "fleet", "accountName": "fleetdata", "containerName": "result"}
    assert refused(empty, CONTAINER, inside) == (
        "ParentResourceNotFound: Can not perform requested operation on nested resource. Parent resource 'fleetdata' "
        "not found."
    )
    assert empty.create(CONTAINER, "result", {**inside, "resourceGroupName": "other"})


def test_names_of_accounts_are_unique_beyond_the_group(empty):
    for name in ("fleet", "other"):
        empty.create(GROUP, name, {"resourceGroupName": name, "location": "eastus"})
    empty.create(ACCOUNT, "data", account("other"))
    assert refused(empty, ACCOUNT, account("fleet")) == (
        "StorageAccountAlreadyTaken: The storage account named fleetdata is already taken."
    )


def test_what_is_there_is_not_created_again(empty):
    inputs = {"resourceGroupName": "fleet", "location": "eastus"}
    group = empty.create(GROUP, "group", inputs)
    assert refused(empty, GROUP, inputs) == f"cannot create already existing resource '{group.id}'"
    # Ids are compared without regard to case.
    assert "cannot create already existing resource" in refused(empty, GROUP, {**inputs, "resourceGroupName": "Fleet"})


def test_ids_are_found_in_any_case(everything):
    scope = everything.resource("storage").id.replace("resourceGroups", "RESOURCEGROUPS")
    assert everything.create(
        ASSIGNMENT,
        NAME,
        {
            "scope": scope,
            "principalId": "${kubelet.principalId}",
            "principalType": "ServicePrincipal",
            "roleDefinitionId": f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/"
            "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
        },
    )


def test_a_group_takes_everything_along(everything):
    other = everything.create(GROUP, "other", {"resourceGroupName": "fleet2", "location": "eastus"})
    # Nobody's program made this one: a pool's machines, a share of the portal's.
    everything.create(ACCOUNT, "by-hand", account("fleet", "madebyhand1"))
    everything.delete(everything.resource("group"))
    assert [resource.id for resource in everything.cloud.store.resources()] == [other.id]


def test_an_account_takes_its_containers_along_and_no_neighbour(everything):
    everything.create(ACCOUNT, "neighbour", account("fleet", f"{everything.resource('storage').view['name']}2"))
    before = {resource.id for resource in everything.cloud.store.resources()}
    stored = everything.resource("storage")
    inside = {id_ for id_ in before if id_.startswith(f"{stored.id}/")}
    assert inside
    everything.delete(stored)
    assert {resource.id for resource in everything.cloud.store.resources()} == before - inside - {stored.id}


def test_nothing_begins_in_a_group_that_goes(everything):
    group = everything.resource("group")
    everything.cloud.store.change(group, status="deleting", ready_at=2e6)
    assert refused(everything, IDENTITY, {"resourceGroupName": "fleet", "resourceName": "late"}).startswith(
        "ResourceGroupNotFound: "
    )


def test_a_subnet_in_use_stays_and_so_does_its_network(everything):
    for name in ("nodes", "vnet"):
        with pytest.raises(CloudError, match="InUseSubnetCannotBeDeleted: Subnet nodes is in use by "):
            everything.delete(everything.resource(name))


def checked(scenario, type_, name="fleet-data", olds=None, **given):
    inputs, _ = scenario.cloud.check(type_, name, given, olds or {}, b"seed")
    return inputs


def test_a_name_is_made_of_the_logical_name_and_eight_digits(empty):
    made = checked(empty, ACCOUNT, "fleetdata")
    assert re.fullmatch("fleetdata[0-9a-f]{8}", made["accountName"])
    assert made["__createBeforeDelete"] is True
    # The next `up` keeps it.
    assert checked(empty, ACCOUNT, "fleetdata", olds=made) == made


def test_a_nested_resource_is_called_as_the_program_calls_it(empty):
    made = checked(empty, CONTAINER, "result")
    assert made["containerName"] == "result"
    assert "__createBeforeDelete" not in made


def test_a_role_assignment_is_called_by_a_guid(empty):
    name = checked(empty, ASSIGNMENT, "pull")["roleAssignmentName"]
    assert re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name)


@pytest.mark.parametrize(("named", "first"), [({}, False), ({"accountName": "fleetdata"}, True)])
def test_only_what_has_a_random_name_is_replaced_before_it_goes(empty, named, first):
    olds = checked(empty, ACCOUNT, "fleetdata", location="eastus", **named)
    found = empty.cloud.diff(ACCOUNT, "fleetdata", olds, {**olds, "location": "westus2"})
    assert found.replaces == ["location"]
    assert found.delete_first is first


def test_a_name_that_is_given_now_is_no_change(empty):
    olds = checked(empty, ACCOUNT, "fleetdata", location="eastus")
    news = {key: value for key, value in olds.items() if key != "__createBeforeDelete"}
    assert empty.cloud.diff(ACCOUNT, "fleetdata", olds, news).changes == ()


def test_identities_go_in_as_a_list_and_come_out_as_a_map(everything):
    identity = {"type": "UserAssigned", "userAssignedIdentities": ["${kubelet.id}"]}
    stored = everything.create(ACCOUNT, NAME, account("fleet", "withidentity", identity=identity))
    kubelet = everything.resource("kubelet")
    assert stored.shown["identity"]["userAssignedIdentities"] == {
        kubelet.id: {"principalId": kubelet.view["principalId"], "clientId": kubelet.view["clientId"]}
    }
    # Paths of the table read the list.
    assert stored.view["identity"]["userAssignedIdentities"] == [kubelet.id]
    # An update that changes nothing of it finds the identity, too.
    assert everything.update(stored, {**stored.inputs, "tags": {"a": "b"}}).shown["tags"] == {"a": "b"}


def test_an_identity_that_is_not_there_is_refused(everything):
    inputs = account("fleet", "another")
    missing = f"{SUBSCRIPTION}/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/x"
    said = refused(
        everything, ACCOUNT, {**inputs, "identity": {"type": "UserAssigned", "userAssignedIdentities": [missing]}}
    )
    assert said.startswith("FailedIdentityOperation: ")
    assert missing in said


def test_a_type_without_a_row_says_where_one_is_wanted(empty):
    _, failures = empty.cloud.check("azure-native:search:Service", "v", {}, {})
    assert "add a row to azure-native/types/search.yaml" in failures[0].reason


def test_what_is_there_by_itself_is_set_and_not_made(everything):
    inputs = {"resourceGroupName": "fleet", "accountName": "${storage.name}", "blobServicesName": "default"}
    token = "azure-native:storage:BlobServiceProperties"
    everything.create(token, "one", inputs)
    made = everything.run(everything.cloud.create(token, urn(token, "one"), everything.fill(inputs)))
    assert made.view["sku"] == {"name": everything.resource("storage").view["sku"]["name"]}
