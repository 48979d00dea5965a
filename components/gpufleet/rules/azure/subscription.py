"""The rule on what an Azure subscription may use of what a region has."""

from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("azure-size-unrestricted", Severity.ERROR)
def size_unrestricted(
    *,
    size: str,
    region: str,
    zones: Sequence[str],
    offered: Sequence[str] | None,
    restrictions: Sequence[tuple[str, str, Sequence[str]]] | None,
) -> Outcome:
    """The subscription may use the size in the region, and in each zone of the pool.

    `offered` are the zones of the region that have the size; `restrictions` are (Location or Zone, reason, zones), as
    the subscription's list of SKUs says; None where nobody knows, both () where the list does not hold the size.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-sku-not-available
    (SkuNotAvailable, NotAvailableForSubscription).
    """
    if offered is None or restrictions is None:
        problem = f"whether the subscription may use it in {region} is not known"
        fix = f"look with `az vm list-skus --location {region} --size {size} --all`"
        return unverified("types", size, problem, fix)
    ask = "ask for access by a support request (Service and subscription limits), which takes days, or use another"
    for kind, reason, _ in restrictions:
        if kind == "Location":
            return failed("types", size, f"{region}: {reason}", f"{ask} size or region")
    closed = {zone: reason for kind, reason, where in restrictions if kind == "Zone" for zone in where}
    wrong = [zone for zone in zones if zone in closed]
    if wrong:
        fix = f"{ask} zone{_open(offered, closed)}"
        return failed(
            "zones", list(zones), f"{size} in zone {join_words(wrong, 'and')} of {region}: {closed[wrong[0]]}", fix
        )
    missing = [zone for zone in zones if zone not in offered]
    if missing:
        fix = f"use zone {join_words(offered)}" if offered else "leave the zones out, or use another size"
        return failed("zones", list(zones), f"zone {join_words(missing, 'and')} of {region} has no {size}", fix)
    return passed()


def _open(offered: Sequence[str], closed: dict[str, str]) -> str:
    left = [zone for zone in offered if zone not in closed]
    return f": {join_words(left)}" if left else ""
