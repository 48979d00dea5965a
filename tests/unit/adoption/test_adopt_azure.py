"""What Azure holds and the state does not is told by place, taken over by id, never guessed; an engine is played."""

import pytest

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.adoption.import_resources import delete
from gpufleet.adoption.orphans import AdoptError, Orphans, find_orphans, reject_ambiguous
from gpufleet.azure.arm_types import found_at
from tests.tools.fake_engine import Adopting, Cloud, FakeEngine, held, made

FILES = "azure-native:storage:StorageAccount"
CONFIG = {"azure-native:location": "eastus", "azure-native:subscriptionId": "s"}
GROUP_ID = "/subscriptions/s/resourceGroups/dev-group0a1b2c3d"


def azure_account(end):
    """A storage account that Azure holds, of the random end."""
    id_ = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/devfiles{end}"
    return found_at(id_, {"tags": {"environment": "dev"}})


AZURE_STEP = made(FILES, "devfiles", {"resourceGroupName": "dev-group0a1b2c3d", "accountName": "devfiles99999999"})


@pytest.fixture
def on_azure(monkeypatch):
    return Adopting(monkeypatch)


def test_the_subscription_and_groups_of_an_azure_stack_are_looked_at(on_azure):
    engine = FakeEngine(state=[held("azure-native:resources:ResourceGroup", "dev-group", GROUP_ID)])
    config = CONFIG | {"gpufleet:resource_group": "theirs"}
    code, output = on_azure.run(engine, config=config)
    assert (code, output) == (0, "dev: 0 taken over, 0 left; go on with `pulumi up`\n")
    ((arm, groups),) = on_azure.inventories
    assert (arm.subscription, groups) == ("s", {"theirs", "dev-group0a1b2c3d"})


def test_an_azure_account_is_taken_over_under_its_logical_name(on_azure):
    engine = FakeEngine(steps=[AZURE_STEP])
    lost = azure_account("11111111")
    code, output = on_azure.run(engine, config=CONFIG, found=[lost])
    assert (code, output) == (
        0,
        f"in the cloud, not in the state: devfiles ({FILES} {lost.import_id})\n"
        "dev: 1 taken over, 0 left; go on with `pulumi up`\n",
    )
    expected = {"type": FILES, "name": "devfiles", "id": lost.import_id, "parent": "parent0"}
    assert engine.imported["resources"] == [expected]


def test_it_is_imported_as_the_type_that_the_program_names():
    token = "azure-native_storage_v20230501:storage:StorageAccount"
    step = made(token, "devfiles", AZURE_STEP["newState"]["inputs"])
    engine = FakeEngine(steps=[step])
    orphans = find_orphans(engine, "dev", Cloud(azure_account("11111111")))
    delete(engine, "dev", orphans)
    assert [each["type"] for each in engine.imported["resources"]] == [token]
    assert engine.done[-1] == ("destroy", "--target-dependents", f"--target={step['urn']}")


@pytest.mark.parametrize("options", [(), ("--list",), ("--delete",)])
def test_of_two_azure_accounts_none_is_guessed(on_azure, options):
    engine = FakeEngine(steps=[AZURE_STEP])
    two = [azure_account("11111111"), azure_account("22222222")]
    code, output = on_azure.run(engine, *options, config=CONFIG, found=two)
    assert code == 1
    ids = ", ".join(each.import_id for each in two)
    assert output.splitlines()[-1] == (
        f"Error: dev: devfiles ({FILES}): may be any of {ids}; delete what is not, or `pulumi import` what is"
    )
    assert engine.imported is None
    if not options:
        assert output.splitlines()[0] == "dev: 0 taken over, 2 left; go on with `pulumi up`"


def test_one_that_two_resources_of_the_program_might_be_is_not_guessed():
    lost = azure_account("11111111")
    other = made(FILES, "devfiles", AZURE_STEP["newState"]["inputs"])
    other["newState"]["urn"] = other["newState"]["urn"].replace("Network$", "Files$")
    orphans = find_orphans(FakeEngine(steps=[AZURE_STEP, other]), "dev", Cloud(lost))
    with pytest.raises(AdoptError) as error:
        reject_ambiguous("dev", orphans)
    assert str(error.value) == (
        f"dev: {lost.import_id} may be more than one of the program: devfiles, devfiles; "
        "`pulumi import` it as what it is"
    )


def test_what_comes_by_itself_is_taken_when_wanted_and_else_not_named():
    services = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/devfiles11111111/blobServices/default"
    names = {"resourceGroupName": "dev-group0a1b2c3d", "accountName": "devfiles11111111", "blobServicesName": "default"}
    step = made("azure-native:storage:BlobServiceProperties", "dev-files-blobs", names)
    for steps, wanted in (([step], 1), ([], 0)):
        orphans = find_orphans(FakeEngine(steps=steps), "dev", Cloud(found_at(services, {})))
        assert (len(orphans.wanted), orphans.unknown, orphans.ambiguous) == (wanted, (), ())


@pytest.mark.parametrize("type_", [FILES, "azure-native:storage:StorageAccountStaticWebsite"])
def test_an_id_of_azure_in_the_state_is_enough(type_):
    lost = azure_account("11111111")
    engine = FakeEngine(state=[held(type_, "devfiles", lost.import_id.replace("resourceGroups", "resourcegroups"))])
    assert find_orphans(engine, "dev", Cloud(lost)) == Orphans()
    assert engine.previews == 0


def test_a_type_of_azure_that_is_not_read_is_found_in_the_state():
    vault = f"{GROUP_ID}/providers/Microsoft.KeyVault/vaults/keys"
    seen = CloudResource("Microsoft.KeyVault/vaults", vault, "keys", vault)
    assert find_orphans(FakeEngine(), "dev", Cloud(seen)).unknown == (seen,)
    engine = FakeEngine(state=[held("azure-native:keyvault:Vault", "keys", vault)])
    assert find_orphans(engine, "dev", Cloud(seen)) == Orphans()
