"""Conversations with a provider whose directory is the test's."""

import pytest
from engine_talk import talk

from gpufleet_rehearsal.cloud import opening
from gpufleet_rehearsal.provider.servicer import Provider
from gpufleet_rehearsal.table.loading import DATA, load_table


@pytest.fixture
def rehearse(tmp_path, toy_table, monkeypatch):
    """Runs a conversation with a provider of the toy cloud, or with the one given."""
    monkeypatch.setattr(opening, "load_table", lambda name: load_table(name, toy_table if name == "toy" else DATA))
    monkeypatch.setattr(opening, "input_problems", lambda _type, inputs: [("x", "x=1: bad")] if "x" in inputs else [])

    return lambda conversation, servicer=None: talk(conversation, servicer or Provider("toy", tmp_path))
