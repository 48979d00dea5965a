"""`gpufleet usage ENV`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.stack_options import api_of, context_option, of_environment, outputs_of, settings_of
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.jobs.kubernetes.api import KubernetesApi


@click.command()
@of_environment
@click.option("--since", default="30d", metavar="SPAN", show_default=True, help="How far back: 12h, 30d, 4w.")
@click.option("--by", type=click.Choice(["team", "user", "project"]), default="team", show_default=True)
@click.option("--record", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="Ledger (JSONL): count its records too, and add current usage to it.")  # fmt: skip
@click.option(
    "--usd-per-gpu-hour", "own", multiple=True, metavar="POOL=USD", help="Price of pools that are in no price list."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@exit_with_errors
def usage(
    environment: str,
    program: Path,
    outputs: Path | None,
    since: str,
    by: str,
    file: Path | None,
    own: tuple[str, ...],
    as_json: bool,
) -> int:
    """Report GPU-hours and their value, by team, user or project.

    Counts the cluster's pods, with or without jobs. A worker's pod is deleted when its job ends, and the job a day
    later: run this every few minutes with --record to count everything.

    \b
    gpufleet usage lab --record /srv/gpufleet/usage.jsonl --by user --since 4w
    """
    from gpufleet.durations import parse_duration
    from gpufleet.usage.collect import allocated_by_jobs, allocated_by_pods, ends_of_jobs
    from gpufleet.usage.ledger import lock_ledger, merge_allocations, read_ledger, write_ledger
    from gpufleet.usage.rows import prices
    from gpufleet.usage.summary import UsageSummary

    span = parse_duration(since)
    if span is None:
        raise UserError(f"{environment}: since={since}: must be a duration, such as 12h, 30d or 4w")
    told = outputs_of(environment, program, outputs)
    known = told.get("jobs")
    jobs: Mapping[str, Any] = known if isinstance(known, Mapping) else {}
    teams = sorted(jobs.get("teams") or {})
    settings = settings_of(environment, program, outputs, "kubernetes", team=teams[0] if teams else None)
    rates = _rates(environment, jobs, own)
    api = api_of(settings)
    spaces = [context_option("team") or ""] if context_option("team") else teams or [settings.namespace]
    now = datetime.now(UTC)
    nodes = _items(api, "/api/v1/nodes", required=False)
    pods = list(_everywhere(api, spaces, "/api/v1", "pods"))
    ended = list(_everywhere(api, spaces, "/apis/kubeflow.org/v2beta1", "mpijobs"))
    seen = list(allocated_by_pods(pods, nodes, environment, settings.project, now))
    with lock_ledger(file) if file else nullcontext():
        before = read_ledger(file) if file else []
        by_pods = {each.job_uid for each in [*before, *seen] if not each.uid.startswith("job/")}
        seen += allocated_by_jobs(ended, by_pods, environment, settings.project, now)
        records = merge_allocations(before, seen, ends_of_jobs(ended), environment)
        if file:
            write_ledger(file, records)
    mine = [each for each in records if each.environment == environment]
    if context_option("team"):
        mine = [each for each in mine if each.team == context_option("team")]
    found = UsageSummary(environment, by, now - span, now, mine, prices(rates), bool(file))
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2))
        return 0
    for line in found.lines():
        click.echo(line)
    return 0


def _rates(environment: str, jobs: Mapping[str, Any], own: Sequence[str]) -> dict[str, float]:
    """USD for an hour of a GPU, by the label of a pool's nodes. Errors: UserError."""
    from gpufleet.rules.messages import use_one_of

    pools = jobs.get("pools") or {}
    rates = {name: float(usd) for name, usd in (jobs.get("usd_per_gpu_hour") or {}).items()}
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
    return {str((pools.get(name) or {}).get("label") or name): usd for name, usd in rates.items()}


def _items(api: "KubernetesApi", path: str, *, required: bool = True) -> list[Mapping[str, Any]]:
    """A list, of a kind that may not be there; where it need not be seen, empty for users who may not."""
    from gpufleet.jobs.kubernetes.api import KubernetesApiError

    try:
        return (api.find(path) or {}).get("items") or []
    except KubernetesApiError as error:
        if required or error.status != 403:
            raise
        click.echo(f"note: {error}; prices of nodes are not known then", err=True)
        return []


def _everywhere(api: "KubernetesApi", spaces: Sequence[str], group: str, kind: str) -> Iterator[Mapping[str, Any]]:
    for space in spaces:
        yield from _items(api, f"{group}/namespaces/{space}/{kind}")
