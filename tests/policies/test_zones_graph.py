"""The zones pack on what several resources say together, its configuration, and a program with five mistakes."""

from collections.abc import Callable, Mapping

import pytest

from gpufleet.errors import UserError
from gpufleet.plan import Plan
from gpufleet.policies.feasibility import PROPERTIES, validate_feasibility
from gpufleet.policies.pack import StackPolicy, policies_of
from tests.policies.changed_program import (
    TWO_SUBNETS,
    Program,
    add,
    both,
    encoded,
    inputs,
    interfaces,
    old_rule,
    refused,
    resources,
    set_in,
    without,
)
from tests.policies.legal_program import legal_program
from tests.policies.raw_program import policy_args


def test_zone_names_of_the_account_make_names_into_zones() -> None:
    program = legal_program()
    for zone, name in (("use1-az1", "us-east-1a"), ("use1-az2", "us-east-1b")):
        inputs(program, f"subnet-{zone}").update(availabilityZoneId=None, availabilityZone=name)
    inputs(program, "files")["availabilityZoneName"] = "us-east-1b"
    names = {"use1-az1": "us-east-1a", "use1-az2": "us-east-1b"}
    assert refused(program, {"zone_names": names}) == {("target", "aws-files-target-in-zone")}
    # p4d is not in use1-az3, whatever this account calls that.
    names = {"use1-az3": "us-east-1a", "use1-az2": "us-east-1b"}
    assert ("nodes", "aws-type-in-zone") in refused(program, {"zone_names": names})
    # Without names two zones are still two.
    inputs(program, "nodes")["subnetIds"] = TWO_SUBNETS
    assert refused(program) >= {("nodes", "any-placement-one-zone"), ("nodes", "aws-efa-one-zone")}
    # And the control plane is in two.
    assert not {rule for _, rule in refused(program)} & {"aws-cluster-two-zones"}


@pytest.mark.parametrize(("cards", "nodes_get_out"), [(1, True), (4, False)])
def test_nodes_in_public_subnets_use_an_internet_gateway(cards: int, nodes_get_out: bool) -> None:
    """With an address of their own, which EC2 gives to none with several interfaces."""
    program = legal_program()
    both(
        add("gateway", "ec2/internetGateway:InternetGateway", vpcId="${vpc.id}"),
        set_in("route-use1-az1", natGatewayId=None, gatewayId="${gateway.id}"),
        set_in("subnet-use1-az1", mapPublicIpOnLaunch=True),
        resources(securityGroupIds=["${fabric.id}"]),
    )(program)
    template = inputs(program, "template")
    template["networkInterfaces"] = template["networkInterfaces"][:cards]
    assert (("nodes", "aws-subnet-way-out") in refused(program)) is not nodes_get_out
    # Batch's own template has one interface.
    assert ("environment", "aws-subnet-way-out") not in refused(program)


def _behind_own_nat(program: Program) -> None:
    """A NAT gateway in the subnet of the nodes, and the nodes behind it."""
    inputs(program, "nat")["subnetId"] = "${subnet-use1-az1.id}"


def _in_public_subnet(program: Program) -> None:
    both(
        add("gateway", "ec2/internetGateway:InternetGateway", vpcId="${vpc.id}"),
        add("public", "ec2/subnet:Subnet", vpcId="${vpc.id}", availabilityZoneId="use1-az1"),
        add("public-table", "ec2/routeTable:RouteTable", vpcId="${vpc.id}"),
        add(
            "public-route",
            "ec2/route:Route",
            routeTableId="${public-table.id}",
            destinationCidrBlock="0.0.0.0/0",
            gatewayId="${gateway.id}",
        ),
        add(
            "public-association",
            "ec2/routeTableAssociation:RouteTableAssociation",
            subnetId="${public.id}",
            routeTableId="${public-table.id}",
        ),
        set_in("nat", subnetId="${public.id}"),
    )(program)


def _inline(program: Program) -> None:
    """The private routes inside of their tables."""
    for zone in ("use1-az1", "use1-az2"):
        program.pop(f"route-{zone}")
        inputs(program, f"table-{zone}")["routes"] = [{"cidrBlock": "0.0.0.0/0", "natGatewayId": "${nat.id}"}]


@pytest.mark.parametrize(
    ("change", "closed"),
    [
        (_behind_own_nat, True),
        (both(_behind_own_nat, _inline), True),
        (_in_public_subnet, False),
        (both(_in_public_subnet, _inline), False),
        (both(_in_public_subnet, without("public-association")), True),
        (both(_in_public_subnet, without("public-route")), True),
        (both(_behind_own_nat, set_in("nat", connectivityType="private")), False),
        # Out through a firewall, which is a default route as well.
        (both(_in_public_subnet, set_in("public-route", gatewayId=None, vpcEndpointId="vpce-1")), False),
    ],
)
def test_nat_gateway_needs_a_way_to_the_internet(change: Callable[[Program], None], closed: bool) -> None:
    program = legal_program()
    change(program)
    assert refused(program) == (
        {(name, "aws-subnet-way-out") for name in ("nodes", "environment")} if closed else set()
    )


@pytest.mark.parametrize("missing", ["none", "ecr.dkr"])
def test_interface_endpoints_are_a_way_out(missing: str) -> None:
    program = legal_program()
    without("route-use1-az1")(program)
    for service in ("ec2", "ecr.api", "ecr.dkr", "eks", "sts"):
        if service != missing:
            name = f"com.amazonaws.us-east-1.{service}"
            add(service, "ec2/vpcEndpoint:VpcEndpoint", vpcId="${vpc.id}", serviceName=name)(program)
    assert bool(refused(program)) is (missing != "none")


def test_old_and_inline_rules_count_as_well() -> None:
    program = legal_program()
    without("fabric-in", "fabric-out", "nfs-in")(program)
    interfaces(securityGroups=["${fabric.id}"])(program)
    inputs(program, "fabric")["egress"] = [{"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}]
    group = "${fabric.id}"
    old_rule(type="ingress", securityGroupId=group, self=True, protocol="-1", fromPort=0, toPort=0)(program)
    inputs(program, "nfs")["ingress"] = [
        {"protocol": "tcp", "fromPort": 2049, "toPort": 2049, "securityGroups": [group]}
    ]
    assert refused(program) == set()


@pytest.mark.parametrize(("group", "closed"), [("fabric", False), ("nfs", True)])
def test_mount_target_in_the_group_of_the_nodes_is_open_to_members_only(group: str, closed: bool) -> None:
    program = legal_program()
    without("nfs-in")(program)
    inputs(program, "nfs")["ingress"] = [{"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}]
    inputs(program, "target")["securityGroups"] = ["${" + group + ".id}"]
    assert (("target", "aws-files-nfs-open") in refused(program)) is closed


@pytest.mark.parametrize("reference", ["groupName", "groupId"])
def test_partition_of_a_named_group_is_legal(reference: str) -> None:
    program = legal_program()
    add("parts", "ec2/placementGroup:PlacementGroup", strategy="partition")(program)
    set_in("template", placement={reference: "${parts.id}", "partitionNumber": 1})(program)
    assert refused(program) == set()


@pytest.mark.parametrize(
    "own", [{"imageId": "ami-1"}, {"ec2Configurations": [{"imageType": "ECS_AL2", "imageIdOverride": "ami-1"}]}]
)
def test_own_image_of_batch_may_be_anything(own: dict[str, object]) -> None:
    program = legal_program()
    resources(ec2Configurations=[{"imageType": "ECS_AL2"}])(program)
    resources(**own)(program)
    assert refused(program) == set()


def reserved(**changes: object) -> Program:
    """The program with its nodes in a reservation of its own, made in their placement group."""
    program = legal_program()
    target = {"capacityReservationTarget": {"capacityReservationId": "${reservation.id}"}}
    set_in("template", capacityReservationSpecification=target)(program)
    inside: dict[str, object] = {
        "instanceType": "p4d.24xlarge",
        "availabilityZone": "us-east-1a",
        "instanceCount": 4,
        "placementGroupArn": "${group.arn}",
    }
    add("reservation", "ec2/capacityReservation:CapacityReservation", **(inside | changes))(program)
    return program


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({}, set()),
        ({"placementGroupArn": None}, {("nodes", "aws-placement-no-block")}),
        ({"instanceCount": 3}, {("nodes", "aws-reservation-usable")}),
        ({"instanceType": "p5.48xlarge"}, {("nodes", "aws-reservation-usable")}),
        ({"availabilityZone": "us-east-1b"}, {("nodes", "aws-reservation-usable")}),
        ({"availabilityZone": "us-east-1f"}, set()),
        ({"instanceCount": "${vpc.id}"}, set()),
    ],
)
def test_reservation_of_the_same_program(changes: Mapping[str, object], rules: set[tuple[str, str]]) -> None:
    names = {"use1-az1": "us-east-1a", "use1-az2": "us-east-1b"}
    assert refused(reserved(**changes), {"zone_names": names}) == rules


@pytest.mark.parametrize(
    ("config", "line"),
    [
        (
            {"zone_names": ["us-east-1a"]},
            "zones.zone_names=[us-east-1a]: must be a mapping of zone ids to names; write {use1-az1: us-east-1a} "
            "[config-policy]",
        ),
        (
            {"zone_names": {"use1-az1": "us-east-1a", "use1-az2": "us-east-1a"}},
            "zones.zone_names: us-east-1a stands for two zones; in one account a name is one zone [config-policy]",
        ),
        ({"zone_name": {}}, "zones.zone_name: unknown key; did you mean zone_names? [config-policy]"),
        (
            {"aks_infiniband": "yes"},
            "zones.aks_infiniband=yes: is neither true nor false; leave it out if unknown [config-policy]",
        ),
    ],
)
def test_bad_configuration_is_one_line(config: Mapping[str, object], line: str) -> None:
    with pytest.raises(UserError) as caught:
        validate_feasibility(Plan("dev", []), config)
    assert str(caught.value) == line


def test_the_pack_blocks_all_five_mistakes_of_a_raw_program() -> None:
    program = legal_program()
    both(
        set_in("nodes", subnetIds=TWO_SUBNETS, diskSize=100),
        set_in("template", userData=encoded(b"#!/bin/bash\n")),
        without("nfs-in"),
        resources(type="SPOT"),
    )(program)
    mandatory, advisory = policies_of(StackPolicy("zones", "Zones.", validate_feasibility, PROPERTIES))
    refusals: list[str] = []
    advice: list[str] = []
    mandatory.validate(policy_args(program), lambda text, urn=None: refusals.append(text))
    advisory.validate(policy_args(program), lambda text, urn=None: advice.append(text))
    rules = {text.rpartition("[")[2].rstrip("]") for text in refusals}
    assert rules >= {
        "any-placement-one-zone",
        "aws-node-group-template-only",
        "aws-node-group-user-data",
        "aws-files-nfs-open",
        "aws-batch-multinode-on-demand",
    }
    assert any(
        text.startswith("nodes: zones=[use1-az1, use1-az2]: a cluster placement group lies in") for text in refusals
    )
    assert not set(refusals) & set(advice)
