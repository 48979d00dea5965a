"""JupyterHub's chart, and the version of JupyterHub that its hub runs, which notebooks' images have to fit."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpufleet.catalog.loader import read_records
from gpufleet.catalog.records import Record

_FILE = Path(__file__).parent / "jupyterhub_chart.json"


@dataclass(frozen=True, slots=True)
class JupyterHubChart(Record):
    """A release of the chart zero-to-jupyterhub."""

    KEY = ("chart",)

    chart: str
    """Version of the chart."""
    hub: str
    """Version of JupyterHub in it, the chart's appVersion; `jupyterhub-singleuser` of a notebook's image has the same.
    """
    source: str
    as_of: str


@cache
def jupyterhub_chart() -> JupyterHubChart:
    """The release that gpufleet installs. Raises CatalogError if the file is broken."""
    [record] = read_records(_FILE, JupyterHubChart).values()
    return record
