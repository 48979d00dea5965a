"""What holds for the programs of all environments."""

import pulumi
import pytest

from gpufleet.config.stacks import CLOUDS
from tests.unit.stacks import aws_environment, azure_stack, lab_environment
from tests.unit.stacks.stack_programs import STACKS, Program

LONGEST = 80
"""Lines of a program: it is read as a whole, and what is longer belongs into a component or into gpufleet.config."""
FILES = sorted(STACKS.glob("*.py"))


def test_there_is_a_program_for_each_cloud():
    assert [file.name for file in FILES] == sorted(
        ["__main__.py", *(f"{each.replace('-', '_')}.py" for each in CLOUDS)]
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_program_is_short(file):
    assert len(file.read_text().splitlines()) <= LONGEST


@pytest.mark.parametrize(
    "program", [aws_environment.program, azure_stack.program, lab_environment.program], ids=["aws", "azure", "onprem"]
)
def test_a_preview_registers_what_an_update_does(program: Program):
    kinds = [[(each.type, each.name) for each in program(preview=preview).resources] for preview in (True, False)]
    assert sorted(kinds[0]) == sorted(kinds[1])
    assert len(kinds[0]) > 10


def test_a_run_that_starts_pools_again_is_checked_as_always(monkeypatch):
    transforms = []
    monkeypatch.setattr(pulumi.runtime, "register_resource_transform", transforms.append)
    monkeypatch.setenv("GPUFLEET_START", "dev-trainers-nodes")
    assert aws_environment.program.run().resources
    # By it the engine registers the pools with their nodes: see tests/e2e/test_ps.py.
    assert len(transforms) == 1
    assert len(aws_environment.program.refusal(tags={"a": ";"})) == 1


@pytest.mark.parametrize("cloud", ["Azure", "__main__", None])
def test_an_environment_without_a_known_cloud_says_so_alone(cloud):
    (line,) = aws_environment.program.refusal(cloud=cloud, pools="x", ownr="y")
    assert line.startswith("Pulumi.dev.yaml: gpufleet:cloud")


def test_faults_of_the_configuration_come_before_those_of_its_parts():
    lines = aws_environment.program.refusal(erase="maybe", network={"zones": ["use1-az1"]}, tags={"a": ";"})
    assert lines == ["Pulumi.dev.yaml: gpufleet:erase='maybe': must be true or false [config-value]"]


def test_a_fault_of_a_program_itself_is_no_refusal(monkeypatch):
    monkeypatch.setattr("gpufleet.checks.aws.validate_access_logs", lambda *_, **__: {}["nothing of the kind"])
    with pytest.raises(KeyError, match="nothing of the kind"):
        aws_environment.program.run()
