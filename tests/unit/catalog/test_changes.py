"""The summary of a refresh."""

from dataclasses import replace

from gpufleet.catalog import Price, ServicePrice, SpotPrice, ZoneOffer
from gpufleet.catalog.refresh.diff import SHOWN, CatalogDiff, CatalogSnapshot, diff_snapshots

DATED = {"source": "a list", "as_of": "2026-10"}
P5 = ("p5.48xlarge", "us-east-1", "on-demand")


def price(usd: float | None, region: str = "us-east-1", as_of: str = "2026-10") -> Price:
    return Price("p5.48xlarge", region, "on-demand", usd, "a list", as_of)


def lines(before: dict, after: dict, what: str = "prices") -> list[str]:
    (found,) = diff_snapshots(CatalogSnapshot({what: before}), CatalogSnapshot({what: after}))
    return found.lines()


def test_added_removed_and_changed():
    before = {P5: price(98.32), ("p5.48xlarge", "us-west-1", "on-demand"): price(68.8, "us-west-1")}
    after = {P5: price(55.04), ("p5.48xlarge", "us-east-2", "on-demand"): price(55.04, "us-east-2")}
    assert lines(before, after) == [
        "prices: 1 added, 1 removed, 1 changed",
        "  p5.48xlarge us-east-1 on-demand: 98.32 USD -> 55.04 USD",
        "  - p5.48xlarge us-west-1 on-demand",
        "  + p5.48xlarge us-east-2 on-demand: 55.04 USD",
    ]


def test_a_newer_date_is_no_change():
    assert lines({P5: price(55.04)}, {P5: price(55.04, as_of="2026-11")}) == ["prices: 0 added, 0 removed, 0 changed"]


def test_a_price_that_becomes_known():
    assert lines({P5: price(None)}, {P5: price(55.04)})[1:] == [
        "  p5.48xlarge us-east-1 on-demand: unknown -> 55.04 USD"
    ]


def test_other_kinds_in_their_own_words(shipped):
    key = ("p5.48xlarge", "us-east-1")
    assert lines({key: SpotPrice(*key, 10, 20, **DATED)}, {key: SpotPrice(*key, 12, 20, **DATED)})[1:] == [
        "  p5.48xlarge us-east-1: 10 USD to 20 USD -> 12 USD to 20 USD"
    ]
    assert lines(
        {key: ZoneOffer(*key, ("use1-az1",), **DATED)}, {key: ZoneOffer(*key, ("use1-az1", "use1-az2"), **DATED)}
    )[1:] == ["  p5.48xlarge us-east-1: use1-az1 -> use1-az1, use1-az2"]
    nat = ("vpc", "nat-gateway", "us-east-1")
    assert lines({}, {nat: ServicePrice(*nat, "hour", 0.045, **DATED)})[1:] == [
        "  + vpc nat-gateway us-east-1: 0.045 USD per hour"
    ]
    p5 = shipped.types["p5.48xlarge"]
    assert lines({}, {("p5.48xlarge",): p5})[1:] == ["  + p5.48xlarge: 8 H100"]
    assert lines({("p5.48xlarge",): p5}, {("p5.48xlarge",): replace(p5, vcpus=96, source="x", network_gbps=1600)})[
        1:
    ] == ["  p5.48xlarge: vcpus 192 -> 96, network_gbps 3200 -> 1600"]


def test_long_lists_are_counted():
    many = tuple(f"type {number}" for number in range(SHOWN + 5))
    found = CatalogDiff("types", many, (), ()).lines()
    assert found[0] == f"types: {SHOWN + 5} added, 0 removed, 0 changed"
    assert len(found) == SHOWN + 2
    assert found[-1] == "  and 5 more"
