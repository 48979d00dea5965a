"""Budgets of users and projects, as an environment's configuration and its output `jobs` have them."""

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, TypedDict

from gpufleet.typed_dicts import Check, NumberRange


def _above_zero(usd: object) -> object:
    try:
        # `pulumi config set --path` writes text.
        known = float(usd) if isinstance(usd, int | float | str) and not isinstance(usd, bool) else 0
    except ValueError:
        known = 0
    if not 0 < known < float("inf"):
        raise ValueError("must be above 0; give USD per month, such as 500")
    return known


def _at_end(word: object) -> object:
    if word not in ("refuse", "warn"):
        raise ValueError("must be 'refuse' or 'warn'")
    return word


class JobBudgetConfig(TypedDict):
    """What the jobs of one user, or of one project, may cost."""

    usd_per_month: Annotated[float, Check(_above_zero), NumberRange(0, above=True)]
    """USD in a calendar month (UTC), above 0: the value of the GPU-hours that `gpufleet usage` counts."""
    at_end: NotRequired[Annotated[Literal["refuse", "warn"], Check(_at_end)]]
    """What `gpufleet jobs submit` does once it is spent: refuse the job, or submit it with a warning. Jobs that run go
    on. Default refuse."""


class JobBudgetsConfig(TypedDict):
    """Budgets by user and by project."""

    users: NotRequired[Mapping[str, JobBudgetConfig]]
    """By the user's name. On Kubernetes jobs have one where the team has users (gpufleet:team.users)."""
    projects: NotRequired[Mapping[str, JobBudgetConfig]]
    """By the project's name: that of the environment, or on Slurm the account."""
    ledger: NotRequired[str]
    """File that `gpufleet usage --record` keeps, by its path where jobs are submitted. Default: none; then only what
    runs the jobs still knows counts: on Kubernetes a day, on AWS Batch a week."""
