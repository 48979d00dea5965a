"""after(): more dependencies, the same value; detached(): none."""

import pulumi
import pulumi_aws as aws
import pytest

from gpufleet.pulumi_outputs import with_dependencies, without_dependencies
from tests.components.recorder import UNKNOWN, Recording, Secret, construct


def build(preview: bool, value: str | None = None, secret: bool = False) -> Recording[None]:
    """A subnet whose VPC id is ``value``, or a VPC's id, after a route table."""

    def program() -> None:
        needed = aws.ec2.RouteTable("needed", vpc_id="vpc-0")
        given = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16").id if value is None else pulumi.Output.from_input(value)
        given = pulumi.Output.secret(given) if secret else given
        aws.ec2.Subnet("user", vpc_id=with_dependencies(given, needed), cidr_block="10.0.0.0/24")

    return construct(program, preview)


def test_user_depends_on_both(preview):
    user = build(preview).one("aws:ec2/subnet:Subnet")
    assert user.property_dependencies == {"vpcId": {"vpc", "needed"}}
    assert user.inputs["vpcId"] == (UNKNOWN if preview else "vpc-id")


def test_known_value_stays_known_in_preview(preview):
    user = build(preview, value="vpc-9").one("aws:ec2/subnet:Subnet")
    assert user.inputs["vpcId"] == "vpc-9"
    assert user.property_dependencies == {"vpcId": {"needed"}}


def test_secret_stays_secret(preview):
    user = build(preview, value="vpc-9", secret=True).one("aws:ec2/subnet:Subnet")
    assert user.inputs["vpcId"] == Secret("vpc-9")


def test_user_is_registered_last(preview):
    names = [each.name for each in build(preview).resources]
    assert names.index("user") > max(names.index("needed"), names.index("vpc"))


@pytest.mark.parametrize("secret", [False, True])
def test_detached_value_waits_and_depends_on_nothing(secret, preview):
    def program() -> None:
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16").id
        aws.ec2.Subnet(
            "user", vpc_id=without_dependencies(pulumi.Output.secret(vpc) if secret else vpc), cidr_block="10.0.0.0/24"
        )

    recording = construct(program, preview)
    user = recording.one("aws:ec2/subnet:Subnet")
    assert (user.property_dependencies, user.depends_on) == ({}, frozenset())
    expected = UNKNOWN if preview else "vpc-id"
    assert user.inputs["vpcId"] == (Secret(expected) if secret and not preview else expected)
    assert [each.name for each in recording.resources] == ["vpc", "user"]


def test_detached_takes_what_is_plain(preview):
    recording = construct(lambda: aws.ec2.Subnet("user", vpc_id=without_dependencies("vpc-9")), preview)
    assert recording.one("aws:ec2/subnet:Subnet").inputs["vpcId"] == "vpc-9"
