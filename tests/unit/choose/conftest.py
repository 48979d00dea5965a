"""The catalogs that ship, without what this machine's user has refreshed."""

from datetime import date
from pathlib import Path

import pytest

import gpufleet.catalog
from gpufleet.catalog import AwsGpuType, AzureGpuSize, Catalog
from gpufleet.choose.options import Option, RunRequirements, options_for

TODAY = date(2026, 11, 21)
DATA = Path(gpufleet.catalog.__file__).parent


@pytest.fixture(scope="session")
def catalogs():
    return {"aws": Catalog(DATA / "aws", AwsGpuType), "azure": Catalog(DATA / "azure", AzureGpuSize)}


@pytest.fixture
def chosen(catalogs):
    """Options for what is asked, with own servers if given."""

    def choose(servers=(), today=TODAY, **asked) -> list[Option]:
        return options_for(RunRequirements(**{"gpus": 8, "hours": 24.0} | asked), catalogs, servers, today)

    return choose
