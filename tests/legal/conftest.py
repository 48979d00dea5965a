"""Fixtures of the tests of legal configurations."""

from tests.components.recorder import event_loop_of_its_own

__all__ = ["event_loop_of_its_own"]
