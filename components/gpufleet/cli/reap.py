"""`gpufleet reap`: destroy expired environments."""

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import exit_with_errors

if TYPE_CHECKING:
    from gpufleet.fleet.environment import EnvironmentSummary


@click.command()
@click.option("--yes", is_flag=True, help="Destroy them. Default: only list what would be destroyed.")
@click.option("--grace", default="24h", show_default=True, metavar="24h|3d", help="Time after its expiry in which an "
              "environment stays with a warning, if its own tag sets none.")  # fmt: skip
@click.option("--keep", multiple=True, metavar="NAME", help="Never destroy: stack or project/stack, * is a wildcard. "
              "Repeatable.")  # fmt: skip
@click.option("--backend", metavar="URL", help="Pulumi backend. Default: the one that `pulumi` uses here.")
@click.option("--notify", "webhook", metavar="URL", envvar="GPUFLEET_NOTIFY_URL", help="Tell a webhook, where there "
              "is anything past its end.")  # fmt: skip
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@exit_with_errors
def reap(
    yes: bool, grace: str, keep: tuple[str, ...], backend: str | None, webhook: str | None, program: Path, as_json: bool
) -> int:
    """Destroy environments whose expiry and grace period have passed, and retain their data.

    Without --yes, nothing is changed. Protected resources stay: in our stacks that is data, unless the configuration
    sets `erase`. An environment with an update in progress stays too. Exits with 1 if one could not be read or
    destroyed; the others are destroyed anyway.

    \b
    gpufleet reap --grace 3d
    gpufleet reap --grace 3d --keep 'vision/*-prod' --yes
    """
    from gpufleet.durations import parse_duration
    from gpufleet.fleet.backend import backend_of, stacks_of
    from gpufleet.fleet.environment import environment_of, sort_environments
    from gpufleet.fleet.reap import reap as destroy
    from gpufleet.fleet.reap_plan import ReapDecision, ReapVerdict, decide_reap
    from gpufleet.fleet.reap_report import reap_line, reap_to_dict, reportable
    from gpufleet.rules.messages import plural

    span = parse_duration(grace)
    if span is None and grace != "0h":
        raise click.BadParameter(
            "must be a duration in hours, days or weeks, such as 24h, 3d or 1w", param_hint="--grace"
        )
    now = datetime.now(UTC)
    url, states = stacks_of(backend, program)
    environments = sort_environments([environment_of(each, now.date()) for each in states], now)

    def decide(environment: "EnvironmentSummary") -> ReapDecision:
        return decide_reap(environment, now, span or timedelta(0), keep)

    cases = [decide(each) for each in environments]
    if yes and any(case.verdict is ReapVerdict.DUE for case in cases):
        # The engine's words are not ours, and no JSON.
        engine = replace(backend_of(backend, program)[1], output=sys.stderr)
        cases = [destroy(engine, case, decide) if case.verdict is ReapVerdict.DUE else case for case in cases]
    told = reportable(cases)
    if as_json:
        click.echo(json.dumps(reap_to_dict(url, cases, now), indent=2))
    else:
        click.echo(f"{url}: {plural(len(cases), 'stack')}, {len(told)} past their end or not read")
        for case in told:
            click.echo(reap_line(case, now))
        if any(case.verdict is ReapVerdict.DUE for case in cases):
            click.echo("nothing has been changed: add --yes to destroy them")
    bad = [case for case in cases if case.verdict in (ReapVerdict.FAILED, ReapVerdict.UNREAD)]
    for case in bad:
        click.echo(f"Error: {case.environment.name}: {case.why}", err=True)
    if webhook and told:
        from gpufleet.fleet.webhook import notify

        notify(webhook, reap_to_dict(url, cases, now))
    return 1 if bad else 0
