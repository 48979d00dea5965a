"""Both policy packs through the real engine: what passes, what is blocked, and by which rule."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.rehearsed_project import REPOSITORY, Project
from tests.e2e.tiny_program import ids, tiny
from tools.pull_request.merge_patch import merge

BROKEN: Mapping[str, Mapping[str, Any]] = yaml.safe_load((Path(__file__).parent / "broken.yaml").read_text())
PACKS = [word for pack in ("zones", "cost") for word in ("--policy-pack", str(REPOSITORY / "policies" / pack))]


def preview(project: Project, environment: str = "aws-dev", *arguments: str) -> tuple[int, str]:
    """Exit code and output of a preview with both packs."""
    command = ("pulumi", "preview", "-s", environment, *PACKS, *arguments)
    done = project.rehearse("--", *command, environment=environment)
    assert "Traceback" not in done.stdout + done.stderr
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("environment", "zones"), [("aws-dev", "⚠️"), ("aws-prod", "⚠️"), ("aws-batch-dev", "✅"), ("aws-batch-prod", "✅")]
)
def test_our_environments_pass_both_packs(project: Project, environment: str, zones: str) -> None:
    code, said = preview(project, environment)
    assert code == 0, said
    # Of clusters it warns: standard support of no version of EKS lasts until they expire.
    assert f"{zones} gpufleet-zones@" in said
    assert "✅ gpufleet-cost@" in said
    assert "[mandatory]" not in said


def given(environment: str) -> list[str]:
    """The words that give both packs an environment's own limits, if it has some."""
    limits = REPOSITORY / "policies" / "config" / environment
    words = [word for pack in ("zones", "cost") for word in ("--policy-pack-config", str(limits / f"{pack}.json"))]
    return words if limits.exists() else []


def test_own_servers_in_a_cluster_of_aws_pass_both_packs(project: Project) -> None:
    project.connect_site()
    code, said = preview(project, "hybrid", *given("hybrid"))
    assert code == 0, said
    assert "⚠️ gpufleet-zones@" in said
    assert "✅ gpufleet-cost@" in said
    assert "[mandatory]" not in said
    assert "[any-cost-price-known]" not in said


def test_own_servers_have_the_same_vcpus_in_the_packs_configuration() -> None:
    limits = json.loads((REPOSITORY / "policies/config/hybrid/cost.json").read_text())
    stack = yaml.safe_load((REPOSITORY / "stacks/config/Pulumi.hybrid.yaml").read_text())
    assert limits["cost"]["usage"] == stack["config"]["gpufleet:usage"]


def test_own_servers_without_a_number_of_vcpus_are_no_free_servers(project: Project) -> None:
    code, said = preview(project, "hybrid")
    assert code == 0, said
    assert "cost=on-prem servers' vCPUs (EKS hybrid nodes): not verified" in said


@pytest.mark.parametrize("environment", ["azure-dev", "azure-prod"])
def test_our_environments_of_azure_pass_both_packs(project: Project, environment: str) -> None:
    """The zones pack warns: zones are numbered by subscription, and the API version of Batch has an end."""
    code, said = preview(project, environment, *given(environment))
    assert code == 0, said
    assert "⚠️ gpufleet-zones@" in said
    assert "[azure-batch-api-version]" in said
    assert "✅ gpufleet-cost@" in said
    assert "[mandatory]" not in said


def test_sixteen_nodes_of_h100_have_to_be_approved(project: Project) -> None:
    code, said = preview(project, "azure-prod")
    assert code != 0
    assert "128 GPUs on demand are more than the 16 that need no approval; have them approved" in said
    assert "[any-cost-ceiling-pool]" in said


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


def test_ten_variants_or_more() -> None:
    assert len({variant["rule"] for variant in BROKEN.values()}) >= 10


FIVE_MISTAKES = {
    "aws-subnet-way-out": "route 0.0.0.0/0 to a NAT gateway",
    "aws-efa-group-to-self": "add egress of protocol -1 with the group itself as the other side",
    "any-placement-one-zone": "keep one zone, or set placement=none",
    "any-cost-approval": "512 GPUs on demand are more than the 16 that need no approval; have them approved",
    "aws-files-nfs-open": "add an ingress rule of TCP 2049 from the security group of the nodes",
}


@pytest.mark.smoke
def test_five_mistakes_of_a_program_without_our_components(tmp_path: Path) -> None:
    source = Path(__file__).with_name("five_mistakes.py").read_text()
    assert "gpufleet." not in source
    project = tiny(tmp_path / "billing", source)
    code, said = preview(project, "dev")
    assert code != 0
    for rule, fix in FIVE_MISTAKES.items():
        assert f"[{rule}]" in said
        assert fix in said
    assert ids(project) == {}


def test_a_configuration_that_makes_no_sense_is_one_line(tmp_path: Path) -> None:
    project = tiny(tmp_path / "billing")
    day = {"rule": "any-cost-budgt", "reason": "trial", "expires": "2026-01-31"}
    files = {}
    for name, config in {
        "zones": {"zones": {"suppress": [day]}},
        "cost": {"cost": {"stack_usd_month": -1}},
    }.items():
        files[name] = tmp_path / f"{name}.json"
        files[name].write_text(json.dumps(config))
    configs = [word for name in ("zones", "cost") for word in ("--policy-pack-config", str(files[name]))]
    code, said = preview(project, "dev", *configs)
    assert code != 0
    assert "zones.suppress[0].rule=any-cost-budgt: unknown rule; did you mean any-cost-budget?" in said
    assert "zones.suppress[0].expires=2026-01-31: has passed" in said
    assert "stack_usd_month=-1" in said
