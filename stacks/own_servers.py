"""Own servers of an AWS environment: what joins them to its cluster, and what `gpufleet nodes script` needs to know."""

from collections.abc import Mapping
from typing import Any, cast

import pulumi

import files_reach
import on_cluster
import own_pools
from aws_settings import AwsSettings
from gpufleet.aws.hybrid_nodes import HybridNodes, HybridNodesArgs
from gpufleet.aws.network import DEFAULT_CIDR
from gpufleet.kubernetes.cilium import Cilium, CiliumArgs
from gpufleet.kubernetes.node_place import PLACE, OwnNodesArgs, plan_labels
from gpufleet.node_labels import GPU_TAINT
from gpufleet.rules.aws.hybrid import judge_hybrid_nodes
from gpufleet.rules.aws.own_servers import judge_own_servers
from gpufleet.rules.aws.remote_networks import judge_joined_cluster, judge_remote_networks
from gpufleet.rules.judged import Judged
from gpufleet.rules.kubernetes.cilium import judge_cilium
from gpufleet.rules.kubernetes.own_nodes import judge_own_nodes
from gpufleet.rules.labels import value_form
from gpufleet.rules.rule import Finding
from own_servers_settings import OwnServersSettings
from parts import tags
from settings import given

PART, CILIUM = "own-servers", "cilium"
OF_SCRIPTS = ("networks", "nfs", "line", "pools", "nodeadm", "driver", "cilium")
"""Keys that are no argument of HybridNodes."""


def judge(environment: str, settings: AwsSettings) -> tuple[dict[str, list[Finding]], list[Judged]]:
    """Findings by part, and on the whole; none where there are no own servers."""
    own = settings.own_servers
    if own is None:
        return {}, []
    pools = {name: given(pool) for name, pool in own.pools.items()}
    parts = {PART: judge_hybrid_nodes(hybrid_of(own) | {"region": settings.region})}
    # What is wrong with networks.pods is said of them.
    said = () if own.cilium.pod_cidrs else ("aws-hybrid-range",)
    parts[CILIUM] = [each for each in judge_cilium(cilium_of(own)) if each.rule not in said]
    parts |= {name: judge_own_nodes(pool) for name, pool in pools.items() if name not in settings.pools}
    ranges = {"remote_networks": given(own.networks), "vpc_cidr": vpc_cidr(settings), **services(settings)}
    whole = [
        *(value_form(argument="own_servers.pools", value=node) for pool in pools.values() for node in pool["nodes"]),
        *judge_remote_networks(ranges, "own_servers.networks"),
        *judge_own_servers(
            {name: pool["nodes"] for name, pool in pools.items()},
            list(settings.pools),
            settings.existing_cluster.name if settings.existing_cluster else "",
            sorted(given(settings.files)),
            given(own.nodeadm),
        ),
    ]
    reach = files_reach.judge(environment, on_cluster.told(environment, settings), **_files(settings, own))
    return parts, [*(Judged(environment, each) for each in whole), *reach]


def vpc_cidr(settings: AwsSettings) -> str:
    """The range of the VPC; empty where there is one already, which only those know who gave it."""
    return settings.network.cidr or ("" if settings.network.vpc_id else DEFAULT_CIDR)


def services(settings: AwsSettings) -> dict[str, str]:
    """The range of the cluster's Kubernetes services, where it is chosen."""
    cluster = settings.existing_cluster or settings.cluster
    return {"service_cidr": cluster.service_cidr} if cluster.service_cidr else {}


def judge_cluster(settings: AwsSettings) -> list[Finding]:
    """Findings on the cluster that they join, but on the networks, which are the servers' own."""
    if settings.own_servers is None:
        return []
    return judge_joined_cluster(given(settings.cluster) | {"remote_networks": {}})


def hybrid_of(own: OwnServersSettings) -> dict[str, Any]:
    """The arguments of HybridNodes but networks and cluster: as many may register as are named."""
    words = {key: value for key, value in given(own).items() if key not in OF_SCRIPTS}
    named = {node for pool in own.pools.values() for node in pool.nodes}
    return ({"count": len(named)} if own.credentials == "ssm" else {}) | words


def cilium_of(own: OwnServersSettings) -> dict[str, Any]:
    """Cilium's arguments but its labels."""
    return {"pod_cidrs": own.networks.pods or []} | given(own.cilium)


def network(environment: str, settings: AwsSettings, opts: pulumi.ResourceOptions) -> None:
    """The network of pods on own servers, if there are any: on them the cloud's does not run."""
    if settings.own_servers is not None:
        args = cilium_of(settings.own_servers) | {"labels": {"gpufleet.dev/environment": environment}}
        Cilium(f"{environment}-{CILIUM}", cast(CiliumArgs, args), opts)


def told(environment: str, settings: AwsSettings) -> dict[str, dict[str, Any]]:
    """Every pool of the environment, the cloud's and their own, as jobs see it."""
    cloud = on_cluster.told(environment, settings)
    if settings.own_servers is None:
        return cloud
    own = own_pools.told(environment, settings.own_servers.pools)
    # The own servers are in one network with their files, whatever their places are called.
    return files_reach.marked(cloud, **_files(settings, settings.own_servers)) | own


def _files(settings: AwsSettings, own: OwnServersSettings) -> dict[str, Any]:
    """Where the shared files are, and whether nodes of the cloud reach them."""
    place = next((pool.place for pool in own.pools.values() if pool.place), PLACE)
    return {"files_place": place, "link": settings.link is not None or own.line}


def join(
    environment: str, settings: AwsSettings, joining: Mapping[str, Any], version: pulumi.Input[str]
) -> pulumi.Output[Any]:
    """Let them join. Returns the stack's secret output `own_servers`, of which `gpufleet nodes script` makes scripts.

    joining: what node groups need of the cluster. version: its Kubernetes version.
    """
    own = settings.own_servers
    assert own is not None
    args = hybrid_of(own) | {
        "cluster_name": joining["cluster_name"],
        "cluster_security_group_id": joining["cluster_security_group_id"],
        "region": settings.region,
        "remote_networks": given(own.networks),
        **services(settings),
        "tags": tags(environment, settings),
    }
    hybrid = HybridNodes(f"{environment}-{PART}", cast(HybridNodesArgs, args))
    output = {
        "cluster_name": joining["cluster_name"],
        "region": settings.region,
        "kind": own.credentials,
        "credentials": hybrid.credentials,
        "nfs": own.nfs,
        "kubernetes_version": version,
        "nodeadm": given(own.nodeadm),
        "driver": own.driver,
        "nodes": nodes_of(environment, own),
    }
    return pulumi.Output.secret(output)


def nodes_of(environment: str, own: OwnServersSettings) -> dict[str, dict[str, Any]]:
    """Every server by name: its pool, and the labels and taints that it joins with, those of the cloud's GPU nodes."""
    found = {}
    for name, pool in own.pools.items():
        args = cast(OwnNodesArgs, given(pool))
        labels = plan_labels(f"{environment}-{name}", args)
        words = {"pool": name, "labels": labels, "taints": [GPU_TAINT, *args.get("taints", [])]}
        found |= dict.fromkeys(args["nodes"], words)
    return found
