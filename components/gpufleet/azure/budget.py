"""Budget: what an environment may cost in a month, and who hears before and when it does."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_azure_native import consumption

from gpufleet.azure.links import ScopeLink
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.ownership import STACK_TAG
from gpufleet.rules import Finding
from gpufleet.rules.azure.budget import validate_azure_budget
from gpufleet.rules.budget import ACTUAL_PERCENTS, FORECAST_PERCENTS
from gpufleet.typed_dicts import NumberRange


class BudgetConfig(TypedDict):
    """How much it may cost, and who hears of it."""

    team: NotRequired[str]
    """With ``by_tag``: one team only, by the value of the tag ``team`` on what is that team's own. Default:
    everything."""
    usd_per_month: Annotated[float, NumberRange(0, above=True)]
    """What it may cost in a month, in USD, above 0. Azure takes the number in the currency of the bill."""
    emails: Sequence[str]
    """Who hears of it, 1 to 50 e-mail addresses."""
    actual_percents: NotRequired[Sequence[float]]
    """Percentages of the budget at which they hear that it has been spent. Default 80 and 100. With
    ``forecast_percents`` at most 5."""
    forecast_percents: NotRequired[Sequence[float]]
    """Percentages at which they hear that it will be by the end of the month. Default 100."""
    by_tag: NotRequired[bool]
    """Count only what has the tag ``environment``, and those of ``tags`` that say whose it is. Default false:
    everything in the scope. For a subscription: the nodes of an AKS cluster lie, and are paid for, in a resource group
    of AKS's own, beside the environment's."""


class BudgetArgs(BudgetConfig, ScopeLink):
    """The same, and what is watched."""

    environment: str
    """The environment: the value of the tag ``environment`` on what it pays for, which ``by_tag`` asks for."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of what it pays for. Of these ``by_tag`` asks for ``project`` and ``owner``, and for gpufleet's mark of the
    stack, as another project may have an environment of this name."""


def today() -> date:
    """The day by which Azure counts months."""
    return datetime.now(UTC).date()


def first_of_month(day: date) -> str:
    """The first day of a day's month, as Azure writes it: 2026-11-01T00:00:00Z."""
    return f"{day.replace(day=1).isoformat()}T00:00:00Z"


class Budget(Component):
    """A monthly Azure cost budget for one environment.

    Costs show up to a day later; a budget warns, it stops nothing.
    """

    budget_name: pulumi.Output[str]
    """Name in Azure, unique in its scope."""

    def __init__(
        self, name: str, args: BudgetArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[BudgetArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: BudgetArgs) -> list[Finding]:
        return validate_azure_budget(args)

    def create(self, name: str, args: BudgetArgs) -> None:
        spoken = [("Actual", percent) for percent in args.get("actual_percents", ACTUAL_PERCENTS)]
        spoken += [("Forecasted", percent) for percent in args.get("forecast_percents", FORECAST_PERCENTS)]
        budget = consumption.Budget(
            f"{name}-budget",
            scope=args["scope"],
            amount=float(args["usd_per_month"]),
            category="Cost",
            time_grain="Monthly",
            # Without an end Azure takes ten years.
            time_period=consumption.BudgetTimePeriodArgs(start_date=first_of_month(today())),
            filter=consumption.BudgetFilterArgs(and_=[*_tagged(args)]) if args.get("by_tag", False) else None,
            notifications={
                notification_key(kind, percent): consumption.NotificationArgs(
                    enabled=True,
                    operator="GreaterThan",
                    threshold=float(percent),
                    threshold_type=kind,
                    contact_emails=list(args["emails"]),
                )
                for kind, percent in spoken
            },
            # Azure wants the start in the month of its creation, and never another: each month's first run of the
            # program would ask for a change, which is refused.
            opts=self.child(ignore_changes=["timePeriod.startDate"]),
        )
        self.budget_name = budget.name


def _tagged(args: BudgetArgs) -> "Iterator[consumption.BudgetFilterPropertiesArgs]":
    """A condition for each tag that something must have to be counted; Azure wants two or more."""
    owner = {key: value for key, value in args.get("tags", {}).items() if key in (STACK_TAG, "project", "owner")}
    team = {"team": args["team"]} if "team" in args else {}
    for key, value in {"environment": args["environment"], **owner, **team}.items():
        tag = consumption.BudgetComparisonExpressionArgs(name=key, operator="In", values=[value])
        yield consumption.BudgetFilterPropertiesArgs(tags=tag)


def notification_key(kind: str, percent: float) -> str:
    """What a notification is called within its budget, as the portal writes it: Actual_GreaterThan_80_Percent."""
    return f"{kind}_GreaterThan_{percent:g}_Percent".replace(".", "_")
