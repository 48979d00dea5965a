"""Of things that Azure holds under names with random ends, which one a step of the preview would make; none guessed."""

import pytest

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.adoption.match import UNKNOWN, match, same_id
from gpufleet.azure.arm_types import found_at

GROUP_ID = "/subscriptions/s/resourceGroups/dev-group0a1b2c3d"
FILES = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/devfiles11111111"
FILES_2 = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/devfiles22222222"
VNET = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/dev-vnet11111111"
GROUP = "azure-native:resources:ResourceGroup"
ACCOUNT, CONTAINER = "azure-native:storage:StorageAccount", "azure-native:storage:BlobContainer"
SUBNET, ROLE = "azure-native:network:Subnet", "azure-native:authorization:RoleAssignment"
IN_GROUP = {"resourceGroupName": "dev-group0a1b2c3d"}
TAGS = {"gpufleet-stack": "gpufleet/dev", "environment": "dev", "project": "training", "owner": "us"}


def urn(type_, name):
    return f"urn:pulumi:dev::gpufleet::gpufleet-azure:index:Files${type_}::{name}"


def step(type_, name, inputs, sources=None):
    """sources: input -> logical names and types of what it comes from."""
    depends = {key: [urn(*source) for source in given] for key, given in (sources or {}).items()}
    return {"urn": urn(type_, name), "type": type_, "inputs": inputs, "propertyDependencies": depends}


def account(name="devfiles", drawn="99999999", **inputs):
    return step(ACCOUNT, name, {**IN_GROUP, "accountName": f"{name}{drawn}", "tags": TAGS, **inputs})


def container(name="scripts", of="devfiles", **inputs):
    inputs = {**IN_GROUP, "accountName": UNKNOWN, "containerName": name, **inputs}
    return step(CONTAINER, f"dev-{name}", inputs, {"accountName": [(ACCOUNT, of)]})


def held(type_, name, id_):
    return {"urn": urn(type_, name), "type": type_, "id": id_}


def found(id_, tags=TAGS):
    return found_at(id_, {}, tags)


def inside(above, name="scripts"):
    return found(f"{above}/blobServices/default/containers/{name}")


def told(lost, steps, state=()):
    """Names of found things to logical names of steps: wanted, then unclear; and the unknown ones."""
    placed = match(lost, steps, state)

    def name(found):
        return found.inputs[found.own]

    def logical(step):
        return step["urn"].split("::")[-1]

    wanted = {name(each): logical(one) for each, one in placed.wanted}
    unclear = {name(each): [logical(one) for one in fit] for each, fit in placed.ambiguous}
    return wanted, unclear, [name(each) for each in placed.unknown]


def test_a_random_end_is_another_one_each_time():
    assert told([found(FILES)], [account()]) == ({"devfiles11111111": "devfiles"}, {}, [])


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(account("devfile"), id="shorter name"),
        pytest.param(account("devfiles1"), id="longer name"),
        pytest.param(account(accountName="devfilesofmine"), id="a name of the program's"),
        pytest.param(account(accountName="devfiles33333333", resourceGroupName="theirs"), id="another group"),
        pytest.param(account(accountName=UNKNOWN), id="a name that is not known yet"),
        pytest.param(step(GROUP, "devfiles", {"resourceGroupName": "devfiles33333333"}), id="another type"),
        pytest.param(account(resourceGroupName=None), id="no place"),
    ],
)
def test_what_is_another_thing(other):
    assert told([found(FILES)], [other]) == ({}, {}, ["devfiles11111111"])


def test_a_name_that_the_program_gives_is_known_whatever_its_capitals():
    mine = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/devfilesofmine"
    steps = [account(accountName="devFilesOfMine", resourceGroupName="DEV-group0a1b2c3d")]
    assert told([found(mine)], steps) == ({"devfilesofmine": "devfiles"}, {}, [])


@pytest.mark.parametrize(
    ("tags", "ours"),
    [
        (TAGS, True),
        (TAGS | {"expires-at": "2027-01-01"}, True),
        ({}, False),
        ({"environment": "dev", "project": "training"}, False),
        *((TAGS | {key: "another"}, False) for key in TAGS),
    ],
)
def test_all_ownership_tags_say_whose_it_is(tags, ours):
    wanted, _, unknown = told([found(FILES, tags)], [account()])
    assert (bool(wanted), bool(unknown)) == (ours, not ours)


def test_what_lies_in_a_lost_thing_is_known_by_it():
    lost = [inside(FILES), found(FILES), inside(FILES, "result")]
    steps = [container(), container("result"), account()]
    everything = {"devfiles11111111": "devfiles", "scripts": "dev-scripts", "result": "dev-result"}
    assert told(lost, steps) == (everything, {}, [])


def test_what_lies_in_a_thing_of_the_state_is_known_by_its_name_or_where_it_comes_from():
    state = [held(ACCOUNT, "devfiles", FILES)]
    for made in (container(), container(accountName="devfiles11111111")):
        assert told([inside(FILES)], [made], state)[0] == {"scripts": "dev-scripts"}
        assert told([inside(FILES_2)], [made], state) == ({}, {}, ["scripts"])


def test_one_of_several_sources_is_what_it_lies_in():
    """Subnets are made one after the other: each waits for its network and for the one before."""
    subnet = found(f"{VNET}/subnets/nodes")
    inputs = {**IN_GROUP, "virtualNetworkName": UNKNOWN, "subnetName": "nodes"}
    network = "azure-native:network:VirtualNetwork"
    made = step(SUBNET, "dev-nodes", inputs, {"virtualNetworkName": [(SUBNET, "dev-batch"), (network, "dev-vnet")]})
    state = [held(SUBNET, "dev-batch", f"{VNET}/subnets/batch")]
    assert told([subnet], [made], [*state, held(network, "dev-vnet", VNET)])[0] == {"nodes": "dev-nodes"}
    assert told([subnet], [made], state)[2] == ["nodes"]


def test_a_group_is_not_what_an_account_comes_from():
    """Something above it that is known is not enough: it must be the one of that name."""
    made = step(CONTAINER, "dev-scripts", container()["inputs"], {"accountName": [(GROUP, "dev-group")]})
    assert told([inside(FILES)], [made], [held(GROUP, "dev-group", GROUP_ID)])[2] == ["scripts"]


def test_of_two_that_might_be_it_none_is_guessed():
    lost = [found(FILES), found(FILES_2), inside(FILES), inside(FILES_2)]
    both = {"devfiles11111111": ["devfiles"], "devfiles22222222": ["devfiles"]}
    # What lies in them is said with them.
    assert told(lost, [account(), container()]) == ({}, both, [])


def test_of_two_steps_that_might_make_it_none_is_guessed():
    twice = [account(), {**account(), "urn": urn(ACCOUNT, "devfiles").replace("Files$", "Other$")}]
    assert told([found(FILES)], twice) == ({}, {"devfiles11111111": ["devfiles", "devfiles"]}, [])


def test_the_one_in_the_state_is_not_asked_for_again():
    assert told([found(FILES_2)], [], [held(ACCOUNT, "devfiles", FILES)]) == ({}, {}, ["devfiles22222222"])


@pytest.mark.parametrize(
    ("token", "same"),
    [
        ("azure-native:storage/v20230501:StorageAccount", True),
        ("azure-native_storage_v20230501:storage:StorageAccount", True),
        ("azure-native:storage/v20230501:BlobContainer", False),
        ("aws:s3/bucket:Bucket", False),
    ],
)
def test_a_type_of_one_version_of_the_interface_is_the_same_type(token, same):
    made = {**account(), "type": token}
    assert bool(told([found(FILES)], [made])[0]) is same


def test_a_role_is_known_by_scope_and_name_once_both_are():
    name = "d00dd766-5597-50e5-8e59-e90382b96692"
    role = found(f"{FILES}/providers/Microsoft.Authorization/roleAssignments/{name}")
    sources = {"scope": [(ACCOUNT, "devfiles")]}
    state = [held(ACCOUNT, "devfiles", FILES)]
    for scope in (FILES, UNKNOWN):
        made = step(ROLE, "dev-blobs", {"scope": scope, "roleAssignmentName": name}, sources)
        assert told([role], [made], state)[0] == {name: "dev-blobs"}
    for inputs in ({"scope": FILES_2, "roleAssignmentName": name}, {"scope": FILES, "roleAssignmentName": UNKNOWN}):
        assert told([role], [step(ROLE, "dev-blobs", inputs, sources)], state)[2] == [name]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [(FILES, FILES.upper(), True), (FILES, FILES_2, False), ("vpc-1", "vpc-1", True), ("vpc-1", "VPC-1", False)],
)
def test_ids(one, other, same):
    assert same_id(one, other) is same


ROLE_ID, POLICY, PROFILE = (
    "dev-role-0a1b2c3",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/instanceProfile:InstanceProfile",
)


def aws(type_, import_id, own=None, **inputs):
    return CloudResource(type_, import_id, None, import_id, inputs, own=own, tags=TAGS)


def inline(name, role="dev-role-9f9f9f9", logical="dev-policy"):
    """A step that puts a policy into a role, whose name the preview has drawn anew."""
    return step(POLICY, logical, {"role": role, "name": name}, {"role": [("aws:iam/role:Role", "dev-role")]})


@pytest.mark.parametrize("drawn", ["dev-role-9f9f9f9", UNKNOWN, ROLE_ID])
def test_what_hangs_on_a_role_is_known_by_it_whatever_name_the_preview_has_drawn(drawn):
    policy = aws(POLICY, f"{ROLE_ID}:dev-policy-1111111", "name", role=ROLE_ID, name="dev-policy-1111111")
    state = [held("aws:iam/role:Role", "dev-role", ROLE_ID)]
    steps = [inline("dev-policy-2222222", drawn), inline("dev-other-2222222", drawn, "dev-other")]
    assert told([policy], steps, state)[0] == {"dev-policy-1111111": "dev-policy"}


def test_a_policy_in_the_role_of_another_is_another():
    policy = aws(POLICY, "theirs:dev-policy-1111111", "name", role="theirs", name="dev-policy-1111111")
    state = [held("aws:iam/role:Role", "dev-role", ROLE_ID)]
    assert told([policy], [inline("dev-policy-2222222")], state)[2] == ["dev-policy-1111111"]


def test_a_long_logical_name_is_cut_for_its_random_end():
    logical = "dev-" + "policy" * 30
    name, drawn = f"{logical[:120]}-1111111", f"{logical[:120]}-2222222"
    policy = aws(POLICY, f"{ROLE_ID}:{name}", "name", role=ROLE_ID, name=name)
    assert told([policy], [inline(drawn, ROLE_ID, logical)])[0] == {name: logical}


def test_routes_of_a_lost_table_are_known_in_the_same_look():
    table = CloudResource("aws:ec2/routeTable:RouteTable", "rtb-1", "dev-table", "rtb-1", tags=TAGS)
    to = {"destinationCidrBlock": "0.0.0.0/0"}
    route = CloudResource(
        "aws:ec2/route:Route", "rtb-1_0.0.0.0/0", None, inputs={"routeTableId": "rtb-1", **to}, tags=TAGS
    )
    steps = [
        step(
            "aws:ec2/route:Route",
            "dev-default",
            {"routeTableId": UNKNOWN, **to},
            {"routeTableId": [(table.type, "dev-table")]},
        ),
        step(table.type, "dev-table", {"tags": TAGS}),
    ]
    wanted = match([route, table], steps, []).wanted
    assert [(found.import_id, one["urn"].split("::")[-1]) for found, one in wanted] == [
        ("rtb-1", "dev-table"),
        ("rtb-1_0.0.0.0/0", "dev-default"),
    ]
