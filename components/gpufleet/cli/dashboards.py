"""`gpufleet dashboards ENV`."""

import json
from pathlib import Path

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.cli.stack_options import any_team, of_environment, outputs_of, settings_of


@click.command()
@of_environment
@click.option("--to", "folder", default=Path("dashboards"), type=click.Path(path_type=Path), metavar="DIR",
              show_default=True, help="Folder of the files; it is made.")  # fmt: skip
@json_option
@exit_with_errors
def dashboards(environment: str, program: Path, outputs: Path | None, folder: Path, as_json: bool) -> int:
    """Write a Grafana dashboard and Prometheus rules for it.

    GPU activity, power, EFA and cost an hour, by job, team and pool. The rules hold the prices of the environment's
    pools, so run it again when pools or prices change.

    \b
    gpufleet dashboards aws-dev --to monitoring
    """
    import yaml

    from gpufleet.dashboards.grafana import dashboard
    from gpufleet.dashboards.pool_prices import pool_prices
    from gpufleet.dashboards.rules import recording_rules
    from gpufleet.errors import UserError
    from gpufleet.usage.records import rates_of_pools

    team = any_team(outputs_of(environment, program, outputs))
    settings = settings_of(environment, program, outputs, team=team)
    if settings.on != "kubernetes":
        raise UserError(
            f"{environment}: on={settings.on}: has no dashboard; only environments with Kubernetes have one"
        )
    prices, unknown = pool_prices(settings.pools, rates_of_pools(settings, settings.usd_per_gpu_hour))
    files = {
        "dashboard.json": json.dumps(dashboard(), indent=2) + "\n",
        "rules.yaml": yaml.safe_dump(recording_rules(environment, prices), sort_keys=False, width=1000),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"to={folder}: {error.strerror}; name a folder that can be written") from None
    if as_json:
        print_json({"files": [str(folder / name) for name in files], "usd_per_gpu_hour": prices, "unpriced": unknown})
        return 0
    click.echo(f"{folder}: dashboard.json for Grafana, rules.yaml for Prometheus")
    for name in unknown:
        click.echo(f"note: pool {name} has no one price, so it has no cost in the dashboard", err=True)
    return 0
