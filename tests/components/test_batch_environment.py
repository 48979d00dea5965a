"""BatchEnvironment: exact inputs of every child, and what changes with the intent."""

from typing import cast

import pytest

from gpufleet.aws.batch_environment import BatchEnvironment, BatchEnvironmentArgs
from gpufleet.aws.user_data import container_instance
from tests.components.gpu_pools import efa_interfaces
from tests.components.recorder import MARK, UNKNOWN, Recording, construct, refusal

ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
PLACEMENT = "aws:ec2/placementGroup:PlacementGroup"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
PROFILE = "aws:iam/instanceProfile:InstanceProfile"
ROLE = "aws:iam/role:Role"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
TAGS = {"owner": "ml", **MARK}
BASE = {
    "region": "us-east-1",
    "types": ["p4d.24xlarge"],
    "max": 4,
    "zones": ["use1-az1"],
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az1": "subnet-1", "use1-az2": "subnet-2", "use1-az6": "subnet-6"},
    "tags": TAGS,
}


def build(preview: bool, /, **changes: object) -> Recording[BatchEnvironment]:
    args = cast(BatchEnvironmentArgs, {**BASE, **changes})
    return construct(lambda: BatchEnvironment("trainers", args), preview)


def resources(recording: Recording[BatchEnvironment]) -> dict[str, object]:
    return cast("dict[str, object]", recording.one(ENVIRONMENT).inputs["computeResources"])


def known(preview: bool, value: str) -> str:
    return UNKNOWN if preview else value


def named(name: str) -> dict[str, str]:
    return {**TAGS, "Name": name}


def expected(preview: bool, **changes: object) -> dict[str, object]:
    """The compute resources of the plain on-demand environment with ``changes``; None takes a property away."""
    given: dict[str, object] = {
        "type": "EC2",
        "allocationStrategy": "BEST_FIT_PROGRESSIVE",
        "instanceTypes": ["p4d.24xlarge"],
        "minVcpus": 0,
        "maxVcpus": 384,
        "subnets": ["subnet-1"],
        "securityGroupIds": [known(preview, "trainers-nodes-id")],
        "instanceRole": known(preview, "arn:aws:mock::000000000000:trainers-profile"),
        "ec2Configurations": [{"imageType": "ECS_AL2023_NVIDIA"}],
        "launchTemplate": {"launchTemplateId": known(preview, "trainers-template-id"), "version": known(preview, "1")},
    }
    return {key: value for key, value in {**given, **changes}.items() if value is not None}


def test_plain_environment(preview: bool) -> None:
    recording = build(preview)
    environment = recording.one(ENVIRONMENT, "trainers-environment")
    assert environment.inputs == {
        "type": "MANAGED",
        "state": "ENABLED",
        "computeResources": expected(preview),
        "updatePolicy": {"jobExecutionTimeoutMinutes": 360, "terminateJobsOnUpdate": False},
        "tags": named("trainers-environment"),
    }
    # Neither a name nor another order: the new one has to exist before the queue moves.
    assert environment.delete_before_replace is None
    assert recording.names(PLACEMENT) == []
    assert "placement_group_name" not in recording.outputs["trainers"]


def test_template_has_disk_imdsv2_and_the_same_groups(preview: bool) -> None:
    ebs = {
        "volumeType": "gp3",
        "volumeSize": 300,
        # Four IOPS for each MiB/s.
        "iops": 4000,
        "throughput": 1000,
        "encrypted": "true",
        "kmsKeyId": "key",
        "deleteOnTermination": "true",
    }
    speed = {"disk_throughput": 1000}
    recording = build(
        preview, disk_gib=300, **speed, key_pair="mine", kms_key_arn="key", security_group_ids=["sg-more"]
    )
    groups = [known(preview, "trainers-nodes-id"), "sg-more"]
    assert recording.one(TEMPLATE, "trainers-template").inputs == {
        "updateDefaultVersion": True,
        "keyName": "mine",
        "userData": container_instance(efa=False),
        "vpcSecurityGroupIds": groups,
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1},
        "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": ebs}],
        "tagSpecifications": [
            {"resourceType": resource, "tags": named("trainers")}
            for resource in ("instance", "volume", "network-interface")
        ],
        "tags": named("trainers-template"),
    }
    assert resources(recording) == expected(preview, securityGroupIds=groups)


def test_efa_environment_in_its_own_placement_group(preview: bool) -> None:
    recording = build(preview, network="efa", placement="create", security_group_ids=["sg-more"])
    template = recording.one(TEMPLATE).inputs
    groups = [known(preview, "trainers-nodes-id"), "sg-more"]
    interfaces = [{**each, "securityGroups": groups} for each in efa_interfaces(4, "")]
    assert template["networkInterfaces"] == interfaces
    assert template["userData"] == container_instance(efa=True)
    assert not {"vpcSecurityGroupIds", "placement", "imageId"} & set(template)
    placement = known(preview, "trainers-placement")
    assert resources(recording) == expected(preview, securityGroupIds=groups, placementGroup=placement)
    assert recording.inputs(PLACEMENT) == {
        "trainers-placement": {"strategy": "cluster", "tags": named("trainers-placement")}
    }


def test_existing_placement_group_is_named_and_none_is_made(preview: bool) -> None:
    recording = build(preview, placement="existing", placement_group="theirs")
    assert resources(recording) == expected(preview, placementGroup="theirs")
    assert recording.names(PLACEMENT) == []
    assert recording.outputs["trainers"]["placement_group_name"] == "theirs"


def test_nodes_talk_to_each_other_and_out(preview: bool) -> None:
    recording = build(preview)
    group = known(preview, "trainers-nodes-id")
    assert recording.inputs(GROUP) == {
        "trainers-nodes": {
            "description": "Traffic between the nodes of one Batch environment",
            "vpcId": "vpc-1",
            "tags": named("trainers-nodes"),
        }
    }
    itself = {"securityGroupId": group, "referencedSecurityGroupId": group, "ipProtocol": "-1"}
    ingress = recording.one("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule").inputs
    assert itself.items() <= ingress.items()
    egress = recording.inputs("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule")
    assert itself.items() <= egress["trainers-nodes-to-self"].items()
    assert egress["trainers-nodes-to-all"]["cidrIpv4"] == "0.0.0.0/0"


def test_nodes_may_join_and_nothing_else(preview: bool) -> None:
    recording = build(preview)
    assert recording.names(ROLE) == ["trainers-role"]
    assert [each.inputs["policyArn"] for each in recording.of(ATTACHMENT)] == [
        "arn:aws:iam::aws:policy/service-role/AmazonEC2ContainerServiceforEC2Role"
    ]
    assert recording.inputs(PROFILE) == {
        "trainers-profile": {"role": known(preview, "trainers-role"), "tags": named("trainers-profile")}
    }
    assert recording.names("aws:iam/rolePolicy:RolePolicy") == []


def test_environment_goes_before_what_its_nodes_may(preview: bool) -> None:
    """Deleted in the other order, Batch could no longer end its instances."""
    environment = build(preview).one(ENVIRONMENT)
    needs = environment.property_dependencies["computeResources"]
    assert {"trainers-profile", "trainers-role-AmazonEC2ContainerServiceforEC2Role"} <= needs


CAPACITIES: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "spot": (
        {"capacity": "spot", "types": ["p4d.24xlarge", "p4de.24xlarge"], "zones": ["use1-az6"]},
        {
            "type": "SPOT",
            "allocationStrategy": "SPOT_PRICE_CAPACITY_OPTIMIZED",
            "instanceTypes": ["p4d.24xlarge", "p4de.24xlarge"],
            "subnets": ["subnet-6"],
        },
    ),
    "two zones": ({"zones": ["use1-az2", "use1-az1"]}, {"subnets": ["subnet-2", "subnet-1"]}),
    "nodes": ({"min": 1, "max": 512}, {"minVcpus": 96, "maxVcpus": 49152}),
    "nodes as floats": ({"min": 1.0, "max": 2.0}, {"minVcpus": 96, "maxVcpus": 192}),
    "own image": (
        {"image": "ami-0123456789abcdef0"},
        {"ec2Configurations": [{"imageType": "ECS_AL2023_NVIDIA", "imageIdOverride": "ami-0123456789abcdef0"}]},
    ),
    "strategy": ({"strategy": "BEST_FIT"}, {"allocationStrategy": "BEST_FIT"}),
    "types of two sizes": (
        {"types": ["g5.xlarge", "g5.2xlarge"], "zones": ["use1-az1"]},
        {"instanceTypes": ["g5.xlarge", "g5.2xlarge"], "maxVcpus": 16},
    ),
}


@pytest.mark.parametrize("case", CAPACITIES)
def test_intent_in_the_words_of_batch(case: str, preview: bool) -> None:
    changes, inputs = CAPACITIES[case]
    assert resources(build(preview, **changes)) == expected(preview, **inputs)


def test_best_fit_takes_no_policy_for_updates(preview: bool) -> None:
    assert "updatePolicy" not in build(preview, strategy="BEST_FIT").one(ENVIRONMENT).inputs


def test_reservation_is_aimed_at_by_the_template(preview: bool) -> None:
    recording = build(preview, capacity="reservation", reservation_id="cr-0123456789abcdef0")
    assert recording.one(TEMPLATE).inputs["capacityReservationSpecification"] == {
        "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}
    }
    assert resources(recording) == expected(preview)


def test_512_nodes_differ_from_2_in_the_number_only(preview: bool) -> None:
    few, many = ({each.name: each.inputs for each in build(preview, max=most).resources} for most in (2, 512))
    differing = [name for name, inputs in few.items() if inputs != many[name]]
    assert differing == ["trainers-environment"]
    many["trainers-environment"]["computeResources"]["maxVcpus"] = 192  # type: ignore[index]
    assert many == few


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "zone without subnet": (
        {"zones": ["use1-az4"]},
        [
            "subnet_ids=[use1-az1, use1-az2, use1-az6]: there is no subnet in zone use1-az4; give the subnet of "
            "use1-az4, or use use1-az1, use1-az2 or use1-az6 [any-subnet-for-zone]"
        ],
    ),
    "every fault at once": (
        {"types": ["g5.xlarge"], "min": 9, "network": "efa", "image": "bottlerocket", "strategy": "SPOT_FIT"},
        [
            "min=9: is above max=4; use 4 or fewer, or raise max [any-count-min-max]",
            "types=g5.xlarge: has no EFA; use g5.8xlarge, g5.12xlarge, g5.16xlarge, g5.24xlarge or g5.48xlarge, or set "
            "network=plain [aws-efa-supported]",
            "image=bottlerocket: is not an image that Batch has for GPUs; use al2023, or the id of your own "
            "image with the ECS agent (ami-...) [aws-batch-image-word]",
            "strategy=SPOT_FIT: is not a Batch allocation strategy; use BEST_FIT_PROGRESSIVE or BEST_FIT "
            "[aws-batch-strategy]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    args = cast(BatchEnvironmentArgs, {**BASE, **changes})
    assert refusal(lambda: BatchEnvironment("trainers", args), preview) == [f"trainers: {line}" for line in lines]
