"""The page of limits is counted from the tables, so that a row changes it."""

from dataclasses import replace

import pytest

from gpufleet_rehearsal.limit_kinds import KINDS, limit_rows, limited_types
from tests.rehearsal.scenarios import AWS, TABLES

SUBNET = "aws:ec2/subnet:Subnet"


def lacking(table):
    return {name: (have, can, without) for name, _, have, can, without in limit_rows(table)}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.cloud)
def test_every_type_has_a_limit_lacks_it_or_cannot_have_it(table):
    rows = lacking(table)
    assert list(rows) == [kind.name for kind in KINDS]
    types = limited_types(table)
    assert set(types) == {token for token, row in table.types.items() if not row.hidden}
    for have, can, without in rows.values():
        assert 0 < have <= can <= len(types)
        assert have + len(without) == can


def test_without_a_refusal_its_type_lacks_the_limit():
    before = lacking(AWS)
    less = replace(AWS, refusals=tuple(row for row in AWS.refusals if row.name != "subnet-quota"))
    have, can, without = lacking(less)["counts"]
    assert (have, can) == (before["counts"][0] - 1, before["counts"][1])
    assert set(without) - set(before["counts"][2]) == {SUBNET}


def test_addresses_of_a_subnet_are_limited_by_two_rows():
    names = {"subnet-outside-its-vpc", "subnet-overlaps-another"}
    less = replace(AWS, refusals=tuple(row for row in AWS.refusals if row.name not in names))
    assert SUBNET not in lacking(AWS)["addresses"][2]
    assert SUBNET in lacking(less)["addresses"][2]


def test_reference_to_any_region_is_no_limit():
    versioning = "aws:s3/bucketVersioning:BucketVersioning"
    assert versioning in lacking(AWS)["same region"][2]
    row = AWS.types[versioning]
    references = {path: each.model_copy(update={"any_region": False}) for path, each in row.references.items()}
    strict = replace(AWS, types={**AWS.types, versioning: row.model_copy(update={"references": references})})
    assert versioning not in lacking(strict)["same region"][2]
