"""The hand calculation in docs/cost.md and what `gpufleet cost` says: line by line the same, or one is wrong."""

import math
import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path

import pytest
import yaml

from gpufleet.cost.estimate import Estimate, estimate
from gpufleet.cost.line_item import FIGURES
from gpufleet.cost.usage_assumptions import HOURS, UsageAssumptions, read_usage
from gpufleet_rehearsal.offline_preview import plan_offline

REPOSITORY = Path(__file__).parents[3]
DOCUMENT = (REPOSITORY / "docs" / "cost.md").read_text(encoding="utf-8")
ENVIRONMENTS = ["aws-dev", "aws-prod", "azure-dev", "azure-prod", "hybrid"]
PLANNED = pytest.mark.parametrize(
    "environment", ["aws-dev", *(pytest.param(name, marks=pytest.mark.slow) for name in ENVIRONMENTS[1:])]
)
"""Each environment's program runs in its own process, for five seconds; the first stands for all in `make test`."""


@cache
def estimated(environment: str) -> Estimate:
    return estimate(plan_offline(REPOSITORY, environment), usage_of(environment), date(2026, 11, 21))


def usage_of(environment: str) -> UsageAssumptions:
    config = yaml.safe_load((REPOSITORY / f"stacks/config/Pulumi.{environment}.yaml").read_text())["config"]
    return read_usage(config.get("gpufleet:usage"), "gpufleet:usage")


def section(environment: str) -> str:
    return DOCUMENT.split(f"\n### {environment}\n")[1].split("\n#")[0]


def table(environment: str) -> Mapping[str, list[str]]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section(environment).splitlines()
            if line.startswith("| ") and not line.startswith("| what")]  # fmt: skip
    return {row[0]: row[1:] for row in rows}


def number(text: str) -> float:
    return float(text.strip("* ").replace(",", ""))


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_product_is_right(environment: str) -> None:
    for what, cells in table(environment).items():
        for cell in cells:
            if what != "**all**":
                product, said = cell.split(" = ")
                assert round(math.prod(map(number, product.split(" x "))), 2) == number(said), (what, cell)


@PLANNED
def test_every_line_is_what_the_estimate_says(environment: str) -> None:
    by_hand = {what: [number(cell.split(" = ")[1]) for cell in cells]
               for what, cells in table(environment).items() if what != "**all**"}  # fmt: skip
    lines = {f"{pool}: {line.what}" if pool else line.what: line for pool, line in estimated(environment).lines}
    said = {what: [round(line.month(figure) or 0.0, 2) for figure in FIGURES] for what, line in lines.items()}
    assert said == by_hand
    assert estimated(environment).unknowns == []
    assert estimated(environment).not_priced == {}


@PLANNED
def test_sums_are_right(environment: str) -> None:
    totals = [estimated(environment).totals[figure] for figure in FIGURES]
    assert [round(each.month, 2) for each in totals] == [number(cell) for cell in table(environment)["**all**"]]
    hours = [number(text) for text in re.findall(r"/ 730 = (\d+\.\d\d)", section(environment))]
    assert [round(each.month / HOURS, 2) for each in totals] == hours == [round(each.hour, 2) for each in totals]


@pytest.mark.slow
def test_gate_leaves_out_what_was_bought_elsewhere() -> None:
    said = number(re.findall(r"the policy pack checks [\d,.]+ - [\d,.]+ = ([\d,.]+\d)", section("aws-prod"))[0])
    assert round(estimated("aws-prod").gated.month, 2) == said


def test_assumptions_in_the_document_are_the_defaults() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|", DOCUMENT.split("\n## Assumptions\n")[1], re.M)
    said = {key: value.strip() for key, value in rows}
    defaults = estimated("aws-dev").usage.as_args()
    assert set(said) == set(defaults)
    numbers = {key: value for key, value in defaults.items() if isinstance(value, int | float)}
    assert set(defaults) - set(numbers) == {"busy_nodes", "own_server_vcpus"}
    assert {key: float(value) for key, value in said.items() if key in numbers} == numbers
