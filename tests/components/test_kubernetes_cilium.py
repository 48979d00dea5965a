"""Cilium on own servers: the chart's values, refusals."""

import pytest

from gpufleet.kubernetes.cilium import Cilium
from tests.components.recorder import construct, refusal

HYBRID = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "eks.amazonaws.com/compute-type", "operator": "In", "values": ["hybrid"]}
                    ]
                }
            ]
        }
    }
}


def test_chart(preview):
    recording = construct(lambda: Cilium("pods", {"pod_cidrs": ["10.81.0.0/16"], "labels": {"owner": "ml"}}), preview)
    assert recording.one("kubernetes:helm.sh/v3:Release", "pods-release").inputs == {
        "chart": "oci://public.ecr.aws/eks/cilium/cilium",
        "version": "1.17.6-0",
        "name": "cilium",
        "namespace": "kube-system",
        "createNamespace": False,
        "atomic": False,
        "skipAwait": True,
        "timeout": 600,
        "values": {
            "affinity": HYBRID,
            "envoy": {"enabled": False},
            "hubble": {"enabled": False},
            "ipam": {
                "mode": "cluster-pool",
                "operator": {"clusterPoolIPv4MaskSize": 25, "clusterPoolIPv4PodCIDRList": ["10.81.0.0/16"]},
            },
            "operator": {"affinity": HYBRID, "replicas": 1, "unmanagedPodWatcher": {"restart": False}},
            "podLabels": {"owner": "ml"},
        },
    }
    assert recording.outputs["pods"] == {"release": "cilium"}


def test_values_of_ones_own_win(preview):
    args = {"pod_cidrs": ["10.81.0.0/16"], "mask_size": 26.0, "version": "1.18.3-0", "values": {"hubble": {}}}
    inputs = construct(lambda: Cilium("pods", args), preview).one("kubernetes:helm.sh/v3:Release").inputs
    assert (inputs["version"], inputs["values"]["hubble"]) == ("1.18.3-0", {})
    assert inputs["values"]["ipam"]["operator"]["clusterPoolIPv4MaskSize"] == 26


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        ({"pod_cidrs": []}, ["pod_cidrs=[]: is empty; give at least one range [any-argument-not-empty]"]),
        (
            {"pod_cidrs": ["10.81.0.0/26", "fd00::/64"], "version": "1.17"},
            [
                "mask_size=25: does not give a server's pods a part of 10.81.0.0/26; use 26 to 29, or a greater "
                "range [any-cilium-mask]",
                "pod_cidrs=fd00::/64: is IPv6, which hybrid nodes do not have; use one such as 10.80.0.0/16 "
                "[aws-hybrid-range]",
                "version=1.17: is not one version; use three numbers, such as 0.20.0 [any-kubernetes-version-pinned]",
            ],
        ),
    ],
)
def test_refuses(args, lines, preview):
    found = refusal(lambda: Cilium("pods", args), preview)
    assert found == [f"pods: {line}" for line in lines]
