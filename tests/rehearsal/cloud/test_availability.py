"""What the catalogs say of instance types, zones and quota families, by cloud."""

import json

import pytest

from gpufleet_rehearsal.cloud.availability import AwsOffers, AzureOffers, NothingKnown, offers_of
from tests.rehearsal.scenarios import AZURE, open_world

T4 = "Standard_NC4as_T4_v3"


@pytest.mark.parametrize(("cloud", "kind"), [("aws", AwsOffers), ("azure-native", AzureOffers), ("toy", NothingKnown)])
def test_every_cloud_has_its_own_catalog(cloud, kind):
    assert type(offers_of(cloud)) is kind


@pytest.mark.parametrize(
    ("offers", "name", "zone"),
    [
        (AwsOffers(), "us-east-1b", "use1-az2"),
        (AwsOffers(), "use1-az2", "use1-az2"),
        (AzureOffers(), "2", "eastus-2"),
        (AzureOffers(), "eastus-2", "eastus-2"),
        (AzureOffers(), "eastus", "eastus"),
    ],
)
def test_zones(offers, name, zone):
    assert offers.zone(name, "eastus") == zone


def test_sizes_of_azure():
    offers = AzureOffers()
    assert offers.vcpus(T4) == 4
    assert offers.same_family(offers.family(T4), "Standard NCASv3_T4 Family")
    # Which zone offers a size is nobody's public knowledge, and a size that is not a GPU's is not in the catalog.
    assert offers.offered(T4, "eastus", "eastus-1") is None
    assert (offers.vcpus("Standard_D4s_v5"), offers.family("Standard_D4s_v5")) == (None, None)


def test_quota_of_the_accounts_file_is_found_in_any_spelling(tmp_path):
    world = open_world(AZURE, tmp_path)
    entry = {"family": "StandardNCASv3_T4Family", "market": "on-demand", "limit": 24, "in_use": 8}
    world.cloud.store.remember("quotas", json.dumps([entry]))
    assert world.cloud.around.quota(AzureOffers().family(T4)) == 16
    assert world.cloud.around.quota("Standard NDASv4_A100 Family") is None
