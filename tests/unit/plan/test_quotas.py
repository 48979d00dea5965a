"""From pools and quotas to the lines that users see."""

import pytest

from gpufleet.plan.quota_demand import DemandingPool, quota_demand_of
from gpufleet.plan.quota_limits import ALL, QuotaError, QuotaLimit
from gpufleet.plan.quotas import validate_quota_demand, validate_quotas
from gpufleet.rules import Status


def pool(types, most, **words):
    return {"types": types, "max": most, "zones": ["use1-az1"]} | words


def statuses(pools, quotas, cloud="aws", region="us-east-1"):
    return [each.finding.status for each in validate_quotas("dev", pools, region, quotas, cloud)]


NC6 = {"family": "all", "market": "on-demand", "limit": 24, "in_use": 0}
FAMILY = NC6 | {"family": "standardNCFamily"}


@pytest.mark.parametrize(("most", "status"), [(4, Status.PASS), (5, Status.FAIL)])
@pytest.mark.parametrize("quotas", [[FAMILY], [FAMILY, NC6 | {"limit": 1000}]])
def test_of_24_cores_four_nodes_of_six_pass_and_the_fifth_fails(most, status, quotas):
    found = statuses({"trainers": pool(["Standard_NC6"], most)}, quotas, "azure", "eastus")
    assert found[0] is status


def test_the_regional_total_counts_where_it_is_given():
    quotas = [FAMILY | {"limit": 100}, NC6]
    assert statuses({"a": pool(["Standard_NC6"], 5)}, quotas, "azure", "eastus") == [Status.PASS, Status.FAIL]


def test_on_demand_and_spot_are_counted_apart():
    pools = {"a": pool(["g5.8xlarge"], 2), "b": pool(["g5.8xlarge"], 3, capacity="spot")}
    quotas = [
        {"family": "G and VT", "market": "on-demand", "limit": 64, "in_use": 0},
        {"family": "G and VT", "market": "spot", "limit": 95, "in_use": 0},
    ]
    assert statuses(pools, quotas) == [Status.PASS, Status.FAIL]
    quotas[1]["limit"] = 96
    assert statuses(pools, quotas) == [Status.PASS, Status.PASS]


def growing(name, most, capacity="on-demand", account="train"):
    return DemandingPool(name, "azure", "eastus", pool(["Standard_NC6"], most, capacity=capacity), account=account)


def test_a_batch_account_is_counted_apart_from_the_subscription_and_its_markets_from_each_other():
    limits = [
        QuotaLimit(ALL, "on-demand", 24, 0, "train"),
        QuotaLimit(ALL, "spot", 12, 0, "train"),
        QuotaLimit("standardNCFamily", "on-demand", 6, 0),
        QuotaLimit(ALL, "spot", 6, 0),
    ]
    pools = [growing("a", 4), growing("b", 2, "spot"), growing("c", 1, account=""), growing("d", 1, "spot", "")]
    assert {each.finding.status for each in validate_quota_demand("dev", quota_demand_of(pools), limits)} == {
        Status.PASS
    }
    one_more = [growing("a", 5), growing("b", 3, "spot"), growing("c", 2, account=""), growing("d", 2, "spot", "")]
    found = validate_quota_demand("dev", quota_demand_of(one_more), limits)
    assert [each.finding.status for each in found] == [Status.FAIL] * 4
    assert [each.line.partition(" at the peak")[0].rpartition("}: ")[2] for each in found] == [
        "30 dedicated cores of all families of Batch account train",
        "18 low-priority cores of all families of Batch account train",
        "12 on-demand cores of family standardNCFamily in eastus",
        "12 spot cores of all families in eastus",
    ]


def line(pools, limit, **quota):
    (found,) = validate_quotas(
        "dev", pools, "us-east-1", [{"market": "on-demand", "limit": limit, "in_use": 0} | quota]
    )
    return found.line


def test_the_line_of_aws_holds_the_command_that_asks():
    assert line({"dev-a": pool(["g5.8xlarge"], 3)}, 64, family="G and VT") == (
        "dev: pools={dev-a: 3 x 32}: 96 on-demand vCPUs of family G and VT in us-east-1 at the peak are above the "
        "limit of 64; ask for 96 or more, which takes days: `aws service-quotas request-service-quota-increase "
        "--service-code ec2 --quota-code L-DB2E81BA --region us-east-1 --desired-value 96`; until then dev-a.max=2 "
        "fits [any-quota-enough]"
    )


def test_a_quota_whose_code_nobody_publishes_is_not_taken_for_another():
    pools = {"dev-a": pool(["p6-b200.48xlarge"], 1, capacity="spot")}
    (found,) = validate_quotas(
        "dev", pools, "us-east-1", [{"family": "P", "market": "spot", "limit": 10000, "in_use": 0}]
    )
    assert found.line == (
        "dev: pools={dev-a: 1 x 192}: not verified: 192 spot vCPUs of family P6 in us-east-1 are needed at the peak, "
        "and the account's limit is not known; the code of this quota is not known; `aws service-quotas "
        "list-service-quotas --service-code ec2 --region us-east-1` lists the quotas [any-quota-enough]"
    )


@pytest.mark.parametrize(
    ("account", "capacity", "family", "ask"),
    [
        (
            "",
            "on-demand",
            "standardNCFamily",
            "`az quota update --resource-name standardNCFamily --resource-type dedicated --limit-object value=30 "
            "--scope /subscriptions/SUBSCRIPTION/providers/Microsoft.Compute/locations/eastus`, or the Azure portal, "
            "Quotas, Compute",
        ),
        (
            "",
            "spot",
            ALL,
            "`az quota update --resource-name lowPriorityCores --resource-type lowPriority --limit-object value=30 "
            "--scope /subscriptions/SUBSCRIPTION/providers/Microsoft.Compute/locations/eastus`, or the Azure portal, "
            "Quotas, Compute",
        ),
        (
            "train",
            "on-demand",
            ALL,
            "Azure portal, Batch account train, Quotas, Request quota increase (a support request on Batch; the "
            "subscription's own quota does not count)",
        ),
    ],
)
def test_whom_azure_wants_to_be_asked(account, capacity, family, ask):
    limits = [QuotaLimit(family, capacity, 24, 0, account)]
    (found,) = validate_quota_demand("dev", quota_demand_of([growing("a", 5, capacity, account)]), limits)
    assert f"ask for 30 or more, which takes days: {ask}; until then a.max=4 fits" in found.line


def test_pools_of_a_configuration_count_against_their_own_batch_account():
    quotas = [{"family": ALL, "market": "on-demand", "limit": 24, "in_use": 0, "account": "train"}]
    pools = {"dev-a": pool(["Standard_NC6"], 5)}
    (found,) = validate_quotas("dev", pools, "eastus", quotas, "azure", {"dev-a": "train"})
    assert found.line.startswith("dev: pools={dev-a: 5 x 6}: 30 dedicated cores of all families of Batch account train")


def test_a_family_of_several_words_is_one_word_of_the_command():
    family = "Standard NCASv3_T4 Family"
    quotas = [{"family": family, "market": "on-demand", "limit": 4, "in_use": 0}]
    pools = {"dev-a": pool(["Standard_NC4as_T4_v3"], 2)}
    lines = [each.line for each in validate_quotas("dev", pools, "eastus", quotas, "azure")]
    assert any(f"az quota update --resource-name '{family}' --resource-type" in line for line in lines)


def test_what_no_quota_is_given_for_is_not_verified():
    quotas = [{"family": "P", "market": "on-demand", "limit": 192}]
    assert statuses({"a": pool(["g5.8xlarge"], 2)}, quotas) == [Status.UNVERIFIED]


@pytest.mark.parametrize("quotas", [None, []])
def test_without_quotas_nothing_is_judged(quotas):
    assert validate_quotas("dev", {"a": pool(["g5.8xlarge"], 2)}, "us-east-1", quotas) == []


def test_bad_quotas_are_an_error():
    with pytest.raises(QuotaError, match=r"^gpufleet:quotas\[0\]\.market"):
        validate_quotas("dev", {}, "us-east-1", [{"family": "P", "market": "x", "limit": 1}])


@pytest.mark.parametrize("words", [{}, {"types": 7, "max": "x"}, {"types": ["zz"], "max": None}, {"capacity": 3}])
def test_a_pool_of_nonsense_is_never_a_pass_and_never_a_crash(words):
    quotas = [{"family": "P", "market": "on-demand", "limit": 192, "in_use": 0}]
    assert statuses({"a": words}, quotas) == [Status.UNVERIFIED]
