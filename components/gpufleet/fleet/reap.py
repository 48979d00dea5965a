"""Destroy expired environments from their stack's state alone, without their program."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from gpufleet.fleet.engine_backend import stack_of_engine
from gpufleet.fleet.environment import EnvironmentSummary, environment_of
from gpufleet.fleet.reap_plan import ReapDecision, ReapVerdict
from gpufleet.fleet.retained_data import Resources, deletable_resources
from gpufleet.fleet.stack_lock import lock_in_message
from gpufleet.fleet.stack_state import StackState
from gpufleet.pulumi_cli import PulumiCli, PulumiCliError

Decide = Callable[[EnvironmentSummary], ReapDecision]


def reap(engine: PulumiCli, decision: ReapDecision, decide: Decide) -> ReapDecision:
    """Destroy an environment that is due, except protected resources, its data. A failure is in `why`.

    decide: decides about an environment. It is asked again by the state as it is now, so that one that was extended
    since it was listed stays; and by what the clouds say of the resources, as anybody who may write the state can name
    others' resources in it. The engine's own lock keeps two of it off one stack.
    """
    with tempfile.TemporaryDirectory() as empty:
        # Of a project that is not the stack's the engine would say that it does not match.
        alone = replace(engine, project=Path(empty))
        name = decision.environment.full_name
        try:
            state, again = _decide_now(alone, decision, decide)
            if again.verdict is not ReapVerdict.DUE:
                return again
            try:
                _refresh(alone, name, state.resources)
            except PulumiCliError as error:
                # A backend of another kind than files tells of its locks only so.
                if lock := lock_in_message(str(error)):
                    return decide(replace(again.environment, updating=True, lock=lock))
                raise
            state, again = _decide_now(alone, decision, decide)
            if again.verdict is not ReapVerdict.DUE:
                return again
            code = alone.destroy(name, "--exclude-protected")
            if code != 0:
                return _failed(decision, f"`pulumi destroy` ended with {code}, see above")
            if left := deletable_resources(stack_of_engine(alone, name).resources):
                return _failed(decision, f"{len(left)} resources are left after its destroy")
        except PulumiCliError as error:
            return _failed(decision, str(error))
        return replace(again, verdict=ReapVerdict.DESTROYED)


def _decide_now(engine: PulumiCli, decision: ReapDecision, decide: Decide) -> tuple[StackState, ReapDecision]:
    """The state as it is now, and the decision by it."""
    listed = decision.environment
    state = stack_of_engine(engine, listed.full_name)
    # Whether somebody works on it only the listing said; the engine's lock says it again.
    now = replace(environment_of(state, datetime.now(UTC).date()), updating=listed.updating, lock=listed.lock)
    return state, decide(now)


def _refresh(engine: PulumiCli, name: str, resources: Resources) -> None:
    """Write into the state what the clouds say of the resources that would be deleted. Errors: PulumiCliError.

    What goes with another resource the engine does not touch.
    """
    urns = [str(each["urn"]) for each in deletable_resources(resources) if not each.get("deletedWith")]
    engine.output_of(
        "refresh", "--stack", name, "--yes", "--skip-preview", "--non-interactive", "--suppress-permalink=true",
        "--parallel", str(engine.parallel), *(word for urn in urns for word in ("--target", urn)),
    )  # fmt: skip


def _failed(decision: ReapDecision, why: str) -> ReapDecision:
    return replace(decision, verdict=ReapVerdict.FAILED, why=why)
