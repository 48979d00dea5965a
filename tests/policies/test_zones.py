"""The policy pack gpufleet-zones on raw AWS resources, as the policy SDK hands them over: behind its own proxies."""

import base64
import gzip
import json
from collections.abc import Callable

import pytest

from tests.policies.changed_program import (
    TWO_SUBNETS,
    Program,
    add,
    both,
    doubtful,
    encoded,
    findings_of,
    inputs,
    interfaces,
    refused,
    resources,
    set_in,
    without,
)
from tests.policies.legal_program import USER_DATA, legal_program, resource

SECOND_TARGET = add(
    "second",
    "efs/mountTarget:MountTarget",
    fileSystemId="${files.id}",
    subnetId="${subnet-use1-az1.id}",
    securityGroups=["${nfs.id}"],
)
OTHER_JOB = json.dumps(
    {"nodeRangeProperties": [{"container": {"instanceType": each}} for each in ("p4d.24xlarge", "p5.48xlarge")]}
)
ONE_VCPU = json.dumps({"resourceRequirements": [{"type": "VCPU", "value": "1.0"}]})
LT = "launchTemplate"
METADATA = {("nodes", "aws-node-group-metadata")}


def metadata(**options: object) -> Callable[[Program], None]:
    return set_in("template", metadataOptions=options)


def test_legal_program_passes_every_rule() -> None:
    assert findings_of(legal_program()) == []


def test_upgrade_of_nodes_that_have_the_release_of_the_version_before_passes() -> None:
    program = legal_program()
    set_in("nodes", version="1.35", releaseVersion="1.34.1-20251103")(program)
    program["nodes"]["ignoreChanges"] = ["scalingConfig.desiredSize"]
    assert findings_of(program) == []


REFUSED = {
    "two-subnets-in-a-group": (
        set_in("nodes", subnetIds=TWO_SUBNETS),
        {
            ("nodes", "any-placement-one-zone"),
            ("nodes", "aws-efa-one-zone"),
            ("nodes", "aws-files-target-for-nodes"),
        },
    ),
    "type-not-in-the-zone": (
        both(
            set_in("subnet-use1-az1", availabilityZoneId="use1-az3"),
            set_in(
                "cluster", vpcConfig={"subnetIds": [], "endpointPrivateAccess": True, "endpointPublicAccess": False}
            ),
        ),
        {("nodes", "aws-type-in-zone"), ("environment", "aws-type-in-zone")},
    ),
    "retired-type": (
        both(set_in("nodes", instanceTypes=["p3.16xlarge"]), set_in("template", networkInterfaces=None)),
        {("nodes", "aws-type-current")},
    ),
    "typing-error-in-a-type": (set_in("nodes", instanceTypes=["p4d.24xlrge"]), {("nodes", "aws-type-known")}),
    "no-efa": (set_in("nodes", instanceTypes=["g5.xlarge"]), {("nodes", "aws-efa-supported")}),
    "block-in-a-group": (
        both(
            set_in("nodes", capacityType="CAPACITY_BLOCK", instanceTypes=None),
            set_in(
                "template",
                instanceType="p4d.24xlarge",
                instanceMarketOptions={"marketType": "capacity-block"},
                capacityReservationSpecification={
                    "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}
                },
            ),
        ),
        {("nodes", "aws-placement-no-block")},
    ),
    "block-without-market": (
        both(set_in("nodes", capacityType="CAPACITY_BLOCK"), set_in("template", placement=None)),
        {("nodes", "any-capacity-id-given"), ("nodes", "aws-node-group-block")},
    ),
    "public-with-many-cards": (interfaces(associatePublicIpAddress="true"), {("nodes", "aws-efa-private")}),
    "disk-size-beside-a-template": (set_in("nodes", diskSize=20), {("nodes", "aws-node-group-template-only")}),
    "remote-access-beside-a-template": (
        set_in("nodes", remoteAccess={"ec2SshKey": "mine"}),
        {("nodes", "aws-node-group-template-only")},
    ),
    "types-in-both": (set_in("template", instanceType="p4d.24xlarge"), {("nodes", "aws-node-group-type-once")}),
    "image-in-the-template": (
        set_in("template", imageId="ami-0123456789abcdef0"),
        {("nodes", "aws-node-group-image-once")},
    ),
    "image-of-another-architecture": (
        set_in("nodes", amiType="AL2023_ARM_64_NVIDIA"),
        {("nodes", "aws-node-group-image-architecture")},
    ),
    "release-of-another-version": (
        set_in("nodes", version="1.34", releaseVersion="1.33.5-20251103"),
        {("nodes", "aws-node-group-release")},
    ),
    "newer-than-the-cluster": (
        both(set_in("cluster", version="1.35"), set_in("nodes", version="1.36")),
        {("nodes", "aws-node-group-version")},
    ),
    "version-that-eks-does-not-have": (
        set_in("cluster", version="1.99"),
        {("cluster", "aws-cluster-version-offered")},
    ),
    "reserved-range": (
        lambda program: inputs(program, "cluster")["vpcConfig"].update(
            endpointPublicAccess=True, publicAccessCidrs=["198.51.100.0/24"]
        ),
        {("cluster", "aws-cluster-public-cidr")},
    ),
    "minimum-above-the-nodes-of-a-new-group": (
        set_in("nodes", scalingConfig={"minSize": 2, "desiredSize": 0, "maxSize": 4}),
        {("nodes", "any-count-desired")},
    ),
    "minimum-above-the-nodes-of-a-group-that-stands": (
        both(
            set_in("nodes", scalingConfig={"minSize": 2, "desiredSize": 0, "maxSize": 4}),
            lambda program: program["nodes"].update(ignoreChanges=["scalingConfig.desiredSize"]),
        ),
        {("nodes", "aws-node-group-live-minimum")},
    ),
    "version-beside-an-own-image": (
        both(
            set_in("nodes", version="1.34", amiType="CUSTOM"),
            set_in("template", imageId="ami-0123456789abcdef0", userData=None),
        ),
        {("nodes", "aws-node-group-version-image")},
    ),
    "template-by-id-and-name": (
        set_in("nodes", launchTemplate={"id": "${template.id}", "name": "mine", "version": "1"}),
        {("nodes", "aws-node-group-template-name")},
    ),
    "subnet-in-the-template": (interfaces(subnetId="subnet-1"), {("nodes", "aws-node-group-template-field")}),
    "profile-in-the-template": (
        set_in("template", iamInstanceProfile={"name": "nodes"}),
        {("nodes", "aws-node-group-template-field")},
    ),
    "shutdown-in-the-template": (
        set_in("template", instanceInitiatedShutdownBehavior="terminate"),
        {("nodes", "aws-node-group-template-field")},
    ),
    "spot-in-the-template": (
        set_in("template", instanceMarketOptions={"marketType": "spot"}),
        {("nodes", "aws-node-group-template-field")},
    ),
    "amazon-linux-2-of-the-clusters-version": (
        both(set_in("cluster", version="1.33"), set_in("nodes", amiType="AL2_x86_64_GPU")),
        {("nodes", "aws-node-group-image-version")},
    ),
    "groups-at-both-levels": (
        set_in("template", vpcSecurityGroupIds=["sg-1"]),
        {("template", "aws-template-groups-once")},
    ),
    "partition-without-a-group": (
        set_in("template", placement={"partitionNumber": 2}),
        {("template", "aws-template-partition")},
    ),
    "two-interfaces-on-a-card": (interfaces(networkCardIndex=0), {("template", "aws-fabric-cards")}),
    "plain-script-as-user-data": (
        set_in("template", userData=encoded(b"#!/bin/bash\nreboot\n")),
        {("nodes", "aws-node-group-user-data")},
    ),
    "gzip-as-user-data": (
        set_in("template", userData=encoded(gzip.compress(base64.b64decode(USER_DATA)))),
        {("nodes", "aws-node-group-user-data")},
    ),
    "user-data-not-encoded": (
        set_in("template", userData="#!/bin/bash\nreboot\n"),
        {("template", "aws-template-user-data")},
    ),
    "no-way-out-by-missing-association": (
        without("association-use1-az1"),
        {("nodes", "aws-subnet-way-out"), ("environment", "aws-subnet-way-out")},
    ),
    "no-way-out-by-missing-route": (
        without("route-use1-az1"),
        {("nodes", "aws-subnet-way-out"), ("environment", "aws-subnet-way-out")},
    ),
    "internet-gateway-without-addresses": (
        both(
            add("gateway", "ec2/internetGateway:InternetGateway", vpcId="${vpc.id}"),
            set_in("route-use1-az1", natGatewayId=None, gatewayId="${gateway.id}"),
        ),
        {
            ("nodes", "aws-subnet-way-out"),
            ("environment", "aws-subnet-way-out"),
            ("job", "aws-batch-multinode-private"),
        },
    ),
    "more-nodes-than-addresses": (
        set_in("subnet-use1-az1", cidrBlock="10.0.0.0/29"),
        {("nodes", "aws-subnet-nodes"), ("environment", "aws-subnet-nodes")},
    ),
    "no-egress-to-self": (
        both(
            set_in("fabric-out", referencedSecurityGroupId=None, cidrIpv4="0.0.0.0/0"),
            interfaces(securityGroups=["${fabric.id}"]),
        ),
        {("nodes", "aws-efa-group-to-self")},
    ),
    "two-targets-in-a-zone": (
        SECOND_TARGET,
        {("second", "aws-files-target-once"), ("target", "aws-files-target-once")},
    ),
    "target-in-another-zone": (
        set_in("target", subnetId="${subnet-use1-az2.id}"),
        {("nodes", "aws-files-target-for-nodes"), ("environment", "aws-files-target-for-nodes")},
    ),
    "nfs-closed": (without("nfs-in"), {("target", "aws-files-nfs-open")}),
    "nfs-on-another-port": (set_in("nfs-in", fromPort=2050, toPort=2060), {("target", "aws-files-nfs-open")}),
    "nfs-from-somebody-else": (
        both(
            add("others", "ec2/securityGroup:SecurityGroup", vpcId="${vpc.id}"),
            set_in("nfs-in", referencedSecurityGroupId="${others.id}"),
        ),
        {("target", "aws-files-nfs-open")},
    ),
    "files-in-another-region": (set_in("files", region="us-west-2"), {("files", "aws-files-region")}),
    "directory-that-nobody-makes": (
        set_in("access", rootDirectory={"path": "/data"}),
        {("access", "aws-files-directory-made")},
    ),
    "no-endpoint": (
        lambda program: inputs(program, "cluster")["vpcConfig"].update(endpointPrivateAccess=False),
        {("cluster", "aws-cluster-endpoint")},
    ),
    "endpoint-for-everybody": (
        lambda program: inputs(program, "cluster")["vpcConfig"].update(endpointPublicAccess=True),
        {("cluster", "aws-cluster-public-cidrs")},
    ),
    "control-plane-where-eks-has-none": (
        set_in("subnet-use1-az2", availabilityZoneId="use1-az3"),
        {("cluster", "aws-cluster-zone-accepted")},
    ),
    "control-plane-in-one-zone": (
        lambda program: inputs(program, "cluster")["vpcConfig"].update(subnetIds=["${subnet-use1-az1.id}"]),
        {("cluster", "aws-cluster-two-zones")},
    ),
    "multi-node-on-spot": (resources(type="SPOT"), {("job", "aws-batch-multinode-on-demand")}),
    "multi-node-on-unmanaged": (
        set_in("environment", type="UNMANAGED", computeResources=None),
        {("job", "aws-batch-multinode-on-demand")},
    ),
    "batch-in-two-zones": (
        resources(subnets=TWO_SUBNETS),
        {("environment", "any-placement-one-zone"), ("environment", "aws-files-target-for-nodes")},
    ),
    "batch-of-two-kinds": (
        resources(instanceTypes=["p4d.24xlarge", "m7i.large"]),
        {("environment", "aws-batch-gpu-types"), ("environment", "aws-type-known")},
    ),
    "batch-below-one-node": (resources(maxVcpus=95), {("environment", "aws-batch-max-vcpus")}),
    "batch-without-role": (resources(instanceRole=None), {("environment", "aws-batch-instance-role")}),
    "batch-with-the-role-itself": (
        resources(instanceRole="arn:aws:iam::123456789012:role/nodes"),
        {("environment", "aws-batch-instance-role")},
    ),
    "batch-on-an-old-image": (
        resources(ec2Configurations=[{"imageType": "ECS_AL2_NVIDIA"}]),
        {("environment", "aws-batch-image")},
    ),
    "nodes-of-two-types": (set_in("job", nodeProperties=OTHER_JOB), {("job", "aws-batch-node-types")}),
    "part-of-a-vcpu": (
        set_in("job", type="container", nodeProperties=None, containerProperties=ONE_VCPU),
        {("job", "aws-batch-requirement")},
    ),
    "queue-of-four": (
        set_in("queue", computeEnvironmentOrders=[{"order": n, "computeEnvironment": f"arn:{n}"} for n in range(4)]),
        {("queue", "aws-batch-queue-environments")},
    ),
    "queue-of-two-kinds": (
        both(
            add("fargate", "batch/computeEnvironment:ComputeEnvironment", computeResources={"type": "FARGATE"}),
            set_in(
                "queue",
                computeEnvironmentOrders=[
                    {"order": 1, "computeEnvironment": "${environment.arn}"},
                    {"order": 2, "computeEnvironment": "${fargate.arn}"},
                ],
            ),
        ),
        {("queue", "aws-batch-queue-kind"), ("job", "aws-batch-multinode-on-demand")},
    ),
}


@pytest.mark.parametrize(("change", "rules"), REFUSED.values(), ids=REFUSED)
def test_mistake_is_refused_by_its_rule(change: Callable[[Program], None], rules: set[tuple[str, str]]) -> None:
    program = legal_program()
    change(program)
    assert refused(program) == rules


@pytest.mark.parametrize(
    ("ami_type", "told"),
    [
        ("AL2_x86_64_GPU", ["fail"]),
        ("AL2023_x86_64_NVIDIA", []),
        ("BOTTLEROCKET_x86_64_NVIDIA", ["unverified"]),
        (None, ["unverified"]),
    ],
)
def test_metadata_service_of_a_node_group_without_a_template(ami_type: str | None, told: list[str]) -> None:
    program = legal_program()
    set_in("nodes", launchTemplate=None, amiType=ami_type)(program)
    found = [each.finding for each in findings_of(program)]
    assert [each.status for each in found if each.rule == "aws-node-group-metadata"] == told


def test_metadata_service_that_is_off_gives_nobody_anything() -> None:
    program = legal_program()
    metadata(httpEndpoint="disabled", httpPutResponseHopLimit=2)(program)
    assert findings_of(program) == []


DOUBTFUL = {
    "no-type": (set_in("nodes", instanceTypes=None), {("nodes", "aws-node-group-type-given")}),
    "no-driver": (set_in("nodes", amiType="AL2023_x86_64_STANDARD"), {("nodes", "aws-node-group-image-driver")}),
    "support-that-ends-before-the-environment": (
        set_in("cluster", version="1.35", tags={"expires-at": "2027-12-31"}),
        {("cluster", "aws-cluster-version-supported")},
    ),
    "more-nodes-than-the-default-quota": (
        both(
            set_in("nodes", scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 512}),
            set_in("subnet-use1-az1", cidrBlock="10.0.64.0/18"),
        ),
        {("nodes", "aws-node-group-quota")},
    ),
    "old-image": (set_in("nodes", amiType="AL2_x86_64_GPU"), {("nodes", "aws-node-group-image-current")}),
    "pods-two-hops-away": (metadata(httpTokens="required", httpPutResponseHopLimit=2), METADATA),
    "metadata-without-tokens": (metadata(httpTokens="optional", httpPutResponseHopLimit=1), METADATA),
    "hops-of-the-image": (metadata(httpTokens="required"), METADATA),
    "tokens-of-the-account": (metadata(httpPutResponseHopLimit=1), METADATA),
    "metadata-unsaid": (set_in("template", metadataOptions=None), METADATA),
    "without-the-clusters-group": (
        interfaces(securityGroups=["${fabric.id}"]),
        {("nodes", "aws-node-group-cluster-group")},
    ),
    "vcpus-left-over": (resources(maxVcpus=400), {("environment", "aws-batch-vcpus-left")}),
    "best-fit": (resources(allocationStrategy="BEST_FIT"), {("environment", "aws-batch-strategy-in-place")}),
    "no-strategy": (resources(allocationStrategy=None), {("environment", "aws-batch-strategy-in-place")}),
    "name-of-its-own": (set_in("environment", name="jobs"), {("environment", "aws-batch-name")}),
    "role-of-its-own": (set_in("environment", serviceRole="${role.arn}"), {("environment", "aws-batch-service-role")}),
}


@pytest.mark.parametrize(("change", "rules"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_doubtful_program_is_accepted_with_a_warning(
    change: Callable[[Program], None], rules: set[tuple[str, str]]
) -> None:
    program = legal_program() | {"role": resource("iam/role:Role")}
    change(program)
    assert refused(program) == set()
    assert doubtful(program) == rules
