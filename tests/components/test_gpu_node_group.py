"""GpuNodeGroup: exact inputs of every child, and what changes with the intent."""

from typing import cast

import pytest

from gpufleet.aws.gpu_node_group import GpuNodeGroup
from gpufleet.aws.user_data import amazon_linux, bottlerocket
from tests.components.gpu_pools import (
    NODES,
    PLACEMENT,
    TEMPLATE,
    build,
    efa_interfaces,
    expected_nodes,
    expected_template,
    known,
    labels,
    named,
    nodes,
    template,
    told_of_efa,
)
from tests.components.recorder import Recording


def test_plain_pool_is_a_template_and_a_node_group(preview: bool) -> None:
    recording = build(preview)
    assert template(recording) == expected_template()
    assert nodes(recording) == expected_nodes(preview)
    types = {each.type for each in recording.resources}
    assert types == {"gpufleet-aws:index:GpuNodeGroup", TEMPLATE, NODES}


def test_efa_pool_in_its_own_placement_group(preview: bool) -> None:
    recording = build(preview, network="efa", placement="create")
    group = known(preview, "trainers-efa-id")
    assert template(recording) == expected_template(
        vpcSecurityGroupIds=None,
        networkInterfaces=efa_interfaces(4, group),
        placement={"groupName": known(preview, "trainers-placement")},
        userData=amazon_linux(efa=True),
    )
    tags = {**named("trainers-nodes"), **told_of_efa(4)}
    assert nodes(recording) == expected_nodes(preview, labels=labels(network="efa", placement="create"), tags=tags)
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
        in_nodes = {**in_nodes, "tags": {**named("trainers-nodes"), **told_of_efa(4)}}
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
    recording = build(preview, image="bottlerocket", disk_gib=500, disk_type="io2", disk_iops=20_000)
    ebs = {"volumeType": "gp3", "encrypted": "true", "deleteOnTermination": "true"}
    fast = {**ebs, "volumeType": "io2", "iops": 20_000}
    assert template(recording) == expected_template(
        userData=bottlerocket(efa=False),
        blockDeviceMappings=[
            {"deviceName": "/dev/xvda", "ebs": ebs},
            {"deviceName": "/dev/xvdb", "ebs": {**fast, "volumeSize": 500}},
        ],
    )
    assert nodes(recording) == expected_nodes(preview, amiType="BOTTLEROCKET_x86_64_NVIDIA")


@pytest.mark.parametrize(
    ("image", "ami_type"), [("al2023", "AL2023_ARM_64_NVIDIA"), ("bottlerocket", "BOTTLEROCKET_ARM_64_NVIDIA")]
)
def test_arm_types_get_arm_images(image: str, ami_type: str, preview: bool) -> None:
    assert nodes(build(preview, types=["g5g.xlarge"], zones=["use1-az2"], image=image))["amiType"] == ami_type
