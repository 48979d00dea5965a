"""Lustre of both clouds on the real engine: its life, a smaller size that protection refuses, what destroy keeps."""

from pathlib import Path

from tests.e2e.tiny_program import ids, set_config, tiny

AWS = """
import pulumi, pulumi_aws as aws
from gpufleet.aws import LustreFiles

net = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16")
first = aws.ec2.Subnet("first", vpc_id=net.id, cidr_block="10.0.1.0/24", availability_zone_id="use1-az1")
nodes = aws.ec2.SecurityGroup("nodes", vpc_id=net.id)
files = LustreFiles(
    "fast",
    zone="use1-az1",
    gib=pulumi.Config().require_int("gib"),
    region="us-east-1",
    vpc_id=net.id,
    subnet_ids={"use1-az1": first.id},
    client_security_group_ids={"nodes": nodes.id},
    buckets={"/imagenet": "s3://images-of-the-vision-team/train"},
)
pulumi.export("address", files.mount_address)
"""
AZURE = """
import pulumi
from pulumi_azure_native import network, resources
from gpufleet.azure import LustreFiles

group = resources.ResourceGroup("group", location="eastus")
net = network.VirtualNetwork(
    "net", resource_group_name=group.name, location="eastus", address_space={"address_prefixes": ["10.60.0.0/16"]}
)
subnet = network.Subnet(
    "files", resource_group_name=group.name, virtual_network_name=net.name, address_prefix="10.60.1.0/24"
)
files = LustreFiles(
    "fast", region="eastus", resource_group_name=group.name, filesystem_subnet_id=subnet.id, tib=32, erase=True
)
pulumi.export("address", files.mount_address)
"""


def test_lustre_on_aws_grows_never_shrinks_and_stays_on_destroy(tmp_path: Path) -> None:
    program = tiny(tmp_path / "billing", AWS, gib=2400)
    up = program.rehearse(environment="dev")
    assert up.returncode == 0, up.stdout + up.stderr
    system = ids(program)["fast-lustre"]
    address = program.home.engine().outputs("dev")["address"]
    assert address.startswith(f"{system}.fsx.us-east-1.")
    assert "@tcp:/" in address

    set_config(program, gib=4800)
    grown = program.rehearse(environment="dev")
    assert grown.returncode == 0, grown.stdout + grown.stderr
    assert ids(program)["fast-lustre"] == system

    set_config(program, gib=2400)
    smaller = program.rehearse(environment="dev")
    assert smaller.returncode != 0
    assert "protect" in smaller.stdout + smaller.stderr
    assert ids(program)["fast-lustre"] == system

    set_config(program, gib=4800)
    before = ids(program)
    destroy = ("pulumi", "destroy", "--yes", "--exclude-protected", "--stack", "dev")
    gone = program.rehearse("--", *destroy, environment="dev")
    assert gone.returncode == 0, gone.stdout + gone.stderr
    kept, needed = set(ids(program)), {"net", "first", "fast-lnet", "fast-lustre", "fast-bucket-imagenet"}
    assert needed <= kept
    assert [name for name in kept if "nodes" in name] == [], "rules to nodes go with them"
    again = program.rehearse(environment="dev")
    assert again.returncode == 0, again.stdout + again.stderr
    assert {name: ids(program)[name] for name in needed} == {name: before[name] for name in needed}


def test_lustre_on_azure(tmp_path: Path) -> None:
    program = tiny(tmp_path / "billing", AZURE)
    (program.folder / "Pulumi.dev.yaml").write_text("config: {'azure-native:location': eastus}\n")
    up = program.rehearse(environment="dev")
    assert up.returncode == 0, up.stdout + up.stderr
    assert program.home.engine().outputs("dev")["address"].endswith("@tcp:/lustrefs")
