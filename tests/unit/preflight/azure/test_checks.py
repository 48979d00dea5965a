"""From a plan on Azure and a subscription's answers to findings."""

import pytest

from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.resource import Plan, Resource
from gpufleet.preflight.azure.checks import validate_azure
from gpufleet.preflight.azure.facts import BatchAccountQuota, QuotaUsage, SubscriptionSku
from gpufleet.preflight.query_results import QueryRunner
from tests.policies.raw_program import plan_from

AGENT, POOL = "azure-native:containerservice:AgentPool", "azure-native:batch:Pool"
PLAN = plan_from({"agents": {"type": AGENT}, "pool": {"type": POOL, "inputs": {"accountName": "train"}}})
FAMILY = "standardNCFamily"


class Subscription:
    """skus: size -> Sku; usages: (family, market) -> Usage; accounts: name -> Batch; an exception is raised."""

    def __init__(self, skus=None, usages=None, accounts=None):
        self.skus, self.usages, self.accounts = skus or {}, usages or {}, accounts or {}

    def _of(self, table, key):
        if isinstance(table, Exception):
            raise table
        return table.get(key)

    def sku(self, size):
        return self._of(self.skus, size)

    def usage(self, family, market):
        return self._of(self.usages, (family, market))

    def batch(self, account):
        return self._of(self.accounts, account)


OPEN = {"Standard_NC6": SubscriptionSku(("1",), ())}


def pool(number=0, plan=PLAN, region="eastus", **words):
    resource = plan.resources[number]
    kind = "batch-pool" if resource.type == POOL else "agent-pool"
    intent = {"types": ["Standard_NC6"], "max": 4, "zones": ["1"]} | words
    return PlannedPool(resource, "azure", kind, region, intent, (), True)


def check(subscription, *pools, plan=PLAN):
    queries = QueryRunner()
    found = validate_azure(plan, pools, lambda region: subscription, queries, ())
    return [(each.resource, each.finding.rule, each.finding.status.value) for each in found], queries.reasons


SIZE, QUOTA = "azure-size-unrestricted", "any-quota-enough"


def test_family_and_regional_total_both_count():
    usages = {(FAMILY, "on-demand"): QuotaUsage(24, 0), ("all", "on-demand"): QuotaUsage(100, 76)}
    found, reasons = check(Subscription(OPEN, usages), pool())
    assert found == [("agents", SIZE, "pass"), ("dev", QUOTA, "pass"), ("dev", QUOTA, "pass")]
    usages[("all", "on-demand")] = QuotaUsage(100, 77)
    assert check(Subscription(OPEN, usages), pool())[0][1:] == [("dev", QUOTA, "pass"), ("dev", QUOTA, "fail")]
    usages[(FAMILY, "on-demand")] = QuotaUsage(23, 0)
    assert check(Subscription(OPEN, usages), pool())[0][1:] == [("dev", QUOTA, "fail"), ("dev", QUOTA, "fail")]
    assert reasons == []


def test_a_size_that_the_list_does_not_hold_fails():
    found, _ = check(Subscription({}), pool())
    assert found[0] == ("agents", SIZE, "fail")


def test_a_closed_size_fails():
    closed = {"Standard_NC6": SubscriptionSku(("1",), (("Location", "NotAvailableForSubscription", ()),))}
    assert check(Subscription(closed), pool())[0][0] == ("agents", SIZE, "fail")


def test_zones_by_id_are_not_the_subscriptions_numbers():
    usages = {(FAMILY, "on-demand"): QuotaUsage(24, 0)}
    assert check(Subscription(OPEN, usages), pool(zones=["eastus-az3"]))[0][0] == ("agents", SIZE, "pass")
    assert check(Subscription(OPEN, usages), pool(zones=["3"]))[0][0] == ("agents", SIZE, "fail")


BATCH = BatchAccountQuota(True, 24, 12, None, {})


@pytest.mark.parametrize(
    ("batch", "words", "found"),
    [
        (BATCH, {}, ["pass"]),
        (BATCH, {"max": 5}, ["fail"]),
        (BATCH, {"max": 2, "capacity": "spot"}, ["pass"]),
        (BATCH, {"max": 3, "capacity": "spot"}, ["fail"]),
        (BatchAccountQuota(True, 24, 12, None, {("all", "on-demand"): 6}), {"max": 4}, ["fail"]),
        (BatchAccountQuota(True, 24, 12, {"standardncfamily": 18}, {}), {"max": 3}, ["pass", "pass"]),
        (BatchAccountQuota(True, 24, 12, {"standardncfamily": 18}, {}), {"max": 4}, ["fail", "pass"]),
        # A family that the account's list does not hold: the total alone is known.
        (BatchAccountQuota(True, 24, 12, {}, {}), {"max": 4}, ["pass"]),
    ],
)
def test_a_batch_account_counts_by_its_own_quota(batch, words, found):
    # The subscription's own quota is not asked.
    subscription = Subscription(OPEN, {(FAMILY, "on-demand"): QuotaUsage(0, 0)}, {"train": batch})
    assert [status for _, rule, status in check(subscription, pool(1, **words))[0] if rule == QUOTA] == found


def test_an_account_that_allocates_in_the_subscription_counts_there():
    accounts = {"train": BatchAccountQuota(False, None, None, None, {})}
    usages = {(FAMILY, "on-demand"): QuotaUsage(24, 0), ("all", "on-demand"): QuotaUsage(24, 6)}
    found, _ = check(Subscription(OPEN, usages, accounts), pool(1))
    assert [status for _, rule, status in found if rule == QUOTA] == ["pass", "fail"]


def test_a_batch_account_that_is_not_there_yet_has_a_quota_that_nobody_knows():
    found, reasons = check(Subscription(OPEN), pool(1))
    assert found[-1] == ("dev", QUOTA, "unverified")
    assert reasons == [
        "Batch account train: is not there yet; the core quota of a new account may be 0, and is known when it has "
        "been made"
    ]


def test_what_is_not_answered_is_unverified_with_one_reason(denied):
    found, reasons = check(Subscription(denied, denied, denied), pool(), pool(1))
    assert {status for _, _, status in found} == {"unverified"}
    assert reasons == ["ec2: denied"]


def test_without_a_subscription_nothing_is_verified(denied):
    def nobody(region):
        raise denied

    queries = QueryRunner()
    found = validate_azure(PLAN, [pool()], nobody, queries, ())
    assert {each.finding.status.value for each in found} == {"unverified"}
    assert queries.reasons == ["ec2: denied"]


def test_a_region_that_is_not_known_has_a_reason():
    found, reasons = check(Subscription(OPEN), pool(region=None))
    assert found[-1][2] == "unverified"
    assert reasons == ["agents: the region is not known at preview"]


@pytest.mark.parametrize(
    ("operation", "status"), [("create", "fail"), ("same", "unverified"), ("update", "unverified")]
)
def test_cores_of_the_stack_itself_are_not_held_against_it(operation, status):
    plan = Plan("dev", [Resource("urn:pulumi:dev::p::t::agents", AGENT, {}, operation=operation)])
    usages = {(FAMILY, "on-demand"): QuotaUsage(24, 12)}
    found, reasons = check(Subscription(OPEN, usages), pool(plan=plan), plan=plan)
    assert found[-1] == ("dev", QUOTA, status)
    assert bool(reasons) is (status == "unverified")
    # Enough even if all in use were others': nothing is in doubt.
    usages[(FAMILY, "on-demand")] = QuotaUsage(36, 12)
    assert check(Subscription(OPEN, usages), pool(plan=plan), plan=plan) == (
        [("agents", SIZE, "pass"), ("dev", QUOTA, "pass")],
        [],
    )
    # The stack alone is too much, whatever others use.
    usages[(FAMILY, "on-demand")] = QuotaUsage(23, 12)
    assert check(Subscription(OPEN, usages), pool(plan=plan), plan=plan)[0][-1] == ("dev", QUOTA, "fail")


def test_dedicated_and_low_priority_nodes_of_one_pool_have_one_size():
    found, _ = check(Subscription(OPEN, accounts={"train": BATCH}), pool(1), pool(1, capacity="spot", max=2))
    assert found == [("pool", SIZE, "pass"), ("dev", QUOTA, "pass"), ("dev", QUOTA, "pass")]
