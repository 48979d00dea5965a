"""Rules on Batch queues, and their validation."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.aws.batch import queue_size
from gpufleet.rules.generic import at_least
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

LEAST_SECONDS = 600
MOST_SECONDS = 86_400
LEAST_SHARE = 0.01
MOST_SHARE = 1000
MOST_TEAMS = 500
_TEAM = re.compile(r"[A-Za-z0-9]{1,254}[A-Za-z0-9*]?")
_ENVIRONMENT = re.compile(r"arn:aws(-\w+)*:batch:[a-z0-9-]+:\d{12}:compute-environment/[A-Za-z0-9_-]{1,128}")


@rule("aws-batch-queue-twice", Severity.ERROR)
def environments_distinct(*, same: Sequence[int]) -> Outcome:
    """A queue names each environment once; `same` are the positions (from 1) of repeated entries.

    Source: https://docs.aws.amazon.com/batch/latest/APIReference/API_ComputeEnvironmentOrder.html: a queue maps each
    compute environment to one order.
    """
    if not same:
        return passed()
    problem = f"repeats earlier entries at position {join_words(map(str, same), 'and')}"
    return failed("environments", list(same), problem, "name each environment once")


@rule("aws-batch-queue-arn", Severity.ERROR)
def environment_arn(*, arn: str) -> Outcome:
    """A queue names its environments by ARN.

    Source: computeEnvironment in ComputeEnvironmentOrder of botocore's model of batch: the Amazon Resource Name.
    """
    if _ENVIRONMENT.fullmatch(arn):
        return passed()
    fix = "give environment_arn of a BatchEnvironment, or an ARN as aws batch describe-compute-environments shows it"
    return failed("environments", arn, "is not the ARN of a compute environment", fix)


@rule("aws-batch-time-limit", Severity.ERROR)
def time_limit(*, argument: str, value: int, least: int, most: int) -> Outcome:
    """A job that waits at the head of a queue is cancelled after 10 minutes to 24 hours, or never.

    argument: where the time is given, in units of which `least` and `most` are the limits.
    Source: maxTimeSeconds in JobStateTimeLimitAction of botocore's model of batch: 600 to 86400 s.
    """
    if least <= value <= most:
        return passed()
    fix = f"use {least} to {most}, or leave it out"
    return failed(argument, value, "Batch cancels after 10 minutes to 24 hours, or not at all", fix)


@rule("aws-batch-share-name", Severity.ERROR)
def share_name(*, team: str) -> Outcome:
    """A team in a queue's shares is 1 to 255 letters and digits, the last of which may be an asterisk.

    Source: shareIdentifier in ShareAttributes of botocore's model of batch; the provider checks it before the API.
    """
    if _TEAM.fullmatch(team):
        return passed()
    return failed("shares", team, "is not a valid share identifier", "use letters and digits only, such as visionlab")


@rule("aws-batch-share-overlap", Severity.ERROR)
def shares_apart(*, teams: Sequence[str]) -> Outcome:
    """No share of a queue is covered by another one that ends in an asterisk.

    Source: shareIdentifier in ShareAttributes of botocore's model of batch: UserA* and UserA1 can't be in one list.
    """
    covered = sorted(
        each
        for each in teams
        for other in teams
        if other.endswith("*") and other != each and each.startswith(other.removesuffix("*"))
    )
    if not covered:
        return passed()
    return failed("shares", covered, "is also matched by a share with an asterisk", "leave one of the two out")


@rule("aws-batch-share-weight", Severity.ERROR)
def share_weight(*, team: str, weight: float | None) -> Outcome:
    """A team's share is a figure from 0.01 to 1000, where twice as much means twice the vCPUs; None: not a number.

    Source: weightFactor in ShareAttributes of botocore's model of batch, which is the inverse: 0.0001 to 999.9999, in
    steps of 0.0001, so that beyond 1000 shares are no longer told apart.
    """
    if weight is not None and LEAST_SHARE <= weight <= MOST_SHARE:
        return passed()
    return failed(f"shares.{team}", weight, "is not a valid Batch share weight", "use 0.01 to 1000, such as 1")


@rule("aws-batch-share-number", Severity.ERROR)
def shares_few(*, teams: int) -> Outcome:
    """A queue has at most 500 shares.

    Source: schedulingPolicyArn in CreateJobQueue of botocore's model of batch: 500 active share identifiers.
    """
    if teams <= MOST_TEAMS:
        return passed()
    return failed("shares", teams, f"is more than the {MOST_TEAMS} that a queue allows", "make another queue")


def validate_batch_queue(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a Batch queue, passes included. Never raises, whatever the values.

    Reads environments (ARNs, or outputs), priority, shares (team to share), runnable_minutes, tags.
    """
    given = args.get("environments")
    environments = list(given) if isinstance(given, Sequence) and not isinstance(given, str | bytes) else []
    shares = coerce.mapping(args, "shares")
    findings = [
        environments_distinct(same=_repeated(environments)),
        *(environment_arn(arn=each) for each in environments if isinstance(each, str)),
        at_least(argument="priority", value=coerce.whole(args, "priority", 1), least=0),
        *(share_name(team=team) for team in shares),
        shares_apart(teams=tuple(shares)),
        shares_few(teams=len(shares)),
        *(
            share_weight(team=team, weight=float(weight) if coerce.is_number(weight) else None)
            for team, weight in shares.items()
        ),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    if given is not None:
        findings.append(queue_size(environments=len(environments), argument="environments"))
    if coerce.is_whole(args.get("runnable_minutes")):
        minutes = coerce.whole(args, "runnable_minutes", 0)
        least, most = LEAST_SECONDS // 60, MOST_SECONDS // 60
        findings.append(time_limit(argument="runnable_minutes", value=minutes, least=least, most=most))
    return findings


def _repeated(environments: Sequence[object]) -> list[int]:
    """Places, from 1, of what stands in the list before: the same text, or the same output."""
    keys = [each if isinstance(each, str) else id(each) for each in environments]
    return [place for place, key in enumerate(keys, start=1) if key in keys[: place - 1]]
