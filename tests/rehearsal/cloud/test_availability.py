"""What the catalogs say of instance types, zones and quota families, by cloud."""

import json

import pytest

from gpufleet_rehearsal.cloud.availability import (
    AwsInstanceCatalog,
    AzureInstanceCatalog,
    EmptyInstanceCatalog,
    instance_catalog_of,
)
from tests.rehearsal.scenarios import AZURE, open_scenario

T4 = "Standard_NC4as_T4_v3"


@pytest.mark.parametrize(
    ("cloud", "kind"),
    [("aws", AwsInstanceCatalog), ("azure-native", AzureInstanceCatalog), ("toy", EmptyInstanceCatalog)],
)
def test_every_cloud_has_its_own_catalog(cloud, kind):
    assert type(instance_catalog_of(cloud)) is kind


@pytest.mark.parametrize(
    ("offers", "name", "zone"),
    [
        (AwsInstanceCatalog(), "us-east-1b", "use1-az2"),
        (AwsInstanceCatalog(), "use1-az2", "use1-az2"),
        (AzureInstanceCatalog(), "2", "eastus-2"),
        (AzureInstanceCatalog(), "eastus-2", "eastus-2"),
        (AzureInstanceCatalog(), "eastus", "eastus"),
    ],
)
def test_zones(offers, name, zone):
    assert offers.zone(name, "eastus") == zone


def test_sizes_of_azure():
    offers = AzureInstanceCatalog()
    assert offers.vcpus(T4) == 4
    assert offers.same_family(offers.family(T4), "Standard NCASv3_T4 Family")
    # Which zone offers a size is nobody's public knowledge, and a size that is not a GPU's is not in the catalog.
    assert offers.offered(T4, "eastus", "eastus-1") is None
    assert (offers.vcpus("Standard_D4s_v5"), offers.family("Standard_D4s_v5")) == (None, None)


def test_quota_of_the_accounts_file_is_found_in_any_spelling(tmp_path):
    scenario = open_scenario(AZURE, tmp_path)
    entry = {"family": "StandardNCASv3_T4Family", "market": "on-demand", "limit": 24, "in_use": 8}
    scenario.cloud.store.remember("quotas", json.dumps([entry]))
    assert scenario.cloud.view.quota(AzureInstanceCatalog().family(T4)) == 16
    assert scenario.cloud.view.quota("Standard NDASv4_A100 Family") is None
