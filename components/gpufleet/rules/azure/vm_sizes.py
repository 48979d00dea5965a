"""Rules on VM sizes of Azure: known, current, offered where they are asked for."""

import re
from collections.abc import Sequence

from gpufleet.rules.messages import join_words, nearest
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

# Standard_ND96isr_H100_v5: family, number of cores, features, GPU model, version.
_NAME = re.compile(
    r"Standard_(?P<family>N[A-Z]+)\d+(-\d+)?[a-z]*(?:_(?P<model>[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)?))?(?:_v\d+)?"
)
# Sizes of https://learn.microsoft.com/azure/virtual-machines/sizes/gpu-accelerated/nvadsa10v5-series and nvv4-series.
_PART_OF_A_GPU = re.compile(r"Standard_(NV(6|12|18)ads_A10_v5|NV(4|8|16|32)as_v4)")


@rule("azure-size-known", Severity.ERROR)
def size_known(*, type_name: str, known: Sequence[str]) -> Outcome:
    """A VM size of a GPU pool is a GPU size that the catalog knows, by its exact name.

    A size with a part of a GPU, or of a family or GPU model that the catalog lacks, is not verified.
    Source: https://learn.microsoft.com/azure/virtual-machines/sizes/overview#gpu-accelerated, as the catalog has it;
    public code invents names such as Standard_ND96isr_H100v5.
    """
    if type_name in known:
        return passed()
    parts = _NAME.fullmatch(type_name)
    others = [_NAME.fullmatch(name) for name in known]
    new = parts and any(parts[part] not in {each[part] for each in others if each} for part in ("family", "model"))
    if new or _PART_OF_A_GPU.fullmatch(type_name):
        problem = "the catalog knows nothing about this size"
        return unverified("types", type_name, problem, "compare with az vm list-sizes")
    # Every name begins with Standard_, which says nothing about likeness.
    lower = {name.lower().removeprefix("standard_"): name for name in known}
    near = nearest(type_name.lower().removeprefix("standard_"), list(lower), closeness=0.75)
    fix = f"did you mean {lower[near]}?" if near else "use a GPU size that gpufleet catalog find shows"
    return failed("types", type_name, "is not a GPU size in the catalog", fix)


@rule("azure-size-current", Severity.ERROR)
def size_current(*, type_name: str, retired: str | None, successor: str | None) -> Outcome:
    """A VM size is still offered by Azure.

    Source: https://learn.microsoft.com/azure/virtual-machines/sizes/retirement/retired-sizes-list, as the catalog has
    it, with the date: NC in 2023, NCv3 on 30 September 2025.
    """
    if retired is None:
        return passed()
    fix = f"use {successor}" if successor else "use a current size"
    return failed("types", type_name, f"is retired since {retired}", fix)


@rule("azure-size-in-region", Severity.ERROR)
def size_in_region(*, type_name: str, region: str, zones: Sequence[str] | None, elsewhere: Sequence[str]) -> Outcome:
    """The region offers the VM size; `zones` are those of the region that do, None where that is not known.

    `elsewhere` are all regions known to offer it: those with a price for it too.

    Source: ResourceSkus of Microsoft.Compute and the public price list, as the catalog has them; SkuNotAvailable on
    create.
    """
    if zones or (zones is None and region in elsewhere):
        return passed()
    if zones is None:
        problem = f"the catalog does not know whether {region} offers it"
        return unverified("types", type_name, problem, f"ask az vm list-skus --location {region} --size {type_name}")
    fix = f"it is offered in {join_words(elsewhere[:8])}" if elsewhere else "use another size"
    return failed("types", type_name, f"is not offered in {region}", fix)


@rule("azure-size-in-zone", Severity.ERROR)
def size_in_zone(*, type_name: str, zone: str, zones: Sequence[str] | None) -> Outcome:
    """Each zone of a pool offers its VM size; `zones` are those that do, None where that is not known.

    Source: zones are numbered subscription by subscription
    (https://learn.microsoft.com/azure/reliability/availability-zones-overview#physical-and-logical-availability-zones),
    so that a number decides nothing without the subscription's own mapping; SkuNotAvailable on create.
    """
    if zones is None:
        problem = f"zones are numbered by subscription, and which of them offer {type_name} is not known"
        return unverified("zones", zone, problem, f"ask az vm list-skus --zone --size {type_name} in the subscription")
    if zone in zones:
        return passed()
    fix = f"use {join_words(zones)}, which do" if zones else "leave zones out, or use another size"
    return failed("zones", zone, f"does not offer {type_name}", fix)
