"""Every flow of every environment, judged by cyclonus and by Cilium's own engine; and that the old manifests fail."""

import pytest

from tests.network_policy.flows import (
    ENVIRONMENTS,
    FORBIDDEN,
    NEEDED,
    TEAM,
    DataPlane,
    cloud_of,
    data_planes,
    judged,
    launcher_beside_workers,
    stack,
    team_policies,
)
from tools.network_policy.verdicts import Flow

pytestmark = pytest.mark.cluster

OUTSIDE = [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]}}, {"ipBlock": {"cidr": "::/0"}}]


def policy(name, **spec):
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": TEAM},
        "spec": {"podSelector": {}, **spec},
    }


OLD = [
    policy("in-from-team", policyTypes=["Ingress"], ingress=[{"from": [{"podSelector": {}}]}]),
    policy("out-but-node-identity", policyTypes=["Egress"], egress=[{"to": OUTSIDE}]),
]
"""What teams had until issue 18: Microsoft's FAQ shows this egress as one that blocks pods and nodes on AKS."""
PLANES = {
    "aws-dev": [DataPlane("VPC CNI", 1)],
    "aws-prod": [DataPlane("VPC CNI", 1)],
    "azure-dev": [DataPlane("Cilium")],
    "azure-prod": [],
    "hybrid": [DataPlane("VPC CNI", 1), DataPlane("Cilium")],
    "onprem": [DataPlane("Kubernetes"), DataPlane("Cilium")],
}


def wrong(cloud, plane, policies):
    """Flows that do not pass though they are needed, or pass though they are forbidden."""
    found = judged(cloud, plane, policies, (*NEEDED, *FORBIDDEN))
    return [flow for flow, passes in found.items() if passes != (flow in NEEDED)]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_flows_of_each_environment(environment):
    made = stack(environment)
    policies = team_policies(made)
    planes = data_planes(environment, made)
    assert planes == PLANES[environment]
    assert {each["metadata"]["namespace"] for each in policies} == ({TEAM} if planes else set())
    for plane in planes:
        assert wrong(cloud_of(environment), plane, policies) == []


def test_a_job_of_hybrid_passes_because_its_launcher_is_beside_its_workers():
    made = stack("hybrid")
    assert launcher_beside_workers("hybrid", made)
    flows = (Flow("launcher", "worker", 22),)
    found = judged("aws", DataPlane("Cilium"), team_policies(made), flows, one_side=False)
    assert found == {flows[0]: False}


def test_old_policies_stop_every_job_under_cilium():
    on_azure = [
        Flow("launcher", "DNS", 53, "UDP"),
        Flow("launcher", "DNS on node", 53, "UDP"),
        Flow("launcher", "worker", 22),
        Flow("worker", "worker 2", 41234),
    ]
    assert wrong("azure", DataPlane("Cilium"), OLD) == on_azure
    own_nodes = [Flow("launcher", "API server", 443), Flow("launcher", "API server", 6443)]
    assert wrong("onprem", DataPlane("Cilium"), OLD) == [*on_azure, *own_nodes]
    assert wrong("onprem", DataPlane("Kubernetes"), OLD) == []


def test_policies_that_nobody_enforces_leave_all_open():
    assert wrong("aws", DataPlane("no policies", 2), OLD) == list(FORBIDDEN)
    assert wrong("aws", DataPlane("no policies", 1), OLD) == list(FORBIDDEN[1:])
