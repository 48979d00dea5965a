"""Rules on regions of Azure: how they are written, and whether there is such a one."""

import re
from collections.abc import Sequence

from gpufleet.catalog import azure
from gpufleet.rules.messages import nearest
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

_FORM = re.compile(r"[a-z]{4,}[0-9]?")


@rule("azure-region-form", Severity.ERROR)
def region_form(*, region: str) -> Outcome:
    """A region is given by its lower-case name, not by its display name.

    Source: https://learn.microsoft.com/azure/reliability/regions-list: the programmatic name, such as eastus for East
    US; azure-native compares locations as text, so that "East US" in one place and eastus in another differ.
    """
    if _FORM.fullmatch(region):
        return passed()
    small = "".join(each for each in region.lower() if each.isalnum())
    near = nearest(small, sorted(azure().regions), closeness=0.75)
    fix = f"did you mean {near}?" if near else "use a name such as eastus"
    return failed("region", region, "is not an Azure region", fix)


@rule("azure-region-listed", Severity.ERROR)
def region_listed(*, region: str, known: Sequence[str]) -> Outcome:
    """A region is in the catalog; another region is not verified.

    Source: https://learn.microsoft.com/azure/reliability/regions-list and the public price list, as the catalog has
    them; LocationNotAvailableForResourceGroup on create.
    """
    if region in known:
        return passed()
    near = nearest(region, known, closeness=0.75)
    meant = f"did you mean {near}? " if near else ""
    return unverified("region", region, "the catalog knows no such region", f"{meant}az account list-locations has all")


def known_regions() -> tuple[str, ...]:
    """Regions of the catalog: those with zones, and those with prices of GPU sizes."""
    return tuple(sorted({*azure().regions, *(key[1] for key in azure().prices)}))
