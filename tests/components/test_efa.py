"""EFA: the layout of interfaces, and the group through which nodes reach each other."""

from collections.abc import Mapping
from typing import TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.aws.efa import Interface, interfaces, security_group
from gpufleet.catalog import aws
from gpufleet.component import Component
from tests.components.recorder import MARK, UNKNOWN, construct

TAGS = {"owner": "me", **MARK}


class PoolArgs(TypedDict):
    tags: Mapping[str, str]


class Pool(Component):
    def __init__(self, name: str, args: PoolArgs) -> None:
        super().__init__(name, args, None, {})

    def create(self, name: str, args: PoolArgs) -> None:
        security_group(f"{name}-efa", "vpc-1", self)


@pytest.mark.parametrize(
    ("cards", "first", "expected"),
    [
        (1, True, [Interface(0, 0, "efa")]),
        (2, True, [Interface(0, 0, "efa"), Interface(1, 1, "efa-only")]),
        (1, False, [Interface(0, 0, "interface"), Interface(1, 1, "efa-only")]),
    ],
)
def test_interfaces_layouts(cards: int, first: bool, expected: list[Interface]) -> None:
    assert interfaces(cards, first) == expected


@given(cards=st.integers(1, 64), first=st.booleans())
def test_interfaces_always_one_per_card_and_one_with_an_address(cards: int, first: bool) -> None:
    layout = interfaces(cards, first)
    assert [each.card for each in layout] == list(range(len(layout)))
    assert [each.device for each in layout] == [0] + [1] * (len(layout) - 1)
    assert sum(each.kind in ("efa", "efa-only") for each in layout) == cards
    assert [each.card for each in layout if each.kind != "efa-only"] == [0]


@pytest.mark.parametrize("record", [each for each in aws().types.values() if each.efa_interfaces], ids=lambda r: r.type)
def test_interfaces_of_every_type_fit_its_cards(record) -> None:
    layout = interfaces(record.efa_interfaces, record.first_card_has_efa is not False)
    assert len(layout) <= record.network_cards


def test_security_group_names_itself_in_both_directions(preview: bool) -> None:
    recording = construct(lambda: Pool("pool", {"tags": TAGS}), preview)
    group = UNKNOWN if preview else "pool-efa-id"
    assert recording.inputs("aws:ec2/securityGroup:SecurityGroup") == {
        "pool-efa": {
            "description": "EFA between the nodes of one pool",
            "vpcId": "vpc-1",
            "tags": {**TAGS, "Name": "pool-efa"},
        }
    }
    assert recording.inputs("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule") == {
        "pool-efa-from-self": {
            "securityGroupId": group,
            "referencedSecurityGroupId": group,
            "ipProtocol": "-1",
            "description": "EFA from the pool itself",
            "tags": {**TAGS, "Name": "pool-efa-from-self"},
        }
    }
    assert recording.inputs("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule") == {
        "pool-efa-to-self": {
            "securityGroupId": group,
            "referencedSecurityGroupId": group,
            "ipProtocol": "-1",
            "description": "EFA to the pool itself",
            "tags": {**TAGS, "Name": "pool-efa-to-self"},
        },
        "pool-efa-to-all": {
            "securityGroupId": group,
            "cidrIpv4": "0.0.0.0/0",
            "ipProtocol": "-1",
            "description": "Images, APIs and storage",
            "tags": {**TAGS, "Name": "pool-efa-to-all"},
        },
    }
    children = [each for each in recording.resources if each.custom]
    assert {each.parent for each in children} == {"pool"}
    assert {each.depends_on for each in children} == {frozenset()}
