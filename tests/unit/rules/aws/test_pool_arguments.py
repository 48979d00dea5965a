"""Every rule on a pool's intent, where only part of it is known."""

import pytest

from gpufleet.rules import Status, all_rules
from gpufleet.rules.aws.pool_arguments import _NEEDS, validate_pool_arguments

WRONG = {
    "types": ["p4d.24xlarge", "g5.8xlarge"],
    "min": 3,
    "desired": 5,
    "max": 2,
    "zones": ["use1-az1", "use1-az2"],
    "placement": "create",
    "capacity": "reservation",
    "network": "efa",
    "public_addresses": True,
    "disk_gib": 5,
}


def broken(pool, unknown=(), **more):
    return {
        each.rule for each in validate_pool_arguments(pool, "us-east-1", unknown, **more) if each.status is Status.FAIL
    }


def test_every_rule_that_needs_words_is_a_rule() -> None:
    assert set(_NEEDS) <= {rule.name for rule in all_rules()}


def test_nothing_is_demanded() -> None:
    assert broken({}) == set()


@pytest.mark.parametrize("word", sorted({word for words in _NEEDS.values() for word in words}))
def test_rules_that_need_an_unknown_word_are_left_out(word: str) -> None:
    known = {key: value for key, value in WRONG.items() if key != word}
    checked = {finding.rule for finding in validate_pool_arguments(known, "us-east-1", [word])}
    assert not checked & {rule for rule, words in _NEEDS.items() if word in words}
    # And only these: what else was broken still is.
    assert broken(WRONG) - {rule for rule, words in _NEEDS.items() if word in words} <= broken(WRONG, [word])


def test_wrong_pool_breaks_rules_on_every_word() -> None:
    assert broken(WRONG) >= {
        "any-placement-one-zone",
        "aws-placement-no-block",
        "any-capacity-id-given",
        "aws-capacity-one-place",
        "aws-efa-one-zone",
        "aws-efa-private",
        "any-count-min-max",
        "aws-image-disk",
    }


@pytest.mark.parametrize(("interfaces", "refused"), [(None, True), (4, True), (2, True), (1, False)])
def test_interfaces_that_are_known_count_and_not_the_cards(interfaces: int | None, refused: bool) -> None:
    pool = {"types": ["p4d.24xlarge"], "network": "efa", "public_addresses": True}
    assert ("aws-efa-private" in broken(pool, interfaces=interfaces)) is refused
