"""`gpufleet reap`: destroy expired environments."""

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.confirmation import confirm, confirmation_options
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.fleet.environment import EnvironmentSummary


@click.command()
@confirmation_options
@click.option("--grace", default="24h", show_default=True, metavar="24h|3d", help="Time after its expiry in which an "
              "environment stays with a warning, if its own tag sets none.")  # fmt: skip
@click.option("--keep", multiple=True, metavar="NAMES", help="Never destroy: stack or project/stack, comma-separated, "
              "* is a wildcard. Repeatable. Kept anyway: prod, production, *-prod, *-production.")  # fmt: skip
@click.option("--backend", metavar="URL", help="Pulumi backend. Default: the one that `pulumi` uses here.")
@click.option("--notify", "webhook", metavar="URL", envvar="GPUFLEET_NOTIFY_URL", help="Post a summary to a webhook "
              "if an environment has expired or is not certain.")  # fmt: skip
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here.")
@json_option
@exit_with_errors
def reap(
    yes: bool, dry_run: bool, grace: str, keep: tuple[str, ...], backend: str | None, webhook: str | None,
    program: Path, as_json: bool,
) -> int:  # fmt: skip
    """Destroy environments past expiry and grace; retain data.

    It lists them and asks. It destroys a stack only if most of its resources carry the mark of that stack and the
    expiry, and none contradicts. Protected resources stay: in our stacks the data, unless the configuration sets
    `erase`. It leaves an environment with an update in progress alone. Exits with 1 if it could not read or destroy an
    environment, or found the lock of a dead engine; it destroys the others anyway.

    \b
    gpufleet reap --grace 3d --dry-run
    gpufleet reap --grace 3d --keep 'vision/*,demo' --yes
    """
    from gpufleet.durations import parse_duration
    from gpufleet.fleet.backend import backend_of, stacks_of
    from gpufleet.fleet.environment import environment_of, sort_environments
    from gpufleet.fleet.reap import reap as destroy
    from gpufleet.fleet.reap_plan import FAULTS, ReapDecision, ReapVerdict, decide_reap, unmatched_names
    from gpufleet.fleet.reap_report import reap_head, reap_line, reap_to_dict, reportable

    span = parse_duration(grace)
    if span is None and grace != "0h":
        raise click.BadParameter(
            "must be a duration in hours, days or weeks, such as 24h, 3d or 1w", param_hint="--grace"
        )
    now = datetime.now(UTC)
    url, states = stacks_of(backend, program)
    environments = sort_environments([environment_of(each, now.date()) for each in states], now)
    kept = [name.strip() for each in keep for name in each.split(",") if name.strip()]
    unmatched = unmatched_names(kept, environments)

    def decide(environment: "EnvironmentSummary") -> ReapDecision:
        return decide_reap(environment, now, span or timedelta(0), kept)

    cases = [decide(each) for each in environments]
    due = [case for case in cases if case.verdict is ReapVerdict.DUE]
    # The plan is shown before it is carried out; neither it nor the engine's output is JSON.
    click.echo(f"{url}: {reap_head(cases)}", err=as_json)
    for case in reportable(cases):
        click.echo(reap_line(case, now), err=as_json)
    problem = f"--keep {', '.join(unmatched)}: matches no stack of this backend; correct the name or leave it out"
    if unmatched and (not due or dry_run):
        click.echo(f"Warning: {problem}", err=True)
    unconfirmed: UserError | None = None
    try:
        if due and unmatched and not dry_run:
            raise UserError(f"{problem}; nothing has been destroyed, as the name may be of a stack that is to stay")
        due_names = [case.environment.name for case in due]
        if due and confirm(f"destroy {', '.join(due_names)}", yes=yes, dry_run=dry_run):
            engine = replace(backend_of(backend, program)[1], output=sys.stderr)
            cases = [destroy(engine, case, decide) if case in due else case for case in cases]
            for case in cases:
                if case.environment.name in due_names:
                    click.echo(reap_line(case, now), err=as_json)
    except UserError as error:
        unconfirmed = error
    if as_json:
        click.echo(json.dumps(reap_to_dict(url, cases, now), indent=2))
    bad = [case for case in cases if case.verdict in FAULTS]
    for case in bad:
        click.echo(f"Error: {case.environment.name}: {case.why}", err=True)
    if webhook and reportable(cases):
        from gpufleet.fleet.webhook import notify

        notify(webhook, reap_to_dict(url, cases, now))
    if unconfirmed:
        raise unconfirmed
    return 1 if bad else 0
