"""Cases of gpufleet.rules.azure.region."""

from gpufleet.catalog import azure
from gpufleet.rules import Status
from gpufleet.rules.azure.region import region_form

CASES = {
    region_form: [
        ("plain", {"region": "eastus"}, "pass", ""),
        ("numbered", {"region": "westus2"}, "pass", ""),
        ("not-in-the-catalog", {"region": "denmarkeast"}, "pass", ""),
        (
            "as-people-read-it",
            {"region": "West US 2"},
            "fail",
            "trainers: region=West US 2: is no region of Azure; did you mean westus2? [azure-region-form]",
        ),
        (
            "of-aws",
            {"region": "us-1"},
            "fail",
            "trainers: region=us-1: is no region of Azure; use a name such as eastus [azure-region-form]",
        ),
        (
            "none",
            {"region": ""},
            "fail",
            "trainers: region='': is no region of Azure; use a name such as eastus [azure-region-form]",
        ),
    ],
}


def test_case(case):
    case.check()


def test_all_regions_of_the_catalog_are_written_so():
    assert {region_form(region=region).status for region in azure().regions} == {Status.PASS}
