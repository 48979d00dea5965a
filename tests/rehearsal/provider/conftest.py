"""Conversations with a provider whose directory is the test's."""

import pytest

from gpufleet_rehearsal.cloud import open_cloud
from gpufleet_rehearsal.provider.servicer import Provider
from gpufleet_rehearsal.table.loader import DATA, load_table
from tests.rehearsal.engine_talk import talk


@pytest.fixture
def rehearse(tmp_path, toy_table, monkeypatch):
    """Runs a conversation with a provider of the toy cloud, or with the one given."""
    monkeypatch.setattr(open_cloud, "load_table", lambda name: load_table(name, toy_table if name == "toy" else DATA))
    monkeypatch.setattr(
        open_cloud, "input_problems", lambda _type, inputs: [("x", "x=1: bad")] if "x" in inputs else []
    )

    return lambda conversation, servicer=None: talk(conversation, servicer or Provider("toy", tmp_path))
