"""The simulated inventory sees what the real ones see: types, identifying inputs, and whose a resource is."""

import json

from gpufleet.aws.untagged_types import MOUNT_TARGET, ROLE_POLICY, UNTAGGED
from gpufleet_rehearsal.inventory import SimulatedInventory
from tests.rehearsal.scenarios import AWS, AZURE, in_scenario

ROLE = "aws:iam/role:Role"
SAY = {"Effect": "Allow"}
TRUST = json.dumps({"Statement": [{**SAY, "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]})
WRITE = json.dumps({"Statement": [{**SAY, "Action": "s3:PutObject", "Resource": "*"}]})
TAGS = {"environment": "dev", "owner": "us", "Name": "ours"}


def tag(scenario, name, **tags):
    thing = scenario.resource(name)
    return scenario.cloud.store.change(
        thing, inputs={**thing.inputs, "tags": tags}, outputs={**thing.outputs, "tagsAll": tags}
    )


def seen(scenario):
    return {(each.type, each.import_id): each for each in SimulatedInventory(scenario.cloud).holds("dev")}


def test_what_hangs_on_a_tagged_thing_is_known_by_few_inputs_and_has_its_tags(tmp_path):
    aws = in_scenario(AWS, "files", tmp_path)
    assert seen(aws) == {}
    files, target = tag(aws, "files", **TAGS), aws.resource("target")
    role = aws.create(ROLE, "role", {"assumeRolePolicy": TRUST, "tags": TAGS})
    policy = aws.create(ROLE_POLICY, "policy", {"role": role.view["name"], "policy": WRITE})
    aws.create(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        "attached",
        {"role": role.view["name"], "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"},
    )
    found = seen(aws)
    assert set(found) == {(each.type, each.id) for each in (files, target, role, policy)}, "as AWS attaches again"
    assert found[MOUNT_TARGET, target.id].inputs == {"fileSystemId": files.id, "subnetId": target.view["subnetId"]}
    assert found[ROLE_POLICY, policy.id].inputs == {"role": role.view["name"], "name": policy.view["name"]}
    assert {each.ownership.owner for each in found.values()} == {"us"}
    assert all(set(each.inputs) <= set(UNTAGGED[each.type].inputs) for each in found.values() if each.name is None)


def test_a_part_of_azure_has_the_tags_of_what_it_lies_in(tmp_path):
    azure = in_scenario(AZURE, "everything", tmp_path)
    store = azure.cloud.store
    account = store.resources("azure-native:storage:StorageAccount")[0]
    store.change(account, inputs={**account.inputs, "tags": {"environment": "dev", "owner": "us"}})
    found = seen(azure)
    assert {each.type.rpartition(":")[2] for each in found.values()} >= {"StorageAccount", "BlobContainer"}
    assert {each.ownership.owner for each in found.values()} == {"us"}
    assert all(import_id.startswith(account.id) for _, import_id in found)
