"""Options, and the scaling model compared with measurements, as tables."""

import statistics
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from gpufleet.choose.formats import text
from gpufleet.choose.model_fit import READING, READINGS, fitted_models, placement_gain, read_measurements, scores
from gpufleet.choose.node_shapes import NodeComparison
from gpufleet.choose.options import Option, RunRequirements
from gpufleet.choose.scaling import BITS, NETWORK_SHARE, Range
from gpufleet.rules.messages import format_zones

WIDTH = 400
"""Characters that no row reaches."""


def console(*, stderr: bool = False) -> Console:
    """Wide enough that no figure is cut; also for `| grep`."""
    return Console(stderr=stderr, highlight=False, markup=False, width=max(Console().width, WIDTH), soft_wrap=True)


def print_options(ask: RunRequirements, options: Sequence[Option], shown: int, out: Console) -> None:
    """The first `shown` options, numbered as `--take` counts, and what the reader has to know."""
    columns = ["", "nodes", "where", "GPUs", "GiB", "network"]
    columns += ["h", "USD of the run"] + (["in budget"] if ask.budget else []) + (["on Spot"] if ask.spot else [])
    table = _table(*columns, "zones", "quota (vCPU)", "price as of")
    for number, option in enumerate(options[:shown], start=1):
        more = f" (+{option.more_regions})" if option.more_regions else ""
        spare = f" ({option.gpus - option.gpus_asked} spare)" if option.gpus > option.gpus_asked else ""
        row = [str(number), f"{option.nodes} x {option.type}", f"{option.cloud} {option.region}{more}"]
        arm = " arm64" if option.architecture == "arm64" else ""
        row += [f"{option.gpus} {option.gpu_model}{arm}{spare}", f"{option.gpu_memory_gib:.4g}", text.network(option)]
        row += [text.between(option.hours, ",.1f"), text.between(option.usd)]
        row += ([option.verdict] if ask.budget else []) + ([text.between(option.spot_usd)] if ask.spot else [])
        table.add_row(*row, format_zones(option.zone_ids), text.quota(option), text.age(option))
    out.print(table)
    if len(options) > shown:
        out.print(f"and {len(options) - shown} more: --top {len(options)} shows them")
    out.print()
    for note in _notes(ask, options[:shown]):
        out.print(note)


def _notes(ask: RunRequirements, options: Sequence[Option]) -> list[str]:
    notes = ["USD: list prices of the nodes before tax, on demand; what is around them is in `gpufleet cost ENV`."]
    if ask.spot:
        notes.append("On Spot: what nodes cost lately, lowest to highest; the budget check ignores them.")
    if ask.work is None:
        notes.append("Hours are as asked for: --parameters and --step let several nodes take longer, by a model.")
    else:
        worst = [score.residual for score in scores() if not score.fitted]
        notes.append(
            f"Hours: from all exchange hidden at the published bandwidth to none hidden at {NETWORK_SHARE:g} of it. "
            f"The model was {min(worst):+.0%} to {max(worst):+.0%} off in rate where it was tried: "
            "gpufleet choose --model."
        )
    notes.append("Hours are the same for every GPU model: how fast yours trains on each is not known here.")
    if any(option.more_regions for option in options):
        notes.append("(+n): in n more regions, not for less; --region NAME picks one.")
    if any(option.price_is_old for option in options):
        notes.append("Some prices are old: `gpufleet catalog refresh` brings new ones.")
    return notes


def print_pairs(pairs: Sequence[NodeComparison], out: Console) -> None:
    """One node against several, a line for each GPU model."""
    if not pairs:
        return
    out.print("\nOne node or several")
    for pair in pairs:
        what = f"{pair.one.gpu_model} ({pair.one.cloud}): 1 x {pair.one.type} or "
        out.print(f"  {what}{pair.several.nodes} x {pair.several.type}: {pair.advice}")


def print_scaling(option: Option, rows: Sequence[tuple[int, Range | None, Range | None]], out: Console) -> None:
    """An option on more nodes: budget against speed."""
    out.print(f"\n{option.type} on more nodes")
    table = _table("nodes", "GPUs", "h", "USD of the run")
    for nodes, hours, usd in rows:
        table.add_row(str(nodes), str(nodes * option.gpus_a_node), text.between(hours, ",.1f"), text.between(usd))
    out.print(table)


def print_model(out: Console) -> None:
    """The formula, what is fitted, and every measured point with its residual, under both readings."""
    origin, _ = read_measurements()
    out.print("step(n) = compute(n) + exchange(n) - overlap * min of both")
    out.print("exchange(n) = 2 (n - 1) / n * parameters * bits / bandwidth, bits: " + str(BITS))
    out.print(f"measured: {origin['source']}")
    out.print(f"not recorded: {origin['not_recorded']}")
    for reading in READINGS:
        mark = "used" if reading == READING else "not used"
        computing = "1/n of a shared batch" if reading == "total" else "a batch of each node's own, rates summed up"
        out.print(f"\nIf a step is {computing} (reading {reading}, {mark})")
        for name, found in fitted_models(reading).items():
            out.print(
                f"  {name}: fitted to its plain points: computing {found.compute_seconds:.3f} s on one node, exchange "
                f"{found.exchange_seconds:.3f} s for the gradient once; off by {found.error:.1%} (root mean square)"
            )
        table = _table("", "type", "nodes", "measured /s", "model /s", "residual", "overlap", "")
        for score in scores(reading):
            point = score.point
            table.add_row(
                point.series,
                point.type,
                str(point.nodes),
                f"{point.per_second:.4f}",
                f"{score.predicted:.4f}",
                f"{score.residual:+.1%}",
                f"{score.overlap:g}",
                "fitted" if score.fitted else "predicted",
            )
        out.print(table)
        predicted = [score for score in scores(reading) if not score.fitted]
        spread = [abs(score.residual) for score in predicted]
        out.print(
            f"  predicted rows: {len(predicted)}, off by {statistics.median(spread):.0%} in the median and "
            f"{max(spread):.0%} at worst"
        )
    gains = ", ".join(f"{name} {gain:+.1%}" for name, gain in placement_gain().items())
    out.print(f"\nplacement: {gains} on average of three points, one run each: no gain is in the model.")
    out.print("half = 16 bits and double buffering; both together were measured, never one alone.")
    out.print("Not measured at all: EFA, InfiniBand, several GPUs a node, links inside a node.")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table
