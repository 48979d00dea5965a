"""Rules on the images of Azure Batch pools: operating systems that Batch stops to support."""

from datetime import date, timedelta

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

ENDS = {
    "batch.node.ubuntu 14.04": date(2019, 8, 1),  # Azure/Batch#61
    "batch.node.ubuntu 16.04": date(2021, 5, 21),  # Azure/Batch#106
    "batch.node.ubuntu 18.04": date(2023, 5, 30),  # Azure/Batch#152
    "batch.node.ubuntu 20.04": date(2025, 4, 23),  # Azure/Batch#174
    "batch.node.ubuntu 22.04": date(2027, 6, 30),  # Azure/Batch#200
}
_NOTICE = timedelta(days=365)
_FIX = "use microsoft-dsvm:ubuntu-hpc:2404 with batch.node.ubuntu 24.04"


@rule("azure-batch-image-ended", Severity.ERROR)
def image_ended(*, node_agent: str, today: date) -> Outcome:
    """The operating system of a Batch pool is one that Batch supports on the day of deployment.

    Source: Azure/Batch#61, #106, #152, #174, #200: after the day pools of that node agent cannot be made or grow.
    """
    end = ENDS.get(node_agent.lower().strip())
    if end is None or today <= end:
        return passed()
    return failed("node_agent_sku_id", node_agent, f"Batch has not supported it since {end.isoformat()}", _FIX)


@rule("azure-batch-image-ends", Severity.WARNING)
def image_ends(*, node_agent: str, today: date) -> Outcome:
    """The operating system of a Batch pool is supported for a year to come.

    Source: Azure/Batch#200: Ubuntu 22.04 ends on 30 June 2027; pools may then be scaled to zero by force.
    """
    end = ENDS.get(node_agent.lower().strip())
    if end is None or today > end or end - today > _NOTICE:
        return passed()
    return failed("node_agent_sku_id", node_agent, f"Batch supports it until {end.isoformat()} only", _FIX)
