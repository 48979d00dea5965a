"""What the corpus as a whole must be: large, sourced, and complete as to the refusals that rules can show."""

import re
from collections import Counter

import pytest

from gpufleet.rules import Severity, Status, all_rules
from tests.mistakes.corpus import mistakes, program, record
from tests.mistakes.entry_points import plan_findings

SOURCE = re.compile(r"[\w.-]+/[\w.-]+#\d+|(docs\.aws\.amazon|learn\.microsoft)\.com/\S+")
PEERS = {
    "aws/aws-parallelcluster": (1216, 4061, 1375, 4215, 934, 4578, 2098),
    "GoogleCloudPlatform/cluster-toolkit": (3225,),
    "Azure/az-hop": (995,),
    "eksctl-io/eksctl": (7949, 8224),
    "terraform-aws-modules/terraform-aws-eks": (3730, 3044),
    "aws-ia/data-on-eks": (685,),
    "pulumi/pulumi-eks": (598, 321, 985, 95),
    "pulumi/pulumi-awsx": (1152,),
    "pulumi/pulumi-aws": (6233,),
    "terraform-aws-modules/terraform-aws-batch": (5,),
    "skypilot-org/skypilot": (3953,),
    "awslabs/awsome-distributed-ai": (448,),
}
"""The threads that facts/peers.md names. awsome-distributed-training is called awsome-distributed-ai today."""


def test_two_hundred_and_fifty_mistakes_or_more() -> None:
    assert len({(mistake.rule, mistake.source) for mistake in mistakes()}) >= 240
    assert len(mistakes()) >= 250
    assert len({mistake.rule for mistake in mistakes()}) >= 120


def test_names_are_unique() -> None:
    twice = [name for name, number in Counter(mistake.name for mistake in mistakes()).items() if number > 1]
    assert twice == []


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: mistake.name)
def test_mistake_says_where_it_comes_from(mistake) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", mistake.name)
    assert SOURCE.fullmatch(mistake.source)
    assert mistake.happened.endswith((".", "..."))
    assert {mistake.rule, *mistake.also} <= {rule.name for rule in all_rules()}
    assert mistake.wrong != mistake.legal


def test_every_refusal_that_a_rule_can_see_is_shown_or_excused() -> None:
    lines = record("refusals.yaml")
    shown = {mistake.refusal for mistake in mistakes() if mistake.refusal}
    excused = record("not_shown.yaml")["lines"]
    assert shown <= set(lines)
    assert set(excused) <= set(lines)
    assert set(lines) - shown == set(excused)
    # Nothing that inputs, graph or catalog show is excused.
    assert [line for line in excused if set(lines[line].split()) & {"I", "G", "C"}] == []


def test_every_thread_of_the_peers_is_shown_or_excused() -> None:
    named = {f"{repository}#{number}" for repository, numbers in PEERS.items() for number in numbers}
    shown = {thread for mistake in mistakes() for thread in (mistake.source, *mistake.peers)}
    excused = set(record("not_shown.yaml")["threads"])
    assert excused <= named
    assert named - shown == excused - shown
    assert not excused & shown


@pytest.mark.parametrize("name", record("programs_*.yaml"))
@pytest.mark.parametrize("pack", ["zones"])
def test_programs_that_mistakes_start_from_are_legal(name: str, pack: str) -> None:
    region = "eastus" if name.startswith("azure") else "us-east-1"
    found = plan_findings(program(name), pack, {}, region)
    wrong = [
        each for each in found if each.finding.status is Status.FAIL and each.finding.severity is not Severity.INFO
    ]
    assert [each.line for each in wrong] == []
