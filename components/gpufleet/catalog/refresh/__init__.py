"""`gpufleet catalog refresh`: from public price lists and offerings to the user's catalog, whole or not at all.

`aws.fetch` and `azure.fetch` have one shape, `Fetch`: they read a cloud and give whole files; `refresh` writes them.
Neither cloud's SDK is imported before its `fetch` runs.
"""

from gpufleet.catalog.refresh.downloads import DownloadError, Downloads
from gpufleet.catalog.refresh.result import Fetch, FetchResult, merge_records, spot_ranges
from gpufleet.catalog.refresh.run import RefreshOutcome, refresh
from gpufleet.catalog.refresh.writer import write_files

__all__ = [
    "DownloadError",
    "Downloads",
    "Fetch",
    "FetchResult",
    "RefreshOutcome",
    "merge_records",
    "refresh",
    "spot_ranges",
    "write_files",
]
