"""The pack gpufleet-zones on network policies of other teams' programs."""

import json

import pytest

from gpufleet.policies.feasibility import validate_feasibility
from gpufleet.policies.kubernetes.network_policies import validate_network_policies
from gpufleet.policies.pack import plan_of
from gpufleet.rules import Status
from tests.policies.raw_program import plan_from, policy_args

BLOCK = {"ipBlock": {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]}}
AKS = {"type": "azure-native:containerservice:ManagedCluster"}
CILIUM = AKS | {"inputs": {"networkProfile": {"networkDataplane": "cilium"}}}
CHART = {"type": "kubernetes:helm.sh/v3:Release", "inputs": {"chart": "oci://public.ecr.aws/eks/cilium/cilium"}}
PEERS, ENFORCED = ("out", "any-network-policy-peers"), ("cni", "aws-network-policy-enforced")
OLD = ("cni", "aws-network-policy-version")


def policy(*egress, namespace="vision", **spec):
    inputs = {"metadata": {"namespace": namespace}, "spec": {"podSelector": {}, "egress": list(egress), **spec}}
    return {"type": "kubernetes:networking.k8s.io/v1:NetworkPolicy", "inputs": inputs}


def cni(values, **more):
    return {"type": "aws:eks/addon:Addon", "inputs": {"addonName": "vpc-cni", "configurationValues": values, **more}}


def told(program, status=Status.FAIL):
    found = validate_network_policies(plan_of(policy_args(program).resources))
    assert validate_network_policies(plan_from(program)) == found
    assert {each.finding for each in found} <= {each.finding for each in validate_feasibility(plan_from(program), {})}
    return {(each.resource, each.finding.rule) for each in found if each.finding.status is status}


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ({"cluster": CILIUM, "out": policy({"to": [BLOCK]})}, {PEERS}),
        ({"cni": CHART, "out": policy({"to": [BLOCK]})}, {PEERS}),
        ({"cluster": CILIUM, "out": policy(ingress=[{"from": [BLOCK]}])}, {PEERS}),
        ({"cluster": CILIUM, "out": policy({"to": [BLOCK]}, {"ports": [{"port": 443}]})}, {PEERS}),
        ({"cluster": CILIUM, "out": policy({"to": [BLOCK]}), "dns": policy({}, namespace="speech")}, {PEERS}),
        ({"cluster": CILIUM, "out": policy({"to": [BLOCK, {"namespaceSelector": {}}]})}, set()),
        ({"cluster": CILIUM, "out": policy({"to": [BLOCK]}), "team": policy({"to": [{"podSelector": {}}]})}, set()),
        ({"cluster": CILIUM, "out": policy({"to": [BLOCK]}, {})}, set()),
        ({"cluster": CILIUM, "out": policy({"to": [BLOCK, "${cluster.id}"]})}, set()),
        ({"cluster": AKS, "out": policy({"to": [BLOCK]})}, set()),
        ({"out": policy({"to": [BLOCK]})}, set()),
        ({"cni": cni(None), "out": policy()}, {ENFORCED}),
        ({"cni": cni(json.dumps({"env": {}})), "out": policy()}, {ENFORCED}),
        ({"cni": cni(json.dumps({"enableNetworkPolicy": "true"})), "out": policy()}, set()),
        ({"cni": cni(None)}, set()),
        ({"cni": cni(json.dumps({"enableNetworkPolicy": "true"}), addonVersion="v1.13.4-eksbuild.1")}, {OLD}),
        ({"cni": cni(json.dumps({"enableNetworkPolicy": "false"}), addonVersion="v1.13.4-eksbuild.1")}, {OLD}),
        ({"cni": cni(json.dumps({"enableNetworkPolicy": "true"}), addonVersion="v1.14.0-eksbuild.3")}, set()),
        ({"cni": cni(json.dumps({"env": {}}), addonVersion="v1.13.4-eksbuild.1")}, set()),
    ],
)
def test_what_is_told(program, found):
    assert told(program) == found


def test_settings_that_are_not_known():
    program = {"key": {"type": "random:x:Y", "inputs": {}}, "cni": cni("${key.id}"), "out": policy()}
    assert told(program) == set()
    assert told(program, Status.UNVERIFIED) == {ENFORCED}
