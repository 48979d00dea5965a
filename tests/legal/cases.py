"""How many legal cases are tried, and which: always the same in `make test`, others each time with `make legal`."""

import os

from hypothesis import HealthCheck, Phase, settings

CASES = int(os.environ.get("LEGAL_CASES", "40"))
_FIXED = "LEGAL_CASES" not in os.environ or "CI" in os.environ


def chosen(part: float) -> settings:
    """Settings for this part of the cases. What fails is made smaller only where there is time for it."""
    return settings(
        max_examples=max(2, round(CASES * part)),
        derandomize=_FIXED,
        database=None,
        deadline=None,
        phases=[Phase.generate] if "LEGAL_CASES" not in os.environ else [Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
