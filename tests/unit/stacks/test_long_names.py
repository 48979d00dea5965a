"""Environments with long names: what the providers would make of them is checked in the preview."""

from dataclasses import replace

import pytest

from gpufleet.catalog import aws, azure
from gpufleet.rules.names import RANDOM
from tests.unit.stacks import aws_environment, azure_stack

CASES = {
    "aws": (aws_environment.program, aws),
    "azure": (azure_stack.program, azure),
}


def room(made, names):
    """By how many characters the stack's name can grow until the first automatic name is too long."""
    found = [
        names[each.type].longest - RANDOM - len(each.name)
        for each in made.resources
        if each.type in names
        and each.name.startswith("dev-")
        and not {names[each.type].property, f"{names[each.type].property}Prefix"} & each.inputs.keys()
    ]
    assert len(found) > 3, "the environment has names that providers make"
    return min(found)


@pytest.mark.parametrize("case", CASES)
def test_longest_stack_name_is_legal_and_one_more_is_refused(case):
    program, catalog = CASES[case]
    longest = len("dev") + room(program(), catalog().automatic_names)
    assert replace(program, name="n" * longest)(preview=True).resources
    lines = replace(program, name="n" * (longest + 1)).refusal()
    assert lines
    assert all(line.endswith(f"use a stack name of at most {longest} characters [any-name-length]") for line in lines)


def test_environment_of_38_characters_is_told_the_longest_name():
    name = "aws-foundation-models-training-prod-eu"
    lines = replace(aws_environment.program, name=name).refusal()
    allowed = {line.rpartition("at most ")[2] for line in lines}
    assert allowed == {f"{most} characters [any-name-length]" for most in (31, 35)}
    assert any(line.startswith(f"{name}-autoscaler-identity-role: name=") for line in lines)
