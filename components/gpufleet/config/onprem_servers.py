"""On-prem servers of an AWS environment: arguments of its parts, and the output for `gpufleet nodes script`."""

from collections.abc import Mapping
from typing import Any, TypedDict

import pulumi

from gpufleet.aws.cluster import Cluster
from gpufleet.aws.existing_cluster import ExistingCluster
from gpufleet.aws.hybrid_nodes import HybridNodes, HybridNodesArgs, HybridNodesConfig
from gpufleet.aws.links import ClusterLink
from gpufleet.aws.network import DEFAULT_CIDR, Network
from gpufleet.aws.remote_networks import RemoteNetworks
from gpufleet.aws.site_link import SiteLink, SiteLinkArgs
from gpufleet.config.aws import AwsConfig, OnpremServersConfig
from gpufleet.config.environment import Environment
from gpufleet.kubernetes.cilium import Cilium, CiliumArgs
from gpufleet.kubernetes.node_labels import PLACE, plan_labels
from gpufleet.kubernetes.volume_source import VolumeSource
from gpufleet.platform.pool import CILIUM, VPC_CNI, PlatformPool, onprem_pool
from gpufleet.pools.node_labels import CLOUD, GPU_TAINT
from gpufleet.rules.kubernetes.file_access import unreached_places, validate_file_access
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.typed_dicts import pick
from gpufleet.validation import validate_stack

SHARED_ARGUMENTS = ("remote_networks", "own_servers", "site_cidrs", "pod_cidrs", "vpc_cidr", "service_cidr")
"""Arguments that several components get from the networks of on-prem servers: what is wrong is reported once."""


class ServiceRange(TypedDict, total=False):
    """The range of the cluster's Kubernetes services, where it is chosen."""

    service_cidr: str


def installs_on_cluster(config: AwsConfig) -> bool:
    """Whether the phase of the environment is the one in which its cluster's API can be reached."""
    return config.get("phase", "cluster") == "cluster"


def vpc_cidr(config: AwsConfig) -> str:
    """The range of the VPC; empty where there is one already, which only those know who gave it."""
    network = config["network"]
    return network.get("cidr") or ("" if "vpc_id" in network else DEFAULT_CIDR)


def service_cidr(config: AwsConfig) -> ServiceRange:
    """The range of the cluster's services, as an argument."""
    chosen = (config.get("existing_cluster") or config["cluster"]).get("service_cidr")
    return {"service_cidr": chosen} if chosen else {}


def hybrid_nodes(env: Environment[AwsConfig], cluster: ClusterLink) -> HybridNodes | None:
    """How on-prem servers join the cluster; None where there are none."""
    if "own_servers" not in env.config:
        return None
    return HybridNodes(env.part("own-servers"), **hybrid_args(env, env.config["own_servers"], cluster))


def volume(config: AwsConfig) -> VolumeSource:
    """The shared files of an environment with on-prem servers: those of the site."""
    return {"nfs": config["own_servers"]["nfs"]}


def phase_output(config: AwsConfig) -> dict[str, str]:
    """The output `phase` of an environment with on-prem servers, by which `gpufleet link` says what comes next."""
    if "own_servers" not in config and "phase" not in config:
        return {}
    return {"phase": "cluster" if installs_on_cluster(config) else "cloud"}


def on_cluster(
    env: Environment[AwsConfig],
    cluster: Cluster | ExistingCluster,
    hybrid: HybridNodes | None,
    opts: pulumi.ResourceOptions,
) -> None:
    """What on-prem servers need on the cluster, and the output for their join scripts. opts: those of the cluster."""
    if hybrid is None:
        return
    own = env.config["own_servers"]
    Cilium(env.part("cilium"), **pod_network(env, own), opts=opts)
    env.export(own_servers=scripts_output(env, own, hybrid, cluster))


def site_link(env: Environment[AwsConfig], network: Network) -> None:
    """The line to the own network, where the configuration has one, and the output for the site's router.

    By default it leads to the servers and their pods.
    """
    config = env.config
    servers: RemoteNetworks = config["own_servers"]["networks"] if "own_servers" in config else {"nodes": []}
    known: dict[str, Any] = {"cloud_cidr": vpc_cidr(config)}
    if "own_servers" in config:
        known |= {"servers": list(servers["nodes"]), "pods": list(servers.get("pods", ()))}
        known |= {"bgp": config["own_servers"]["cilium"].get("bgp")}
    if "link" not in config:
        if "own_servers" in config:
            env.export(link=known)
        return
    links = {
        "vpc_id": network.vpc_id,
        "vpc_cidr": config["network"].get("cidr", DEFAULT_CIDR),
        "site_cidrs": [*servers["nodes"], *servers.get("pods", ())],
        # For an existing VPC only the configuration has them, even while its network is rejected.
        "route_table_ids": {} if "vpc_id" in config["network"] else network.private_route_table_ids,
        "tags": env.tags,
    }
    args = pick(SiteLinkArgs, {**links, **config["link"]})
    link = SiteLink(env.part("link"), **args)
    known |= {"kind": args["kind"], "site_cidrs": list(args["site_cidrs"]), "site_asn": args.get("customer_asn")}
    # A secret, for the keys of the tunnels.
    env.export(
        link=pulumi.Output.secret({**known, "tunnels": link.tunnels}),
        link_device_configuration=link.device_configuration,
    )


def hybrid_args(env: Environment[AwsConfig], own: OnpremServersConfig, cluster: ClusterLink) -> HybridNodesArgs:
    """What HybridNodes takes: as many servers may register as are named."""
    config = pick(HybridNodesConfig, own)
    if own["credentials"] == "ssm" and "count" not in config:
        config["count"] = len({node for pool in own["pools"].values() for node in pool["nodes"]})
    links = {
        **service_cidr(env.config),
        "credentials": own["credentials"],
        "activation": installs_on_cluster(env.config),
        "remote_networks": own["networks"],
        "cluster_name": cluster["cluster_name"],
        "cluster_security_group_id": cluster["cluster_security_group_id"],
        "region": env.config["region"],
        "tags": env.tags,
    }
    return pick(HybridNodesArgs, {**config, **links})


def pod_network(env: Environment[AwsConfig], own: OnpremServersConfig) -> CiliumArgs:
    """Cilium's arguments: of pods on on-prem servers."""
    links = {"pod_cidrs": own["networks"].get("pods", []), "labels": {"gpufleet.dev/environment": env.name}}
    return pick(CiliumArgs, {**own["cilium"], **links})


def all_pools(env: Environment[AwsConfig], cloud: Mapping[str, PlatformPool]) -> dict[str, PlatformPool]:
    """Every pool of the cluster, the cloud's and on-prem servers: those that do not reach the shared files say so."""
    own = env.config.get("own_servers")
    if own is None:
        return dict(cloud)
    # The on-prem servers are in one network with their files, whatever their places are called.
    files = next((pool["place"] for pool in own["pools"].values() if pool.get("place")), PLACE)
    line = "link" in env.config or own["line"]
    reach = {"places": [CLOUD for _ in cloud], "files_place": files, "link": line}
    validate_stack(ResourceFinding(env.name, finding) for finding in validate_file_access(reach))
    unreached = CLOUD in unreached_places(reach)
    rented = {name: _rented(pool, unreached=unreached) for name, pool in cloud.items()}
    return rented | {name: _joined(onprem_pool(env.part(name), pool)) for name, pool in own["pools"].items()}


def _rented(pool: PlatformPool, *, unreached: bool) -> PlatformPool:
    rented: PlatformPool = {**pool, "pod_network": VPC_CNI}
    return {**rented, "reaches_files": False} if unreached else rented


def _joined(pool: PlatformPool) -> PlatformPool:
    return {**pool, "pod_network": CILIUM}


def scripts_output(
    env: Environment[AwsConfig], own: OnpremServersConfig, hybrid: HybridNodes, cluster: Cluster | ExistingCluster
) -> pulumi.Output[Any]:
    """The stack's secret output `own_servers`, of which `gpufleet nodes script` makes scripts."""
    return pulumi.Output.secret(
        {
            "cluster_name": cluster.for_nodes()["cluster_name"],
            "region": env.config["region"],
            "kind": own["credentials"],
            "credentials": hybrid.credentials,
            "nfs": own["nfs"],
            "kubernetes_version": cluster.version,
            "nodeadm": own["nodeadm"],
            "driver": own["driver"],
            "nodes": _nodes(env, own),
        }
    )


def _nodes(env: Environment[AwsConfig], own: OnpremServersConfig) -> dict[str, dict[str, Any]]:
    """Every server by name: its pool, and the labels and taints that it joins with, those of the cloud's GPU nodes."""
    found: dict[str, dict[str, Any]] = {}
    for name, pool in own["pools"].items():
        node = {
            "pool": name,
            "labels": plan_labels(env.part(name), pool),
            "taints": [GPU_TAINT, *pool.get("taints", [])],
        }
        found |= dict.fromkeys(pool["nodes"], node)
    return found
