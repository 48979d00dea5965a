"""Illegal configuration and illegal intent on the real engine: every line, exactly, once; and nothing has happened."""

from pathlib import Path
from typing import Any

from tests.e2e.rehearsed_project import Project
from tests.e2e.tiny_program import ids, made, tiny


def said(output: str) -> list[str]:
    """The lines of the error under the stack's name in the engine's last list of diagnostics."""
    diagnostics = output.rsplit("Diagnostics:", 1)[1].split("\nResources:")[0]
    lines = [line.strip().removeprefix("error: ") for line in diagnostics.splitlines()]
    return [line for line in lines if line and not line.startswith("pulumi:pulumi:Stack")]


def assert_refused(project: Project, expected: list[str], *, environment: str = "aws-dev") -> None:
    """By a preview and by an `up`: exactly these lines, each once, and nothing made."""
    preview = project.rehearse("--", "pulumi", "preview", "-s", environment, environment=environment)
    up = project.rehearse(environment=environment)
    for done in (preview, up):
        assert done.returncode == 1
        assert "Traceback" not in done.stdout + done.stderr
        assert said(done.stdout) == expected
    assert ids(project) == made(project, environment) == {}


def test_misspelt_keys_are_told_before_anything_happens(project: Project) -> None:
    def misspell(config: dict[str, Any]) -> None:
        config["ownr"] = config.pop("owner")
        config["gpuflet:tags"] = {"a": "b"}
        config["network"]["natt"] = "single"
        config["pools"]["trainers"]["max"] = "two"

    project.configure(misspell)
    file = "Pulumi.aws-dev.yaml"
    assert_refused(
        project,
        [
            f"{file}: gpuflet:tags: unknown namespace; did you mean gpufleet:tags? [config-unknown-key]",
            f"{file}: gpufleet:network.natt: unknown key; did you mean nat? [config-unknown-key]",
            f"{file}: gpufleet:pools.trainers.max='two': must be a whole number [config-value]",
            f"{file}: gpufleet:ownr: unknown key; did you mean owner? [config-unknown-key]",
        ],
    )


def test_illegal_intent_of_two_pools_and_the_network_is_told_at_once(project: Project) -> None:
    def spoil(config: dict[str, Any]) -> None:
        config["network"]["nat"] = "singel"
        config["pools"]["trainers"].update(max=-2, zones=["use1-az1", "use1-az2"], min=-2, network="plain")
        config["pools"]["other"] = {"types": ["g5.8xlrge"], "max": 1, "zones": ["use1-az1"]}

    project.configure(spoil)
    assert_refused(
        project,
        [
            "warning: aws-dev-cluster: public_access_cidrs=[]: the cluster's API is reachable from inside the VPC "
            "only; run `pulumi up` and `gpufleet jobs` in it (a VPN, a runner there), or list your address, as "
            "203.0.113.7/32 [aws-cluster-api-reached]",
            "warning: aws-dev-cluster: version=1.35: standard support ends on 2027-03-27, before the environment does "
            "on 2027-12-31; from then on EKS upgrades the control plane, and no nodes; raise it by then, one minor "
            "version at a time; no version lasts so long yet [aws-cluster-version-supported]",
            "aws-dev-network: nat=singel: is not an allowed value; did you mean single? (use none, single or "
            "per-zone) [any-argument-word]",
            (
                "aws-dev-other: types=g5.8xlrge: is not a GPU type in the catalog; did you mean g5.8xlarge? "
                "[aws-type-known]"
            ),
            "aws-dev-trainers: min=-2: is below 0; use 0 or more [any-argument-least]",
            "aws-dev-trainers: desired=-2: is below 0; use 0 or more [any-argument-least]",
            "aws-dev-trainers: max=-2: is below 1; use 1 or more [any-argument-least]",
            "aws-dev-trainers: zones=[use1-az1, use1-az2]: a cluster placement group lies in one zone; keep one zone, "
            "or set placement=none [any-placement-one-zone]",
        ],
    )


def test_refusal_of_a_component_in_another_program(tmp_path: Path) -> None:
    source = """
from gpufleet.aws.network import Network
Network("net", {"region": "us-east-1", "zones": ["use1-az1"], "nat": "singel", "cidr": "10.0.0.0/99"})
"""
    program = tiny(tmp_path / "billing", source)
    up = program.rehearse(environment="dev")
    assert up.returncode == 1
    assert "Traceback" not in up.stdout + up.stderr
    assert "net: nat=singel: is not an allowed value; did you mean single?" in up.stdout
    assert "net: cidr=10.0.0.0/99: " in up.stdout
    assert ids(program) == made(program) == {}
