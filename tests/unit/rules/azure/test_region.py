"""Cases of gpufleet.rules.azure.region."""

from gpufleet.catalog import azure
from gpufleet.rules import Status
from gpufleet.rules.azure.region import known_regions, region_form, region_listed

CASES = {
    region_form: [
        ("plain", {"region": "eastus"}, "pass", ""),
        ("numbered", {"region": "westus2"}, "pass", ""),
        ("not-in-the-catalog", {"region": "denmarkeast"}, "pass", ""),
        (
            "as-people-read-it",
            {"region": "West US 2"},
            "fail",
            "trainers: region=West US 2: is not an Azure region; did you mean westus2? [azure-region-form]",
        ),
        (
            "of-aws",
            {"region": "us-1"},
            "fail",
            "trainers: region=us-1: is not an Azure region; use a name such as eastus [azure-region-form]",
        ),
        (
            "none",
            {"region": ""},
            "fail",
            "trainers: region='': is not an Azure region; use a name such as eastus [azure-region-form]",
        ),
    ],
    region_listed: [
        ("known", {"region": "eastus", "known": ["eastus", "westus2"]}, "pass", ""),
        (
            "misspelt",
            {"region": "eastus9", "known": ["eastus", "westus2"]},
            "unverified",
            "trainers: region=eastus9: not verified: the catalog knows no such region; did you mean eastus? az account "
            "list-locations has all [azure-region-listed]",
        ),
        (
            "new",
            {"region": "moonbase", "known": ["eastus", "westus2"]},
            "unverified",
            "trainers: region=moonbase: not verified: the catalog knows no such region; az account list-locations has "
            "all [azure-region-listed]",
        ),
    ],
}


def test_case(case):
    case.check()


def test_all_regions_of_the_catalog_are_written_so():
    assert {region_form(region=region).status for region in known_regions()} == {Status.PASS}


def test_regions_without_zones_are_known_by_their_prices():
    assert {"eastus", "westus", "northcentralus"} <= set(known_regions())
    assert "westus" not in azure().regions
