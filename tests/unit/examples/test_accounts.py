"""What stands beside each example: a README, and the simulated account that its configuration names."""

import re
from pathlib import Path

import pytest
import yaml

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PROGRAMS = sorted(path.parent.name for path in EXAMPLES.glob("*/Pulumi.yaml"))
IN_A_VPC = ["go", "python", "python-import", "typescript", "yaml"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_example_has_a_readme_that_says_what_to_run(name: str) -> None:
    text = (EXAMPLES / name / "README.md").read_text()
    assert re.search(
        r"^    pulumi preview$" if name == "yaml-kubernetes" else r"^    gpufleet rehearse dev$", text, re.M
    )


@pytest.mark.parametrize("name", IN_A_VPC)
def test_account_holds_what_the_configuration_names(name: str) -> None:
    held = {row["id"] for row in yaml.safe_load((EXAMPLES / name / "rehearsal.dev.yaml").read_text())}
    named = re.findall(r"\b(?:vpc|subnet)-\w+|(?<=:role/)\w+", (EXAMPLES / name / "Pulumi.dev.yaml").read_text())
    assert len(named) == 4
    assert set(named) <= held


def test_examples_in_a_vpc_have_one_account() -> None:
    assert len({(EXAMPLES / name / "rehearsal.dev.yaml").read_text() for name in IN_A_VPC}) == 1
