"""The scaling model against every measured point of mission.md S2, row 11."""

import statistics

import pytest

from gpufleet.choose.model_fit import (
    READING,
    READINGS,
    FittedModel,
    Measurement,
    fit,
    fitted_models,
    placement_gain,
    rate,
    read_measurements,
    scores,
)


def test_every_measured_point_is_scored():
    _, points = read_measurements()
    assert len(points) == 18
    for reading in READINGS:
        assert {score.point for score in scores(reading)} == set(points)


def test_points_are_those_of_the_source():
    _, points = read_measurements()
    rates = {(point.series, point.type, point.nodes): point.per_second for point in points}
    assert rates["plain", "p2.xlarge", 2] == 0.3347
    assert rates["placed", "p3.2xlarge", 4] == 1.8987
    assert rates["half", "p2.xlarge", 8] == 1.5635


@pytest.mark.parametrize("reading", READINGS)
def test_fit_finds_numbers_that_made_the_points(reading):
    true = FittedModel(0.7, 0.3, 0)
    points = [Measurement("x", "plain", n, rate(n, true, reading), 32, False) for n in (2, 4, 8)]
    found = fit(points, reading)
    assert found.compute_seconds == pytest.approx(0.7, rel=1e-3)
    assert found.exchange_seconds == pytest.approx(0.3, rel=1e-3)
    assert found.error < 1e-4


def test_no_other_numbers_fit_better():
    _, points = read_measurements()
    plain = [point for point in points if (point.series, point.type) == ("plain", "p2.xlarge")]
    best = fit(plain, READING)

    def error(found: FittedModel) -> float:
        logs = [rate(point.nodes, found, READING) / point.per_second - 1 for point in plain]
        return statistics.fmean(each**2 for each in logs)

    for compute in (0.9, 1.1):
        for exchange in (0.7, 1.3):
            other = FittedModel(best.compute_seconds * compute, best.exchange_seconds * exchange, 0)
            assert error(best) < error(other)


def test_only_the_plain_points_are_fitted():
    assert {score.point.series for score in scores() if score.fitted} == {"plain"}
    assert {score.point.series for score in scores() if not score.fitted} == {"placed", "half"}


def test_placed_points_are_predicted_without_any_gain():
    said = {(s.point.type, s.point.series, s.point.nodes): s.predicted for s in scores() if s.overlap == 0}
    for (name, series, nodes), value in said.items():
        if series == "placed":
            assert value == said[name, "plain", nodes]
    gains = placement_gain()
    assert gains["p2.xlarge"] == pytest.approx(-0.017, abs=0.001)
    assert gains["p3.2xlarge"] == pytest.approx(0.048, abs=0.001)


def test_the_reading_that_is_used_fits_both_types_together_better():
    worst = {reading: max(found.error for found in fitted_models(reading).values()) for reading in READINGS}
    assert min(worst, key=worst.__getitem__) == READING


def test_residuals_are_as_the_documentation_says():
    residuals = {(s.point.series, s.point.type, s.point.nodes, s.overlap): s.residual for s in scores()}
    placed = [each for (series, *_), each in residuals.items() if series == "placed"]
    assert (round(min(placed), 2), round(max(placed), 2)) == (-0.11, 0.15)
    for overlap, low, high in ((0, -0.37, 0.18), (1, -0.11, 0.69)):
        half = [each for (series, _, _, part), each in residuals.items() if series == "half" and part == overlap]
        assert (round(min(half), 2), round(max(half), 2)) == (low, high)
