"""`gpufleet reap`: temporary environments end by themselves."""

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import for_the_user

if TYPE_CHECKING:
    from gpufleet.fleet.environment import EnvironmentSummary


@click.command()
@click.option("--yes", is_flag=True, help="Destroy them. Default: only say what would be destroyed.")
@click.option("--grace", default="24h", show_default=True, metavar="24h|3d", help="Time after its end in which an "
              "environment stays and is warned of, where its own tag says none.")  # fmt: skip
@click.option("--keep", multiple=True, metavar="NAME", help="Never this one: stack or project/stack, * is a wildcard. "
              "May be repeated.")  # fmt: skip
@click.option("--backend", metavar="URL", help="Backend of Pulumi. Default: the one that `pulumi` uses here.")
@click.option("--notify", "webhook", metavar="URL", envvar="GPUFLEET_NOTIFY_URL", help="Tell a webhook, where there "
              "is anything past its end.")  # fmt: skip
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here.")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
@for_the_user
def reap(
    yes: bool, grace: str, keep: tuple[str, ...], backend: str | None, webhook: str | None, program: Path, as_json: bool
) -> int:
    """Destroy the environments whose end and grace have passed, but for their data.

    Without --yes nothing is changed. Protected resources stay: with us that is data, unless its configuration says
    `erase`. An environment that somebody works on stays too. Ends with 1 when one could not be read or destroyed; the
    others are destroyed all the same.

    \b
    gpufleet reap --grace 3d
    gpufleet reap --grace 3d --keep 'vision/*-prod' --yes
    """
    from gpufleet.durations import parse_duration
    from gpufleet.fleet.backend import backend_of, stacks_of
    from gpufleet.fleet.environment import environment_of, in_order
    from gpufleet.fleet.reap import reap as destroyed
    from gpufleet.fleet.reap_plan import ReapDecision, ReapVerdict, decide_reap
    from gpufleet.fleet.reap_report import line_of, summary_of, to_tell
    from gpufleet.rules.messages import plural

    span = parse_duration(grace)
    if span is None and grace != "0h":
        raise click.BadParameter("is no time; write hours, days or weeks like 24h, 3d or 1w", param_hint="--grace")
    now = datetime.now(UTC)
    url, states = stacks_of(backend, program)
    environments = in_order([environment_of(each, now.date()) for each in states], now)

    def judge(environment: "EnvironmentSummary") -> ReapDecision:
        return decide_reap(environment, now, span or timedelta(0), keep)

    cases = [judge(each) for each in environments]
    if yes and any(case.verdict is ReapVerdict.DUE for case in cases):
        # The engine's words are not ours, and no JSON.
        engine = replace(backend_of(backend, program)[1], output=sys.stderr)
        cases = [destroyed(engine, case, judge) if case.verdict is ReapVerdict.DUE else case for case in cases]
    told = to_tell(cases)
    if as_json:
        click.echo(json.dumps(summary_of(url, cases, now), indent=2))
    else:
        click.echo(f"{url}: {plural(len(cases), 'stack')}, {len(told)} past their end or not read")
        for case in told:
            click.echo(line_of(case, now))
        if any(case.verdict is ReapVerdict.DUE for case in cases):
            click.echo("nothing has been changed: add --yes to destroy them")
    bad = [case for case in cases if case.verdict in (ReapVerdict.FAILED, ReapVerdict.UNREAD)]
    for case in bad:
        click.echo(f"Error: {case.environment.name}: {case.why}", err=True)
    if webhook and told:
        from gpufleet.fleet.webhook import notify

        notify(webhook, summary_of(url, cases, now))
    return 1 if bad else 0
