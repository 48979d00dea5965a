"""A plan against the accounts that it is going to: which pools, whom to ask, and the report."""

from collections.abc import Callable
from dataclasses import dataclass

from gpufleet.plan.pools import PlannedPool, planned_pools
from gpufleet.plan.resource import Plan
from gpufleet.preflight.aws.checks import validate_aws
from gpufleet.preflight.aws.facts import AwsFacts
from gpufleet.preflight.aws.networks import validate_networks
from gpufleet.preflight.azure.checks import validate_azure
from gpufleet.preflight.azure.cluster_networks import validate_cluster_networks
from gpufleet.preflight.azure.facts import AzureFacts
from gpufleet.preflight.configuration import PreflightConfiguration
from gpufleet.preflight.query_results import QueryRunner
from gpufleet.preflight.report import PreflightReport
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Status
from gpufleet.rules.suppression import suppression_of


@dataclass(frozen=True)
class Accounts:
    """Where to query. aws, azure: the account or subscription in a region. description: of both, for the report."""

    aws: Callable[[str], AwsFacts]
    azure: Callable[[str], AzureFacts]
    description: str


def run_preflight(
    environment: str, plan: Plan, configuration: PreflightConfiguration, accounts: Accounts
) -> PreflightReport:
    """Ask the accounts about every GPU pool of a plan, and about the networks that it makes, and check them.

    Never raises for what they do not answer.
    """
    queries = QueryRunner()
    pools = [pool for pool in _pools(plan, configuration, accounts) if pool.gpu is not False]
    of_aws = [pool for pool in pools if pool.cloud == "aws"]
    of_azure = [pool for pool in pools if pool.cloud == "azure"]
    found: list[ResourceFinding] = []
    if of_aws:
        found += validate_aws(plan, of_aws, accounts.aws, queries, configuration.zone_names, configuration.limits)
    found += validate_networks(plan, accounts.aws, queries, configuration.zone_names)
    found += validate_cluster_networks(plan, accounts.azure, queries)
    if of_azure:
        found += validate_azure(plan, of_azure, accounts.azure, queries, configuration.limits)
    findings = [_with_suppression(each, configuration) for each in found]
    return PreflightReport(
        environment, accounts.description, findings, tuple(queries.reasons), configuration.suppressions
    )


def _pools(plan: Plan, configuration: PreflightConfiguration, accounts: Accounts) -> list[PlannedPool]:
    """The pools, with zones by id. Programs may give zones by the account's names, which the account itself knows."""
    if configuration.zone_names:
        return planned_pools(plan, configuration.zone_names)
    pools = planned_pools(plan)
    regions = {pool.region for pool in pools if pool.cloud == "aws" and pool.gpu is not False and pool.region}
    names: dict[str, str] = {}
    for region in sorted(regions):
        # Another check, of what the account offers, reports why it does not answer.
        names |= QueryRunner().ask(accounts.aws(region).zone_names).value or {}
    return planned_pools(plan, names) if names else pools


def _with_suppression(found: ResourceFinding, configuration: PreflightConfiguration) -> ResourceFinding:
    if found.finding.status is Status.PASS:
        return found
    covering = suppression_of(found.resource, found.finding, configuration.suppressions)
    return ResourceFinding(found.resource, found.finding, found.urn, covering)
