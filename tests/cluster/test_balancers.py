"""Services of type LoadBalancer on a simulated EKS cluster: they get an address, and what is left of them holds the
network, as it does in AWS."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpufleet_rehearsal.kubernetes.load_balancers import FINALIZER, GROUP, INTERFACE, SUBNET
from gpufleet_rehearsal.rehearse import remains
from tests.e2e.rehearsed_project import Project, held
from tests.e2e.tiny_program import set_config, tiny
from tools.kubernetes.control_plane import ControlPlane

SOURCE = """
import json
import pulumi
import pulumi_aws as aws

config = pulumi.Config()
vpc = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16", enable_dns_hostnames=True)
gate = aws.ec2.InternetGateway("gate", vpc_id=vpc.id)
table = aws.ec2.RouteTable("table", vpc_id=vpc.id)
aws.ec2.Route("out", route_table_id=table.id, destination_cidr_block="0.0.0.0/0", gateway_id=gate.id)
subnets = [
    aws.ec2.Subnet(f"subnet-{zone}", vpc_id=vpc.id, cidr_block=f"10.0.{n}.0/24", availability_zone=f"us-east-1{zone}",
                   opts=pulumi.ResourceOptions(depends_on=[gate]))
    for n, zone in enumerate("ab")
]
ways = [
    aws.ec2.RouteTableAssociation(f"way-{n}", route_table_id=table.id, subnet_id=subnet.id)
    for n, subnet in enumerate(subnets)
]
trust = {"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}
role = aws.iam.Role("control", assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [trust]}))
policy = aws.iam.RolePolicyAttachment(
    "control-policy", role=role.name, policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"
)
cluster = aws.eks.Cluster(
    "eks", role_arn=role.arn, vpc_config={"subnet_ids": [s.id for s in subnets], "endpoint_private_access": True},
    opts=pulumi.ResourceOptions(depends_on=[policy, *ways]),
)

def kubeconfig(values):
    name, endpoint = values
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "aws", "args": ["eks"]}}
    return json.dumps({
        "clusters": [{"name": name, "cluster": {"server": endpoint}}], "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}], "current-context": name,
    })

class Provider(pulumi.ProviderResource):
    def __init__(self, name, props):
        super().__init__("kubernetes", name, props)

class Service(pulumi.CustomResource):
    status: pulumi.Output[dict]

    def __init__(self, name, props, opts):
        super().__init__("kubernetes:core/v1:Service", name, {**props, "status": None}, opts)

on = pulumi.ResourceOptions(
    provider=Provider("on-eks", {"kubeconfig": pulumi.Output.all(cluster.name, cluster.endpoint).apply(kubeconfig)})
)
pulumi.CustomResource("kubernetes:core/v1:Namespace", "team", {"metadata": {"name": "team"}}, on)
if config.get_bool("serves"):
    web = Service("web", {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
    }, on)
    pulumi.export("address", web.status.apply(lambda status: status["loadBalancer"]["ingress"][0]["hostname"]))
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = replace(tiny(tmp_path / "serve", SOURCE), control_plane=True)
    yield made
    made.home.control_plane.stop()


def up(project: Project) -> ControlPlane:
    done = project.rehearse(environment="dev")
    assert done.returncode == 0, done.stdout + done.stderr
    return ControlPlane(project.home.root / "kubernetes")


def by_hand(plane: ControlPlane) -> dict[str, Any]:
    """A Service in a namespace that no program knows of."""
    plane.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}})
    ports = [{"port": 443, "protocol": "TCP"}]
    spec = {"type": "LoadBalancer", "ports": ports}
    metadata = {"name": "board", "namespace": "elsewhere"}
    return plane.client.apply({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})


def interfaces(project: Project, *, gone: bool = False) -> list[Any]:
    found = project.cloud.store.resources(INTERFACE, gone=gone)
    return [each for each in found if str(each.view["description"]).startswith("ELB ")]


def test_service_of_a_program_has_an_address_and_goes_before_its_network(project: Project) -> None:
    set_config(project, serves=True)
    plane = up(project)
    service = plane.client.get("/api/v1/namespaces/default/services/web")
    assert service["metadata"]["finalizers"] == [FINALIZER]
    (ingress,) = service["status"]["loadBalancer"]["ingress"]
    assert re.fullmatch(r"a[0-9a-f]{31}-\d{10}\.us-east-1\.elb\.rehearsal\.invalid", ingress["hostname"])
    assert project.home.engine().outputs("dev")["address"] == ingress["hostname"]
    subnets = {subnet.id for subnet in project.cloud.store.resources(SUBNET)}
    assert {each.view["subnetId"] for each in interfaces(project)} == subnets

    destroyed = project.rehearse("--destroy", environment="dev")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert destroyed.stdout.splitlines()[-1] == "Nothing is left in the simulated cloud."
    assert (interfaces(project), held(project.cloud)) == ([], [])
    left = [each.deleted_at for each in interfaces(project, gone=True)]
    lasted = [each.deleted_at for each in project.cloud.store.resources(SUBNET, gone=True)]
    assert len(left) == 2
    assert max(left) < min(lasted)


def test_service_that_is_left_when_its_cluster_goes_holds_the_network(project: Project) -> None:
    plane = up(project)
    by_hand(plane)
    project.home.control_plane.follow_fleet()
    board = "/api/v1/namespaces/elsewhere/services/board"
    assert plane.client.get(board)["status"]["loadBalancer"]["ingress"]
    ours = {each.view["subnetId"]: each for each in interfaces(project)}
    assert len(ours) == 2

    destroyed = project.rehearse("--destroy", environment="dev")
    assert destroyed.returncode == 1
    said = destroyed.stdout + destroyed.stderr
    for id_ in ours:
        assert f"DependencyViolation: The subnet '{id_}' has dependencies and cannot be deleted." in said
    told = [line for line in destroyed.stdout.splitlines() if line.startswith("  in no stack's state: ELB ")]
    assert (
        len([line for line in told if re.search(r"of Service elsewhere/board \(\S+NetworkInterface eni-", line)]) == 2
    )
    _, left = remains(project.cloud, "dev", project.state("dev"))
    assert [each.type for each in left] == [GROUP, INTERFACE, INTERFACE]
    assert {each.name.partition(" of ")[2] for each in left} == {"Service elsewhere/board"}
    # Nobody looks after it any more: not even now that the Service is to go.
    plane.client.delete(board)
    project.home.control_plane.follow_fleet()
    assert len(interfaces(project)) == 2
    assert plane.client.get(board)["metadata"]["deletionTimestamp"]
