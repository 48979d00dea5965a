"""`make bench`: what components, engine, policy packs and catalog cost. See bench/README.md."""

import json
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench.fleet import MANY, PsCost, ps_cost
from bench.measure import Run, machine, run, run_watched
from bench.packs import PackCost, RuleCost, catalog_ms, pack_costs, rule_cost
from bench.places import ENVIRONMENT, STATE, Places, compile_into, custom
from bench.report import POOLS as REPORT_POOLS
from bench.report import ReportCost, report_costs
from gpufleet.errors import UserError
from gpufleet.pulumi_cli import PulumiCli

RATIO_LIMIT = 1.05
"""Median wall clock of a preview of our program over that of the flat one."""
GROWTH_LIMIT = 1.2
"""Processor seconds per resource of the largest preview over those of the smallest."""
PACK_LIMIT = 0.5
"""Processor milliseconds of a policy pack for each resource, beyond those of a pack that judges nothing."""
RULE_LIMIT = 0.02
"""Processor milliseconds of one rule more, for each resource."""
CATALOG_LIMIT = 30.0
"""Milliseconds to read the whole catalog."""
PS_LIMIT = 2.0
"""Processor seconds of `gpufleet ps` on 30 stacks."""
PS_GROWTH_LIMIT = 6.0
"""The same over those on one stack; 30 if each cost as much as the first."""
REPORT_LIMITS = (2.0, 3.0)
"""Processor seconds of `gpufleet report` on ten thousand resources: made from nothing, and there already."""
REPORT_MEMORY = 300.0
"""Megabytes (10^6 bytes) that it may take at most."""
PAIRS = 9
POOLS = (250, 500, 1000)
TEMPLATES = (100, 200, 400)
# The engine then writes the state once, at the end.
NO_CHECKPOINTS = {"PULUMI_EXPERIMENTAL": "1", "PULUMI_SKIP_CHECKPOINTS": "1"}


@dataclass(frozen=True)
class Comparison:
    """Previews of the same resources by our program and by a flat one, alternating. ratio: of the medians."""

    resources: int
    ours: Sequence[Run]
    flat: Sequence[Run]

    @property
    def ratio(self) -> float:
        return median(self.ours) / median(self.flat)


@dataclass(frozen=True)
class Size:
    """One size of a growing program. start: a run of the same with no resources at all."""

    count: int
    resources: int
    run: Run
    start: Run

    @property
    def cpu_ms(self) -> float:
        """Processor milliseconds per resource, without the start."""
        return (self.run.cpu - self.start.cpu) / self.resources * 1000


@dataclass(frozen=True)
class Up:
    """One size of `up`. whole: as everybody runs it; once: with the state written only at the end."""

    resources: int
    whole: Run
    once: Run


def median(runs: Sequence[Run]) -> float:
    return statistics.median(each.seconds for each in runs)


def preview(engine: PulumiCli, stack: str) -> tuple[PulumiCli, tuple[str, ...]]:
    return engine, ("preview", "--stack", stack, "--parallel", str(engine.parallel))


def compare(places: Places) -> Comparison:
    """One run of each to begin with, which does not count; then alternately, and each first in every other pair."""
    engines = {"flat": places.flat(), "ours": places.ours()}
    resources = custom(engines["ours"].preview(ENVIRONMENT))
    runs: dict[str, list[Run]] = {name: [] for name in engines}
    for pair in range(PAIRS + 1):
        for name in sorted(engines, reverse=pair % 2 == 0):
            engine, command = preview(engines[name], ENVIRONMENT)
            measured = run(engine, *command)
            if pair > 0:
                runs[name].append(measured)
    return Comparison(resources, runs["ours"], runs["flat"])


def grow(places: Places) -> list[Size]:
    """Previews of ever more node groups."""
    engine, command = preview(places.growth("empty", {}), "empty")
    run(engine, *command)
    start = run(engine, *command)
    each = custom(places.growth("one", {"pools": 1}).preview("one"))
    sizes = []
    for pools in POOLS:
        stack = f"pools-{pools}"
        engine, command = preview(places.growth(stack, {"pools": pools}), stack)
        sizes.append(Size(pools, pools * each, run_watched(engine, *command), start))
    return sizes


def bring_up(places: Places) -> list[Up]:
    """`up` of ever more launch templates on the file backend, with and without the state written at each step."""
    sizes = []
    for templates in TEMPLATES:
        runs = []
        for name, more in (("whole", {}), ("once", NO_CHECKPOINTS)):
            stack = f"{name}-{templates}"
            engine = places.growth(stack, {"templates": templates})
            engine = replace(engine, environment={**engine.environment, **more})
            command = ("up", "--stack", stack, "--yes", "--skip-preview", "--parallel", str(engine.parallel))
            runs.append(run_watched(engine, *command))
        sizes.append(Up(templates, runs[0], runs[1]))
    return sizes


def dominates_from(sizes: Sequence[Up]) -> float:
    """Number of resources from which on `up` spends more time on writing the state than on everything else.

    Writing is quadratic (the whole state at each step), the rest is linear; both by the smallest and the largest size.
    """
    first, last = sizes[0], sizes[-1]
    square = (last.whole.seconds - last.once.seconds) / last.resources**2
    slope = (last.once.seconds - first.once.seconds) / (last.resources - first.resources)
    start = first.once.seconds - slope * first.resources
    return (slope + math.sqrt(slope**2 + 4 * square * start)) / (2 * square)


def comparison_table(found: Comparison) -> Table:
    table = Table(title=f"Preview of the same {found.resources} resources, {PAIRS} alternating pairs")
    for column in ("program", "median s", "min s", "max s", "processor s (median)"):
        table.add_column(column, justify="left" if column == "program" else "right")
    for name, runs in (("components", found.ours), ("flat", found.flat)):
        seconds = [each.seconds for each in runs]
        cpu = statistics.median(each.cpu for each in runs)
        table.add_row(name, f"{median(runs):.2f}", f"{min(seconds):.2f}", f"{max(seconds):.2f}", f"{cpu:.2f}")
    return table


def growth_table(sizes: Sequence[Size]) -> Table:
    table = Table(title="Preview of GpuNodeGroup components (launch template, node group, scale-from-zero tags)")
    columns = ("node groups", "resources", "wall s", "processor s", "processor ms per resource", *PEAKS)
    for column in columns:
        table.add_column(column, justify="right")
    for size in sizes:
        times = (f"{size.run.seconds:.1f}", f"{size.run.cpu:.1f}", f"{size.cpu_ms:.2f}")
        table.add_row(str(size.count), str(size.resources), *times, *peaks(size.run))
    return table


def up_table(sizes: Sequence[Up]) -> Table:
    table = Table(title="`up` of launch templates on the file backend")
    for column in ("resources", "wall s", "wall s, state written once", "writing, share", *PEAKS):
        table.add_column(column, justify="right")
    for size in sizes:
        whole, once = size.whole.seconds, size.once.seconds
        table.add_row(str(size.resources), f"{whole:.1f}", f"{once:.1f}", f"{1 - once / whole:.0%}", *peaks(size.whole))
    return table


def packs_table(costs: Sequence[PackCost]) -> Table:
    table = Table(title="Policy packs in a preview through the engine, their own process")
    for column in ("pack", "resources", "processor s", "start s", "processor ms per resource"):
        table.add_column(column, justify="left" if column == "pack" else "right")
    for cost in costs:
        table.add_row(cost.pack, str(cost.resources), f"{cost.seconds:.2f}", f"{cost.start:.2f}", f"{cost.ms:.2f}")
    return table


def beyond_empty(costs: Sequence[PackCost]) -> float:
    """Milliseconds per resource that the dearest pack takes more than the empty one; at the least 0, as times vary."""
    empty = next(cost.ms for cost in costs if cost.pack == "empty")
    return max(0.0, *(cost.ms - empty for cost in costs))


def rule_line(cost: RuleCost) -> str:
    return (
        f"One rule more, for each of 1,000 resources: {cost.together:.4f} ms in a concern of ours, {cost.apart:.4f} ms "
        f"as a policy of its own ({cost.apart / cost.together:.0f} times as much)."
    )


def ps_line(cost: PsCost) -> str:
    return (
        f"`gpufleet ps` on {MANY} stacks of {cost.resources} resources: {cost.many:.2f} s of processor time, "
        f"{cost.wall:.2f} s by the clock; on one stack {cost.one:.2f} s."
    )


def report_line(cost: ReportCost) -> str:
    return (
        f"`gpufleet report`, {cost.resources:,} resources {cost.kind} ({cost.megabytes:.0f} MB of JSON): "
        f"{cost.cpu:.2f} s of processor time, {cost.wall:.2f} s by the clock, {cost.peak:.0f} MB."
    )


PEAKS = ("engine MiB", "program MiB", "plugin MiB")


def peaks(measured: Run) -> list[str]:
    """Peak memory in the order of PEAKS; a dash where the system does not tell."""
    names = [column.split()[0] for column in PEAKS]
    return [f"{measured.peak[name]:.0f}" if name in measured.peak else "-" for name in names]


def verdicts(limits: Mapping[str, tuple[float, float]]) -> tuple[list[str], bool]:
    """A line for each ratio and its limit, and whether all are kept."""
    lines = [
        f"{what}: {ratio:.3f}, at most {limit}: {'kept' if ratio <= limit else 'BROKEN'}"
        for what, (ratio, limit) in limits.items()
    ]
    return lines, all(ratio <= limit for ratio, limit in limits.values())


@click.command()
@click.option("--json", "file", type=click.Path(path_type=Path), help="Write every figure to this file as well.")
def main(file: Path | None) -> None:
    """Measure, print, and end with 1 when a limit is broken."""
    console = Console(width=max(Console().width, 120), highlight=False)
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {machine()}, load {os.getloadavg()[0]:.1f}"
    console.print(f"gpufleet bench, {when}. Eight to twelve minutes.", soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="gpufleet-bench-") as folder:
        places = Places(Path(folder))
        compile_into(places.root)
        try:
            compared = compare(places)
            console.print(comparison_table(compared))
            grown = grow(places)
            console.print(growth_table(grown))
            up = bring_up(places)
            console.print(up_table(up))
            packs, rule, catalog = pack_costs(places, grown[0].resources // grown[0].count), rule_cost(), catalog_ms()
            console.print(packs_table(packs))
            listed = ps_cost(places.root / "maker" / STATE, places.root / "fleet")
            console.print(ps_line(listed), soft_wrap=True)
            reported = report_costs(places.growth("report", {"pools": REPORT_POOLS}), "report", places.root / "reports")
            console.print(*map(report_line, reported), sep="\n", soft_wrap=True)
            console.print(rule_line(rule), f"The whole catalog is read in {catalog:.1f} ms.", sep="\n", soft_wrap=True)
        except UserError as error:
            raise click.ClickException(str(error)) from error
    largest, smallest = grown[-1].cpu_ms, grown[0].cpu_ms
    lines, kept = verdicts(
        {
            "components over flat, wall clock": (compared.ratio, RATIO_LIMIT),
            f"cost of a resource, {POOLS[-1]} node groups over {POOLS[0]}": (largest / smallest, GROWTH_LIMIT),
            "the dearer policy pack over one that judges nothing, ms per resource": (beyond_empty(packs), PACK_LIMIT),
            "one rule more, ms per resource": (rule.together, RULE_LIMIT),
            "the whole catalog, ms": (catalog, CATALOG_LIMIT),
            f"`gpufleet ps` on {MANY} stacks, s": (listed.many, PS_LIMIT),
            f"the same over one stack, not {MANY} times as much": (listed.ratio, PS_GROWTH_LIMIT),
            **{
                f"`gpufleet report` on ten thousand resources {each.kind}, s": (each.cpu, limit)
                for each, limit in zip(reported, REPORT_LIMITS, strict=True)
            },
            "the same, MB": (max(each.peak for each in reported), REPORT_MEMORY),
        }
    )
    from_here = dominates_from(up)
    console.print(*lines, sep="\n")
    console.print(
        f"`up` on the file backend is quadratic in the engine itself: from about {from_here:.0f} resources on, writing "
        "the state takes longer than everything else; for larger stacks use Pulumi Cloud or another service backend.",
        soft_wrap=True,
    )
    if file is not None:
        figures = {
            "when": when,
            "compared": asdict(compared) | {"ratio": compared.ratio},
            "growth": [asdict(size) | {"cpu_ms": size.cpu_ms} for size in grown],
            "up": [asdict(size) for size in up],
            "writing_dominates_from": from_here,
            "packs": [asdict(cost) | {"ms": cost.ms} for cost in packs],
            "rule": asdict(rule),
            "catalog_ms": catalog,
            "ps": asdict(listed) | {"ratio": listed.ratio},
            "report": [asdict(each) for each in reported],
            "kept": kept,
        }
        file.write_text(json.dumps(figures, indent=2) + "\n")
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
