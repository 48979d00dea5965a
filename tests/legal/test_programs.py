"""No legal raw program is refused: not by the packs, and not by the simulated cloud from its preview to its end."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings

from gpufleet.policies import feasibility
from tests.corpus.programs import Program
from tests.legal.cases import chosen
from tests.legal.programs import corpus_programs, starts
from tests.legal.refusals import refusals_of_program
from tests.policies.raw_program import plan_from


@settings(chosen(0.2))
@given(corpus_programs())
def test_the_cloud_makes_a_legal_program(program: Program) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert refusals_of_program(program, Path(folder)) == []


@settings(chosen(0.3))
@given(starts())
def test_packs_pass_a_legal_program(start: tuple[str, dict[str, Any]]) -> None:
    region, resources = start
    found = feasibility.validate_feasibility(plan_from(resources, region), {})
    assert [each.line for each in found if each.finding.rejects] == []
