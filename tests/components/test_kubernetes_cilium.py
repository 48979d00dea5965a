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


BGP = {"asn": 65020.0, "peers": [{"address": "10.80.0.1", "asn": 65010}, {"address": "10.80.0.2", "asn": 65011}]}
ANNOUNCED = {"gpufleet.dev/announced": "to-site"}


def test_servers_announce_their_pods_to_the_routers(preview):
    recording = construct(lambda: Cilium("pods", {"pod_cidrs": ["10.81.0.0/16"], "bgp": BGP}), preview)
    values = recording.one("kubernetes:helm.sh/v3:Release").inputs["values"]
    assert values["bgpControlPlane"] == {"enabled": True}
    kinds = ("CiliumBGPAdvertisement", "CiliumBGPPeerConfig", "CiliumBGPClusterConfig")
    objects = {kind: recording.one(f"kubernetes:cilium.io/v2alpha1:{kind}") for kind in kinds}
    assert {kind: each.inputs for kind, each in objects.items()} == {
        kind: {
            "apiVersion": "cilium.io/v2alpha1",
            "kind": kind,
            "metadata": {"name": "site", "labels": ANNOUNCED},
            "spec": spec,
        }
        for kind, spec in {
            "CiliumBGPAdvertisement": {"advertisements": [{"advertisementType": "PodCIDR"}]},
            "CiliumBGPPeerConfig": {
                "families": [{"afi": "ipv4", "safi": "unicast", "advertisements": {"matchLabels": ANNOUNCED}}],
                "gracefulRestart": {"enabled": True},
            },
            "CiliumBGPClusterConfig": {
                "nodeSelector": {
                    "matchExpressions": [
                        {"key": "eks.amazonaws.com/compute-type", "operator": "In", "values": ["hybrid"]}
                    ]
                },
                "bgpInstances": [
                    {
                        "name": "site",
                        "localASN": 65020,
                        "peers": [
                            {
                                "name": f"router-{number}",
                                "peerASN": 65009 + number,
                                "peerAddress": f"10.80.0.{number}",
                                "peerConfigRef": {"name": "site"},
                            }
                            for number in (1, 2)
                        ],
                    }
                ],
            },
        }.items()
    }
    # Before the first server has joined, no operator of Cilium has made these kinds.
    definitions = recording.inputs("kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition")
    assert {each["metadata"]["name"] for each in definitions.values()} == {
        f"{kind.lower()}s.cilium.io" for kind in kinds
    }
    assert {each["spec"]["scope"] for each in definitions.values()} == {"Cluster"}
    for each in objects.values():
        assert set(each.depends_on) == set(definitions)


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
        (
            {"pod_cidrs": ["10.81.0.0/16"], "bgp": {"asn": 0, "peers": []}},
            [
                "bgp.asn=0: is not a BGP number; use a private one, 64512 to 65534, such as 65020 [any-cilium-asn]",
                "bgp.peers=[]: is empty; give at least one router [any-argument-not-empty]",
            ],
        ),
        (
            {"pod_cidrs": ["10.81.0.0/16"], "bgp": {"asn": 65020, "peers": [{"address": "router", "asn": 65535}]}},
            [
                "bgp.peers[0].address=router: is not an IPv4 address; use the router's, such as 10.80.0.1 "
                "[any-cilium-peer]",
                "bgp.peers[0].asn=65535: is not a BGP number; use a private one, 64512 to 65534, such as 65020 "
                "[any-cilium-asn]",
            ],
        ),
    ],
)
def test_refuses(args, lines, preview):
    found = refusal(lambda: Cilium("pods", args), preview)
    assert found == [f"pods: {line}" for line in lines]
