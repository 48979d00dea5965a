"""The engine's protocol for azure-native: configuration, names and inputs in Check, look-ups of keys."""

import base64
import json
import re

import pytest
from pulumi.runtime.proto import provider_pb2 as pb

from gpufleet_rehearsal.provider.package_schema import package_schema
from gpufleet_rehearsal.provider.servicer import Provider
from gpufleet_rehearsal.provider.wire import read_struct, write_struct
from tests.rehearsal.engine_talk import refusal, talk, urn

GROUP = "azure-native:resources:ResourceGroup"
ACCOUNT = "azure-native:storage:StorageAccount"
CLUSTER = "azure-native:containerservice:ManagedCluster"
SUBSCRIPTION = "6f0d6a6c-93b5-4c44-9c2e-2a4e4f3f7b11"
DATA = {
    "resourceGroupName": "fleet",
    "accountName": "fleetdata",
    "location": "eastus",
    "kind": "StorageV2",
    "sku": {"name": "Standard_LRS"},
}


@pytest.fixture
def azure(tmp_path):
    """Runs a conversation that begins with the configuration of the provider."""

    def run(conversation, **config):
        async def configured(engine):
            await engine.stub.Configure(pb.ConfigureRequest(args=write_struct(config)))
            return await conversation(engine)

        return talk(configured, Provider("azure-native", tmp_path))

    return run


async def check(engine, type_, inputs, olds=None):
    request = pb.CheckRequest(
        urn=urn(type_), news=write_struct(inputs), olds=write_struct(olds or {}), randomSeed=b"seed"
    )
    checked = await engine.stub.Check(request)
    return read_struct(checked.inputs), [failure.reason for failure in checked.failures]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({}, []),
        ({"location": "westus2", "subscriptionId": SUBSCRIPTION, "tenantId": "x"}, []),
        (
            {"locaton": "eastus"},
            ["azure-native:locaton: no such key of the provider's configuration; did you mean location?"],
        ),
    ],
)
def test_keys_of_the_configuration(tmp_path, config, said):
    async def conversation(engine):
        answer = await engine.stub.CheckConfig(pb.CheckRequest(news=write_struct(config)))
        assert [failure.reason for failure in answer.failures] == said

    talk(conversation, Provider("azure-native", tmp_path))


def test_subscription_and_location_of_the_configuration(azure):
    async def conversation(engine):
        made = await engine.create(GROUP, {"resourceGroupName": "fleet"})
        assert made.id == f"/subscriptions/{SUBSCRIPTION}/resourceGroups/fleet"
        assert read_struct(made.properties)["location"] == "westus2"

    azure(conversation, subscriptionId=SUBSCRIPTION, location="westus2")


def test_life_of_an_account(azure):
    async def conversation(engine):
        await engine.create(GROUP, {"resourceGroupName": "fleet", "location": "eastus"}, name="group")
        given = {key: value for key, value in DATA.items() if key != "accountName"}
        inputs, failures = await check(engine, ACCOUNT, given)
        # The logical name of these tests is n.
        assert re.fullmatch("n[0-9a-f]{8}", inputs["accountName"])
        assert failures == []
        made = await engine.create(ACCOUNT, inputs)
        assert read_struct(made.properties)["provisioningState"] == "Succeeded"
        again, _ = await check(engine, ACCOUNT, {**given, "tags": {"a": "b"}}, olds=inputs)
        assert again["accountName"] == inputs["accountName"]
        found = await engine.stub.Diff(
            pb.DiffRequest(
                id=made.id,
                urn=urn(ACCOUNT),
                news=write_struct({**again, "location": "westus2"}),
                old_inputs=write_struct(inputs),
            )
        )
        assert list(found.replaces) == ["location"]
        assert not found.deleteBeforeReplace
        await engine.stub.Update(pb.UpdateRequest(id=made.id, urn=urn(ACCOUNT), news=write_struct(again)))
        read = await engine.stub.Read(
            pb.ReadRequest(id=made.id.upper().replace("/SUBSCRIPTIONS", "/subscriptions"), urn=urn(ACCOUNT))
        )
        assert read.id == ""
        read = await engine.stub.Read(pb.ReadRequest(id=made.id, urn=urn(ACCOUNT)))
        assert read_struct(read.properties)["tags"] == {"a": "b"}
        await engine.stub.Delete(pb.DeleteRequest(id=made.id, urn=urn(ACCOUNT)))
        assert (await engine.stub.Read(pb.ReadRequest(id=made.id, urn=urn(ACCOUNT)))).id == ""

    azure(conversation)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"acessTier": "Hot"}, f"acessTier: no such property of {ACCOUNT}; did you mean accessTier?"),
        ({"sku": {"nam": "x"}}, "sku.nam: no such property of "),
        ({"sku": None}, f"sku: missing, but required by {ACCOUNT}"),
        (
            {"kind": "StorageV3"},
            'kind="StorageV3": not one of Storage, StorageV2, BlobStorage, FileStorage, BlockBlobStorage',
        ),
        ({"accountName": "Fleet-Data"}, 'accountName="Fleet-Data": lower-case letters and digits are legal, 3 to 24'),
        ({"accountName": "fl"}, 'accountName="fl": 2 characters, legal are 3 to 24'),
        ({"isHnsEnabled": "true"}, 'isHnsEnabled="true": must be true or false, not a string'),
        ({"minimumTlsVersion": ""}, 'minimumTlsVersion="": not one of TLS1_0, TLS1_1, TLS1_2, TLS1_3'),
        ({"tags": {"a?b": "x"}}, "key 'a?b': ? is not legal in a key"),
    ],
)
def test_wrong_inputs_are_one_line_before_anything_is_made(azure, changed, said):
    async def conversation(engine):
        _, failures = await check(engine, ACCOUNT, {**DATA, **changed})
        assert [line for line in failures if said in line], failures
        assert not [line for line in failures if "\n" in line]

    azure(conversation)


def test_unknown_values_are_not_judged(azure):
    async def conversation(engine):
        unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
        inputs, failures = await check(engine, ACCOUNT, {**DATA, "resourceGroupName": unknown, "accountName": unknown})
        assert failures == []
        preview = await engine.create(ACCOUNT, inputs, preview=True)
        assert read_struct(preview.properties)["primaryEndpoints"] == unknown

    azure(conversation)


async def invoke(engine, token, **arguments):
    answer = await engine.stub.Invoke(pb.InvokeRequest(tok=token, args=write_struct(arguments)))
    return read_struct(getattr(answer, "return"))


KEYS = "azure-native:storage:listStorageAccountKeys"


def test_keys_of_an_account_that_is_there(azure):
    async def conversation(engine):
        await engine.create(GROUP, {"resourceGroupName": "fleet", "location": "eastus"}, name="group")
        await engine.create(ACCOUNT, DATA)
        first = await invoke(engine, KEYS, resourceGroupName="fleet", accountName="fleetdata")
        assert [key["keyName"] for key in first["keys"]] == ["key1", "key2"]
        assert base64.b64decode(first["keys"][0]["value"], validate=True)
        assert first == await invoke(engine, KEYS, resourceGroupName="fleet", accountName="fleetdata")

    azure(conversation)


@pytest.mark.parametrize(
    ("token", "arguments", "said"),
    [
        (
            KEYS,
            {"resourceGroupName": "fleet", "accountName": "x"},
            "ResourceNotFound: The Resource 'Microsoft.Storage/storageAccounts/x'",
        ),
        (KEYS, {"resourceGroupName": "fleet"}, f"{KEYS}: accountName: missing, but required"),
        (
            KEYS,
            {"resourceGroupName": "fleet", "accountName": "x", "name": "y"},
            f"{KEYS}: name: unknown argument; must be one of ",
        ),
        (
            "azure-native:search:getService",
            {},
            "azure-native:search:getService: the rehearsal cannot answer this look-up",
        ),
        (
            "azure-native:resources:getResourceGroup",
            {"resourceGroupName": "none"},
            "ResourceGroupNotFound: Resource group 'none' could not be found.",
        ),
        (
            "azure-native:network:getSubnet",
            {"resourceGroupName": "fleet", "virtualNetworkName": "net", "subnetName": "none"},
            "ResourceNotFound: The Resource 'Microsoft.Network/virtualNetworks/net/subnets/none' under resource group",
        ),
        (
            "azure-native:containerservice:getManagedCluster",
            {"resourceGroupName": "fleet", "resourceName": "none"},
            "ResourceNotFound: The Resource 'Microsoft.ContainerService/managedClusters/none' under resource group",
        ),
    ],
)
def test_other_look_ups_are_refused_in_one_line(azure, token, arguments, said):
    async def conversation(engine):
        error = await refusal(invoke(engine, token, **arguments))
        assert error.details().startswith(said)
        assert "\n" not in error.details()

    azure(conversation)


def test_what_the_subscription_holds_is_found(azure):
    network = {
        "resourceGroupName": "fleet",
        "virtualNetworkName": "net",
        "addressSpace": {"addressPrefixes": ["10.60.0.0/16"]},
    }
    subnet = {
        "resourceGroupName": "fleet",
        "virtualNetworkName": "net",
        "subnetName": "nodes",
        "addressPrefix": "10.60.0.0/20",
    }

    async def conversation(engine):
        await engine.create(GROUP, {"resourceGroupName": "fleet", "location": "eastus"}, name="group")
        await engine.create(ACCOUNT, DATA)
        await engine.create("azure-native:network:VirtualNetwork", network, name="net")
        made = await engine.create("azure-native:network:Subnet", subnet, name="nodes")
        group = await invoke(engine, "azure-native:resources:getResourceGroup", resourceGroupName="fleet")
        assert (group["name"], group["location"]) == ("fleet", "eastus")
        where = {"resourceGroupName": "fleet", "virtualNetworkName": "net"}
        found = await invoke(engine, "azure-native:network:getVirtualNetwork", **where)
        assert found["addressSpace"] == {"addressPrefixes": ["10.60.0.0/16"]}
        found = await invoke(engine, "azure-native:network:getSubnet", **where, subnetName="nodes")
        assert found["id"].endswith("/virtualNetworks/net/subnets/nodes")
        assert found["addressPrefix"] == "10.60.0.0/20"
        assert "natGateway" not in found
        assert made
        where = {"resourceGroupName": "fleet", "accountName": "fleetdata"}
        found = await invoke(engine, "azure-native:storage:getStorageAccount", **where)
        assert found["primaryEndpoints"]["blob"].startswith("https://fleetdata.blob.")

    azure(conversation)


def test_the_provider_says_who_it_works_as(azure):
    async def conversation(engine):
        answer = await invoke(engine, "azure-native:authorization:getClientConfig")
        assert answer["subscriptionId"] == SUBSCRIPTION
        assert {"clientId", "objectId", "tenantId"} <= answer.keys()

    azure(conversation, subscriptionId=SUBSCRIPTION)


def test_kubeconfig_of_a_cluster_is_one_that_the_rehearsal_takes_for_simulated(azure):
    from gpufleet_rehearsal.kubernetes.kubeconfig import read_kubeconfig

    async def conversation(engine):
        await engine.create(GROUP, {"resourceGroupName": "fleet", "location": "eastus"}, name="group")
        inputs = {
            "resourceGroupName": "fleet",
            "resourceName": "trainers",
            "dnsPrefix": "trainers",
            "location": "eastus",
            "identity": {"type": "SystemAssigned"},
            "agentPoolProfiles": [{"name": "system", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5"}],
        }
        made = read_struct((await engine.create(CLUSTER, inputs)).properties)
        token = "azure-native:containerservice:listManagedClusterUserCredentials"
        answer = await invoke(engine, token, resourceGroupName="fleet", resourceName="trainers")
        (given,) = answer["kubeconfigs"]
        assert given["name"] == "clusterUser"
        text = base64.b64decode(given["value"]).decode()
        access = read_kubeconfig(text)
        assert access.simulated
        assert access.server == f"https://{made['fqdn']}:443"
        assert json.loads(text)["users"][0]["user"]["exec"]["command"] == "kubelogin"

    azure(conversation)


def test_schema_for_import_names_every_type():
    schema = package_schema("azure-native", "3.29.0")
    assert schema["resources"][ACCOUNT]["inputProperties"]["accountName"] == {"type": "string"}
    assert GROUP in schema["resources"]
