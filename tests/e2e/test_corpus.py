"""One program of each kind of the corpus on the real engine; `make corpus` runs all of them."""

from pathlib import Path

import pytest

from tests.corpus.engine_run import STEPS, run_program
from tests.corpus.programs import SAMPLE, programs


@pytest.mark.parametrize("kind", SAMPLE)
def test_program_comes_up_changes_and_goes_on_the_engine(kind: str, tmp_path: Path) -> None:
    program = next(each for each in programs() if each.name == SAMPLE[kind])
    steps = run_program(program, tmp_path / kind)
    assert {name: step.said for name, step in steps.items() if not step.ok} == {}
    assert tuple(steps) == STEPS
