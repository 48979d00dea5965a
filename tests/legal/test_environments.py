"""No legal configuration of an environment is refused: not by its components, not by the packs, not by the cloud."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.legal import aws, azure
from tests.legal.cases import chosen
from tests.legal.refusals import refusals_of_environment

KINDS: dict[str, tuple[st.SearchStrategy[tuple[str, dict[str, Any]]], float]] = {
    "aws": (aws.clusters(), 0.15),
    "aws-batch": (aws.batch(), 0.15),
    "hybrid": (aws.hybrid(), 0.05),
    "azure": (azure.environments(), 0.15),
}
"""Kind -> its strategy, and its part of the cases."""


@pytest.mark.parametrize("kind", KINDS)
def test_legal_environment_is_not_refused(kind: str) -> None:
    strategy, part = KINDS[kind]

    @settings(chosen(part))
    @given(strategy)
    def holds(environment: tuple[str, dict[str, Any]]) -> None:
        name, config = environment
        with tempfile.TemporaryDirectory() as folder:
            assert refusals_of_environment(name, config, Path(folder)) == []

    holds()
