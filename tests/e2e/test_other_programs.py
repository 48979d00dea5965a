"""`gpufleet rehearse --program DIR`: the rehearsal serves any Pulumi program, from any directory."""

import os
import stat
from pathlib import Path

import pytest

from tests.e2e.rehearsed_project import Project
from tests.e2e.tiny_program import ids, made, set_config, tiny


@pytest.fixture
def elsewhere(tmp_path: Path) -> Project:
    """A place that has nothing to do with the program."""
    (tmp_path / "elsewhere").mkdir()
    return Project(tmp_path / "elsewhere")


@pytest.mark.smoke
def test_life_of_another_teams_program(tmp_path: Path, elsewhere: Project) -> None:
    program = tiny(tmp_path / "billing", subnets=1)
    before = {path: path.read_bytes() for path in program.folder.iterdir()}
    rehearse = ("rehearse", "dev", "--latency-scale", "0", "--program", str(program.folder))

    up = elsewhere.run(*rehearse)
    assert up.returncode == 0, up.stdout + up.stderr
    assert set(ids(program)) == {"net", "subnet-0"}
    assert ids(program) == made(program)
    assert f"vpc: {ids(program)['net']}" in up.stdout
    assert {path: path.read_bytes() for path in program.folder.iterdir() if path.is_file()} == before

    network = ids(program)["net"]
    set_config(program, subnets=2)
    changed = elsewhere.run(*rehearse)
    assert changed.returncode == 0, changed.stdout + changed.stderr
    assert set(ids(program)) == {"net", "subnet-0", "subnet-1"}
    assert ids(program)["net"] == network

    destroyed = elsewhere.run(*rehearse, "--destroy")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert destroyed.stdout.splitlines()[-1] == "Nothing is left in the simulated cloud."
    assert ids(program) == {}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            'import pulumi_aws as aws\naws.kinesis.Stream("jobs", shard_count=1)\n',
            "aws:kinesis/stream:Stream is not in the rehearsal's table; add a row to aws/types/kinesis.yaml: see "
            "docs/rehearsal.md",
        ),
        (
            'import pulumi_aws as aws\naws.kinesis.get_stream(name="jobs")\n',
            "aws:kinesis/getStream:getStream: the rehearsal cannot answer this look-up; pass what it would find by "
            "config, so that a preview needs no cloud either",
        ),
        (
            'import pulumi_aws as aws\naws.ec2.Vpc("net", cidr_block="10.0.0.0/99")\n',
            "10.0.0.0/99",
        ),
    ],
    ids=["unknown-type", "look-up", "illegal-input"],
)
def test_what_the_rehearsal_cannot_do_is_said_and_leaves_no_trace(tmp_path: Path, source: str, line: str) -> None:
    program = tiny(tmp_path / "billing", source)
    up = program.rehearse(environment="dev")
    assert up.returncode == 1
    assert line in up.stdout
    assert ids(program) == made(program) == {}


def test_a_program_that_looks_up_its_account_and_its_network_comes_up_and_goes(tmp_path: Path) -> None:
    """What most programs begin with: the caller, the region's zones, a policy document, a network that is there."""
    source = """
import pulumi, pulumi_aws as aws
account = aws.get_caller_identity().account_id
zones = aws.get_availability_zones(state="available")
statement = aws.iam.GetPolicyDocumentStatementArgs(
    actions=["sts:AssumeRole"],
    principals=[aws.iam.GetPolicyDocumentStatementPrincipalArgs(type="Service", identifiers=["ec2.amazonaws.com"])],
)
aws.iam.Role("nodes", assume_role_policy=aws.iam.get_policy_document(statements=[statement]).json)
net = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16", tags={"Name": "training"})
same = aws.ec2.get_vpc_output(id=net.id)
aws.ec2.Subnet("first", vpc_id=same.id, cidr_block="10.0.1.0/24", availability_zone=zones.names[0])
aws.ec2.get_subnets_output(filters=[{"name": "vpc-id", "values": [net.id]}])
pulumi.export("block", same.cidr_block)
pulumi.export("account", account)
"""
    program = tiny(tmp_path / "billing", source)
    up = program.rehearse(environment="dev")
    assert up.returncode == 0, up.stdout + up.stderr
    assert set(ids(program)) == {"nodes", "net", "first"}
    assert program.home.engine().outputs("dev") == {"account": "000000000000", "block": "10.0.0.0/16"}
    before = ids(program)
    again = program.rehearse(environment="dev")
    assert again.returncode == 0, again.stdout + again.stderr
    assert ids(program) == before
    destroyed = program.rehearse("--destroy", environment="dev")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert ids(program) == {}


def test_sdks_of_other_versions_find_the_stand_in(tmp_path: Path) -> None:
    source = (
        "import pulumi, pulumi_aws as aws\n"
        "for version in ('7.20.0', '7.99.0'):\n"
        "    options = pulumi.ResourceOptions(version=version)\n"
        "    aws.ec2.Vpc(version, cidr_block='10.0.0.0/16', opts=options)\n"
    )
    program = tiny(tmp_path / "billing", source)
    up = program.rehearse(environment="dev")
    assert up.returncode == 0, up.stdout + up.stderr
    assert set(ids(program)) == {"7.20.0", "7.99.0"}


def test_shell_and_command_speak_to_the_rehearsal_from_any_directory(tmp_path: Path, elsewhere: Project) -> None:
    program = tiny(tmp_path / "billing")
    here = ("rehearse", "dev", "--latency-scale", "0", "--program", str(program.folder))

    preview = elsewhere.run(*here, "--", "pulumi", "preview", "-s", "dev")
    assert preview.returncode == 0, preview.stdout + preview.stderr
    assert "aws:ec2:Vpc net create" in preview.stdout
    assert ids(program) == {}

    shell = elsewhere.folder / "shell"
    # In the shell the environment is the one it was opened for; no -s is needed.
    shell.write_text("#!/bin/sh\ncd /\npulumi up --yes --skip-preview && pulumi stack output vpc\n")
    shell.chmod(shell.stat().st_mode | stat.S_IXUSR)
    up = elsewhere.run(*here, "--shell", env={"SHELL": str(shell), "AWS_ACCESS_KEY_ID": "a real one"})
    assert up.returncode == 0, up.stdout + up.stderr
    assert up.stdout.splitlines()[-1] == ids(program)["net"]

    credentials = elsewhere.run(*here, "--", "env", env={"AWS_ACCESS_KEY_ID": "a real one", "AWS_PROFILE": "prod"})
    assert [line for line in credentials.stdout.splitlines() if line.startswith("AWS_")] == []
    assert elsewhere.run(*here, "--", "sh", "-c", "exit 7").returncode == 7
    assert elsewhere.run(*here, "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9


REFUSED = "pulumi config: a rehearsal reads your stack configuration and never writes it; edit the file\n"


def test_configuration_cannot_be_written_in_a_rehearsal(tmp_path: Path) -> None:
    program = tiny(tmp_path / "billing")
    before = (program.folder / "Pulumi.dev.yaml").read_bytes()
    for arguments in (["config", "set", "a", "b"], ["-s", "dev", "config", "rm", "a"]):
        refused = program.rehearse("--", "pulumi", *arguments, environment="dev")
        assert (refused.returncode, refused.stderr) == (1, REFUSED)
    read = program.rehearse("--", "pulumi", "config", "get", "aws:region", environment="dev")
    assert (read.returncode, read.stdout) == (0, "us-east-1\n")
    assert (program.folder / "Pulumi.dev.yaml").read_bytes() == before


def test_missing_commands_are_one_line(tmp_path: Path) -> None:
    program = tiny(tmp_path / "billing")
    command = program.rehearse("--", "no-such-command", environment="dev")
    assert (command.returncode, command.stderr) == (1, "Error: no-such-command: No such file or directory\n")
    shell = program.run("rehearse", "dev", "--shell", env=os.environ | {"SHELL": "/no/such/shell"})
    assert (shell.returncode, shell.stderr) == (1, "Error: /no/such/shell: No such file or directory\n")
