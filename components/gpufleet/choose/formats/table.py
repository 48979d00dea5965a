"""Options, and the scaling model compared with measurements, as tables."""

import statistics
from collections.abc import Sequence

from rich.console import Console

from gpufleet.choose.formats import text
from gpufleet.choose.model_fit import (
    READING,
    READINGS,
    ModelScore,
    fitted_models,
    placement_gain,
    read_measurements,
    scores,
)
from gpufleet.choose.node_shapes import NodeComparison
from gpufleet.choose.options import Option, RunRequirements
from gpufleet.choose.scaling import BITS, NETWORK_SHARE, Range
from gpufleet.rules.messages import format_zones
from gpufleet.terminal import Column, print_notes, print_table


def print_options(
    ask: RunRequirements, options: Sequence[Option], shown: int, out: Console, *, wide: bool = False
) -> None:
    """The first `shown` options, numbered as `--take` counts, and what the reader has to know."""
    rows = [_row(ask, number, option) for number, option in enumerate(options[:shown], start=1)]
    print_table([column for column, _ in rows[0]], [[cell for _, cell in row] for row in rows], out, wide=wide)
    if len(options) > shown:
        out.print(f"and {len(options) - shown} more: --top {len(options)} shows them")
    out.print()
    print_notes(_notes(ask, options[:shown]), out)


def _row(ask: RunRequirements, number: int, option: Option) -> list[tuple[Column, str]]:
    """Each column with the option's cell."""
    spare = f" ({option.gpus - option.gpus_asked} spare)" if option.gpus > option.gpus_asked else ""
    arm = " arm64" if option.architecture == "arm64" else ""
    row = [
        (Column("", right=True), str(number)),
        (Column("nodes"), f"{option.nodes} x {option.type}"),
        (Column("region", 2), option.region),
        (Column("GPUs", 1), f"{option.gpus} {option.gpu_model}{arm}{spare}"),
        (Column("h", 4 if ask.work else 5, right=True), text.rounded(option.hours, ",.1f", whole_from=10)),
        (Column("USD", right=True), text.rounded(option.usd)),
    ]
    if ask.budget:
        row.append((Column("budget", 3), option.verdict))
    if ask.spot:
        row.append((Column("on Spot", 6, right=True), text.rounded(option.spot_usd)))
    return [
        *row,
        (Column("more", 7, right=True, name="more regions"), f"+{option.more_regions}" if option.more_regions else ""),
        (Column("network", 8), text.network(option)),
        (Column("GiB", 9, right=True), f"{option.gpu_memory_gib:.4g}"),
        (Column("zones", 10), format_zones(option.zone_ids)),
        (Column("quota (vCPU)", 11), text.quota(option)),
        (Column("price as of", 12), text.age(option)),
        (Column("cloud", 13), option.cloud),
    ]


def _notes(ask: RunRequirements, options: Sequence[Option]) -> list[str]:
    notes = [
        "USD: nodes of the run at list prices before tax, on demand; `gpufleet cost ENV` adds what is around them."
    ]
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
        notes.append("more: in so many other regions, not for less; --region NAME picks one.")
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
    columns = [Column(heading, right=True) for heading in ("nodes", "GPUs", "h", "USD of the run")]
    cells = [
        (str(nodes), str(nodes * option.gpus_a_node), text.between(hours, ",.1f"), text.between(usd))
        for nodes, hours, usd in rows
    ]
    print_table(columns, cells, out)


MODEL_COLUMNS = [
    Column("", name="series"),
    Column("type", 2),
    Column("nodes", right=True),
    Column("measured /s", right=True),
    Column("model /s", right=True),
    Column("residual", right=True),
    Column("overlap", 1, right=True),
    Column("", name="fitted or predicted"),
]


def _score_cells(score: ModelScore) -> tuple[str, ...]:
    point = score.point
    return (
        point.series,
        point.type,
        str(point.nodes),
        f"{point.per_second:.4f}",
        f"{score.predicted:.4f}",
        f"{score.residual:+.1%}",
        f"{score.overlap:g}",
        "fitted" if score.fitted else "predicted",
    )


def print_model(out: Console, *, wide: bool = False) -> None:
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
        print_table(MODEL_COLUMNS, [_score_cells(score) for score in scores(reading)], out, wide=wide)
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
