"""Which quota a type counts against, by market."""

import pytest

from gpufleet.catalog import aws, azure
from gpufleet.catalog.quota_family import family_of, quotas_of


@pytest.mark.parametrize(
    ("type_name", "market", "family"),
    [
        ("p4d.24xlarge", "spot", "P"),
        ("p5.48xlarge", "spot", "P5"),
        ("p5en.48xlarge", "spot", "P5"),
        ("p6-b200.48xlarge", "spot", "P6"),
        ("p6-b200.48xlarge", "on-demand", "P"),
        ("p5.48xlarge", None, "P"),
    ],
)
def test_the_spot_quota_of_p_is_of_p2_to_p4(type_name, market, family):
    assert family_of(type_name, "P", market) == family


@pytest.mark.parametrize(
    ("catalog", "type_name", "codes"),
    [
        (aws(), "p4d.24xlarge", ["L-417A185B", "L-7212CCBC"]),
        (aws(), "p5.48xlarge", ["L-417A185B", "L-C4BD4855"]),
        (aws(), "p6-b200.48xlarge", ["L-417A185B"]),
        (aws(), "g5.8xlarge", ["L-DB2E81BA", "L-3819A6DF"]),
        (azure(), "Standard_NC6", ["standardNCFamily", "lowPriorityCores"]),
    ],
)
def test_codes_of_a_type(catalog, type_name, codes):
    assert [quota.code for quota in quotas_of(catalog.quotas, catalog.types[type_name])] == codes
