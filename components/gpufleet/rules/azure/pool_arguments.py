"""Every rule on what a pool of GPU nodes on Azure is to be: a component's arguments, or a plan's resources."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache

from gpufleet.catalog import AzureGpuSize, azure
from gpufleet.rules import coerce, placement
from gpufleet.rules.azure import infiniband as azure_infiniband
from gpufleet.rules.azure import placement as azure_placement
from gpufleet.rules.azure import vm_sizes as azure_size
from gpufleet.rules.counts import desired_within, idle_nodes, min_within_max
from gpufleet.rules.generic import allowed_choice, at_least
from gpufleet.rules.instance_types import same_gpu
from gpufleet.rules.rule import Finding

CAPACITIES = ("on-demand", "spot", "reservation")

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "any-placement-one-zone": ("placement", "zones"),
    "azure-placement-no-auto-zones": ("placement", "zones"),
    "azure-infiniband-one-zone": ("network", "zones"),
    "azure-infiniband-supported": ("network", "types"),
    "azure-size-one-zone": ("zones", "types", "max"),
    "any-count-idle": ("min", "capacity"),
    "any-count-min-max": ("min", "max"),
    "any-count-desired": ("min", "desired", "max"),
}
"""Rules on several words, or on a word with a default: where one of these is not known, the rule is not checked."""


def validate_azure_pool_arguments(
    pool: Mapping[str, object],
    region: str | None,
    unknown: Collection[str] = (),
    gpu: bool | None = True,
    capacities: Sequence[str] = CAPACITIES,
    networks: Sequence[str] = azure_infiniband.NETWORKS,
) -> list[Finding]:
    """Every finding on a pool's intent, passes included. Never raises, whatever the values.

    Words that are absent have their defaults; none is demanded. `unknown` are words whose value nobody knows yet: rules
    that need one of them are left out, and it is for the caller to say so (`any-plan-known`). `region`: a location such
    as eastus, None where that is not known. `gpu`: False for a pool without GPUs, whose sizes are not checked.
    `capacities`, `networks`: those that its service has.
    """
    findings = [*_words(pool, capacities, networks), *_counts(pool), *_placement(pool)]
    if gpu is not False:
        findings += _sizes(pool, region)
        least, capacity = coerce.whole(pool, "min", 0), coerce.text(pool, "capacity", "on-demand")
        findings.append(idle_nodes(least=least, capacity=capacity))
    return [finding for finding in findings if not set(_NEEDS.get(finding.rule, ())) & set(unknown)]


def _words(pool: Mapping[str, object], capacities: Sequence[str], networks: Sequence[str]) -> list[Finding]:
    return [
        allowed_choice(argument="placement", word=coerce.text(pool, "placement", "none"), legal=placement.PLACEMENTS),
        allowed_choice(argument="capacity", word=coerce.text(pool, "capacity", "on-demand"), legal=capacities),
        allowed_choice(argument="network", word=coerce.text(pool, "network", "plain"), legal=networks),
    ]


def _counts(pool: Mapping[str, object]) -> list[Finding]:
    least = coerce.whole(pool, "min", 0)
    findings = [at_least(argument="min", value=least, least=0)]
    if not coerce.is_whole(pool.get("max")):
        return findings
    most = coerce.whole(pool, "max", 0)
    # A pool of Azure may have no nodes at all for now, which EKS does not allow.
    findings += [at_least(argument="max", value=most, least=0), min_within_max(least=least, most=most)]
    return [*findings, desired_within(desired=coerce.whole(pool, "desired", least), least=least, most=most)]


def _placement(pool: Mapping[str, object]) -> list[Finding]:
    word, zones = coerce.text(pool, "placement", "none"), coerce.texts(pool, "zones")
    return [
        placement.one_zone(placement=word, zones=zones),
        azure_placement.no_auto_zones(placement=word, zones=zones),
        azure_infiniband.infiniband_one_zone(network=coerce.text(pool, "network", "plain"), zones=zones),
    ]


def _sizes(pool: Mapping[str, object], region: str | None) -> list[Finding]:
    names, network = coerce.texts(pool, "types"), coerce.text(pool, "network", "plain")
    zones, most = coerce.texts(pool, "zones"), coerce.whole(pool, "max", 0)
    findings = [azure_size.size_known(type_name=name, known=tuple(azure().types)) for name in names]
    records = [azure().types[name] for name in names if name in azure().types]
    for record in records:
        name, infiniband = record.type, record.infiniband
        findings.append(azure_size.size_current(type_name=name, retired=record.retired, successor=record.successor))
        findings.append(
            azure_infiniband.infiniband_supported(
                network=network, type_name=name, infiniband=infiniband, others=_with_infiniband()
            )
        )
        findings.append(
            azure_infiniband.infiniband_size_one_zone(type_name=name, infiniband=infiniband, zones=zones, most=most)
        )
        if not record.retired:
            findings += _offers(record, region, zones)
    gpus = tuple(f"{record.gpus} x {record.gpu_model}" for record in records)
    return [*findings, same_gpu(types=names, gpus=gpus)]


def _offers(record: AzureGpuSize, region: str | None, zones: Collection[str]) -> list[Finding]:
    """Whether region and zones offer a size."""
    if region is None:
        return []
    offering = azure().zones_with(record.type, region)
    elsewhere = azure().regions_with(record.type)
    in_region = azure_size.size_in_region(type_name=record.type, region=region, zones=offering, elsewhere=elsewhere)
    if offering is not None and not offering:
        return [in_region]
    named = [zone for zone in zones if zone != "auto"]
    return [in_region, *(azure_size.size_in_zone(type_name=record.type, zone=zone, zones=offering) for zone in named)]


@cache
def _with_infiniband() -> tuple[str, ...]:
    """Current sizes with InfiniBand, the smallest first."""
    found = [each for each in azure().types.values() if each.infiniband and not each.retired]
    return tuple(each.type for each in sorted(found, key=lambda each: (each.vcpus, each.type)))
