"""A program of raw AWS resources in which nothing is wrong: nodes with EFA, shared files, Batch for multi-node jobs.

Tests change a copy of it at one place and look for the one rule that says so.
"""

import base64
import json
from copy import deepcopy
from typing import Any

USER_DATA = base64.b64encode(
    b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="="\n\n--=\nContent-Type: text/x-shellscript\n\n'
    b"#!/bin/bash\n--=--\n"
).decode()
_JOB = {
    "numNodes": 2,
    "mainNode": 0,
    "nodeRangeProperties": [
        {
            "targetNodes": "0:1",
            "container": {
                "image": "train",
                "instanceType": "p4d.24xlarge",
                "resourceRequirements": [{"type": "GPU", "value": "8"}, {"type": "VCPU", "value": "96"}],
            },
        }
    ],
}


def resource(kind: str, **inputs: Any) -> dict[str, Any]:
    return {"type": f"aws:{kind}", "inputs": inputs}


def legal_program() -> dict[str, dict[str, Any]]:
    """A fresh copy of the program, for `raw_program`."""
    return deepcopy(_PROGRAM)


def _network(zone: str) -> dict[str, dict[str, Any]]:
    """A private subnet of a zone, with its way to the NAT gateway."""
    return {
        f"subnet-{zone}": resource("ec2/subnet:Subnet", vpcId="${vpc.id}", availabilityZoneId=zone),
        f"table-{zone}": resource("ec2/routeTable:RouteTable", vpcId="${vpc.id}"),
        f"route-{zone}": resource(
            "ec2/route:Route",
            routeTableId="${table-" + zone + ".id}",
            destinationCidrBlock="0.0.0.0/0",
            natGatewayId="${nat.id}",
        ),
        f"association-{zone}": resource(
            "ec2/routeTableAssociation:RouteTableAssociation",
            subnetId="${subnet-" + zone + ".id}",
            routeTableId="${table-" + zone + ".id}",
        ),
    }


_PROGRAM: dict[str, dict[str, Any]] = {
    "vpc": resource("ec2/vpc:Vpc", cidrBlock="10.0.0.0/16"),
    "nat": resource("ec2/natGateway:NatGateway", subnetId="subnet-0123456789abcdef0"),
    **_network("use1-az1"),
    **_network("use1-az2"),
    "cluster": resource(
        "eks/cluster:Cluster",
        vpcConfig={
            "subnetIds": ["${subnet-use1-az1.id}", "${subnet-use1-az2.id}"],
            "endpointPrivateAccess": True,
            "endpointPublicAccess": False,
        },
    ),
    "fabric": resource("ec2/securityGroup:SecurityGroup", vpcId="${vpc.id}"),
    "fabric-in": resource(
        "vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        securityGroupId="${fabric.id}",
        referencedSecurityGroupId="${fabric.id}",
        ipProtocol="-1",
    ),
    "fabric-out": resource(
        "vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        securityGroupId="${fabric.id}",
        referencedSecurityGroupId="${fabric.id}",
        ipProtocol="-1",
    ),
    "group": resource("ec2/placementGroup:PlacementGroup", strategy="cluster"),
    "template": resource(
        "ec2/launchTemplate:LaunchTemplate",
        userData=USER_DATA,
        metadataOptions={"httpTokens": "required", "httpPutResponseHopLimit": 1},
        placement={"groupName": "${group.name}"},
        networkInterfaces=[
            {
                "deviceIndex": 0 if card == 0 else 1,
                "networkCardIndex": card,
                "interfaceType": "efa" if card == 0 else "efa-only",
                "securityGroups": ["${fabric.id}", "${cluster.vpcConfig}"],
            }
            for card in range(4)
        ],
    ),
    "nodes": resource(
        "eks/nodeGroup:NodeGroup",
        clusterName="${cluster.name}",
        subnetIds=["${subnet-use1-az1.id}"],
        amiType="AL2023_x86_64_NVIDIA",
        capacityType="ON_DEMAND",
        instanceTypes=["p4d.24xlarge"],
        launchTemplate={"id": "${template.id}", "version": "${template.latestVersion}"},
        scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 4},
    ),
    "files": resource("efs/fileSystem:FileSystem", encrypted=True),
    "nfs": resource("ec2/securityGroup:SecurityGroup", vpcId="${vpc.id}"),
    "nfs-in": resource(
        "vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        securityGroupId="${nfs.id}",
        referencedSecurityGroupId="${fabric.id}",
        ipProtocol="tcp",
        fromPort=2049,
        toPort=2049,
    ),
    "target": resource(
        "efs/mountTarget:MountTarget",
        fileSystemId="${files.id}",
        subnetId="${subnet-use1-az1.id}",
        securityGroups=["${nfs.id}"],
    ),
    "access": resource(
        "efs/accessPoint:AccessPoint",
        fileSystemId="${files.id}",
        rootDirectory={"path": "/data", "creationInfo": {"ownerUid": 1000, "ownerGid": 1000, "permissions": "0755"}},
    ),
    "environment": resource(
        "batch/computeEnvironment:ComputeEnvironment",
        type="MANAGED",
        computeResources={
            "type": "EC2",
            "allocationStrategy": "BEST_FIT_PROGRESSIVE",
            "maxVcpus": 384,
            "subnets": ["${subnet-use1-az1.id}"],
            "instanceTypes": ["p4d.24xlarge"],
            "instanceRole": "arn:aws:iam::123456789012:instance-profile/nodes",
            "securityGroupIds": ["${fabric.id}"],
            "placementGroup": "${group.name}",
            "ec2Configurations": [{"imageType": "ECS_AL2023_NVIDIA"}],
        },
    ),
    "queue": resource(
        "batch/jobQueue:JobQueue",
        computeEnvironmentOrders=[{"order": 1, "computeEnvironment": "${environment.arn}"}],
    ),
    "job": resource("batch/jobDefinition:JobDefinition", type="multinode", nodeProperties=json.dumps(_JOB)),
}
