"""Cluster: every refusal, all errors at once, before anything is registered."""

import pytest

from gpufleet.aws.cluster import Cluster
from tests.components.recorder import refusal

SUBNETS = {"use1-az1": "subnet-1", "use1-az2": "subnet-2"}
ADMIN = "arn:aws:iam::123456789012:role/platform"

REFUSALS = {
    "one zone, everybody, a version like a number": (
        {"subnet_ids": {"use1-az1": "subnet-1"}, "public_access_cidrs": ["0.0.0.0/0"], "version": "1.3"},
        [
            "eks: subnet_ids=[use1-az1]: EKS requires its control plane in two zones; add a subnet in a second zone; "
            "nodes may still lie in one [aws-cluster-two-zones]",
            "eks: public_access_cidrs=[0.0.0.0/0]: opens the endpoint to everybody; list the ranges that you work "
            "from, such as 203.0.113.0/24, or keep the endpoint private [aws-cluster-public-cidrs]",
            'eks: version=1.3: is not a Kubernetes version of EKS; give major.minor in quotes, such as "1.34" '
            "[aws-cluster-version]",
        ],
    ),
    "missing and misspelt": (
        {"subnet_ids": None, "admin": {"me": ADMIN}},
        [
            "eks: admin={me: arn:aws:iam::123456789012:role/platform}: unknown argument; did you "
            "mean admins? [any-argument-known]",
            "eks: subnet_ids=null: is required; give a mapping [any-argument-given]",
            "eks: subnet_ids=[]: EKS requires its control plane in two zones; add a subnet in a second zone; nodes may "
            "still lie in one [aws-cluster-two-zones]",
        ],
    ),
    "nobody gets in": (
        {"creator_is_admin": False},
        [
            "eks: creator_is_admin=false: nobody would administer the cluster; name admins, or set it to true "
            "[aws-cluster-administered]"
        ],
    ),
    "a session as admin": (
        {"admins": {"me": "arn:aws:sts::123456789012:assumed-role/dev/me"}},
        [
            "eks: admins.me=arn:aws:sts::123456789012:assumed-role/dev/me: is a session; use the role's own ARN, "
            "arn:aws:iam::<account>:role/<name> [aws-cluster-admin-principal]"
        ],
    ),
    "name with a dot, unknown add-on and support": (
        {"cluster_name": "a.b", "addon_versions": {"core-dns": "v1"}, "support": "standard"},
        [
            "eks: cluster_name=a.b: is not a valid EKS cluster name; use up to 100 letters, digits, - and _, "
            "beginning with a letter or digit [aws-cluster-name]",
            "eks: addon_versions=core-dns: the cluster has no such add-on; did you mean coredns? (use "
            "aws-efs-csi-driver, coredns, eks-pod-identity-agent, kube-proxy or vpc-cni) [aws-cluster-addon]",
            "eks: support=standard: is unknown; use STANDARD or EXTENDED [aws-cluster-support]",
        ],
    ),
    "system nodes out of order, on Arm, with a small disk": (
        {"system_min": 4, "system_max": 3, "system_types": ["m7g.large", "m7i.large"], "system_disk_gib": 10},
        [
            "eks: system_max=3: is below system_min=4; use at least 4 [aws-system-nodes-count]",
            "eks: system_types=[m7g.large, m7i.large]: m7g.large has an Arm processor; use x86, for instance "
            "m7i.large [aws-system-nodes-types]",
            "eks: system_disk_gib=10: is not a valid root volume size; use 20 to 65536 [aws-system-nodes-disk]",
        ],
    ),
    "no system node at all": (
        {"system_min": 0},
        [
            "eks: system_min=0: leaves no node for DNS and the EFS driver; use at least 1, better 2 "
            "[aws-system-nodes-count]"
        ],
    ),
    "desired outside": (
        {"system_desired": 9},
        ["eks: system_desired=9: is outside system_min and system_max; use 2 to 3 [aws-system-nodes-count]"],
    ),
    "nodes without subnet or type": (
        {"node_subnet_ids": {}, "system_types": []},
        [
            "eks: system_types=[]: names no instance type; name one, for instance m7i.large [aws-system-nodes-types]",
            "eks: node_subnet_ids={}: gives nodes no subnet; give one per zone, or leave it out "
            "[aws-system-nodes-subnets]",
        ],
    ),
}


@pytest.mark.parametrize(("more", "lines"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refusals(preview, more, lines):
    def wrong() -> Cluster:
        return Cluster("eks", {"region": "us-east-1", "subnet_ids": SUBNETS, **more})

    assert refusal(wrong, preview) == lines
