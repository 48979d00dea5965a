"""`gpufleet choose`."""

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpufleet.cli.amount import AMOUNT
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, wide_option
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.choose.options import Option, RunRequirements
    from gpufleet.choose.scaling import Workload


@click.command()
@click.option("--gpus", type=click.IntRange(min=1), metavar="N", help="Total number of GPUs that the run needs.")
@click.option("--gpu-memory", "gpu_memory_gib", type=AMOUNT, metavar="GIB", help="Minimum memory of each GPU.")
@click.option("--gpu", "model", metavar="MODEL", help="Only this model, for instance H100.")
@click.option("--hours", type=AMOUNT, metavar="H", help="Duration of the run on that many GPUs.")
@click.option("--budget", type=AMOUNT, metavar="USD", help="Maximum cost of the run.")
@click.option("--cloud", "clouds", multiple=True, type=click.Choice(["aws", "azure", "own"]), help="Repeatable.")
@click.option(
    "--region", "regions", multiple=True, metavar="NAME", help="Region, or place of on-prem servers; repeatable."
)
@click.option("--servers", type=click.Path(path_type=Path, dir_okay=False), help="YAML list of on-prem servers.")
@click.option("--spot", is_flag=True, help="Allow Spot; the budget is still checked against the on-demand price.")
@click.option(
    "--min-gbps", type=AMOUNT, metavar="GBPS", help="Minimum network bandwidth of a node, if there are several."
)
@click.option("--fabric", is_flag=True, help="Require EFA or InfiniBand, if there are several nodes.")
@click.option("--parameters", type=AMOUNT, metavar="MILLIONS", help="Size of the model: the data exchanged per step.")
@click.option(
    "--step", type=AMOUNT, metavar="SECONDS", help="Compute time of one step on those GPUs, without the exchange."
)
@click.option("--dtype", type=click.Choice(["float32", "float16", "bfloat16"]), default="float32", show_default=True,
              help="Data type of gradients on the network.")  # fmt: skip
@click.option("--batch", type=click.Choice(["per-gpu", "total"]), default="per-gpu", show_default=True,
              help="Which batch size stays the same on more nodes.")  # fmt: skip
@click.option("--samples", type=AMOUNT, metavar="PER_SECOND", help="Samples, such as images, that one GPU takes.")
@click.option("--sample-kb", type=AMOUNT, metavar="KB", help="Size of a stored sample, for what all GPUs read.")
@click.option("--to-nodes", type=click.IntRange(min=2), metavar="M", help="Estimate the chosen (or first) option on up "
              "to M nodes.")  # fmt: skip
@click.option(
    "--take", type=click.IntRange(min=1), metavar="NUMBER", help="Choose this option and print its configuration."
)
@click.option("--stack", type=click.Choice(["aws", "aws-batch", "azure", "azure-batch", "onprem", "hybrid"]),
              help="Target gpufleet:cloud; azure-batch: Batch in azure; hybrid: on-prem servers in aws.")  # fmt: skip
@click.option(
    "--to", type=click.Path(path_type=Path, dir_okay=False), help="New file for the configuration. Default: stdout."
)
@click.option("--yes", is_flag=True, help="Do not ask. Rejected if the price is unknown or may exceed the budget.")
@click.option(
    "--top", type=click.IntRange(min=1), default=12, show_default=True, metavar="N", help="Number of options shown."
)
@click.option("--model", "show_model", is_flag=True, help="Only show the scaling model, compared with measurements.")
@wide_option
@json_option
@exit_with_errors
def choose(
    gpus: int | None,
    hours: float | None,
    parameters: float | None,
    step: float | None,
    dtype: str,
    batch: str,
    samples: float | None,
    sample_kb: float | None,
    to_nodes: int | None,
    take: int | None,
    stack: str | None,
    to: Path | None,
    yes: bool,
    top: int,
    show_model: bool,
    wide: bool,
    as_json: bool,
    **limits: Any,  # noqa: ANN401 - the other options, by the names of `_options` and `RunRequirements`
) -> int:
    """Rank hardware for a training run by price and duration.

    Both clouds and on-prem servers, one node or several.

    \b
    gpufleet choose --gpus 8 --gpu-memory 40 --hours 24 --budget 600
    gpufleet choose --gpus 8 --gpu-memory 20 --hours 24 --parameters 350 --step 0.4 --to-nodes 16
    gpufleet choose --gpus 8 --gpu-memory 40 --hours 24 --budget 600 --take 1 --to chosen.yaml
    gpufleet choose --model
    """
    from gpufleet.choose.formats.json import model_to_dict, options_to_dict, reading_to_dict
    from gpufleet.choose.formats.table import print_model, print_options, print_pairs, print_scaling
    from gpufleet.choose.formats.text import reading_note
    from gpufleet.choose.node_shapes import compare_node_counts
    from gpufleet.choose.read_rate import Reading
    from gpufleet.choose.scaling import scaling_rows
    from gpufleet.terminal import wide_console

    if show_model:
        click.echo(json.dumps(model_to_dict(), indent=2)) if as_json else print_model(wide_console(), wide=wide)
        return 0
    if gpus is None or hours is None:
        raise click.UsageError("give --gpus and --hours, for instance: gpufleet choose --gpus 8 --hours 24")
    if as_json and take is not None and not yes:
        raise click.UsageError("--json cannot ask: add --yes to --take")
    work = _work(parameters, step, dtype, batch)
    if to_nodes is not None and work is None:
        raise click.UsageError("--to-nodes needs --parameters and --step, for instance --parameters 350 --step 0.4")
    if (samples is None) is not (sample_kb is None):
        raise click.UsageError("--samples and --sample-kb go together, for instance --samples 2500 --sample-kb 110")
    ask, options = _options(gpus, hours, work, **limits)
    if not options:
        raise UserError(
            f"gpus={gpus}: no type and no own server meets all of this; ask for less memory or another network, or "
            "leave out limits of cloud, region and model [choose-option]"
        )
    if take is not None and take > len(options):
        raise UserError(f"take={take}: there are {len(options)} options; use 1 to {len(options)} [choose-option]")
    option = options[(take or 1) - 1]
    pairs = compare_node_counts(options)
    rows = None
    if work and to_nodes:
        _more_nodes(option, to_nodes)
        rows = scaling_rows(hours, option.nodes, to_nodes, work, option.network.gbps, option.usd_per_hour)
    reading = None if samples is None or sample_kb is None else Reading(gpus, samples, sample_kb)
    if not as_json:
        # What is taken is the output then, so that it can go into a file or a pipe.
        out = wide_console(stderr=take is not None)
        print_options(ask, options, max(top, take or 0), out, wide=wide)
        print_pairs(pairs, out)
        if rows:
            print_scaling(option, rows, out)
        if reading:
            out.print(reading_note(reading, option.cloud), highlight=False, soft_wrap=True)
    text = None if take is None else _confirmed(option, ask, stack, limits["servers"], yes)
    if text is not None and to is not None:
        _write(to, text)
    if as_json:
        note = reading_to_dict(reading, option.cloud) if reading else {}
        click.echo(json.dumps({**options_to_dict(options, pairs, rows, take, text), **note}, indent=2))
    elif text is not None and to is None:
        click.echo(text, nl=False)
    return 0


def _work(parameters: float | None, step: float | None, dtype: str, batch: str) -> "Workload | None":
    from gpufleet.choose.scaling import Workload

    if (parameters is None) is not (step is None):
        raise click.UsageError("--parameters and --step go together, for instance --parameters 350 --step 0.4")
    return None if parameters is None or step is None else Workload(parameters * 1e6, step, dtype, batch)


def _options(
    gpus: int,
    hours: float,
    work: "Workload | None",
    *,
    servers: Path | None,
    clouds: tuple[str, ...],
    regions: tuple[str, ...],
    model: str | None,
    **limits: Any,  # noqa: ANN401
) -> tuple["RunRequirements", list["Option"]]:
    """The search criteria and their options. An unknown name is an error, not an empty table."""
    from gpufleet.catalog import aws, azure
    from gpufleet.choose.onprem_servers import read_servers_file
    from gpufleet.choose.options import Catalogs, RunRequirements, options_for

    own = read_servers_file(servers) if servers else ()
    if "own" in clouds and servers is None:
        raise click.UsageError("--cloud own needs --servers FILE")
    catalogs: Catalogs = {"aws": aws(), "azure": azure()}
    records = [record for each in catalogs.values() for record in each.types.values()]
    models = [record.gpu_model for record in records] + [each.gpu_model for each in own]
    places = [name for each in catalogs.values() for name in each.regions] + [each.place for each in own]
    ask = RunRequirements(
        gpus=gpus,
        hours=hours,
        work=work,
        clouds=clouds,
        regions=tuple(_known("region", name, places) for name in regions),
        gpu_model=_known("gpu", model, models) if model else None,
        **limits,
    )
    return ask, options_for(ask, catalogs, own, date.today())


def _known(what: str, word: str, legal: Sequence[str]) -> str:
    """The word as `legal` spells it, in which capitals do not count; else one line with the nearest."""
    from gpufleet.rules.messages import nearest, one_line

    names = {name.casefold(): name for name in legal}
    if (found := names.get(word.casefold())) is not None:
        return found
    near = nearest(word, names)
    hint = f"did you mean {names[near]}?" if near else "`gpufleet catalog find` lists what is known"
    raise UserError(f"{what}={one_line(word)}: not known; {hint}")


def _more_nodes(option: "Option", most: int) -> None:
    if most <= option.nodes:
        raise UserError(
            f"to-nodes={most}: {option.type} takes {option.nodes} already; use more than that [choose-nodes]"
        )


def _confirmed(option: "Option", ask: "RunRequirements", stack: str | None, servers: Path | None, yes: bool) -> str:
    """The configuration, after the researcher has confirmed cost and duration. Errors: UserError, click.Abort."""
    from gpufleet.choose.config import config_of, option_findings, render_yaml, stack_of
    from gpufleet.choose.formats.text import confirmation
    from gpufleet.choose.onprem_servers import read_servers_file

    own = read_servers_file(servers) if servers else ()
    stack = stack_of(option, stack)
    config = config_of(option, stack, ask.spot, own)
    findings = option_findings(option, config)
    refused = [finding.line(option.type) for finding in findings if finding.rejects]
    if refused:
        raise UserError("\n".join(refused))
    for finding in findings:
        click.echo(finding.line(option.type), err=True)
    sentence = confirmation(option, ask.spot)
    if not yes:
        click.confirm(f"{sentence}. Take it?", abort=True, err=True)
    elif option.usd is None or option.verdict not in ("", "yes"):
        raise UserError(f"{sentence}; --yes does not agree to that: leave it out and confirm [choose-budget]")
    return render_yaml(option, config, sentence, stack, own)


def _write(file: Path, text: str) -> None:
    """Write a new file; never overwrite one."""
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError as error:
        raise UserError(f"{file}: is there already; choose another name with --to") from error
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}; choose another with --to") from error
