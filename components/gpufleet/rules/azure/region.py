"""The rule on how regions of Azure are written."""

import re

from gpufleet.catalog import azure
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule
from gpufleet.rules.wording import nearest

_FORM = re.compile(r"[a-z]{4,}[0-9]?")


@rule("azure-region-form", Severity.ERROR)
def region_form(*, region: str) -> Outcome:
    """A region is given by its name in small letters, not by the one that people read.

    Source: https://learn.microsoft.com/azure/reliability/regions-list: the programmatic name, such as eastus for East
    US; azure-native compares locations as text, so that "East US" in one place and eastus in another differ.
    """
    if _FORM.fullmatch(region):
        return passed()
    small = "".join(each for each in region.lower() if each.isalnum())
    near = nearest(small, sorted(azure().regions), closeness=0.75)
    fix = f"did you mean {near}?" if near else "use a name such as eastus"
    return failed("region", region, "is no region of Azure", fix)
