"""The rule on quotas: what is in use, and what the pools may grow to, against the account's limit."""

from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("any-quota-enough", Severity.ERROR)
def quota_enough(
    *,
    quota: str,
    limit: int | None,
    in_use: int | None,
    pools: Sequence[tuple[str, int | None, int | None]],
    ask: str,
    look: str,
) -> Outcome:
    """What is in use now and what all pools of the stack need at their peak lie within the account's limit.

    `quota` names it in words. `pools` are (name, most nodes, vCPUs of one node) of all pools that count against it.
    `ask` is how to ask for a higher limit, with `{value}` in it; `look` where to see the limit. In use are other
    people's nodes, not those that this stack has already.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html#ec2-on-demand-instances-limits
    (VcpuLimitExceeded), https://learn.microsoft.com/azure/quotas/per-vm-quota-requests and
    https://learn.microsoft.com/azure/batch/batch-quota-limit; found at run time only: aws/aws-parallelcluster#1375,
    GoogleCloudPlatform/cluster-toolkit#3225, Azure/az-hop#995.
    """
    value = {name: f"{_said(most)} x {_said(vcpus)}" for name, most, vcpus in pools}
    sizes = [most * vcpus for _, most, vcpus in pools if most is not None and vcpus is not None]
    peak = sum(sizes)
    unknown = [name for name, most, vcpus in pools if most is None or vcpus is None]
    if limit is not None and peak + (in_use or 0) > limit:
        need = peak + (in_use or 0)
        used = f"and {in_use} in use make {need}, which is" if in_use else "are"
        uncounted = ", what is in use not even counted," if in_use is None else ""
        problem = f"{peak} {quota} at the peak{uncounted} {used} above the limit of {limit}"
        request = f"ask for {need} or more, which takes days: {ask.format(value=need)}"
        return failed("pools", value, problem, f"{request}; {_fits(limit - (in_use or 0), pools, peak)}")
    if unknown:
        return unverified("pools", value, f"how many {quota} {join_words(unknown, 'and')} may need is not known", look)
    if limit is None:
        problem = f"{peak} {quota} are needed at the peak, and the account's limit is not known"
        return unverified("pools", value, problem, look)
    if in_use is None:
        problem = f"{peak} {quota} are needed at the peak, the limit is {limit}, and how many are in use is not known"
        return unverified("pools", value, problem, look)
    return passed()


def _fits(free: int, pools: Sequence[tuple[str, int | None, int | None]], peak: int) -> str:
    """What would be legal at once: for each pool the most nodes that fit beside the others' peak."""
    fitting = {
        name: (free - (peak - most * vcpus)) // vcpus
        for name, most, vcpus in pools
        if most is not None and vcpus is not None and vcpus > 0
    }
    words = [f"{name}.max={most}" for name, most in fitting.items() if most > 0]
    if words:
        return f"until then {join_words(words)} fits"
    return "until then no node fits" if len(fitting) == 1 else "until then no pool fits beside the others"


def _said(number: int | None) -> str:
    return "?" if number is None else str(number)
