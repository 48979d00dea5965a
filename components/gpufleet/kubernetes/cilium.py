"""Cilium: the network of pods on on-prem servers that joined an EKS cluster, where Amazon's VPC CNI does not run."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.kubernetes.objects import kubernetes_object
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.cilium import MASK_SIZE, validate_cilium

VERSION = "1.17.6-0"
"""AWS's own build, which it supports on hybrid nodes: 1.17 and 1.18, for every version of Kubernetes that EKS has.

Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cni.html
"""
CHART = "oci://public.ecr.aws/eks/cilium/cilium"
HYBRID = ("eks.amazonaws.com/compute-type", "hybrid")
"""Label that EKS hybrid nodes have; the VPC CNI keeps off nodes with it."""
_GROUP, _BGP_VERSION = "cilium.io", "v2alpha1"
"""As 1.17 and 1.18 store it. Source: CHANGELOG.md of github.com/cilium/cilium: cilium/cilium#46763 moves the stored
version to v2 in 1.20."""
_BGP_KINDS = ("CiliumBGPAdvertisement", "CiliumBGPPeerConfig", "CiliumBGPClusterConfig")
_SITE, _ANNOUNCED = "site", ("gpufleet.dev/announced", "to-site")


class CiliumPeer(TypedDict):
    """A router of the site."""

    address: str
    """Its IPv4 address in the servers' network, for instance 10.80.0.1."""
    asn: int
    """Its BGP number. Private: 64512 to 65534."""


class CiliumBgp(TypedDict):
    """How the site's routers learn which server has which pods: each server opens a session with each router, and
    announces its part of the pods' addresses."""

    asn: int
    """BGP number of the servers. Private: 64512 to 65534."""
    peers: Sequence[CiliumPeer]
    """The routers, at least one. On each of them, allow the servers' network as neighbours with the servers' number."""


class CiliumConfig(TypedDict):
    """Which Cilium, how many addresses of pods a server has, and who learns of them."""

    mask_size: NotRequired[int]
    """Prefix of the part that each server takes of them. Default 25, 126 pods."""
    version: NotRequired[str]
    """Version of the chart, AWS's build. Default 1.17.6-0."""
    values: NotRequired[Mapping[str, Any]]
    """Further values of the chart, which win over those of here."""
    bgp: NotRequired[CiliumBgp]
    """How the site's routers learn the ways to pods on own servers. Default: they have static routes."""


class CiliumArgs(CiliumConfig):
    """The same, and addresses of pods on on-prem servers."""

    pod_cidrs: Sequence[str]
    """IPv4 ranges of pods on on-prem servers, for instance ["10.81.0.0/16"]: those of the cluster's
    remote_networks, if it has any. Do not change them while servers have pods."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the agents' pods."""


def plan_values(args: CiliumArgs) -> dict[str, Any]:
    """The values of the chart. `args` has passed the rules.

    Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cni.html; its operator would restart pods of the VPC
    CNI, which it does not know.
    """
    terms = [{"matchExpressions": [{"key": HYBRID[0], "operator": "In", "values": [HYBRID[1]]}]}]
    own = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    values: dict[str, Any] = {
        "affinity": own,
        "envoy": {"enabled": False},
        "hubble": {"enabled": False},
        "ipam": {
            "mode": "cluster-pool",
            "operator": {
                "clusterPoolIPv4MaskSize": int(args.get("mask_size", MASK_SIZE)),
                "clusterPoolIPv4PodCIDRList": list(args["pod_cidrs"]),
            },
        },
        # One: a second one has no place where there is one server.
        "operator": {"affinity": own, "replicas": 1, "unmanagedPodWatcher": {"restart": False}},
        "podLabels": dict(args.get("labels", {})),
    }
    if "bgp" in args:
        values["bgpControlPlane"] = {"enabled": True}
    return values | dict(args.get("values", {}))


def plan_definitions() -> dict[str, dict[str, Any]]:
    """CustomResourceDefinitions of the objects of `plan_bgp`, by kind, without a schema.

    The chart has none: Cilium's operator makes them, which runs once a server has joined, while the objects come
    before. It puts its own schema in the place of one that does not carry the label of its version.
    Source: github.com/cilium/cilium pkg/k8s/apis/crdhelpers/register.go (needsUpdateV1).
    """
    found: dict[str, dict[str, Any]] = {}
    for kind in _BGP_KINDS:
        plural = f"{kind.lower()}s"
        version = {
            "name": _BGP_VERSION,
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        }
        found[kind] = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{_GROUP}"},
            "spec": {
                "group": _GROUP,
                "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
                "scope": "Cluster",
                "versions": [version],
            },
        }
    return found


def plan_bgp(bgp: CiliumBgp) -> dict[str, dict[str, Any]]:
    """What the servers announce, and to whom, by kind. `bgp` has passed the rules.

    Sources: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cilium-bgp.html;
    docs.cilium.io/en/v1.17/network/bgp-control-plane/bgp-control-plane-v2
    """
    peers = [
        {
            "name": f"router-{number}",
            "peerASN": int(peer["asn"]),
            "peerAddress": peer["address"],
            "peerConfigRef": {"name": _SITE},
        }
        for number, peer in enumerate(bgp["peers"], 1)
    ]
    announced = {"matchLabels": {_ANNOUNCED[0]: _ANNOUNCED[1]}}
    family = {"afi": "ipv4", "safi": "unicast", "advertisements": announced}
    hybrid = {"key": HYBRID[0], "operator": "In", "values": [HYBRID[1]]}
    specs: dict[str, dict[str, Any]] = {
        "CiliumBGPAdvertisement": {"advertisements": [{"advertisementType": "PodCIDR"}]},
        "CiliumBGPPeerConfig": {"families": [family], "gracefulRestart": {"enabled": True}},
        "CiliumBGPClusterConfig": {
            "nodeSelector": {"matchExpressions": [hybrid]},
            "bgpInstances": [{"name": _SITE, "localASN": int(bgp["asn"]), "peers": peers}],
        },
    }
    return {
        kind: {
            "apiVersion": f"{_GROUP}/{_BGP_VERSION}",
            "kind": kind,
            "metadata": {"name": _SITE, "labels": {_ANNOUNCED[0]: _ANNOUNCED[1]}},
            "spec": spec,
        }
        for kind, spec in specs.items()
    }


class Cilium(Component):
    """Cilium on the on-prem servers of an EKS cluster, and on no cloud node.

    Nobody waits for it: before the first server has joined, there is no node for its operator to run on.
    """

    release: pulumi.Output[str]
    """cilium, for those who need it to be asked for."""

    def __init__(
        self, name: str, args: CiliumArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[CiliumArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: CiliumArgs) -> list[Finding]:
        return validate_cilium(args)

    def create(self, name: str, args: CiliumArgs) -> None:
        release = chart_release(
            f"{name}-release",
            chart=CHART,
            version=args.get("version", VERSION),
            namespace="kube-system",
            values=plan_values(args),
            opts=self.child(),
            waits=False,
        )
        if "bgp" in args:
            self._bgp(name, args["bgp"])
        self.release = with_dependencies(pulumi.Output.from_input("cilium"), release)

    def _bgp(self, name: str, bgp: CiliumBgp) -> None:
        definitions = [
            # The operator writes its own schema and labels there.
            kubernetes_object(
                f"{name}-{kind.lower()}-definition",
                document,
                self.child(ignore_changes=["metadata.labels", "spec"]),
            )
            for kind, document in plan_definitions().items()
        ]
        for kind, document in plan_bgp(bgp).items():
            kubernetes_object(f"{name}-{kind.lower()}", document, self.child(depends_on=definitions))
