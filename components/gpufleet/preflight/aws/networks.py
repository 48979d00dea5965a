"""What a plan makes of addresses, VPCs and gateways against what the account holds of them, and may."""

from collections.abc import Callable, Mapping

from gpufleet.catalog import aws
from gpufleet.plan.aws.network_quota_demand import NetworkQuotaDemand, NetworkQuotaDemands, network_quota_demand
from gpufleet.plan.aws.zones import ZoneNames, is_zone_id
from gpufleet.plan.resource import Plan
from gpufleet.preflight.aws.facts import AwsFacts, ExistingResources
from gpufleet.preflight.query_results import QueryRunner
from gpufleet.rules.aws.network_quota import NAMES, network_quota_enough
from gpufleet.rules.resource_finding import ResourceFinding


def validate_networks(
    plan: Plan, account: Callable[[str], AwsFacts], queries: QueryRunner, zone_names: ZoneNames
) -> list[ResourceFinding]:
    """A finding on the stack for each quota that something new counts against; without any nothing is asked.

    account, zone_names: as of `gpufleet.preflight.aws.checks.validate_aws`.
    """
    wanted = _needs(plan, account, zone_names)
    for reason in wanted.unclear:
        queries.add(reason)
    found: list[ResourceFinding] = []
    for region, counted in dict.fromkeys((need.region, need.counted) for need in wanted.needs):
        facts = account(region)
        limit = queries.ask(facts.resource_limit, counted).value
        use = queries.ask(facts.network_use, counted).value
        for need in wanted.needs:
            if (need.region, need.counted) == (region, counted):
                found.append(_network_finding(plan, need, limit, use, queries))
    return found


def _needs(plan: Plan, account: Callable[[str], AwsFacts], zone_names: ZoneNames) -> NetworkQuotaDemands:
    """What the plan needs, with zones by id. Programs may give zones by the account's names, which it knows itself."""
    wanted = network_quota_demand(plan, zone_names)
    by_name = {need.region for need in wanted.needs if not _is_counted_as(need.zone)}
    names: dict[str, str] = dict(zone_names)
    for region in sorted(by_name):
        # Another check, of what the account holds, reports why it does not answer.
        names |= QueryRunner().ask(account(region).zone_names).value or {}
    return network_quota_demand(plan, names) if by_name else wanted


def _network_finding(
    plan: Plan,
    need: NetworkQuotaDemand,
    limit: int | None,
    use: Mapping[str, ExistingResources] | None,
    queries: QueryRunner,
) -> ResourceFinding:
    new, in_use = need.new, None
    if use is not None and _is_counted_as(need.zone):
        held = use.get(need.zone, ExistingResources(0, 0))
        in_use = held.own + held.others
        # Of a plan that was made from nothing, what the account has of the stack already is not new.
        new -= min(new, max(0, held.own - need.existing))
        unplaced = use.get("", ExistingResources(0, 0)) if need.zone else ExistingResources(0, 0)
        somewhere = unplaced.own + unplaced.others
        if limit is not None and new + in_use <= limit < new + in_use + somewhere:
            queries.add(f"{NAMES[need.counted]} in {need.region}: the zones of {somewhere} are not known")
            in_use = None
    quota = aws().resource_quotas[need.counted]
    return ResourceFinding(
        plan.stack,
        network_quota_enough(
            counted=need.counted,
            where=need.zone or need.region,
            new=new,
            in_use=in_use,
            limit=limit,
            quota=f"--service-code {quota.service} --quota-code {quota.raised_by} --region {need.region}",
        ),
    )


def _is_counted_as(zone: str) -> bool:
    """Whether an account counts under this: the region, or a zone by its id."""
    return not zone or is_zone_id(zone)
