"""Numbers on the command line that prices and durations are computed from."""

from typing import Any

import click

_LEAST, _MOST = 1e-6, 1e9


class _Amount(click.FloatRange):
    """Help shows the range that a reader cares about, above 0; click's own ranges also accept NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401
        """The number. Errors: click.BadParameter."""
        number = float(super().convert(value, param, ctx))
        if not _LEAST <= number <= _MOST:
            self.fail(f"{value} is not a number from {_LEAST:f} to {_MOST:,.0f}.", param, ctx)
        return number


AMOUNT = _Amount(min=0, min_open=True)
"""From 0.000001 to 1,000,000,000."""
