"""The model of several nodes: the formula by hand, and what each input does to it."""

import pytest

from gpufleet.choose.model_fit import fitted_models
from gpufleet.choose.scaling import (
    NETWORK_SHARE,
    RESNET50,
    Range,
    Workload,
    exchange_seconds,
    run_hours,
    scaling_rows,
    step_seconds,
    stretch,
)

WORK = Workload(parameters=25e6, step_seconds=0.5)  # 100 MB of gradient


@pytest.mark.parametrize(("nodes", "seconds"), [(1, 0), (2, 0.08), (4, 0.12), (8, 0.14)])
def test_ring_all_reduce_moves_2_n_minus_1_over_n_of_the_bytes(nodes, seconds):
    assert exchange_seconds(nodes, WORK.gradient_bytes, gbps=10) == pytest.approx(seconds)


def test_half_precision_halves_the_bytes():
    assert Workload(25e6, 0.5, "bfloat16").gradient_bytes * 2 == WORK.gradient_bytes


@pytest.mark.parametrize(
    ("compute", "exchange", "overlap", "seconds"),
    [(3, 2, 0, 5), (3, 2, 0.5, 4), (3, 2, 1, 3), (2, 3, 1, 3), (2, 3, 0.5, 4)],
)
def test_overlap_hides_the_shorter_of_both_and_no_more(compute, exchange, overlap, seconds):
    assert step_seconds(compute, exchange, overlap) == seconds


def test_one_node_is_not_stretched_even_on_an_unknown_network():
    assert stretch(1, WORK, None) == Range(1, 1)


def test_several_nodes_on_an_unknown_network_are_unknown():
    assert stretch(2, WORK, None) is None
    assert run_hours(10, 1, 2, WORK, None) is None


def test_range_is_from_all_hidden_to_none_hidden_on_a_share_of_the_network():
    found = stretch(2, WORK, 10)
    assert found.fast == 1  # 0.08 s behind 0.5 s
    assert found.slow == pytest.approx(1 + 0.08 / NETWORK_SHARE / 0.5)


def test_where_the_wire_is_the_limit_the_fast_end_is_the_exchange():
    assert stretch(2, WORK, 1).fast == pytest.approx(0.8 / 0.5)


def test_batch_of_a_gpu_fixed_needs_fewer_steps_and_the_total_one_shorter_ones():
    # 4 nodes instead of 2: 0.12 s of exchange on a step of 0.5 s, or of 0.25 s.
    slow = 0.12 / NETWORK_SHARE
    assert run_hours(10, 2, 4, WORK, 10).slow == pytest.approx(5 * (0.5 + slow) / 0.5)
    total = Workload(25e6, 0.5, batch="total")
    assert run_hours(10, 2, 4, total, 10).slow == pytest.approx(5 * (0.25 + slow) / 0.25)


def test_from_n_to_m_nodes_doubles_and_ends_at_m():
    rows = scaling_rows(10, 2, 12, WORK, 10, usd_per_hour=3.0)
    assert [nodes for nodes, _, _ in rows] == [2, 4, 8, 12]
    for nodes, hours, usd in rows:
        assert usd.slow == pytest.approx(hours.slow * nodes * 3)


def test_an_unknown_price_stays_unknown_on_more_nodes():
    assert [usd for _, _, usd in scaling_rows(10, 1, 2, WORK, 10, usd_per_hour=None)] == [None, None]


def test_share_of_the_network_is_what_p3_reached_if_its_model_was_resnet50():
    seconds = fitted_models()["p3.2xlarge"].exchange_seconds
    reached = RESNET50 * 32 / seconds / 1e9
    assert reached / 10 == pytest.approx(NETWORK_SHARE, abs=0.02)
