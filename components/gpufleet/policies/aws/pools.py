"""Checks of the GPU pools on AWS in a plan, by the rules on a pool's arguments."""

from collections.abc import Iterable, Sequence

from gpufleet.plan import Plan
from gpufleet.plan.aws.node_group import may_stand
from gpufleet.plan.aws.pools import template_of_pool
from gpufleet.plan.aws.zones import ZoneNames
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.policies.aws.reservations import reservation_of, shares_group, validate_reservation
from gpufleet.rules import capacity, coerce, efa, placement
from gpufleet.rules.aws.pool_arguments import validate_pool_arguments
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding
from gpufleet.rules.unknown_values import plan_known

_SIZES = ("min", "desired", "max")


def validate_pools(plan: Plan, pools: Iterable[PlannedPool], zone_names: ZoneNames) -> list[ResourceFinding]:
    """Every finding on the intents of the pools on AWS; of a pool without GPUs only its placement matters."""
    resource_findings: list[ResourceFinding] = []
    for pool in pools:
        if pool.cloud == "aws":
            findings = _without_gpus(pool) if pool.gpu is False else _findings(pool)
            resource_findings += findings_on(pool.resource, [*findings, *_several_zones(pool)])
            resource_findings = _with_reservation(plan, pool, zone_names, resource_findings)
    return resource_findings


def _with_reservation(
    plan: Plan, pool: PlannedPool, zone_names: ZoneNames, resource_findings: list[ResourceFinding]
) -> list[ResourceFinding]:
    """The findings with those on a reservation that the program makes itself."""
    template = template_of_pool(plan, pool.resource)
    reservation = reservation_of(plan, template)
    if reservation is None:
        return resource_findings
    if shares_group(plan, template, reservation):
        # Made in the group that it is used in: then it comes whole.
        kept = (pool.resource.urn, "aws-placement-no-block")
        resource_findings = [each for each in resource_findings if (each.urn, each.finding.rule) != kept]
    return resource_findings + findings_on(pool.resource, validate_reservation(pool, reservation, zone_names))


def _findings(pool: PlannedPool) -> list[Finding]:
    unknown = set(pool.unknown)
    types = pool.intent.get("types")
    intent = dict(pool.intent)
    if pool.gpu is None and types is not None:
        # A family that the catalog lacks: nothing is known about these types, and nothing is wrong with them.
        del intent["types"]
        unknown.add("types")
    if pool.region is None:
        unknown.add("region")
    if pool.kind == "batch":
        # Batch counts vCPUs, which have their own rules.
        intent = {word: value for word, value in intent.items() if word not in _SIZES}
    findings = validate_pool_arguments(intent, pool.region or "", unknown, pool.interfaces)
    if pool.kind == "node-group" and may_stand(pool.resource):
        # What an update sends is not what the program says: see live_minimum.
        findings = [each for each in findings if each.rule != "any-count-desired"]
    if pool.region is None:
        findings = [each for each in findings if each.rule not in ("aws-region-known", "aws-type-in-region")]
    return [plan_known(arguments=sorted(unknown)), *findings]


def _without_gpus(pool: PlannedPool) -> list[Finding]:
    if {"placement", "zones"} & set(pool.unknown):
        return []
    word = coerce.text(pool.intent, "placement", "none")
    return [placement.one_zone(placement=word, zones=coerce.texts(pool.intent, "zones"))]


def _several_zones(pool: PlannedPool) -> Sequence[Finding]:
    """Rules on one zone, for a pool whose zones are not all known, or known by name only: two are too many anyway."""
    if "zones" not in pool.unknown or len(pool.places) < 2:
        return ()
    findings = []
    if "placement" not in pool.unknown:
        word = coerce.text(pool.intent, "placement", "none")
        findings.append(placement.one_zone(placement=word, zones=pool.places))
    if "network" not in pool.unknown:
        findings.append(efa.one_zone(network=coerce.text(pool.intent, "network", "plain"), zones=pool.places))
    if "capacity" not in pool.unknown:
        word = coerce.text(pool.intent, "capacity", "on-demand")
        findings.append(capacity.one_place(capacity=word, argument="zones", values=pool.places))
    return findings
