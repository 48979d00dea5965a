"""GpuNodeGroup: exact inputs of every child, and what changes with the intent."""

from collections.abc import Mapping
from typing import cast

import pulumi
import pytest
from recorder import UNKNOWN, Recording, construct

from gpufleet.aws.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from gpufleet.aws.user_data import Join, amazon_linux, bottlerocket

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
NODES = "aws:eks/nodeGroup:NodeGroup"
PLACEMENT = "aws:ec2/placementGroup:PlacementGroup"
ASG_TAG = "aws:autoscaling/tag:Tag"
ROLE = "arn:aws:iam::000000000000:role/nodes"
TAGS = {"owner": "ml", "project": "llm"}
BASE = {
    "region": "us-east-1",
    "types": ["p4d.24xlarge"],
    "max": 4,
    "zones": ["use1-az1"],
    "cluster_name": "fleet",
    "vpc_id": "vpc-1",
    "subnet_ids": {"use1-az1": "subnet-1", "use1-az2": "subnet-2", "use1-az6": "subnet-6"},
    "cluster_security_group_id": "sg-cluster",
    "node_role_arn": ROLE,
    "tags": TAGS,
}
COMPUTED = {
    NODES: {"nodeGroupName": "{name}-1234567", "resources": [{"autoscalingGroups": [{"name": "{name}-asg"}]}]},
}


def build(preview: bool, /, **changes: object) -> Recording[GpuNodeGroup]:
    """A pool called trainers: the base with ``changes``; None takes an argument away."""
    args = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    return construct(lambda: GpuNodeGroup("trainers", cast(GpuNodeGroupArgs, args)), preview, COMPUTED)


def template(recording: Recording[GpuNodeGroup]) -> dict[str, object]:
    return recording.one(TEMPLATE, "trainers-template").inputs


def nodes(recording: Recording[GpuNodeGroup]) -> dict[str, object]:
    return recording.one(NODES, "trainers-nodes").inputs


def known(preview: bool, value: str) -> str:
    """``value`` where the cloud has made it, unknown in preview."""
    return UNKNOWN if preview else value


def named(name: str) -> dict[str, str]:
    return {**TAGS, "Name": name}


def expected_template(**changes: object) -> dict[str, object]:
    """The template of the plain on-demand pool with ``changes``; None takes a property away."""
    inputs: dict[str, object] = {
        "updateDefaultVersion": True,
        "userData": amazon_linux(efa=False),
        "vpcSecurityGroupIds": ["sg-cluster"],
        "metadataOptions": {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 2},
        "blockDeviceMappings": [
            {
                "deviceName": "/dev/xvda",
                "ebs": {"volumeType": "gp3", "volumeSize": 100, "encrypted": "true", "deleteOnTermination": "true"},
            }
        ],
        "tagSpecifications": [
            {"resourceType": "instance", "tags": named("trainers")},
            {"resourceType": "volume", "tags": named("trainers")},
            {"resourceType": "network-interface", "tags": named("trainers")},
        ],
        "tags": named("trainers-template"),
    }
    return {key: value for key, value in {**inputs, **changes}.items() if value is not None}


def expected_nodes(preview: bool, **changes: object) -> dict[str, object]:
    """The node group of the plain on-demand pool with ``changes``; None takes a property away."""
    inputs: dict[str, object] = {
        "clusterName": "fleet",
        "nodeRoleArn": ROLE,
        "subnetIds": ["subnet-1"],
        "amiType": "AL2023_x86_64_NVIDIA",
        "capacityType": "ON_DEMAND",
        "instanceTypes": ["p4d.24xlarge"],
        "scalingConfig": {"minSize": 0, "desiredSize": 0, "maxSize": 4},
        "launchTemplate": {"id": known(preview, "trainers-template-id"), "version": known(preview, "1")},
        "labels": labels(),
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
        "updateConfig": {"maxUnavailablePercentage": 33, "updateStrategy": "MINIMAL"},
        "nodeRepairConfig": {"enabled": True},
        "tags": named("trainers-nodes"),
    }
    return {key: value for key, value in {**inputs, **changes}.items() if value is not None}


def labels(**changes: str) -> dict[str, str]:
    words = {"capacity": "on-demand", "gpu": "A100", "network": "plain", "placement": "none", "pool": "trainers"}
    facts = {**words, "zone-id": "use1-az1", **changes}
    return {**{f"gpufleet.dev/{key}": value for key, value in facts.items()}, "nvidia.com/gpu.present": "true"}


def efa_interfaces(cards: int, group: str) -> list[Mapping[str, object]]:
    """Card 0 with an address, the others fabric only."""
    return [
        {
            "networkCardIndex": card,
            "deviceIndex": 0 if card == 0 else 1,
            "interfaceType": "efa" if card == 0 else "efa-only",
            "deleteOnTermination": "true",
            "securityGroups": ["sg-cluster", group],
        }
        for card in range(cards)
    ]


def test_plain_pool_is_a_template_and_a_node_group(preview: bool) -> None:
    recording = build(preview)
    assert template(recording) == expected_template()
    assert nodes(recording) == expected_nodes(preview)
    types = {each.type for each in recording.resources}
    assert types == {"gpufleet-aws:index:GpuNodeGroup", TEMPLATE, NODES, ASG_TAG}


def test_efa_pool_in_its_own_placement_group(preview: bool) -> None:
    recording = build(preview, network="efa", placement="create")
    group = known(preview, "trainers-efa-id")
    assert template(recording) == expected_template(
        vpcSecurityGroupIds=None,
        networkInterfaces=efa_interfaces(4, group),
        placement={"groupName": known(preview, "trainers-placement")},
        userData=amazon_linux(efa=True),
    )
    assert nodes(recording) == expected_nodes(preview, labels=labels(network="efa", placement="create"))
    assert recording.inputs(PLACEMENT) == {
        "trainers-placement": {"strategy": "cluster", "tags": named("trainers-placement")}
    }
    assert recording.names("aws:ec2/securityGroup:SecurityGroup") == ["trainers-efa"]


def test_p5_has_an_interface_on_each_of_32_cards(preview: bool) -> None:
    recording = build(preview, types=["p5.48xlarge"], network="efa", placement="create")
    assert template(recording)["networkInterfaces"] == efa_interfaces(32, known(preview, "trainers-efa-id"))


def test_p6_b300_keeps_card_0_free_of_efa(preview: bool) -> None:
    recording = build(preview, types=["p6-b300.48xlarge"], zones=["use1-az6"], network="efa")
    kinds = [
        (each["networkCardIndex"], each["deviceIndex"], each["interfaceType"])
        for each in cast("list[dict[str, object]]", template(recording)["networkInterfaces"])
    ]
    assert kinds == [(0, 0, "interface"), *((card, 1, "efa-only") for card in range(1, 17))]


RESERVED = {"capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}}
CAPACITIES: dict[str, tuple[dict[str, object], dict[str, object], dict[str, object]]] = {
    "on-demand": ({}, {}, {}),
    "spot": (
        {"types": ["p4d.24xlarge", "p4de.24xlarge"], "zones": ["use1-az6"]},
        {},
        {"capacityType": "SPOT", "instanceTypes": ["p4d.24xlarge", "p4de.24xlarge"], "subnetIds": ["subnet-6"]},
    ),
    "reservation": (
        {"reservation_id": "cr-0123456789abcdef0"},
        {"capacityReservationSpecification": RESERVED},
        {},
    ),
    "capacity-block": (
        {"reservation_id": "cr-0123456789abcdef0", "types": ["p4d.24xlarge"]},
        {
            "capacityReservationSpecification": RESERVED,
            "instanceMarketOptions": {"marketType": "capacity-block"},
            "instanceType": "p4d.24xlarge",
        },
        {"capacityType": "CAPACITY_BLOCK", "instanceTypes": None},
    ),
}
"""Capacity -> what the intent needs, and what it changes in the template and in the node group."""

LEGAL = [
    (capacity, placement, network)
    for capacity in CAPACITIES
    for placement in ("none", "create", "existing")
    for network in ("plain", "efa")
    # AWS has placed reserved capacity already, and delivers it only in part into a group of another.
    if not (placement == "create" and capacity == "reservation")
    if not (placement != "none" and capacity == "capacity-block")
]


@pytest.mark.parametrize(("capacity", "placement", "network"), LEGAL, ids=["-".join(words) for words in LEGAL])
def test_each_legal_combination(capacity: str, placement: str, network: str, preview: bool) -> None:
    needs, in_template, in_nodes = CAPACITIES[capacity]
    group = {"placement_group": "theirs"} if placement == "existing" else {}
    recording = build(preview, capacity=capacity, placement=placement, network=network, **needs, **group)
    if network == "efa":
        in_template = {
            **in_template,
            "vpcSecurityGroupIds": None,
            "networkInterfaces": efa_interfaces(4, known(preview, "trainers-efa-id")),
            "userData": amazon_linux(efa=True),
        }
    names = {"none": None, "create": known(preview, "trainers-placement"), "existing": "theirs"}
    if names[placement]:
        in_template = {**in_template, "placement": {"groupName": names[placement]}}
    assert template(recording) == expected_template(**in_template)
    zone = cast("list[str]", needs.get("zones", ["use1-az1"]))[0]
    words = labels(**{"capacity": capacity, "placement": placement, "network": network, "zone-id": zone})
    assert nodes(recording) == expected_nodes(preview, **in_nodes, labels=words)
    assert recording.names(PLACEMENT) == (["trainers-placement"] if placement == "create" else [])


def everything(recording: Recording[GpuNodeGroup]) -> dict[str, dict[str, object]]:
    return {each.name: each.inputs for each in recording.resources}


def test_512_nodes_differ_from_2_in_the_number_only(preview: bool) -> None:
    intent = {"types": ["p5.48xlarge"], "network": "efa", "placement": "create"}
    few = everything(build(preview, **intent, max=2))
    many = everything(build(preview, **intent, max=512))
    assert few["trainers-nodes"]["scalingConfig"] == {"minSize": 0, "desiredSize": 0, "maxSize": 2}
    assert many["trainers-nodes"].pop("scalingConfig") == {"minSize": 0, "desiredSize": 0, "maxSize": 512}
    del few["trainers-nodes"]["scalingConfig"]
    assert many == few


def test_sizes_come_from_the_intent_even_as_floats(preview: bool) -> None:
    recording = build(preview, min=1.0, desired=2.0, max=3.0)
    assert nodes(recording)["scalingConfig"] == {"minSize": 1, "desiredSize": 2, "maxSize": 3}


def test_desired_follows_min(preview: bool) -> None:
    assert nodes(build(preview, min=2))["scalingConfig"] == {"minSize": 2, "desiredSize": 2, "maxSize": 4}


def test_pool_over_two_zones_takes_one_subnet_in_each(preview: bool) -> None:
    recording = build(preview, zones=["use1-az6", "use1-az1"])
    assert nodes(recording)["subnetIds"] == ["subnet-6", "subnet-1"]
    assert "gpufleet.dev/zone-id" not in cast("dict[str, str]", nodes(recording)["labels"])


def test_public_addresses_need_an_interface_of_their_own(preview: bool) -> None:
    recording = build(preview, types=["g5.8xlarge"], public_addresses=True)
    assert template(recording) == expected_template(
        vpcSecurityGroupIds=None,
        networkInterfaces=[
            {
                "networkCardIndex": 0,
                "deviceIndex": 0,
                "interfaceType": "interface",
                "deleteOnTermination": "true",
                "associatePublicIpAddress": "true",
                "securityGroups": ["sg-cluster"],
            }
        ],
    )


def test_bottlerocket_has_two_disks_and_toml(preview: bool) -> None:
    recording = build(preview, image="bottlerocket", disk_gib=500)
    ebs = {"volumeType": "gp3", "encrypted": "true", "deleteOnTermination": "true"}
    assert template(recording) == expected_template(
        userData=bottlerocket(efa=False),
        blockDeviceMappings=[
            {"deviceName": "/dev/xvda", "ebs": ebs},
            {"deviceName": "/dev/xvdb", "ebs": {**ebs, "volumeSize": 500}},
        ],
    )
    assert nodes(recording) == expected_nodes(preview, amiType="BOTTLEROCKET_x86_64_NVIDIA")


@pytest.mark.parametrize(
    ("image", "ami_type"), [("al2023", "AL2023_ARM_64_NVIDIA"), ("bottlerocket", "BOTTLEROCKET_ARM_64_NVIDIA")]
)
def test_arm_types_get_arm_images(image: str, ami_type: str, preview: bool) -> None:
    assert nodes(build(preview, types=["g5g.xlarge"], zones=["use1-az2"], image=image))["amiType"] == ami_type


def test_own_image_key_pair_disk_key_and_groups(preview: bool) -> None:
    recording = build(
        preview,
        image="ami-0123456789abcdef0",
        key_pair="mine",
        disk_gib=200,
        kms_key_arn="arn:aws:kms:us-east-1:000000000000:key/k",
        security_group_ids=["sg-extra"],
        cluster_endpoint="https://api.invalid",
        cluster_certificate_authority="Y2VydA==",
        service_cidr="172.20.0.0/16",
        labels={"team": "vision"},
        taints=[{"key": "team", "value": "vision", "effect": "NO_EXECUTE"}],
    )
    all_labels = {**labels(), "team": "vision"}
    join = Join(
        "fleet",
        "https://api.invalid",
        "Y2VydA==",
        "172.20.0.0/16",
        all_labels,
        {"nvidia.com/gpu": "present:NoSchedule", "team": "vision:NoExecute"},
    )
    assert template(recording) == expected_template(
        imageId="ami-0123456789abcdef0",
        keyName="mine",
        userData=amazon_linux(efa=False, join=join),
        vpcSecurityGroupIds=["sg-cluster", "sg-extra"],
        blockDeviceMappings=[
            {
                "deviceName": "/dev/xvda",
                "ebs": {
                    "volumeType": "gp3",
                    "volumeSize": 200,
                    "encrypted": "true",
                    "kmsKeyId": "arn:aws:kms:us-east-1:000000000000:key/k",
                    "deleteOnTermination": "true",
                },
            }
        ],
    )
    assert nodes(recording) == expected_nodes(
        preview,
        amiType="CUSTOM",
        labels=all_labels,
        taints=[
            {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},
            {"key": "team", "value": "vision", "effect": "NO_EXECUTE"},
        ],
    )


def test_own_role_outlives_the_nodes(preview: bool) -> None:
    recording = build(preview, node_role_arn=None)
    policies = [
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
    ]
    attachments = recording.inputs("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    assert {each["policyArn"] for each in attachments.values()} == {f"arn:aws:iam::aws:policy/{p}" for p in policies}
    role = recording.one(NODES).property_dependencies["nodeRoleArn"]
    assert role == {"trainers-role", *(f"trainers-role-{each}" for each in policies)}
    arn = known(preview, "arn:aws:mock::000000000000:trainers-role")
    assert nodes(recording) == expected_nodes(preview, nodeRoleArn=arn)


def test_autoscaler_knows_an_empty_pool(preview: bool) -> None:
    recording = build(preview, network="efa")
    prefix = "k8s.io/cluster-autoscaler/node-template"
    facts = {
        **{f"label/{key}": value for key, value in labels(network="efa").items()},
        "taint/nvidia.com/gpu": "present:NoSchedule",
        "resources/nvidia.com/gpu": "8",
        "resources/vpc.amazonaws.com/efa": "4",
    }
    assert recording.inputs(ASG_TAG) == {
        f"trainers-{key}": {
            "autoscalingGroupName": known(preview, "trainers-nodes-asg"),
            "tag": {"key": f"{prefix}/{key}", "value": value, "propagateAtLaunch": False},
        }
        for key, value in facts.items()
    }


def test_options_of_children(preview: bool) -> None:
    recording = build(preview, network="efa", placement="create", node_role_arn=None)
    group = recording.one(NODES)
    assert group.ignore_changes == ("scalingConfig.desiredSize",)
    assert group.delete_before_replace is True
    for each in recording.resources:
        assert each.name.startswith("trainers")
        assert each.parent == ("trainers" if each.custom else "project-stack")
        assert each.depends_on == frozenset(), f"{each.name} waits for more than its inputs"
        assert not each.protect
    assert recording.one("gpufleet-aws:index:GpuNodeGroup").inputs == {}


def test_template_waits_for_nothing_but_its_groups() -> None:
    recording = build(True, network="efa", placement="create")
    assert recording.one(TEMPLATE).property_dependencies == {
        "networkInterfaces": frozenset({"trainers-efa"}),
        "placement": frozenset({"trainers-placement"}),
    }
    assert recording.one(NODES).property_dependencies == {"launchTemplate": frozenset({"trainers-template"})}


def test_inputs_from_other_resources_may_be_outputs(preview: bool) -> None:
    args = {
        **BASE,
        "cluster_name": pulumi.Output.from_input("fleet"),
        "subnet_ids": {"use1-az1": pulumi.Output.from_input("subnet-1")},
        "cluster_security_group_id": pulumi.Output.from_input("sg-cluster"),
    }
    recording = construct(lambda: GpuNodeGroup("trainers", cast(GpuNodeGroupArgs, args)), preview)
    assert nodes(recording) == expected_nodes(preview)
    assert template(recording) == expected_template()


def test_two_pools_share_nothing(preview: bool) -> None:
    def both() -> None:
        for name in ("a", "b"):
            GpuNodeGroup(name, cast(GpuNodeGroupArgs, {**BASE, "network": "efa", "placement": "create"}))

    recording = construct(both, preview)
    for each in recording.resources:
        used = frozenset[str]().union(*each.property_dependencies.values())
        assert {other[0] for other in used} <= {each.name[0]}


def test_outputs(preview: bool) -> None:
    assert build(preview, network="efa", placement="create").outputs["trainers"] == {
        "node_group_name": known(preview, "trainers-nodes-1234567"),
        "node_group_arn": known(preview, "arn:aws:mock::000000000000:trainers-nodes"),
        "autoscaling_group_name": known(preview, "trainers-nodes-asg"),
        "node_role_arn": ROLE,
        "launch_template_id": known(preview, "trainers-template-id"),
        "placement_group_name": known(preview, "trainers-placement"),
        "efa_security_group_id": known(preview, "trainers-efa-id"),
        "labels": labels(network="efa", placement="create"),
    }


def test_outputs_of_a_plain_pool(preview: bool) -> None:
    outputs = build(preview).outputs["trainers"]
    assert outputs.keys().isdisjoint({"placement_group_name", "efa_security_group_id"})
