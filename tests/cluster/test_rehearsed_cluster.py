"""`gpufleet rehearse`: a simulated EKS cluster's kubeconfig leads to a control plane with its group's GPU nodes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpufleet_rehearsal.kubernetes.servicer import UNSEEN
from tests.e2e.rehearsed_project import Project
from tests.e2e.tiny_program import set_config, tiny
from tools.kubernetes.control_plane import ControlPlane

SOURCE = """
import json
import pulumi
import pulumi_aws as aws

desired = pulumi.Config().get_int("desired") or 0
vpc = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16", enable_dns_hostnames=True)
subnets = [
    aws.ec2.Subnet(f"subnet-{zone}", vpc_id=vpc.id, cidr_block=f"10.0.{n}.0/24", availability_zone=f"us-east-1{zone}",
                   map_public_ip_on_launch=True)
    for n, zone in enumerate("ab")
]
gate = aws.ec2.InternetGateway("gate", vpc_id=vpc.id)
table = aws.ec2.RouteTable("table", vpc_id=vpc.id)
ways = [aws.ec2.Route("out", route_table_id=table.id, destination_cidr_block="0.0.0.0/0", gateway_id=gate.id)] + [
    aws.ec2.RouteTableAssociation(f"way-{n}", route_table_id=table.id, subnet_id=subnet.id)
    for n, subnet in enumerate(subnets)
]

def role(name, service, policies):
    trust = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    made = aws.iam.Role(name, assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [trust]}))
    attached = [
        aws.iam.RolePolicyAttachment(f"{name}-{policy}", role=made.name, policy_arn=f"arn:aws:iam::aws:policy/{policy}")
        for policy in policies
    ]
    return made, attached

control, first = role("control", "eks.amazonaws.com", ["AmazonEKSClusterPolicy"])
nodes, second = role(
    "nodes", "ec2.amazonaws.com",
    ["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly"],
)
cluster = aws.eks.Cluster(
    "eks", role_arn=control.arn, vpc_config={"subnet_ids": [s.id for s in subnets], "endpoint_private_access": True},
    opts=pulumi.ResourceOptions(depends_on=first),
)
group = aws.eks.NodeGroup(
    "trainers", cluster_name=cluster.name, node_group_name="trainers", node_role_arn=nodes.arn,
    subnet_ids=[subnets[1].id], instance_types=["g5.8xlarge"], ami_type="AL2023_x86_64_NVIDIA",
    labels={"gpufleet.dev/pool": "trainers"},
    scaling_config={"min_size": 0, "desired_size": desired, "max_size": 4},
    opts=pulumi.ResourceOptions(depends_on=[*second, *ways]),
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

provider = Provider("on-eks", {"kubeconfig": pulumi.Output.all(cluster.name, cluster.endpoint).apply(kubeconfig)})
pulumi.CustomResource("kubernetes:core/v1:Namespace", "team", {"metadata": {"name": "team"}},
                      pulumi.ResourceOptions(provider=provider))
if pulumi.Config().get_bool("plugin") is not False:
    plugin = {"name": "main", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"}
    pulumi.CustomResource("kubernetes:apps/v1:DaemonSet", "plugin", {
        "metadata": {"name": "plugin", "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": {"app": "plugin"}}, "template": {
            "metadata": {"labels": {"app": "plugin"}}, "spec": {"containers": [plugin]},
        }},
    }, pulumi.ResourceOptions(provider=provider, depends_on=[group]))
container = {"name": "main", "image": "registry/train:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
labels = {"app": "train"}
pulumi.CustomResource("kubernetes:apps/v1:Deployment", "train", {
    "metadata": {"name": "train", "namespace": "default"},
    "spec": {"replicas": desired, "selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels},
        "spec": {"containers": [container], "nodeSelector": {"gpufleet.dev/pool": "trainers"}},
    }},
}, pulumi.ResourceOptions(
    provider=provider, depends_on=[group], custom_timeouts=pulumi.CustomTimeouts(create=pulumi.Config().get("wait")),
))
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = replace(tiny(tmp_path / "train", SOURCE, desired=2), control_plane=True)
    yield made
    made.home.control_plane.stop()


def pods(plane: ControlPlane) -> list[str]:
    items = plane.client.get("/api/v1/namespaces/default/pods")["items"]
    return sorted(pod["spec"].get("nodeName", "") for pod in items)


def test_simulated_cluster_has_a_control_plane_and_its_gpu_nodes(project: Project) -> None:
    preview = project.rehearse("--", "pulumi", "preview", "-s", "dev", environment="dev")
    assert preview.returncode == 0, preview.stdout + preview.stderr
    assert f"warning: {UNSEEN}" in preview.stdout
    assert not project.home.control_plane.kubeconfig.exists()

    up = project.rehearse(environment="dev")
    assert up.returncode == 0, up.stdout + up.stderr
    assert f"control plane: export KUBECONFIG={project.home.control_plane.kubeconfig}" in up.stdout
    plane = ControlPlane(project.home.root / "kubernetes")
    assert plane.running
    assert pods(plane) == ["trainers-use1-az2-0", "trainers-use1-az2-1"]

    asked = project.rehearse("--", "sh", "-c", "echo $KUBECONFIG", environment="dev")
    assert asked.stdout.strip() == str(plane.kubeconfig)

    # More desired nodes, one more pod.
    set_config(project, desired=3)
    more = project.rehearse(environment="dev")
    assert more.returncode == 0, more.stdout + more.stderr
    assert pods(plane) == ["trainers-use1-az2-0", "trainers-use1-az2-1", "trainers-use1-az2-2"]

    # As after a restart of the machine: the next `up` makes anew what was on it.
    for name in plane.ORDER:
        plane._processes.stop([name])
    again = project.rehearse(environment="dev")
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(pods(ControlPlane(plane.home))) == 3

    destroyed = project.rehearse("--destroy", environment="dev")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert destroyed.stdout.splitlines()[-1] == "Nothing is left in the simulated cloud."
    assert not plane.running


def test_without_a_device_plugin_nodes_have_no_gpus_and_there_are_no_others(project: Project) -> None:
    set_config(project, desired=2, plugin=False, wait="5s")
    up = project.rehearse(environment="dev")
    assert up.returncode != 0
    (line,) = {each.strip() for each in up.stdout.splitlines() if "Deployment default/train is not ready" in each}
    assert "is not ready after 5 s: 0 of 2 pods available; train-" in line
    assert "0/2 nodes are available: 2 Insufficient nvidia.com/gpu." in line


def test_without_control_plane_objects_are_noted_and_it_is_said(project: Project) -> None:
    up = project.rehearse("--no-control-plane", environment="dev")
    assert up.returncode == 0, up.stdout + up.stderr
    line = (
        "kubernetes: the rehearsal runs with --no-control-plane; objects are checked against the schemas of "
        "Kubernetes 1.34.0 and recorded, not applied"
    )
    assert line in up.stdout
    assert not project.home.control_plane.kubeconfig.exists()
    destroyed = project.rehearse("--no-control-plane", "--destroy", environment="dev")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
