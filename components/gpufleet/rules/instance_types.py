"""Rules on instance types: known, current, and offered where they are asked for."""

from collections.abc import Sequence

from gpufleet.rules.messages import join_words, nearest
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("aws-type-known", Severity.ERROR)
def type_known(*, type_name: str, known: Sequence[str]) -> Outcome:
    """An instance type of a GPU pool is a GPU type that the catalog knows.

    Source: DescribeInstanceTypes, as the catalog has it; its figures decide interfaces, labels and quotas.
    """
    if type_name in known:
        return passed()
    near = nearest(type_name, known, closeness=0.75)  # all names look alike: 24xlarge, 48xlarge
    fix = f"did you mean {near}?" if near else "use a GPU type such as g5.8xlarge, p4d.24xlarge or p5.48xlarge"
    return failed("types", type_name, "is not a GPU type in the catalog", fix)


@rule("aws-type-current", Severity.ERROR)
def type_current(*, type_name: str, retired: str | None, successor: str | None) -> Outcome:
    """An instance type is still offered by AWS.

    Source: the catalog: types that left DescribeInstanceTypeOfferings, with the date.
    """
    if retired is None:
        return passed()
    fix = f"use {successor}" if successor else "use a current type"
    return failed("types", type_name, f"is retired since {retired}", fix)


@rule("aws-type-in-region", Severity.ERROR)
def type_in_region(*, type_name: str, region: str, zones: Sequence[str] | None, elsewhere: Sequence[str]) -> Outcome:
    """The region offers the instance type; `zones` are those of the region that do, None where that is not known.

    Source: DescribeInstanceTypeOfferings, as the catalog has it.
    """
    if zones:
        return passed()
    fix = f"it is offered in {join_words(elsewhere[:8])}" if elsewhere else "use another type"
    if zones is None:
        problem = f"the catalog does not know what {region} offers"
        return unverified("types", type_name, problem, "ask aws ec2 describe-instance-type-offerings")
    return failed("types", type_name, f"is not offered in {region}", fix)


@rule("aws-type-in-zone", Severity.ERROR)
def type_in_zone(*, type_name: str, zone: str, zones: Sequence[str] | None) -> Outcome:
    """Each zone of a pool offers each of its instance types; `zones` are those of the region that offer it.

    By the catalog, or by what the account itself says (`gpufleet preflight`); None where that could not be asked.

    Source: eksctl-io/eksctl#6461: Your requested instance type is not supported in your requested Availability Zone.
    """
    if zones is None:
        problem = f"whether the account gets {type_name} there is not known"
        return unverified("zones", zone, problem, "ask aws ec2 describe-instance-type-offerings")
    if zone in zones:
        return passed()
    fix = f"use {join_words(zones)}, which do" if zones else "no zone of the region does: use another type or region"
    return failed("zones", zone, f"does not offer {type_name}", fix)


@rule("any-pool-same-gpu", Severity.WARNING)
def same_gpu(*, types: Sequence[str], gpus: Sequence[str]) -> Outcome:
    """All types of a pool have the same GPUs, so that ranks of one job are alike; `gpus` says them, such as 8 x H100.

    Source: collective operations run at the speed of the slowest rank (NCCL user guide, collective operations).
    """
    kinds = sorted(set(gpus))
    if len(kinds) < 2:
        return passed()
    fix = "make a pool for each kind, or keep jobs to one node"
    return failed("types", list(types), f"mixes {join_words(kinds, 'and')} in one pool", fix)
