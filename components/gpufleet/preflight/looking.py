"""A plan against the accounts that it is going to: which pools, whom to ask, and the report."""

from collections.abc import Callable
from dataclasses import dataclass

from gpufleet.plan.pools import PlannedPool, planned_pools
from gpufleet.plan.resource import Plan
from gpufleet.preflight.answers import Doubts
from gpufleet.preflight.aws.checks import judge_aws
from gpufleet.preflight.aws.facts import AwsFacts
from gpufleet.preflight.aws.networks import judge_networks
from gpufleet.preflight.azure.checks import judge_azure
from gpufleet.preflight.azure.facts import AzureFacts
from gpufleet.preflight.configuration import Configuration
from gpufleet.preflight.report import Report
from gpufleet.rules.judged import Judged
from gpufleet.rules.rule import Status
from gpufleet.rules.suppression import suppression_of


@dataclass(frozen=True)
class Accounts:
    """Where to ask. aws, azure: account or subscription as seen in a region. words: what they are, for the report."""

    aws: Callable[[str], AwsFacts]
    azure: Callable[[str], AzureFacts]
    words: str


def look(environment: str, plan: Plan, configuration: Configuration, accounts: Accounts) -> Report:
    """Ask the accounts about every GPU pool of a plan, and about the networks that it makes, and judge them.

    Never raises for what they do not answer.
    """
    doubts = Doubts()
    pools = [pool for pool in _pools(plan, configuration, accounts) if pool.gpu is not False]
    of_aws = [pool for pool in pools if pool.cloud == "aws"]
    of_azure = [pool for pool in pools if pool.cloud == "azure"]
    found: list[Judged] = []
    if of_aws:
        found += judge_aws(plan, of_aws, accounts.aws, doubts, configuration.zone_names, configuration.limits)
    found += judge_networks(plan, accounts.aws, doubts, configuration.zone_names)
    if of_azure:
        found += judge_azure(plan, of_azure, accounts.azure, doubts, configuration.limits)
    judged = [_with_suppression(each, configuration) for each in found]
    return Report(environment, accounts.words, judged, tuple(doubts.reasons), configuration.suppressions)


def _pools(plan: Plan, configuration: Configuration, accounts: Accounts) -> list[PlannedPool]:
    """The pools, with zones by id. Programs may give zones by the account's names, which the account itself knows."""
    if configuration.zone_names:
        return planned_pools(plan, configuration.zone_names)
    pools = planned_pools(plan)
    regions = {pool.region for pool in pools if pool.cloud == "aws" and pool.gpu is not False and pool.region}
    names: dict[str, str] = {}
    for region in sorted(regions):
        # Why it does not answer, if so, is said when the account is asked what it offers.
        names |= Doubts().ask(accounts.aws(region).zone_names).value or {}
    return planned_pools(plan, names) if names else pools


def _with_suppression(judged: Judged, configuration: Configuration) -> Judged:
    if judged.finding.status is Status.PASS:
        return judged
    covering = suppression_of(judged.resource, judged.finding, configuration.suppressions)
    return Judged(judged.resource, judged.finding, judged.urn, covering)
