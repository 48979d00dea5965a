"""What a plan costs: floor, steady and ceiling, in USD an hour and a month. No pulumi, no cloud SDK, no network.

`estimate` prices a `gpufleet.plan.Plan` by the catalog and by assumptions (`Usage`), each of which it states. What has
no price in the catalog is unknown, never zero.
"""

from gpufleet.cost.estimate import Estimate, estimate
from gpufleet.cost.line import FIGURES, Line, Total
from gpufleet.cost.usage import HOURS, Usage, UsageArgs, UsageError, read_usage, read_usage_file

__all__ = [
    "FIGURES",
    "HOURS",
    "Estimate",
    "Line",
    "Total",
    "Usage",
    "UsageArgs",
    "UsageError",
    "estimate",
    "read_usage",
    "read_usage_file",
]
