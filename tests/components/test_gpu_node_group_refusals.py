"""What GpuNodeGroup refuses: whole lines, all at once, before anything is registered."""

from typing import cast

import pytest

from gpufleet.aws.gpu_node_group import GpuNodeGroup, GpuNodeGroupArgs
from tests.components.gpu_pools import BASE
from tests.components.recorder import construct, refusal

BLOCK = {"capacity": "capacity-block", "reservation_id": "cr-0123456789abcdef0"}
RESERVED = {"capacity": "reservation", "reservation_id": "cr-0123456789abcdef0"}
TWO_ZONES = ["use1-az1", "use1-az2"]
ONE_ZONE = (
    "zones=[use1-az1, use1-az2]: a cluster placement group lies in one zone; keep one zone, or set placement=none"
)
IN_PART = "is delivered only in part into a placement group; set placement=none"
JOIN = (
    "image=ami-0123456789abcdef0 is not EKS's, so its nodes need this to join; "
    "give it (an output of the cluster), or set image=al2023 [aws-node-image-can-join]"
)
CAPACITY_BLOCK_TYPES = (
    "p4d.24xlarge, p4de.24xlarge, p5.48xlarge, p5.4xlarge, p5e.48xlarge, p5en.48xlarge, "
    "p6-b200.48xlarge or p6-b300.48xlarge"
)

CASES: dict[str, tuple[dict[str, object], str]] = {
    "two zones and own placement group": (
        {"zones": TWO_ZONES, "placement": "create"},
        f"{ONE_ZONE} [any-placement-one-zone]",
    ),
    "two zones and existing placement group": (
        {"zones": TWO_ZONES, "placement": "existing", "placement_group": "theirs"},
        f"{ONE_ZONE} [any-placement-one-zone]",
    ),
    "two zones and EFA": (
        {"zones": TWO_ZONES, "network": "efa"},
        "zones=[use1-az1, use1-az2]: EFA traffic does not cross zones; keep one zone, or make a pool for each "
        "[aws-efa-one-zone]",
    ),
    "EFA on a type without it": (
        {"types": ["g5.xlarge"], "network": "efa"},
        "types=g5.xlarge: has no EFA; use g5.8xlarge, g5.12xlarge, g5.16xlarge, g5.24xlarge or g5.48xlarge, "
        "or set network=plain [aws-efa-supported]",
    ),
    "capacity block and own placement group": (
        {**BLOCK, "placement": "create"},
        f"placement=create: a capacity block {IN_PART} [aws-placement-no-block]",
    ),
    "capacity block and existing placement group": (
        {**BLOCK, "placement": "existing", "placement_group": "theirs"},
        f"placement=existing: a capacity block {IN_PART} [aws-placement-no-block]",
    ),
    "reservation and own placement group": (
        {**RESERVED, "placement": "create"},
        f"placement=create: a reservation that exists already {IN_PART}, or make the reservation in a placement group "
        "and set placement=existing [aws-placement-no-block]",
    ),
    "reservation without its id": (
        {"capacity": "reservation"},
        "capacity=reservation: does not say which one; set reservation_id to its id (cr-...) [any-capacity-id-given]",
    ),
    "capacity block without its id": (
        {"capacity": "capacity-block"},
        "capacity=capacity-block: does not say which one; set reservation_id to its id (cr-...) "
        "[any-capacity-id-given]",
    ),
    "id without reservation": (
        {"reservation_id": "cr-0123456789abcdef0"},
        "reservation_id=cr-0123456789abcdef0: is not used with capacity=on-demand; set capacity=reservation or "
        "capacity=capacity-block, or leave reservation_id out [any-capacity-id-given]",
    ),
    "reservation of two types": (
        {**RESERVED, "types": ["p5.48xlarge", "p5.4xlarge"]},
        "types=[p5.48xlarge, p5.4xlarge]: a reservation is of one type and in one zone; keep the one of its types, "
        "or make a pool for each [aws-capacity-one-place]",
    ),
    "capacity block in two zones": (
        {**BLOCK, "zones": TWO_ZONES},
        "zones=[use1-az1, use1-az2]: a capacity block is of one type and in one zone; keep the one of its zones, "
        "or make a pool for each [aws-capacity-one-place]",
    ),
    "capacity block of a type that is not sold so": (
        {**BLOCK, "types": ["g5.xlarge"]},
        f"types=g5.xlarge: is not sold in capacity blocks; use {CAPACITY_BLOCK_TYPES}, or another capacity "
        "[aws-capacity-block-sold]",
    ),
    "existing placement group without its name": (
        {"placement": "existing"},
        "placement=existing: does not say which group; set placement_group to its name [any-placement-group-name]",
    ),
    "placement group with placement none": (
        {"placement_group": "theirs"},
        "placement_group=theirs: is not used with placement=none; set placement=existing to use it, "
        "or leave placement_group out [any-placement-group-name]",
    ),
    "unknown type": (
        {"types": ["p5.48xl"]},
        "types=p5.48xl: is not a GPU type in the catalog; did you mean p5.48xlarge? [aws-type-known]",
    ),
    "type that the zone does not offer": (
        {"types": ["p4de.24xlarge"]},
        "zones=use1-az1: does not offer p4de.24xlarge; use use1-az4 or use1-az6, which do [aws-type-in-zone]",
    ),
    "min above max": (
        {"min": 5},
        "min=5: is above max=4; use 4 or fewer, or raise max [any-count-min-max]",
    ),
    "desired below min": (
        {"min": 1, "desired": 0},
        "desired=0: is not between min=1 and max=4; use 1 to 4 [any-count-desired]",
    ),
    "several network cards and public addresses": (
        {"network": "efa", "public_addresses": True},
        "public_addresses=true: EC2 gives no public address to p4d.24xlarge with 4 network interfaces; "
        "set public_addresses=false and use a subnet with a NAT gateway [aws-efa-private]",
    ),
    "unequal network cards in one template": (
        {"types": ["p4d.24xlarge", "p5.48xlarge"], "network": "efa", "capacity": "spot"},
        "types=[p4d.24xlarge, p5.48xlarge]: has types with 32 EFA interfaces and 4 EFA interfaces in one launch "
        "template; make a pool for each, or set network=plain [aws-efa-same-cards]",
    ),
    "two architectures in one image": (
        {"types": ["g5.xlarge", "g5g.xlarge"], "zones": ["use1-az2"]},
        "types=[g5.xlarge, g5g.xlarge]: mixes arm64 and x86_64; make a pool for each architecture "
        "[aws-image-one-architecture]",
    ),
    "misspelt word": (
        {"capacity": "spott"},
        "capacity=spott: is not an allowed value; did you mean spot? (use on-demand, spot, reservation or "
        "capacity-block) [any-argument-word]",
    ),
    "misspelt argument": (
        {"desird": 3},
        "desird=3: unknown argument; did you mean desired? [any-argument-known]",
    ),
    "zone without subnet": (
        {"subnet_ids": {"use1-az6": "subnet-6"}},
        "subnet_ids=[use1-az6]: there is no subnet in zone use1-az1; give the subnet of use1-az1, or use use1-az6 "
        "[any-subnet-for-zone]",
    ),
}


def build(changes: dict[str, object]) -> GpuNodeGroup:
    return GpuNodeGroup("trainers", cast(GpuNodeGroupArgs, {**BASE, **changes}))


@pytest.mark.parametrize("case", CASES)
def test_refuses(case: str, preview: bool) -> None:
    changes, line = CASES[case]
    assert refusal(lambda: build(changes), preview) == [f"trainers: {line}"]


def test_refuses_with_every_fault_at_once(preview: bool) -> None:
    changes = {
        "types": ["g5.xlarge"],
        "zones": TWO_ZONES,
        "min": 9,
        "placement": "create",
        "capacity": "reservation",
        "network": "efa",
        "image": "ami-0123456789abcdef0",
    }
    assert refusal(lambda: build(changes), preview) == [
        "trainers: min=9: is above max=4; use 4 or fewer, or raise max [any-count-min-max]",
        f"trainers: {ONE_ZONE} [any-placement-one-zone]",
        f"trainers: {CASES['reservation and own placement group'][1]}",
        f"trainers: {CASES['reservation without its id'][1]}",
        "trainers: zones=[use1-az1, use1-az2]: a reservation is of one type and in one zone; keep the one of its "
        "zones, or make a pool for each [aws-capacity-one-place]",
        f"trainers: {CASES['two zones and EFA'][1]}",
        f"trainers: {CASES['EFA on a type without it'][1]}",
        f"trainers: cluster_endpoint=null: {JOIN}",
        f"trainers: cluster_certificate_authority=null: {JOIN}",
        f"trainers: service_cidr=null: {JOIN}",
    ]


def test_accepts_what_the_cases_start_from(preview: bool) -> None:
    assert construct(lambda: build({}), preview).names("aws:eks/nodeGroup:NodeGroup") == ["trainers-nodes"]
