"""Budget: what an environment may cost in a month, and who hears before and when it does."""

from collections.abc import Mapping, Sequence
from typing import Annotated, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import budgets

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding
from gpufleet.rules.budget import ACTUAL_PERCENTS, FORECAST_PERCENTS, validate_budget
from gpufleet.typed_dicts import NumberRange


class BudgetConfig(TypedDict):
    """How much, and who hears of it."""

    usd_per_month: Annotated[float, NumberRange(0, above=True)]
    """What it may cost in a month, in USD, above 0."""
    emails: Sequence[str]
    """Who hears of it, 1 to 10 e-mail addresses."""
    actual_percents: NotRequired[Sequence[float]]
    """Percentages of the budget at which they hear that it has been spent. Default 80 and 100. With
    ``forecast_percents`` at most 10."""
    forecast_percents: NotRequired[Sequence[float]]
    """Percentages at which they hear that it will be by the end of the month. Default 100."""
    team: NotRequired[str]
    """One team's part of it only: the value of the tag ``team`` on what is that team's own. Default: everything."""


class BudgetArgs(BudgetConfig):
    """The same, and what is watched."""

    environment: str
    """The environment that is watched: the value of the tag ``environment`` on all that it pays for."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def amount(usd: float) -> str:
    """Dollars as the API takes them: digits, without an exponent."""
    return f"{usd:.2f}".removesuffix(".00")


class Budget(Component):
    """A monthly AWS cost budget for one environment, filtered by its tag.

    AWS knows the costs by tag only once the tag ``environment``, or ``team``, is active as a cost allocation tag, which
    somebody switches on in the account that pays, once. Costs show up to a day later; a budget warns, it stops nothing.
    """

    budget_name: pulumi.Output[str]
    """Name in AWS, unique in the account."""

    def __init__(
        self, name: str, args: BudgetArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[BudgetArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: BudgetArgs) -> list[Finding]:
        return validate_budget(args)

    def create(self, name: str, args: BudgetArgs) -> None:
        child = f"{name}-budget"
        # The values of one filter are alternatives, so that it cannot ask for two tags: a team's names both.
        tag = f"team${args['team']}" if "team" in args else f"environment${args['environment']}"
        spoken = [("ACTUAL", percent) for percent in args.get("actual_percents", ACTUAL_PERCENTS)]
        spoken += [("FORECASTED", percent) for percent in args.get("forecast_percents", FORECAST_PERCENTS)]
        budget = budgets.Budget(
            child,
            budget_type="COST",
            time_unit="MONTHLY",
            limit_amount=amount(args["usd_per_month"]),
            limit_unit="USD",
            cost_filters=[
                # Without "user:" it matches nothing, and nobody says so (hashicorp/terraform-provider-aws#40987).
                budgets.BudgetCostFilterArgs(name="TagKeyValue", values=[f"user:{tag}"])
            ],
            notifications=[
                budgets.BudgetNotificationArgs(
                    notification_type=kind,
                    comparison_operator="GREATER_THAN",
                    threshold=percent,
                    threshold_type="PERCENTAGE",
                    subscriber_email_addresses=list(args["emails"]),
                )
                for kind, percent in spoken
            ],
            tags=self.tags(child),
            opts=self.child(),
        )
        self.budget_name = budget.name
