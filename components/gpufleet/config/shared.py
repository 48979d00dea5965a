"""The keys that mean the same in every environment."""

from datetime import date
from typing import Annotated, Literal, NotRequired, TypedDict

from gpufleet.cost.usage_assumptions import UsageArgs
from gpufleet.durations import parse_duration
from gpufleet.jobs.budgets import JobBudgetsConfig
from gpufleet.plan.quota_limits import QuotaArgs
from gpufleet.rules.suppression import SuppressionArgs
from gpufleet.rules.tags import MOST_YEARS, is_day, is_too_late
from gpufleet.typed_dicts import Check, Default


def _not_empty(text: object) -> object:
    if text == "":
        raise ValueError("must not be empty; give it a value")
    return text


def _duration(text: object) -> object:
    if not isinstance(text, str) or parse_duration(text) is None:
        raise ValueError("must be a duration; write hours, days or weeks like 150h, 6d or 2w")
    return text


def _end(text: object) -> object:
    # The engine reads a day that YAML knows as a date and hands it on as a moment.
    day = str(text).removesuffix(" 00:00:00 +0000 UTC")
    if parse_duration(day) is None and not is_day(day):
        raise ValueError("must be a day like 2027-01-31, or a lifetime like 150h")
    if is_too_late(day, date.today()):
        raise ValueError(f"must end within {MOST_YEARS} years; write an earlier day, or leave it out for no end")
    return day


NotEmpty = Annotated[str, Check(_not_empty)]
Span = Annotated[str, Check(_duration)]
End = Annotated[str, Check(_end)]


class SharedConfig(TypedDict):
    """Owner, purpose and expiry of the environment, and the inputs of its rules and reports."""

    cloud: Literal["aws", "aws-batch", "azure", "onprem"]
    """Which stack this environment is: aws, an EKS cluster; aws-batch, AWS Batch without one; azure, an AKS cluster,
    Azure Batch, or both; or onprem, your own Kubernetes cluster and no cloud."""
    owner: NotEmpty
    """Who is responsible for the environment; a tag on everything."""
    project: NotEmpty
    """Its project; a tag on everything."""
    purpose: NotRequired[NotEmpty]
    """Its purpose within the project: a paper, a class; a tag on everything. Default: none."""
    expires_at: NotRequired[End]
    """Last day on which the environment is needed (2027-01-31), or its lifetime from creation (150h, 6d, 2w), at most 5
    years away; a tag on everything. Default: never."""
    grace: NotRequired[Span]
    """Time after expiry before `gpufleet reap` destroys it: 24h, 3d; a tag on everything. Default: that of `gpufleet
    reap`."""
    tags: Annotated[dict[str, str], Default({})]
    """More tags for everything."""
    quotas: Annotated[list[QuotaArgs], Default([])]
    """The account's vCPU limits, to validate pools without credentials. `gpufleet preflight` asks the account."""
    usage: Annotated[UsageArgs, Default({})]
    """What `gpufleet cost` and the cost pack assume about a month; the stack itself makes nothing of it."""
    budgets: NotRequired[JobBudgetsConfig]
    """Budgets of users and projects, which `gpufleet jobs submit` looks at. Default: none."""
    suppress: Annotated[list[SuppressionArgs], Default([])]
    """Rules that this environment lives with for a while. Every report lists them."""
    access_logs: Annotated[bool, Default(False)]
    """Record who reads and writes outputs and shared files, where the service can: S3 into a bucket, Azure Storage into
    a workspace of Log Analytics, for 90 days. EFS and NFS servers cannot (a warning). Takes in GB that are paid for."""
    erase: Annotated[bool, Default(False)]
    """Let `pulumi destroy` delete the data too: file system, access point, repositories. Takes effect by an `up`."""
