"""Options by price, limits and budget, in the data that ships."""

from dataclasses import replace
from datetime import date

import pytest

from gpufleet.choose.node_shapes import NodeComparison, compare_node_counts
from gpufleet.choose.onprem_servers import PricedServers
from gpufleet.choose.scaling import Range, Workload

LAB = PricedServers("lab", "V100", gpus=4, gpu_memory_gib=32, count=2, network_gbps=25, usd_per_hour=0.9)
WORK = Workload(350e6, 0.4)


def named(options, name):
    (option,) = (option for option in options if option.type == name)
    return option


def test_price_of_the_run_is_nodes_times_hours_times_price(chosen):
    option = named(chosen(gpu_memory_gib=40, regions=("us-east-1",)), "g6e.12xlarge")
    assert (option.nodes, option.gpus) == (2, 8)
    assert option.usd == Range(2 * 24 * 10.49264, 2 * 24 * 10.49264)
    assert option.zone_ids == ("use1-az1", "use1-az2", "use1-az4", "use1-az6")
    assert [(each.code, each.vcpus) for each in option.quotas] == [("L-DB2E81BA", 96)]


def test_spare_gpus_are_paid_for_and_make_nothing_faster(chosen):
    option = named(chosen(gpus=5, gpu_memory_gib=40, regions=("us-east-1",)), "g6e.48xlarge")
    assert (option.nodes, option.gpus, option.gpus_asked) == (1, 8, 5)
    assert option.hours == Range(24, 24)


def test_cheapest_first_and_unknown_prices_last(chosen):
    for budget in (None, 600.0):
        options = chosen(budget=budget)
        known = [option.usd is not None for option in options]
        assert known == sorted(known, reverse=True)
        assert not all(known)
        assert all(option.usd is None or option.usd.fast > 0 for option in options)
    prices = [option.usd.slow for option in chosen() if option.usd]
    assert prices == sorted(prices)


@pytest.mark.parametrize(("budget", "verdict"), [(503.65, "yes"), (503.64, "no")])
def test_budget_to_the_cent(chosen, budget, verdict):
    assert named(chosen(budget=budget, regions=("us-east-1",)), "g6e.12xlarge").verdict == verdict


def test_unknown_price_is_never_within_the_budget(chosen):
    verdicts = {option.verdict for option in chosen(budget=1e9) if option.usd is None}
    assert verdicts == {"unknown"}


def test_within_the_budget_comes_first_then_what_may_be(chosen):
    ranks = [{"yes": 0, "at best": 1, "no": 2, "unknown": 3}[o.verdict] for o in chosen(budget=600.0, work=WORK)]
    assert ranks == sorted(ranks)
    assert set(ranks) == {0, 1, 2, 3}


def test_old_prices_are_said_to_be_old(chosen):
    assert not named(chosen(regions=("eastus2",)), "Standard_ND96isr_H200_v5").price_is_old
    later = named(chosen(today=date(2036, 1, 1), regions=("eastus2",)), "Standard_ND96isr_H200_v5")
    assert later.price_is_old


def test_unknown_zones_are_unknown(chosen):
    assert named(chosen(clouds=("azure",)), "Standard_ND96isr_H100_v5").zone_ids is None


def test_limits_of_cloud_and_region(chosen):
    assert {option.cloud for option in chosen(servers=[LAB], clouds=("azure",))} == {"azure"}
    assert {option.region for option in chosen(servers=[LAB], regions=("eu-west-1",))} == {"eu-west-1"}
    assert [option.type for option in chosen(servers=[LAB], clouds=("own",))] == ["lab"]
    assert [option.type for option in chosen(servers=[LAB], regions=("onprem",))] == ["lab"]


@pytest.mark.parametrize(
    ("asked", "there"),
    [({"gpus": 8}, True), ({"gpus": 9}, False), ({"gpu_memory_gib": 32.0}, True), ({"gpu_memory_gib": 32.1}, False)],
)
def test_own_servers_that_fit_and_are_enough(chosen, asked, there):
    assert [option.type for option in chosen(servers=[LAB], clouds=("own",), **asked)] == (["lab"] if there else [])


def test_own_servers_without_a_price_are_unknown_not_free(chosen):
    unpriced = PricedServers("desk", "TITAN V", gpus=8, gpu_memory_gib=12)
    option = named(chosen(servers=[LAB, unpriced], budget=100.0), "desk")
    assert (option.usd, option.verdict) == (None, "unknown")


@pytest.mark.parametrize(("gbps", "there"), [(100, True), (101, False)])
def test_least_network_holds_between_nodes(chosen, gbps, there):
    names = [option.type for option in chosen(min_gbps=gbps)]
    assert ("g6e.12xlarge" in names) is there


def test_one_node_needs_no_network_between_nodes(chosen):
    options = chosen(min_gbps=1e6, fabric=True)
    assert options
    assert {option.nodes for option in options} == {1}


def test_fabric_is_efa_or_infiniband(chosen):
    several = [option for option in chosen(gpus=16, fabric=True) if option.nodes > 1]
    assert {option.network.kind for option in several} == {"EFA", "InfiniBand"}
    assert named(several, "Standard_ND96isr_H100_v5").network.gbps == 3200
    assert named(several, "Standard_ND96isr_H200_v5").network.gbps is None


def test_spot_is_a_range_beside_the_budget(chosen):
    plain = named(chosen(regions=("us-east-1",), budget=500.0), "p5.48xlarge")
    spot = named(chosen(regions=("us-east-1",), budget=500.0, spot=True), "p5.48xlarge")
    assert plain.spot_usd is None
    assert spot.spot_usd.fast < 500 < spot.usd.fast
    assert spot.verdict == "no"
    assert [each.code for each in spot.quotas] == ["L-C4BD4855"]


def test_exchange_makes_several_nodes_longer_and_dearer_and_leaves_one_alone(chosen):
    plain = {option.type: option for option in chosen()}
    for option in chosen(work=WORK):
        if option.nodes == 1:
            assert option.hours == Range(24, 24)
        elif option.network.gbps is None:
            assert option.hours is None
            assert option.usd is None
        else:
            assert option.hours.slow > 24
            assert option.usd is None or option.usd.slow > plain[option.type].usd.slow


def pair(chosen, model, **asked):
    (found,) = (each for each in compare_node_counts(chosen(clouds=("aws",), **asked)) if each.one.gpu_model == model)
    return found


def test_break_even_needs_no_model(chosen):
    found = pair(chosen, "L40S", regions=("us-east-1",))
    assert (found.one.type, found.several.type, found.several.nodes) == ("g6e.48xlarge", "g6e.xlarge", 8)
    assert found.break_even == pytest.approx(30.13118 / (8 * 1.861))
    assert found.advice.endswith("how long they take is not known")


@pytest.mark.parametrize(
    ("stretched", "start"),
    [
        (Range(1.0, 1.43), "several nodes are cheaper: the model says 1.00 to 1.43 times as long, 1.44 would"),
        (
            Range(1.0, 1.44),
            "open: several are cheaper while they take less than 1.44 times as long, and the model says",
        ),
        (Range(1.44, 2.0), "one node is cheaper: the model says 1.44 to 2.00 times as long on several, 1.44 would"),
    ],
)
def test_advice_follows_how_long_several_take(chosen, stretched, start):
    found = pair(chosen, "L40S", regions=("us-east-1",), min_gbps=100)
    assert found.break_even == pytest.approx(30.13118 / (2 * 10.49264))  # 1.4358
    assert NodeComparison(found.one, replace(found.several, stretch=stretched)).advice.startswith(start)


def test_one_node_at_the_same_price_comes_first(chosen):
    found = pair(chosen, "H100", regions=("us-east-1",))
    assert found.break_even == pytest.approx(1)
    assert found.advice == "one node costs no more, and has no network between nodes"
    types = [option.type for option in chosen(clouds=("aws",), regions=("us-east-1",), gpu_model="H100")]
    assert types == ["p5.48xlarge", "p5.4xlarge"]
