"""Both policy packs through the real engine: what passes, what is blocked, and by which rule."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from rehearsed_project import REPOSITORY, Project
from tiny_program import ids, tiny

BROKEN: Mapping[str, Mapping[str, Any]] = yaml.safe_load((Path(__file__).parent / "broken.yaml").read_text())
PACKS = [word for pack in ("zones", "cost") for word in ("--policy-pack", str(REPOSITORY / "policies" / pack))]


def preview(project: Project, environment: str = "aws-dev", *arguments: str) -> tuple[int, str]:
    """Exit code and output of a preview with both packs."""
    command = ("pulumi", "preview", "-s", environment, *PACKS, *arguments)
    done = project.rehearse("--", *command, environment=environment)
    assert "Traceback" not in done.stdout + done.stderr
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("environment", ["aws-dev", "aws-prod"])
def test_our_environments_pass_both_packs(project: Project, environment: str) -> None:
    code, said = preview(project, environment)
    assert code == 0, said
    assert "✅ gpufleet-zones@" in said
    assert "⚠️ gpufleet-cost@" in said
    assert "[mandatory]" not in said


@pytest.mark.parametrize("name", BROKEN)
def test_broken_variant_is_blocked_by_the_right_rule(project: Project, name: str) -> None:
    variant = BROKEN[name]
    project.configure(lambda config: merge(config, variant["config"]))
    code, said = preview(project)
    assert code != 0, said
    assert f"[{variant['rule']}]" in said
    for text in variant["says"]:
        assert text in said
    assert ids(project) == {}


def merge(config: dict[str, Any], change: Mapping[str, Any]) -> None:
    """Set the keys of a change, those inside of mappings too; null takes a key away."""
    for key, value in change.items():
        if value is None:
            config.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(config.get(key), dict):
            merge(config[key], value)
        else:
            config[key] = value


def test_ten_variants_or_more() -> None:
    assert len({variant["rule"] for variant in BROKEN.values()}) >= 10
