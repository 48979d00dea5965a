"""Findings on quota demand against quota limits: the same in constructors, policy packs and preflight."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from gpufleet.catalog import aws
from gpufleet.plan.quota_demand import DemandingPool, QuotaDemand, quota_demand_of
from gpufleet.plan.quota_limits import ALL, QuotaLimit, read_quotas
from gpufleet.rules.quota import quota_enough
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Finding

_MACHINE = "/subscriptions/SUBSCRIPTION/providers/Microsoft.Compute/locations"


def validate_quotas(
    stack: str,
    pools: Mapping[str, Mapping[str, object]],
    region: str,
    quotas: object,
    cloud: str = "aws",
    accounts: Mapping[str, str] | None = None,
) -> list[ResourceFinding]:
    """Findings on the pools of a stack's configuration, against the limits that the configuration gives.

    pools: arguments of each (`gpufleet.pools.eks_pool.EksPool`), by the name that messages use (`aws-dev-trainers`).
    quotas: the value of `gpufleet:quotas`; without it nothing is checked. accounts: Azure Batch account by pool, where
    its own quota counts. Errors: QuotaError.
    """
    limits = read_quotas(quotas, "gpufleet:quotas")
    if not limits:
        return []
    of = accounts or {}
    growing = [DemandingPool(name, cloud, region, words, account=of.get(name, "")) for name, words in pools.items()]
    return validate_quota_demand(stack, quota_demand_of(growing), limits)


def validate_quota_demand(
    stack: str, needs: Iterable[QuotaDemand], limits: Sequence[QuotaLimit]
) -> list[ResourceFinding]:
    """A finding on the stack for each demand. A demand without a known limit is not verified."""
    known = {(each.account, each.family, each.market): each for each in limits}
    return [ResourceFinding(stack, _finding(need, known)) for need in needs if _counted(need, known)]


def _counted(need: QuotaDemand, known: Mapping[tuple[str, str, str], QuotaLimit]) -> bool:
    """Whether a demand is checked by itself: not a total that is not given, nor a family where only the total counts.

    Azure's regional total and a Batch account's limits by family are worth a line where they are known; without them
    the other figure decides.
    """
    if need.market is None or (need.account, need.family, need.market) in known:
        return True
    if need.family == ALL:
        return need.market == "spot"
    return not (need.account and (need.account, ALL, need.market) in known)


def _finding(need: QuotaDemand, known: Mapping[tuple[str, str, str], QuotaLimit]) -> Finding:
    found = known.get((need.account, need.family or "", need.market or ""))
    ask, look = _advice(need)
    return quota_enough(
        quota=_named(need),
        limit=found.limit if found else None,
        in_use=found.in_use if found else None,
        pools=[(share.pool, share.most, share.vcpus) for share in need.shares],
        ask=ask,
        look=look,
    )


def _named(need: QuotaDemand) -> str:
    """The quota in words: on-demand vCPUs of family P in us-east-1."""
    if need.family is None or need.market is None:
        market = f"{need.market} " if need.market else ""
        return f"{market}vCPUs of {'an unknown family' if need.family is None else f'family {need.family}'}"
    market = {"on-demand": "dedicated", "spot": "low-priority"}[need.market] if need.account else need.market
    unit = "vCPUs" if need.cloud == "aws" else "cores"
    families = "all families" if need.family == ALL else f"family {need.family}"
    where = f"of Batch account {need.account}" if need.account else f"in {need.region or 'a region not known yet'}"
    return f"{market} {unit} of {families} {where}"


def _advice(need: QuotaDemand) -> tuple[str, str]:
    """How to ask for more, with {value} in it, and how to learn what is not known."""
    region = need.region or "REGION"
    if need.family is None or need.market is None:
        return "the cloud's support", "look again once it is known"
    if need.account:
        ask = (
            f"Azure portal, Batch account {need.account}, Quotas, Request quota increase (a support request on Batch; "
            "the subscription's own quota does not count)"
        )
        return ask, _tell("`az batch account show`")
    if need.cloud == "azure":
        name = "lowPriorityCores" if need.market == "spot" else "cores" if need.family == ALL else need.family
        kind = "lowPriority" if need.market == "spot" else "dedicated"
        ask = (
            f"`az quota update --resource-name {shlex.quote(name)} --resource-type {kind} "
            f"--limit-object value={{value}} --scope {_MACHINE}/{region}`, or the Azure portal, Quotas, Compute"
        )
        return ask, _tell(f"`az vm list-usage --location {region}`")
    record = aws().quotas.get((need.family, need.market))
    if record is None:
        ask = f"`aws service-quotas list-service-quotas --service-code ec2 --region {region}` lists the quotas"
        return ask, f"the code of this quota is not known; {ask}"
    which = f"--service-code ec2 --quota-code {record.code} --region {region}"
    ask = f"`aws service-quotas request-service-quota-increase {which} --desired-value {{value}}`"
    return ask, _tell(f"`aws service-quotas get-service-quota {which}`")


def _tell(command: str) -> str:
    return f"give limit and in_use in quotas ({command} shows the limit), or run `gpufleet preflight` with credentials"
