"""What nodes of any program pull where nothing but endpoints leads out, and through caches that they cannot fill."""

import pytest

from gpufleet.policies.aws.image_pulls import validate_image_pulls
from gpufleet.rules import Status
from gpufleet.rules.aws.network import NODE_SERVICES
from tests.policies.raw_program import plan_from

TABLE, ASSOCIATION = "aws:ec2/routeTable:RouteTable", "aws:ec2/routeTableAssociation:RouteTableAssociation"
CLOSED = {
    "vpc": {"type": "aws:ec2/vpc:Vpc", "inputs": {"cidrBlock": "10.0.0.0/16"}},
    "subnet": {"type": "aws:ec2/subnet:Subnet", "inputs": {"vpcId": "${vpc.id}"}},
    "table": {"type": TABLE, "inputs": {"vpcId": "${vpc.id}"}},
    "has-table": {"type": ASSOCIATION, "inputs": {"routeTableId": "${table.id}", "subnetId": "${subnet.id}"}},
    "nodes": {"type": "aws:eks/nodeGroup:NodeGroup", "inputs": {"subnetIds": ["${subnet.id}"]}},
    **{
        service: {
            "type": "aws:ec2/vpcEndpoint:VpcEndpoint",
            "inputs": {"vpcId": "${vpc.id}", "serviceName": f"com.amazonaws.us-east-1.{service}"},
        }
        for service in NODE_SERVICES
    },
}
TO_NAT = {"routeTableId": "${table.id}", "destinationCidrBlock": "0.0.0.0/0", "natGatewayId": "nat-1"}
ROUTE = {"to-nat": {"type": "aws:ec2/route:Route", "inputs": TO_NAT}}
ECR = "123456789012.dkr.ecr.us-east-1.amazonaws.com"


def workload(*images: str) -> dict:
    pod = {"initContainers": [{"image": images[0]}], "containers": [{"image": image} for image in images[1:]]}
    return {"type": "kubernetes:apps/v1:Deployment", "inputs": {"spec": {"template": {"spec": pod}}}}


def lines(program: dict) -> list[str]:
    return [each.line for each in validate_image_pulls(plan_from(program)) if each.finding.status is not Status.PASS]


def test_images_that_closed_nodes_do_not_reach() -> None:
    program = CLOSED | {"operator": workload("busybox", "nvcr.io/nvidia/plugin:1", f"{ECR}/plugin:1")}
    fix = "copy the image into ECR in us-east-1 and give its name there, or set network.nat=single [aws-image-reached]"
    assert lines(program) == [
        f"operator: image=busybox: nodes without NAT cannot reach docker.io; {fix}",
        f"operator: image=nvcr.io/nvidia/plugin:1: nodes without NAT cannot reach nvcr.io; {fix}",
    ]
    assert lines(program | ROUTE) == []
    open_group = {"type": "aws:eks/nodeGroup:NodeGroup", "inputs": {"subnetIds": ["subnet-1"]}}
    assert lines(program | {"others": open_group}) == []


CACHE = {"ecrRepositoryPrefix": "quay", "upstreamRegistryUrl": "quay.io"}
ROLE, ATTACHMENT = "aws:iam/role:Role", "aws:iam/rolePolicyAttachment:RolePolicyAttachment"


def attached(policy: str) -> dict:
    return {"type": ATTACHMENT, "inputs": {"role": "${role.name}", "policyArn": f"arn:aws:iam::aws:policy/{policy}"}}


PULLING = {
    "cache": {"type": "aws:ecr/pullThroughCacheRule:PullThroughCacheRule", "inputs": CACHE},
    "role": {"type": ROLE, "inputs": {"assumeRolePolicy": "{}"}},
    "pulls": attached("AmazonEC2ContainerRegistryPullOnly"),
    "nodes": {"type": "aws:eks/nodeGroup:NodeGroup", "inputs": {"nodeRoleArn": "${role.arn}"}},
}
MISSING = [
    "nodes: node_role_arn=role: role cannot pull what the cache quay does not hold yet: it may not make its "
    "repository; allow it ecr:CreateRepository and ecr:BatchImportUpstreamImage on repository/quay/* "
    "[aws-registry-cache-filled]"
]


def inline(policy: str) -> dict:
    return {"type": "aws:iam/rolePolicy:RolePolicy", "inputs": {"role": "${role.name}", "policy": policy}}


def allowing(action: str, resource: str, effect: str = "Allow") -> dict:
    return inline(f'{{"Statement": [{{"Effect": "{effect}", "Action": "{action}", "Resource": "{resource}"}}]}}')


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({}, MISSING),
        ({"more": attached("AmazonEC2ContainerRegistryFullAccess")}, []),
        ({"more": attached("AmazonEC2ContainerRegistryPowerUser")}, MISSING),
        ({"more": attached("SomeOther")}, []),
        ({"more": allowing("ecr:createrepository", "arn:aws:ecr:us-east-1:*:repository/quay/*")}, []),
        ({"more": allowing("ecr:*", "*")}, []),
        ({"more": allowing("ecr:CreateRepository", "arn:aws:ecr:us-east-1:*:repository/k8s/*")}, MISSING),
        ({"more": allowing("ecr:CreateRepository", "*", "Deny")}, MISSING),
        ({"more": inline("${cache.policy}")}, []),
        ({"more": {"type": "aws:ecr/registryPolicy:RegistryPolicy", "inputs": {"policy": "{}"}}}, []),
    ],
)
def test_roles_that_pull_through_caches(more: dict, told: list[str]) -> None:
    assert lines(PULLING | more) == told
