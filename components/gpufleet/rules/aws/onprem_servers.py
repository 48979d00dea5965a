"""Rules on an environment whose cluster own servers join (EKS hybrid nodes)."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules.coerce import flag
from gpufleet.rules.kubernetes.onprem_nodes import validate_pool_overlap
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule


@rule("aws-own-servers-cluster", Severity.ERROR)
def own_cluster_joined(*, existing: str) -> Outcome:
    """On-prem servers join a cluster that the environment creates; `existing` is the name of an existing one, if any.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cluster-update.html: networks, endpoint and
    authentication mode are the cluster's, and so its owner's.
    """
    if not existing:
        return passed()
    fix = "leave existing_cluster out, or let its owner join the servers to it"
    return failed("own_servers", "given", f"cannot join {existing}, whose remote networks are its owner's", fix)


@rule("aws-own-servers-files", Severity.ERROR)
def files_everywhere(*, files: Sequence[str]) -> Outcome:
    """With on-prem servers, all jobs read their files from own_servers.nfs; `files` are the EFS keys that are given.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html: the EFS CSI driver is
    for EC2 only; https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-add-ons.html does not list it.
    """
    if not files:
        return passed()
    problem = "shapes an EFS, which pods on own servers cannot mount, and none is made"
    return failed("files", list(files), problem, "leave it out: own_servers.nfs holds the files of every job")


@rule("any-pool-name-once", Severity.ERROR)
def pool_once(*, pool: str, elsewhere: Sequence[str]) -> Outcome:
    """A pool of on-prem servers does not have the name of a cloud pool.

    Source: our own naming: gpufleet.dev/pool is <environment>-<pool>, and jobs choose by the pool's name.
    """
    if pool not in elsewhere:
        return passed()
    return failed("own_servers.pools", pool, "is a name of gpufleet:pools too", "give one of them another name")


@rule("aws-own-servers-nodeadm", Severity.ERROR)
def nodeadm_pinned(*, version: str, sha256: str) -> Outcome:
    """nodeadm is one release with the checksum of its file, so that every server runs the same program.

    Source: https://github.com/aws/eks-hybrid: releases v1.0.19, each with a file nodeadm.sha256; `latest` is another
    file next month.
    """
    if not re.fullmatch(r"v\d+\.\d+\.\d+", version):
        return failed("own_servers.nodeadm.version", version, "is not a nodeadm release", "write it like v1.0.19")
    if not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        fix = "give the 64 hex digits of nodeadm.sha256 beside the file"
        return failed("own_servers.nodeadm.sha256", sha256, "is not a SHA-256 checksum", fix)
    return passed()


@rule("aws-own-servers-pods", Severity.ERROR)
def pods_reached(*, pods: Sequence[str], bgp: bool, static_routes: bool) -> Outcome:
    """The cluster reaches pods on own servers: their ranges are the cluster's remote networks, and the site's router
    learns by BGP, or has as static routes, which server has which part of them.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-concepts-kubernetes.html: without routes to
    pods the control plane reaches no webhook there, nor pods by the API server's proxy, by which `gpufleet ps` reads
    what GPUs do; cloud pods reach none either.
    """
    if not pods:
        fix = "give a private range, such as 10.81.0.0/16, which is an address of nothing else"
        return failed("own_servers.networks.pods", [], "the cluster then reaches no pod on own servers", fix)
    if bgp and static_routes:
        problem = "the site's router learns the routes to pods by BGP already"
        return failed("own_servers.cilium.static_routes", True, problem, "leave out static_routes, or bgp")
    if not bgp and not static_routes:
        problem = "the site's router does not learn which server has which pods"
        fix = "give the BGP numbers of servers and router and its address, or static_routes: true"
        return failed("own_servers.cilium.bgp", "not given", problem, fix)
    return passed()


def validate_onprem_servers(
    pools: Mapping[str, Sequence[str]],
    clouds: Sequence[str],
    existing: str,
    files: Sequence[str],
    nodeadm: Mapping[str, object],
    pods: Sequence[str],
    routes: Mapping[str, object],
) -> list[Finding]:
    """Findings on own servers beside what a cloud rents out.

    pools: the servers of each. clouds: names of the cloud's pools. existing: name of a cluster that the environment
    does not make, or "". files: keys under gpufleet:files. nodeadm: its version and sha256. pods: ranges of their pods.
    routes: how the site's router knows the ways there: bgp, static_routes.
    """
    return [
        own_cluster_joined(existing=existing),
        files_everywhere(files=files),
        *(pool_once(pool=pool, elsewhere=clouds) for pool in pools),
        *validate_pool_overlap(pools),
        pods_reached(pods=pods, bgp="bgp" in routes, static_routes=flag(routes, "static_routes", False)),
        nodeadm_pinned(version=str(nodeadm["version"]), sha256=str(nodeadm["sha256"])),
    ]
