"""`gpufleet usage ENV`."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option
from gpufleet.cli.stack_options import any_team, context_option, of_environment, on_option, outputs_of, settings_of
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.jobs.settings import JobSettings


@click.command()
@of_environment
@on_option
@click.option("--since", default="30d", metavar="SPAN", show_default=True, help="How far back: 12h, 30d, 4w.")
@click.option("--by", type=click.Choice(["team", "user", "project"]), default="team", show_default=True)
@click.option("--record", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Ledger (JSONL): count its records too, and add current usage to it.")  # fmt: skip
@click.option(
    "--usd-per-gpu-hour", "own", multiple=True, metavar="POOL=USD", help="Price of pools that price lists do not have."
)
@json_option
@exit_with_errors
def usage(
    environment: str,
    program: Path,
    outputs: Path | None,
    on: str | None,
    since: str,
    by: str,
    file: Path | None,
    own: tuple[str, ...],
    as_json: bool,
) -> int:
    """Report GPU-hours and their value, by team, user or project.

    Counts the cluster's pods, with or without jobs; jobs of AWS Batch and Azure Batch; all jobs in Slurm's accounting.
    A worker's pod is deleted when its job ends, and the job a day later; AWS Batch keeps jobs a week: run this every
    few minutes with --record to count everything.

    \b
    gpufleet usage lab --record /srv/gpufleet/usage.jsonl --by user --since 4w
    """
    from gpufleet.durations import parse_duration
    from gpufleet.jobs.stack_output import parse_jobs_output
    from gpufleet.usage.records import known_records
    from gpufleet.usage.rows import prices
    from gpufleet.usage.summary import UsageSummary

    span = parse_duration(since)
    if span is None:
        raise UserError(f"{environment}: since={since}: must be a duration, such as 12h, 30d or 4w")
    told = outputs_of(environment, program, outputs)
    jobs = parse_jobs_output(told.get("jobs"), environment)
    teams = sorted(jobs.get("teams") or {})
    now, team = datetime.now(UTC), context_option("team")
    settings = settings_of(environment, program, outputs, on, team=any_team(told))
    rates = _rates(environment, jobs, settings, own)
    spaces = [team] if team else teams or [settings.namespace]
    mine = known_records(settings, spaces, now - span, now, _note, ledger=file, write=True)
    if team:
        mine = [each for each in mine if each.team == team]
    found = UsageSummary(environment, by, now - span, now, mine, prices(rates), bool(file), settings.on)
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2))
        return 0
    for line in found.lines():
        click.echo(line)
    return 0


def _rates(environment: str, jobs: Mapping[str, Any], settings: "JobSettings", own: Sequence[str]) -> dict[str, float]:
    """USD for an hour of a GPU, by the label of a pool's nodes. Errors: UserError."""
    from gpufleet.rules.messages import use_one_of
    from gpufleet.usage.records import rates_of_pools

    pools = settings.slurm.pools if settings.slurm else settings.pools
    rates = dict[str, float]()
    for name, usd in (jobs.get("usd_per_gpu_hour") or {}).items():
        if isinstance(usd, bool) or not isinstance(usd, int | float):
            raise UserError(f"{environment}: the stack's output usd_per_gpu_hour.{name} must be a number of dollars")
        rates[name] = float(usd)
    for text in own:
        name, _, usd = text.partition("=")
        if name not in pools:
            fix = use_one_of(name, sorted(pools))
            raise UserError(f"{environment}: usd-per-gpu-hour={text}: pool not found; {fix}")
        try:
            rates[name] = float(usd)
        except ValueError:
            rates[name] = -1
        if not 0 <= rates[name] < float("inf"):
            raise UserError(f"{environment}: usd-per-gpu-hour={text}: is not a valid price; write POOL=0.40")
    return rates_of_pools(settings, rates)


def _note(text: str) -> None:
    click.echo(f"note: {text}", err=True)
