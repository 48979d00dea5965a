"""`gpufleet catalog show|find|refresh`."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpufleet.cli.amount import AMOUNT
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, wide_option
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.catalog import AwsGpuType, AzureGpuSize, Catalog
    from gpufleet.catalog.records import Record
    from gpufleet.catalog.search import Match

    AnyCatalog = Catalog[AwsGpuType] | Catalog[AzureGpuSize]


@click.group()
def catalog() -> None:
    """GPU types, zones and prices, each with source and date."""


@catalog.command()
@click.argument("name", metavar="TYPE")
@wide_option
@json_option
@exit_with_errors
def show(name: str, wide: bool, as_json: bool) -> int:
    """Show one instance type or VM size: hardware, zones, prices, quota.

    \b
    gpufleet catalog show p5.48xlarge
    gpufleet catalog show Standard_ND96isr_H100_v5
    """
    from gpufleet.cli.catalog_tables import show_type

    clouds = _clouds("all")
    every = {each.casefold(): (cloud, each) for cloud, known in clouds.items() for each in known.types}
    cloud, type_name = every[_known("type", name, every)]
    if as_json:
        click.echo(json.dumps(_everything(cloud, clouds[cloud], type_name), indent=2))
    else:
        show_type(cloud, clouds[cloud], type_name, date.today(), wide=wide)
    return 0


@catalog.command()
@click.option("--gpu", "model", metavar="MODEL", help="GPU model, for instance H100.")
@click.option("--gpus", type=click.IntRange(min=1), metavar="N", help="Minimum number of GPUs in one node.")
@click.option("--gpu-memory", type=AMOUNT, metavar="GIB", help="Minimum memory of each GPU.")
@click.option("--region", metavar="NAME")
@click.option("--zone", metavar="ID", help="Zone id, for instance use1-az2.")
@click.option("--max-price", type=AMOUNT, metavar="USD",
              help="Maximum on-demand price per node and hour. Omits types without a known price.")  # fmt: skip
@click.option("--efa", is_flag=True, help="With EFA; on Azure: with InfiniBand.")
@click.option("--cloud", type=click.Choice(["aws", "azure", "all"]), default="all", show_default=True)
@wide_option
@json_option
@exit_with_errors
def find(
    model: str | None,
    gpus: int | None,
    gpu_memory: float | None,
    region: str | None,
    zone: str | None,
    max_price: float | None,
    efa: bool,
    cloud: str,
    wide: bool,
    as_json: bool,
) -> int:
    """List current types that match all options: cheapest GPU first, unknown prices last.

    \b
    gpufleet catalog find --gpu H100 --gpus 8 --efa
    gpufleet catalog find --gpu-memory 40 --zone use1-az2 --max-price 40
    """
    from gpufleet.catalog.search import SearchCriteria, cheapest, find
    from gpufleet.cli.catalog_tables import show_matches

    clouds = _clouds(cloud)
    models = {
        record.gpu_model.casefold(): record.gpu_model for each in clouds.values() for record in each.types.values()
    }
    regions = {name.casefold(): name for each in clouds.values() for name in each.regions}
    zones = {name.casefold(): name for each in clouds.values() for known in each.regions.values() for name in known}
    wanted = SearchCriteria(
        models[_known("gpu", model, models)] if model else None,
        gpus,
        gpu_memory,
        regions[_known("region", region, regions)] if region else None,
        zones[_known("zone", zone, zones)] if zone else None,
        max_price,
        efa,
    )
    matches = find(clouds, wanted)
    if as_json:
        click.echo(json.dumps([_match(match) for match in matches], indent=2))
    elif not matches:
        click.echo("no type has all of this")
    else:
        one_place = bool(region or zone)
        show_matches([(match, 0) for match in matches] if one_place else cheapest(matches), date.today(), wide=wide)
    return 0


@catalog.command()
@click.argument("cloud", type=click.Choice(["aws", "azure"]), required=False)
@click.option("--region", "regions", multiple=True, metavar="NAME",
              help="Only this region; repeatable. Default: the regions with prices in the catalog.")  # fmt: skip
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Folder with aws/ and azure/. Default: $GPUFLEET_CATALOG, else the user's data.")  # fmt: skip
@json_option
@exit_with_errors
def refresh(cloud: str | None, regions: tuple[str, ...], to: Path | None, as_json: bool) -> int:
    """Read public price lists, and with credentials hardware, zones and Spot prices; show the changes.

    From then on, your commands use the new figures. If the refresh fails, they use the old ones.
    """
    from gpufleet.cli.catalog_tables import downloading

    outcomes = {}
    for name, known in _clouds(cloud or "all").items():
        wanted = _regions(known, regions, alone=cloud is not None)
        folder = _folder(to, name)
        with downloading(name) as downloads:
            outcomes[name] = _refreshed(name, known, wanted, folder, downloads)
        if not as_json:
            click.echo(f"{name}: written to {folder}")
            for line in outcomes[name].lines():
                click.echo(f"  {line}")
    if as_json:
        click.echo(json.dumps({name: asdict(outcome) for name, outcome in outcomes.items()}, indent=2))
    return 0


def _refreshed(name: str, known: Any, regions: list[str], folder: Path, downloads: Any) -> Any:  # noqa: ANN401
    """One cloud's outcome. Its module, and that cloud's SDK, are only imported here."""
    import importlib

    from gpufleet.catalog.refresh.run import refresh

    module = importlib.import_module(f"gpufleet.catalog.refresh.{name}")
    try:
        return refresh(known, module.fetch, regions, folder, downloads, date.today())
    except OSError as error:
        raise UserError(
            f"{folder}: cannot be written: {error.strerror or error}; choose a folder with --to DIR"
        ) from error


def _folder(to: Path | None, cloud: str) -> Path:
    from gpufleet.catalog import user_folder

    if to is not None:
        return to / cloud
    folder = user_folder(cloud)
    if folder is None:
        raise UserError("GPUFLEET_CATALOG is empty, so that no refreshed data is used: set it, or use --to DIR")
    return folder


def _regions(known: "AnyCatalog", asked: tuple[str, ...], alone: bool) -> list[str]:
    """The regions to read of one cloud. alone: whether this cloud was asked for, so that its regions must be known."""
    if not asked:
        return sorted({region for (_, region, _), price in known.prices.items() if price.usd_per_hour is not None})
    if not alone:
        raise click.UsageError("--region goes with one cloud: gpufleet catalog refresh aws --region us-east-1")
    legal = {name.casefold(): name for name in known.regions}
    return [legal[_known("region", name, legal)] for name in asked]


def _clouds(choice: str) -> dict[str, "AnyCatalog"]:
    from gpufleet.catalog import aws, azure

    clouds: dict[str, AnyCatalog] = {"aws": aws(), "azure": azure()}
    return clouds if choice == "all" else {choice: clouds[choice]}


def _known(what: str, word: str, legal: Mapping[str, object]) -> str:
    """The word as a key of `legal`, in which capitals do not count; else one line with the nearest."""
    from gpufleet.rules.messages import nearest, one_line

    key = word.casefold()
    if key in legal:
        return key
    near = nearest(key, legal)
    names = {key: value[1] if isinstance(value, tuple) else value for key, value in legal.items()}
    hint = f"did you mean {names[near]}?" if near else "`gpufleet catalog find` lists what is known"
    raise UserError(f"{what}={one_line(word)}: not known; {hint}")


def _everything(cloud: str, known: "AnyCatalog", name: str) -> dict[str, Any]:
    """All records that speak of a type."""
    from gpufleet.catalog.quota_family import quotas_of

    record = known.types[name]

    def of(records: Iterable["Record"]) -> list[dict[str, Any]]:
        return [asdict(each) for each in records if getattr(each, "type", None) == name]

    return {
        "cloud": cloud,
        "edition": known.edition,
        "hardware": asdict(record),
        "zones": of(known.offers.values()),
        "prices": of(known.prices.values()),
        "spot_prices": of(known.spot_prices.values()),
        "quotas": [asdict(quota) for quota in quotas_of(known.quotas, record)],
    }


def _match(match: "Match") -> dict[str, Any]:
    return {
        "cloud": match.cloud,
        "type": match.record.type,
        "region": match.region,
        "zones": match.zone_ids,
        "gpus": match.record.gpus,
        "gpu_model": match.record.gpu_model,
        "gpu_memory_mib": match.record.gpu_memory_mib,
        "usd_per_hour": match.usd,
        "usd_per_gpu_hour": match.usd_per_gpu,
        "spot_usd_per_hour": match.spot,
        "source": match.price.source if match.price else None,
        "as_of": match.price.as_of if match.price else None,
    }
