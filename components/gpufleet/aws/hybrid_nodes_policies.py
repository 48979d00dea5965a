"""IAM policies of on-prem servers: permissions, and who may assume their role, as plain JSON.

Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-creds.html
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.aws.partition import partition

CLUSTER_TAG = "eks-cluster"
"""Tag of an activation, and so of the servers that register with it: the cluster that they belong to."""

MANAGED_POLICIES: Mapping[str, Sequence[str]] = {
    "ssm": ("AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"),
    "roles-anywhere": ("AmazonEC2ContainerRegistryPullOnly",),
}
"""AWS's own policies of the servers' role, by kind of credentials."""


def trust_ssm(region: str, account: str) -> str:
    """The trust policy (JSON) of a role for Systems Manager, which takes it for this account and region only."""
    condition = {
        "StringEquals": {"aws:SourceAccount": account},
        "ArnEquals": {"aws:SourceArn": f"arn:{partition(region)}:ssm:{region}:{account}:*"},
    }
    return _policy(_trust("ssm.amazonaws.com", ["sts:AssumeRole"], condition))


def trust_certificates(anchor_arn: str) -> str:
    """The trust policy (JSON) of a role for IAM Roles Anywhere: certificates of one trust anchor, whose common name is
    that of the session, which is the node's name: a server cannot join as another."""
    service, anchored = "rolesanywhere.amazonaws.com", {"ArnEquals": {"aws:SourceArn": anchor_arn}}
    named = {"StringEquals": {"sts:RoleSessionName": "${aws:PrincipalTag/x509Subject/CN}"}, **anchored}
    return _policy(
        _trust(service, ["sts:TagSession", "sts:SetSourceIdentity"], anchored),
        _trust(service, ["sts:AssumeRole"], named),
    )


def node_policy(credentials: str, region: str, account: str, cluster: str) -> str:
    """The role's own policy (JSON): read the cluster that it joins; with SSM, take off servers of this cluster."""
    place = f"arn:{partition(region)}"
    statements: list[dict[str, Any]] = [
        {
            "Sid": "Cluster",
            "Effect": "Allow",
            "Action": ["eks:DescribeCluster", "eks:ListAccessEntries"],
            "Resource": f"{place}:eks:{region}:{account}:cluster/{cluster}",
        }
    ]
    if credentials == "ssm":
        statements += [
            # Without a narrower right in AWS.
            {"Sid": "Look", "Effect": "Allow", "Action": ["ssm:DescribeInstanceInformation"], "Resource": "*"},
            {
                "Sid": "Leave",
                "Effect": "Allow",
                "Action": ["ssm:DeregisterManagedInstance"],
                "Resource": f"{place}:ssm:{region}:{account}:managed-instance/*",
                "Condition": {"StringEquals": {f"ssm:resourceTag/{CLUSTER_TAG}": cluster}},
            },
        ]
    return _policy(*statements)


def _trust(service: str, actions: Sequence[str], condition: Mapping[str, Any]) -> dict[str, Any]:
    return {"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions), "Condition": dict(condition)}


def _policy(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})
