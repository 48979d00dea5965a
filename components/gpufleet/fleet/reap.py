"""Destroy expired environments from their stack's state alone, without their program."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from gpufleet.fleet.engine_backend import stack_of_engine
from gpufleet.fleet.environment import EnvironmentSummary, environment_of
from gpufleet.fleet.reap_plan import ReapDecision, ReapVerdict
from gpufleet.fleet.retained_data import deletable_resources
from gpufleet.pulumi_cli import PulumiCli, PulumiCliError


def reap(
    engine: PulumiCli, decision: ReapDecision, decide: Callable[[EnvironmentSummary], ReapDecision]
) -> ReapDecision:
    """Destroy an environment that is due, except protected resources, its data. A failure is in `why`.

    decide: decides about an environment; one that was extended since it was listed stays. The engine's own lock keeps
    two of it off one stack.
    """
    with tempfile.TemporaryDirectory() as empty:
        # Of a project that is not the stack's the engine would say that it does not match.
        alone = replace(engine, project=Path(empty))
        name = decision.environment.full_name
        try:
            state = stack_of_engine(alone, name)
            now = datetime.now(UTC).date()
            # Whether somebody works on it only the listing said; the engine's lock says it again.
            again = decide(replace(environment_of(state, now), updating=decision.environment.updating))
            if again.verdict is not ReapVerdict.DUE:
                return again
            code = alone.destroy(name, "--exclude-protected")
            if code != 0:
                return replace(
                    decision, verdict=ReapVerdict.FAILED, why=f"`pulumi destroy` ended with {code}, see above"
                )
            if left := deletable_resources(stack_of_engine(alone, name).resources):
                return replace(
                    decision, verdict=ReapVerdict.FAILED, why=f"{len(left)} resources are left after its destroy"
                )
        except PulumiCliError as error:
            return replace(decision, verdict=ReapVerdict.FAILED, why=str(error))
        return replace(again, verdict=ReapVerdict.DESTROYED)
