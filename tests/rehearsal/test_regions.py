"""The provider's region is the region: what lies in another one is not there, but for global services and buckets."""

from pathlib import Path

import pytest

from gpufleet.catalog import aws
from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.table.zone_names import zone_area, zone_letter
from tests.rehearsal.scenarios import AWS, in_scenario, open_scenario
from tests.rehearsal.test_limits import THERE, in_region


def test_network_of_another_region_is_not_there(tmp_path: Path) -> None:
    here = in_scenario(AWS, "network", tmp_path)
    there = in_region(here, THERE)
    vpc = here.resource("vpc").id
    inputs = {"vpcId": vpc, "cidrBlock": "10.0.64.0/24"}
    with pytest.raises(CloudError, match=f"^InvalidVpcID.NotFound: The vpc ID '{vpc}' does not exist$"):
        there.create("aws:ec2/subnet:Subnet", "far", inputs)
    assert here.create("aws:ec2/subnet:Subnet", "near", inputs).view["region"] == "us-east-1"


def test_region_of_a_resource_goes_before_the_providers(tmp_path: Path) -> None:
    there = in_region(in_scenario(AWS, "network", tmp_path), THERE)
    vpc = next(each for each in there.cloud.store.resources("aws:ec2/vpc:Vpc") if each.name == "vpc").id
    inputs = {"vpcId": vpc, "cidrBlock": "10.0.64.0/24", "region": "us-east-1", "availabilityZone": "us-east-1a"}
    assert there.create("aws:ec2/subnet:Subnet", "near", inputs).view["region"] == "us-east-1"


def test_roles_and_buckets_are_seen_from_everywhere(tmp_path: Path) -> None:
    here = in_scenario(AWS, "everything", tmp_path)
    there = in_region(here, THERE)
    role = here.resource("node-role").view["name"]
    assert there.create("aws:iam/instanceProfile:InstanceProfile", "far", {"name": "far", "role": role})
    policy = '{"Version":"2012-10-17","Statement":[]}'
    made = there.create("aws:s3/bucketPolicy:BucketPolicy", "far", {"bucket": "checkpoints", "policy": policy})
    assert made.view["bucket"] == "checkpoints"


def test_zones_of_a_region_are_listed_by_name(tmp_path: Path) -> None:
    there = in_region(open_scenario(AWS, tmp_path), THERE)
    assert there.cloud.view.zones == ["eu-west-1a", "eu-west-1b", "eu-west-1c"]


@pytest.mark.parametrize("region", aws().regions)
def test_zones_by_name_and_id_are_of_their_region(region: str) -> None:
    zones = aws().regions[region]
    assert {zone_area(zone) for zone in zones} == {zone_area(region)}
    assert {zone_area(f"{region}{zone_letter(zone)}") for zone in zones} == {zone_area(region)}


@pytest.mark.parametrize("zone", ["us-west-2-lax-1a", "usw2-lax1-az1", "us-west-2-wl1-las-wlz-1", "usw2-wl1-las-wlz1"])
def test_local_zones_are_of_their_region(zone: str) -> None:
    assert zone_area(zone) == zone_area("us-west-2")
