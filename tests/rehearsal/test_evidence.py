"""What stands behind the words of the simulated clouds: citations of API models, and how much is assumed."""

import re
from functools import cache

import pytest
from botocore.loaders import Loader

from gpufleet_rehearsal.refusal_list import HEADINGS, refusal_rows
from tests.rehearsal.scenarios import TABLES
from tools.generated_tables import EVIDENCE

CITED = re.compile(
    r"botocore, (?P<service>[a-z0-9-]+) (?P<version>[0-9-]{10}), "
    r"(?P<operations>[A-Z]\w+(, [A-Z]\w+)*): (?P<code>[\w.]+)"
)
MODELLED = [
    row
    for table in TABLES
    for row in (dict(zip(HEADINGS, cells, strict=True)) for cells in refusal_rows(table))
    if row["evidence"].startswith("modelled") or "botocore, " in row["source"]
]


@cache
def declared(service, version, operation):
    """Codes of the errors that botocore's data declares for an operation; KeyError if there is no such operation."""
    model = Loader().load_service_model(service, "service-2", version)
    shapes = [error["shape"] for error in model["operations"][operation].get("errors", [])]
    return {model["shapes"][shape].get("error", {}).get("code", shape) for shape in shapes}


@pytest.mark.parametrize("row", MODELLED, ids=[f"{row['type']}-{row['refusal']}" for row in MODELLED])
def test_modelled_code_is_declared_for_the_call(row):
    cited = CITED.match(row["source"])
    assert cited, row["source"]
    assert row["evidence"].startswith("modelled")
    assert row["the cloud's code and words"].startswith(f"{cited['code']}: ")
    for operation in cited["operations"].split(", "):
        assert cited["code"] in declared(cited["service"], cited["version"], operation)


def test_some_rows_are_modelled():
    assert len(MODELLED) > 10


def test_codes_of_the_model_are_read():
    assert "FileSystemNotFound" in declared("efs", "2015-02-01", "CreateAccessPoint")
    assert "FileSystemNotFound" not in declared("efs", "2015-02-01", "CreateFileSystem")
    # EC2's model declares no error at all.
    assert declared("ec2", "2016-11-15", "CreateSubnet") == set()
    with pytest.raises(KeyError):
        declared("efs", "2015-02-01", "CreateNothing")


@pytest.mark.parametrize("table", TABLES, ids=[table.cloud for table in TABLES])
def test_less_than_a_fifth_is_assumed(table):
    kinds = [cells[HEADINGS.index("evidence")].split()[0] for cells in refusal_rows(table)]
    assert set(kinds) == set(EVIDENCE) & set(kinds), "a value that docs/refusals.md does not count"
    assert kinds.count("assumed") * 5 < len(kinds)
