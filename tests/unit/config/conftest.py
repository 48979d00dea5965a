"""Fixtures of the tests of configurations."""

from tests.components.recorder import event_loop_of_its_own

__all__ = ["event_loop_of_its_own"]
