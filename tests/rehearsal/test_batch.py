"""AWS Batch in the simulated AWS: what replaces an environment, and for how long a queue holds it."""

import pytest

from gpufleet_rehearsal.cloud.change import UNKNOWN
from gpufleet_rehearsal.cloud.checks import CloudError
from tests.rehearsal.scenarios import AWS, NAME, in_scenario

ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
LINKED = "arn:aws:iam::000000000000:role/aws-service-role/batch.amazonaws.com/AWSServiceRoleForBatch"
OWN = "arn:aws:iam::000000000000:role/batch"

RESOURCES = {
    "type": "EC2",
    "allocationStrategy": "BEST_FIT_PROGRESSIVE",
    "minVcpus": 0,
    "maxVcpus": 64,
    "instanceTypes": ["g5.8xlarge"],
    "instanceRole": "arn:aws:iam::000000000000:instance-profile/a",
    "ec2Configurations": [{"imageType": "ECS_AL2023_NVIDIA"}],
    "ec2KeyPair": "a",
    "imageId": "ami-0aaaaaaaaaaaaaaaa",
    "launchTemplate": {"launchTemplateId": "lt-0a", "version": "1"},
    "placementGroup": "a",
    "securityGroupIds": ["sg-0a", "sg-0b"],
    "subnets": ["subnet-0a", "subnet-0b"],
    "tags": {"a": "b"},
}
NEVER = [
    {"maxVcpus": 128},
    {"minVcpus": 32},
    {"desiredVcpus": 32},
    {"securityGroupIds": ["sg-0b", "sg-0a"]},
    {"subnets": ["subnet-0b", "subnet-0a"]},
]
"""Changes of an environment's resources that never replace it."""
BY_STRATEGY = [
    {"instanceTypes": ["g5.8xlarge", "g5.16xlarge"]},
    {"instanceRole": "arn:aws:iam::000000000000:instance-profile/b"},
    {"ec2Configurations": [{"imageType": "ECS_AL2023_NVIDIA", "imageIdOverride": "ami-0bbbbbbbbbbbbbbbb"}]},
    {"ec2KeyPair": "b"},
    {"imageId": "ami-0bbbbbbbbbbbbbbbb"},
    {"launchTemplate": {"launchTemplateId": "lt-0a", "version": "2"}},
    {"launchTemplate": {"launchTemplateId": "lt-0a", "version": UNKNOWN}},
    {"securityGroupIds": ["sg-0a"]},
    {"subnets": ["subnet-0c"]},
    {"tags": {"a": "c"}},
    {"bidPercentage": 80},
]
"""Changes that replace it where Batch cannot update it."""
ALWAYS = [
    {"placementGroup": "b"},
    {"placementGroup": None},
    {"launchTemplate": None},
    {"ec2Configurations": [{"imageType": "ECS_AL2023_NVIDIA"}, {"imageType": "ECS_AL2023"}]},
    {"spotIamFleetRole": OWN},
]


def replaces(tmp_path, change, *, before=None, role=None, role_after=None):
    """Whether a change of the resources replaces an environment with these resources before it."""
    cloud = in_scenario(AWS, None, tmp_path).cloud
    old = {"name": "e", "type": "MANAGED", "serviceRole": role, "computeResources": {**RESOURCES, **(before or {})}}
    new = {
        **old,
        "serviceRole": role_after or role,
        "computeResources": {**old["computeResources"], **change},  # type: ignore[dict-item]
    }
    return bool(cloud.diff(ENVIRONMENT, NAME, old, new).replaces)


@pytest.mark.parametrize("change", NEVER)
def test_size_never_replaces(tmp_path, change):
    assert not replaces(tmp_path, change)
    assert not replaces(tmp_path, change, before={"allocationStrategy": "BEST_FIT"})


@pytest.mark.parametrize("change", BY_STRATEGY)
def test_most_changes_replace_where_batch_cannot_update(tmp_path, change):
    for strategy in ("BEST_FIT_PROGRESSIVE", "SPOT_CAPACITY_OPTIMIZED", "SPOT_PRICE_CAPACITY_OPTIMIZED"):
        assert not replaces(tmp_path, change, before={"allocationStrategy": strategy}), strategy
    assert not replaces(tmp_path, change, role=LINKED)
    for strategy in ("BEST_FIT", None):
        assert replaces(tmp_path, change, before={"allocationStrategy": strategy}), strategy
    assert replaces(tmp_path, change, role=OWN)
    assert replaces(tmp_path, change, role=OWN, role_after=LINKED)
    assert replaces(tmp_path, change, role=LINKED, role_after=OWN)


@pytest.mark.parametrize("change", ALWAYS)
def test_some_changes_always_replace(tmp_path, change):
    assert replaces(tmp_path, change)
    assert replaces(tmp_path, change, before={"allocationStrategy": "BEST_FIT"})


def test_strategies_that_batch_can_update_follow_each_other_in_place(tmp_path):
    spot = {"type": "SPOT", "allocationStrategy": "SPOT_PRICE_CAPACITY_OPTIMIZED"}
    assert not replaces(tmp_path, spot)
    assert replaces(tmp_path, {"allocationStrategy": "BEST_FIT"})
    assert replaces(tmp_path, spot, before={"allocationStrategy": "BEST_FIT"})


def test_fargate_is_not_replaced_for_its_subnets(tmp_path):
    fargate = {"type": "FARGATE", "allocationStrategy": None}
    assert not replaces(tmp_path, {"subnets": ["subnet-0c"], "securityGroupIds": ["sg-0a"]}, before=fargate)


def test_a_job_definition_is_replaced_for_another_number_of_exits(tmp_path):
    cloud = in_scenario(AWS, None, tmp_path).cloud
    old = {"name": "d", "retryStrategy": {"attempts": 2, "evaluateOnExits": [{"action": "RETRY", "onReason": "a"}]}}
    other = {"name": "d", "retryStrategy": {"attempts": 2, "evaluateOnExits": [{"action": "EXIT", "onReason": "b"}]}}
    none = {"name": "d", "retryStrategy": {"attempts": 2}}
    definition = "aws:batch/jobDefinition:JobDefinition"
    assert cloud.diff(definition, NAME, old, other).replaces == []
    assert cloud.diff(definition, NAME, old, none).replaces == ["retryStrategy"]


def move(aws, to):
    queue = aws.resource("queue")
    order = [{"order": 1, "computeEnvironment": aws.resource(to).view["arn"]}]
    return aws.update(queue, {**queue.inputs, "computeEnvironmentOrders": order})


def test_the_relation_to_a_queue_lingers_for_a_minute_after_the_update(tmp_path):
    aws = in_scenario(AWS, "batch", tmp_path)
    move(aws, "third")
    moved = aws.clock.now()
    for later in (0, 30, 59):
        aws.clock.at = moved + later
        with pytest.raises(CloudError, match=r"^ClientException: Cannot delete, found existing JobQueue relationship$"):
            aws.delete(aws.resource("on-demand"))
        # What the queue names now is held for as long as it does.
        with pytest.raises(CloudError, match="found existing JobQueue relationship"):
            aws.delete(aws.resource("third"))
    aws.clock.at = moved + 61
    aws.delete(aws.resource("on-demand"))
    with pytest.raises(CloudError, match="found existing JobQueue relationship"):
        aws.delete(aws.resource("third"))


def test_the_end_of_a_queue_frees_its_environments_at_once(tmp_path):
    aws = in_scenario(AWS, "batch", tmp_path)
    aws.delete(move(aws, "third"))
    aws.delete(aws.resource("on-demand"))
    aws.delete(aws.resource("third"))


def test_an_environment_whose_service_role_has_gone_is_stuck_until_one_of_its_name_is_there(tmp_path):
    aws = in_scenario(AWS, "batch", tmp_path)
    environment = aws.resource("with-own-role")
    role = aws.resource("service-role")
    aws.delete(aws.resource("service-policy"))
    aws.delete(role)
    with pytest.raises(CloudError, match=r"sts:AssumeRole on resource: arn:aws:iam::000000000000:role/batch$"):
        aws.delete(environment)
    # Disabling it is rejected as well: the update names a role that is not there.
    with pytest.raises(CloudError, match="sts:AssumeRole"):
        aws.update(environment, {**environment.inputs, "state": "DISABLED"})
    scenario = {resource.name: resource for resource in AWS.scenarios["batch"]}
    aws.add(scenario["service-role"])
    aws.add(scenario["service-policy"])
    aws.delete(environment)


def test_deleting_takes_as_long_as_disabling_and_deleting(tmp_path):
    aws = in_scenario(AWS, "batch", tmp_path)
    began = aws.clock.now()
    aws.delete(aws.resource("queue"))
    assert aws.clock.now() == began + 65
    aws.delete(aws.resource("on-demand"))
    assert aws.clock.now() == began + 65 + 22


def test_a_new_revision_has_another_arn(tmp_path):
    aws = in_scenario(AWS, "everything", tmp_path)
    job = aws.resource("job")
    properties = str(job.inputs["containerProperties"])
    changed = aws.update(job, {**job.inputs, "containerProperties": properties.replace("pytorch", "other")})
    assert (job.view["revision"], changed.view["revision"]) == (1, 2)
    assert changed.view["arn"] == f"{job.view['arnPrefix']}:2"
