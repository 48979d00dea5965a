"""What Azure holds and the state does not is told by place, imported by id, never guessed; an engine is played."""

import pytest

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.adoption.import_resources import delete
from gpufleet.adoption.orphans import Orphans, find_orphans
from gpufleet.azure.arm_types import found_at
from tests.tools.fake_engine import OWNER, Adopting, Cloud, FakeEngine, held, made

FILES = "azure-native:storage:StorageAccount"
CONFIG = {"azure-native:location": "eastus", "azure-native:subscriptionId": "s"}
GROUP_ID = "/subscriptions/s/resourceGroups/dev-group0a1b2c3d"


def azure_account(end):
    """A storage account that Azure holds, of the random end."""
    id_ = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/devfiles{end}"
    return found_at(id_, {}, OWNER)


AZURE_INPUTS = {"resourceGroupName": "dev-group0a1b2c3d", "accountName": "devfiles99999999", "tags": OWNER}
AZURE_STEP = made(FILES, "devfiles", AZURE_INPUTS)
THERE = [
    held("azure-native:network:NatGateway", f"dev-nat-{number}", f"{GROUP_ID}/nat-{number}") for number in range(3)
]
"""Enough that what is lost is not most of the environment."""


@pytest.fixture
def on_azure(monkeypatch):
    return Adopting(monkeypatch)


def test_the_subscription_and_groups_of_an_azure_stack_are_looked_at(on_azure):
    engine = FakeEngine(state=[held("azure-native:resources:ResourceGroup", "dev-group", GROUP_ID)])
    config = CONFIG | {"gpufleet:resource_group": "theirs"}
    code, output = on_azure.run(engine, config=config)
    assert (code, output) == (0, "dev: 0 imported, 0 left; continue with `pulumi up`\n")
    ((arm, groups),) = on_azure.inventories
    assert (arm.subscription, groups) == ("s", {"theirs", "dev-group0a1b2c3d"})


def test_an_azure_account_is_imported_under_its_logical_name(on_azure):
    engine = FakeEngine(THERE, [AZURE_STEP])
    lost = azure_account("11111111")
    code, output = on_azure.run(engine, "--yes", config=CONFIG, found=[lost])
    assert (code, output) == (
        0,
        f"in the cloud, not in the state: devfiles ({FILES} {lost.import_id})\n"
        "dev: 1 imported, 0 left; continue with `pulumi up`\n",
    )
    expected = {"type": FILES, "name": "resource0", "logicalName": "devfiles", "id": lost.import_id}
    assert engine.imported["resources"] == [expected]


def test_it_is_imported_as_the_type_that_the_program_names():
    token = "azure-native_storage_v20230501:storage:StorageAccount"
    step = made(token, "devfiles", AZURE_STEP["newState"]["inputs"])
    engine = FakeEngine(steps=[step])
    orphans = find_orphans(engine, "dev", Cloud(azure_account("11111111")))
    delete(engine, "dev", orphans)
    assert [each["type"] for each in engine.imported["resources"]] == [token]
    assert engine.done[-1] == ("destroy", f"--target={step['urn']}")


@pytest.mark.parametrize("options", [("--yes",), ("--dry-run",), ("--delete", "--yes")])
def test_of_two_azure_accounts_none_is_guessed(on_azure, options):
    engine = FakeEngine(THERE, [AZURE_STEP])
    two = [azure_account("11111111"), azure_account("22222222")]
    code, output = on_azure.run(engine, *options, config=CONFIG, found=two)
    assert code == 1
    ids = ", ".join(each.import_id for each in two)
    assert output.splitlines()[0] == (
        f"devfiles ({FILES}): may be any of {ids}; delete what is not, or `pulumi import` what is"
    )
    assert engine.done == []
    if options == ("--yes",):
        assert output.splitlines()[1:] == ["dev: 0 imported, 2 left; continue with `pulumi up`"]


def test_one_that_two_resources_of_the_program_might_be_is_not_guessed():
    lost = azure_account("11111111")
    other = made(FILES, "devfiles", AZURE_INPUTS)
    other["newState"]["urn"] = other["urn"] = other["urn"].replace("Network$", "Files$")
    orphans = find_orphans(FakeEngine(steps=[AZURE_STEP, other]), "dev", Cloud(lost))
    assert orphans.ambiguities == [
        f"{lost.import_id}: may be more than one of the program: devfiles, devfiles; `pulumi import` it as what it is"
    ]


def test_what_comes_by_itself_is_taken_when_wanted_and_else_not_named():
    services = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/devfiles11111111/blobServices/default"
    names = {"resourceGroupName": "dev-group0a1b2c3d", "accountName": "devfiles11111111", "blobServicesName": "default"}
    step = made("azure-native:storage:BlobServiceProperties", "dev-files-blobs", names)
    for tags in (OWNER, OWNER | {"owner": "them"}):
        for steps, wanted in (([step], 1), ([], 0)):
            orphans = find_orphans(FakeEngine(THERE, steps), "dev", Cloud(found_at(services, {}, tags)))
            assert len(orphans.wanted) == (wanted if tags == OWNER else 0)
            assert (orphans.unknown, orphans.ambiguous, orphans.foreign) == ((), (), ())


@pytest.mark.parametrize("type_", [FILES, "azure-native:storage:StorageAccountStaticWebsite"])
def test_an_id_of_azure_in_the_state_is_enough(type_):
    lost = azure_account("11111111")
    engine = FakeEngine(state=[held(type_, "devfiles", lost.import_id.replace("resourceGroups", "resourcegroups"))])
    assert find_orphans(engine, "dev", Cloud(lost)) == Orphans()
    assert engine.previews == 0


def test_a_type_of_azure_that_is_not_read_is_found_in_the_state():
    vault = f"{GROUP_ID}/providers/Microsoft.KeyVault/vaults/keys"
    seen = CloudResource("Microsoft.KeyVault/vaults", vault, "keys", vault, tags=OWNER)
    assert find_orphans(FakeEngine(THERE), "dev", Cloud(seen)).unknown == (seen,)
    engine = FakeEngine(state=[held("azure-native:keyvault:Vault", "keys", vault)])
    assert find_orphans(engine, "dev", Cloud(seen)) == Orphans()
