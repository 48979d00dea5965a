"""What the published package asks for: ranges wide enough for other people's environments; pins are in the lock."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PUBLISHED = [
    Requirement(text)
    for texts in [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    for text in texts
]
LOCKED = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
# On the index on 2026-11-27; of protobuf the newest that pulumi 3.272.0 allows.
NEWEST = {
    "grpcio": "1.85.3",
    "protobuf": "6.33.6",
    "pulumi": "3.272.0",
    "pulumi-aws": "7.51.1",
    "pulumi-azure-native": "3.29.0",
    "pulumi-kubernetes": "4.34.2",
    "pulumi-policy": "1.21.0",
}
# What pulumi-aws 7.51 and pulumi-azure-native 3.29 ask for at least.
OLDEST_PULUMI = "3.231.0"


@pytest.mark.parametrize("requirement", [*PUBLISHED, *map(Requirement, PROJECT["dependency-groups"]["dev"])], ids=str)
def test_range_includes_the_locked_version(requirement: Requirement) -> None:
    # Those that only `jobs` and `policies` bring are in the lock by the group `dev`.
    assert requirement.specifier.contains(LOCKED[requirement.name])


@pytest.mark.parametrize(("name", "version"), NEWEST.items())
def test_range_includes_the_newest_version(name: str, version: str) -> None:
    ranges = [each.specifier for each in PUBLISHED if each.name == name]
    assert ranges
    assert all(each.contains(version) for each in ranges)


def test_any_pulumi_3_since_the_oldest_that_works() -> None:
    (pulumi,) = [each.specifier for each in PUBLISHED if each.name == "pulumi"]
    assert pulumi.contains(OLDEST_PULUMI)
    assert pulumi.contains("3.999.0")
    assert not pulumi.contains("4.0.0")


def test_published_package_pins_nothing() -> None:
    pins = [str(each) for each in PUBLISHED for part in each.specifier if part.operator in ("==", "===", "~=")]
    assert pins == []


def test_development_needs_are_a_group_and_no_extra() -> None:
    assert sorted(PROJECT["project"]["optional-dependencies"]) == [
        "accounts",
        "aws",
        "azure",
        "jobs",
        "kubernetes",
        "policies",
        "rehearsal",
    ]


def test_lock_has_the_sdk_of_the_engine_that_setup_builds() -> None:
    module = (ROOT / "tools" / "pulumi" / "engine" / "go.mod").read_text()
    (engine,) = re.findall(r"github\.com/pulumi/pulumi/pkg/v3 v([\d.]+)", module)
    assert LOCKED["pulumi"].split(".")[:2] == engine.split(".")[:2]
