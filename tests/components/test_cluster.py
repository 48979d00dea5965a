"""Cluster: exact children in both engine modes, what waits for what."""

import json

import pytest

from gpufleet.aws.cluster import Cluster, ClusterArgs
from tests.components.recorder import MARK, UNKNOWN, Recording, Secret, construct

TAGS = {"owner": "ml", "project": "speech", **MARK}
SUBNETS = {"use1-az1": "subnet-1", "use1-az2": "subnet-2"}
ARN = "arn:aws:mock::000000000000:"
POLICY = "arn:aws:iam::aws:policy/"
ADMIN = "arn:aws:iam::123456789012:role/platform"

CLUSTER = "aws:eks/cluster:Cluster"
NODES = "aws:eks/nodeGroup:NodeGroup"
ADDON = "aws:eks/addon:Addon"
ROLE = "aws:iam/role:Role"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
LOGS = "aws:cloudwatch/logGroup:LogGroup"
KEY = "aws:kms/key:Key"


def build(preview: bool, **more: object) -> Recording[Cluster]:
    args: ClusterArgs = {"region": "us-east-1", "subnet_ids": SUBNETS, "tags": TAGS}
    args.update(more)  # type: ignore[typeddict-item]
    return construct(lambda: Cluster("eks", args), preview)


def known(value: str, preview: bool) -> str:
    return UNKNOWN if preview else value


def named(name: str) -> dict[str, str]:
    return {**TAGS, "Name": name}


def test_control_plane(preview):
    assert build(preview).inputs(CLUSTER) == {
        "eks-cluster": {
            "name": "eks-stack",
            "roleArn": known(f"{ARN}eks-cluster-role", preview),
            "vpcConfig": {
                "subnetIds": ["subnet-1", "subnet-2"],
                "endpointPrivateAccess": True,
                "endpointPublicAccess": False,
            },
            "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": True},
            "bootstrapSelfManagedAddons": False,
            "encryptionConfig": {
                "provider": {"keyArn": known(f"{ARN}eks-secrets", preview)},
                "resources": ["secrets"],
            },
            "enabledClusterLogTypes": ["api", "audit", "authenticator", "controllerManager", "scheduler"],
            "upgradePolicy": {"supportType": "STANDARD"},
            "deletionProtection": False,
            "tags": named("eks-cluster"),
        }
    }


def test_public_endpoint_only_with_ranges(preview):
    inputs = build(preview, public_access_cidrs=["52.94.76.0/22"]).one(CLUSTER).inputs
    assert inputs["vpcConfig"] == {
        "subnetIds": ["subnet-1", "subnet-2"],
        "endpointPrivateAccess": True,
        "endpointPublicAccess": True,
        "publicAccessCidrs": ["52.94.76.0/22"],
    }


def test_range_of_services_is_as_chosen(preview):
    inputs = build(preview, service_cidr="10.200.0.0/16").one(CLUSTER).inputs
    assert inputs["kubernetesNetworkConfig"] == {"serviceIpv4Cidr": "10.200.0.0/16"}
    assert "kubernetesNetworkConfig" not in build(preview).one(CLUSTER).inputs


def test_log_group_is_there_before_the_cluster(preview):
    recording = build(preview, log_retention_days=90.0, cluster_name="fleet")
    assert recording.inputs(LOGS) == {
        "eks-logs": {"name": "/aws/eks/fleet/cluster", "retentionInDays": 90, "tags": named("eks-logs")}
    }
    assert recording.one(CLUSTER).depends_on == {"eks-logs"}


def test_logs_may_have_a_key(preview):
    assert build(preview, log_kms_key_arn="arn:key").inputs(LOGS)["eks-logs"]["kmsKeyId"] == "arn:key"


def test_no_log_types_no_log_group(preview):
    recording = build(preview, log_types=[])
    assert recording.names(LOGS) == []
    assert recording.one(CLUSTER).inputs["enabledClusterLogTypes"] == []
    assert recording.one(CLUSTER).depends_on == set()


def test_key_of_its_own(preview):
    assert build(preview).inputs(KEY) == {
        "eks-secrets": {
            "description": "Kubernetes secrets of eks-stack",
            "enableKeyRotation": True,
            "deletionWindowInDays": 30,
            "tags": named("eks-secrets"),
        }
    }


def test_roles_and_their_policies(preview):
    def trusts(service: str, *actions: str, **equal: str) -> str:
        statement: dict[str, object] = {"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)}
        if equal:
            statement["Condition"] = {"StringEquals": {f"aws:{key}": value for key, value in equal.items()}}
        return json.dumps({"Version": "2012-10-17", "Statement": [statement]})

    def pods(account: str) -> str:
        tags = {"eks-cluster-name": "eks-stack", "kubernetes-namespace": "kube-system"}
        tags["kubernetes-service-account"] = account
        own = {f"RequestTag/{key}": value for key, value in tags.items()}
        return trusts("pods.eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession", **own)

    recording = build(preview)
    documents = {
        "eks-cluster-role": known(trusts("eks.amazonaws.com", "sts:AssumeRole", SourceAccount="000000000000"), preview),
        "eks-efs-csi-role": pods("efs-csi-controller-sa"),
        "eks-node-role": trusts("ec2.amazonaws.com", "sts:AssumeRole"),
        "eks-vpc-cni-role": pods("aws-node"),
    }
    assert recording.inputs(ROLE) == {
        name: {"assumeRolePolicy": document, "tags": named(name)} for name, document in documents.items()
    }
    attached = {
        "eks-cluster-role-AmazonEKSClusterPolicy": ("eks-cluster-role", "AmazonEKSClusterPolicy"),
        "eks-efs-csi-role-AmazonEFSCSIDriverPolicy": ("eks-efs-csi-role", "service-role/AmazonEFSCSIDriverPolicy"),
        "eks-node-role-AmazonEC2ContainerRegistryPullOnly": ("eks-node-role", "AmazonEC2ContainerRegistryPullOnly"),
        "eks-node-role-AmazonEKSWorkerNodePolicy": ("eks-node-role", "AmazonEKSWorkerNodePolicy"),
        "eks-vpc-cni-role-AmazonEKS_CNI_Policy": ("eks-vpc-cni-role", "AmazonEKS_CNI_Policy"),
    }
    assert recording.inputs(ATTACHMENT) == {
        name: {"role": known(role, preview), "policyArn": f"{POLICY}{policy}"}
        for name, (role, policy) in attached.items()
    }


def test_admins(preview):
    recording = build(preview, admins={"platform": ADMIN}, creator_is_admin=False)
    assert recording.inputs("aws:eks/accessEntry:AccessEntry") == {
        "eks-admin-platform": {
            "clusterName": "eks-stack",
            "principalArn": ADMIN,
            "type": "STANDARD",
            "tags": named("eks-admin-platform"),
        }
    }
    association = recording.one("aws:eks/accessPolicyAssociation:AccessPolicyAssociation", "eks-admin-platform-policy")
    assert association.inputs == {
        "clusterName": "eks-stack",
        "principalArn": ADMIN,
        "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
        "accessScope": {"type": "cluster"},
    }
    assert association.property_dependencies["principalArn"] == {"eks-admin-platform"}
    # An imported cluster has neither, and would be replaced.
    assert recording.one(CLUSTER).ignore_changes == (
        "accessConfig.bootstrapClusterCreatorAdminPermissions",
        "bootstrapSelfManagedAddons",
    )
    assert recording.one(CLUSTER).inputs["accessConfig"] == {
        "authenticationMode": "API",
        "bootstrapClusterCreatorAdminPermissions": False,
    }


def test_only_what_aws_demands_waits(preview):
    """Every explicit wait, and the policies that come with the roles; one more would make `up` slower."""
    recording = build(preview, admins={"platform": ADMIN})
    assert {each.name: set(each.depends_on) for each in recording.resources if each.depends_on} == {
        "eks-cluster": {"eks-logs"},
        "eks-system": {"eks-vpc-cni", "eks-kube-proxy", "eks-eks-pod-identity-agent"},
        "eks-coredns": {"eks-system"},
        "eks-aws-efs-csi-driver": {"eks-system"},
    }
    node_policies = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
    assert recording.one(NODES).property_dependencies["nodeRoleArn"] == {
        "eks-node-role",
        *(f"eks-node-role-{policy}" for policy in node_policies),
    }
    cni = recording.one(ADDON, "eks-vpc-cni").property_dependencies
    assert cni["podIdentityAssociations"] == {"eks-vpc-cni-role", "eks-vpc-cni-role-AmazonEKS_CNI_Policy"}
    assert recording.one(CLUSTER).property_dependencies["roleArn"] == {
        "eks-cluster-role",
        "eks-cluster-role-AmazonEKSClusterPolicy",
    }


def test_gpu_nodes_wait_for_what_lets_them_join(preview):
    from pulumi_aws import eks

    def with_pool() -> None:
        cluster = Cluster("eks", {"region": "us-east-1", "subnet_ids": SUBNETS})
        eks.NodeGroup(
            "gpus",
            cluster_name=cluster.ready,
            node_role_arn=cluster.node_role_arn,
            scaling_config={"min_size": 0, "max_size": 1, "desired_size": 0},
            subnet_ids=["subnet-1"],
        )

    gpus = construct(with_pool, preview).one(NODES, "gpus")
    assert gpus.inputs["clusterName"] == "eks-stack"
    addons = {"eks-vpc-cni", "eks-kube-proxy", "eks-eks-pod-identity-agent"}
    assert gpus.property_dependencies["clusterName"] == {"eks-cluster", *addons}
    assert "eks-node-role-AmazonEKSWorkerNodePolicy" in gpus.property_dependencies["nodeRoleArn"]


def test_given_roles_and_key_are_taken(preview):
    given = {
        "cluster_role_arn": "arn:aws:iam::123456789012:role/control",
        "node_role_arn": "arn:aws:iam::123456789012:role/fleet/nodes",
        "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/k",
    }
    recording = build(preview, **given)
    assert recording.names(ROLE) == ["eks-efs-csi-role", "eks-vpc-cni-role"]
    assert recording.names(KEY) == []
    cluster = recording.one(CLUSTER).inputs
    assert cluster["roleArn"] == given["cluster_role_arn"]
    assert cluster["encryptionConfig"] == {"provider": {"keyArn": given["kms_key_arn"]}, "resources": ["secrets"]}
    assert recording.one(NODES).inputs["nodeRoleArn"] == given["node_role_arn"]
    assert recording.outputs["eks"]["node_role_name"] == "nodes"


def test_protection_holds_in_aws_and_in_pulumi(preview):
    loose, held = build(preview).one(CLUSTER), build(preview, deletion_protection=True).one(CLUSTER)
    assert (loose.inputs["deletionProtection"], held.inputs["deletionProtection"]) == (False, True)
    assert (bool(loose.protect), held.protect) == (False, True)


def test_extended_support(preview):
    assert build(preview, support="EXTENDED").one(CLUSTER).inputs["upgradePolicy"] == {"supportType": "EXTENDED"}


def test_outputs_in_update():
    outputs = build(preview=False).outputs["eks"]
    secret = outputs.pop("kubeconfig")
    assert outputs == {
        "cluster_name": "eks-stack",
        "ready": "eks-stack",
        "endpoint": "https://eks-cluster.eks.invalid",
        "certificate_authority": "Y2VydA==",
        "service_cidr": "172.20.0.0/16",
        "cluster_security_group_id": "eks-cluster-cluster-sg",
        "node_role_arn": f"{ARN}eks-node-role",
        "node_role_name": "eks-node-role",
        "version": "1.34",
    }
    assert isinstance(secret, Secret)
    config = json.loads(str(secret.value))
    assert config["current-context"] == "eks-stack"
    assert config["clusters"] == [
        {
            "name": "eks-stack",
            "cluster": {"server": "https://eks-cluster.eks.invalid", "certificate-authority-data": "Y2VydA=="},
        }
    ]
    assert config["users"][0]["user"]["exec"]["args"] == [
        *("eks", "get-token", "--cluster-name", "eks-stack", "--region", "us-east-1", "--output", "json")
    ]


def test_names_are_known_in_preview():
    outputs = build(preview=True).outputs["eks"]
    assert (outputs["cluster_name"], outputs["ready"], outputs["kubeconfig"]) == ("eks-stack", "eks-stack", UNKNOWN)


@pytest.mark.parametrize(
    ("changes", "account"),
    [
        pytest.param({}, "000000000000", id="of its log group"),
        pytest.param({"log_types": []}, "000000000000", id="of its key"),
        # A key that is given may be another account's.
        pytest.param(
            {"log_types": [], "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/1"}, None, id="of nothing"
        ),
    ],
)
def test_account_on_whose_behalf_eks_takes_the_role(changes, account):
    recording = build(False, **changes)
    (statement,) = json.loads(recording.one(ROLE, "eks-cluster-role").inputs["assumeRolePolicy"])["Statement"]
    assert statement.get("Condition", {}).get("StringEquals", {}).get("aws:SourceAccount") == account
