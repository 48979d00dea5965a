"""On-prem servers that run their join scripts: those that the environment names join its cluster.

Simulates the servers and Systems Manager: it reads the script and checks that the simulated cloud has what it names.
Driver, container runtime and network of a server are not simulated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from gpufleet.onprem.join_script import script_of
from gpufleet.onprem.servers import OnpremServers
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.kubernetes.join_config import JoinConfig, JoinConfigError, join_config
from gpufleet_rehearsal.kubernetes.site_line import is_down
from gpufleet_rehearsal.onprem_cluster import JOINED, NODES

CLUSTER = "aws:eks/cluster:Cluster"
ENTRY = "aws:eks/accessEntry:AccessEntry"
ACTIVATION = "aws:ssm/activation:Activation"
ANCHOR = "aws:rolesanywhere/trustAnchor:TrustAnchor"
PROFILE = "aws:rolesanywhere/profile:Profile"
ACTIVATION_SECONDS = 24 * 3600.0
"""Life of an activation that says no end.

Source: docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateActivation.html
"""
HYBRID = {"eks.amazonaws.com/compute-type": "hybrid"}
"""What nodeadm has the kubelet say besides: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cni.html"""


class JoinResult(NamedTuple):
    """A line for each server that joined, and one for each that could not."""

    joined: list[str]
    refused: list[str]


def join(cloud: Cloud, own: OnpremServers) -> JoinResult:
    """Let every server of the environment that is there and has not joined yet run its script."""
    store = cloud.store
    machines = {str(each["name"]) for each in json.loads(store.fact(NODES) or "[]")}
    # A machine that is gone has left; one that the configuration no longer names stays until then.
    there = {name: node for name, node in json.loads(store.fact(JOINED) or "{}").items() if name in machines}
    done = JoinResult([], [])
    for name, server in own.servers.items():
        if name in there:
            continue
        if name not in machines:
            done.refused.append(f"{name}: not listed under nodes in the account's file")
            continue
        try:
            config = join_config(script_of(own, server))
        except JoinConfigError as error:
            done.refused.append(f"{name}: its join script is invalid: {error}")
            continue
        problem = _cluster_problem(cloud, config) or _credentials_problem(cloud, config)
        if problem:
            done.refused.append(f"{name}: {problem}")
            continue
        labels = {**config.labels, **HYBRID}
        there[name] = {"name": _node_name(name, config), "labels": labels, "taints": config.taints}
        if config.ssm:
            store.count(_counter(config))
        done.joined.append(f"{name}: joined as node {there[name]['name']}")
    store.remember(JOINED, json.dumps(there))
    return done


def _cluster_problem(cloud: Cloud, config: JoinConfig) -> str:
    """Why the cluster would not have the server; empty where it would."""
    cluster = next((each for each in cloud.store.resources(CLUSTER) if _value(each, "name") == config.cluster), None)
    if cluster is None:
        return f"EKS cluster {config.cluster} not found"
    if not _value(cluster, "remoteNetworkConfig"):
        return f"the cluster {config.cluster} has no remote networks, so hybrid nodes cannot join it"
    if is_down(cloud.store, cluster):
        return "the API of the cluster does not answer: the line to it is down, and the site's router not configured"
    if not any(_value(each, "type") == "HYBRID_LINUX" for each in cloud.store.resources(ENTRY)):
        return f"the cluster {config.cluster} has no access entry of type HYBRID_LINUX"
    return ""


def _credentials_problem(cloud: Cloud, config: JoinConfig) -> str:
    """Why the cloud does not believe the server; empty where it does.

    Source of what ends an activation: docs.aws.amazon.com/systems-manager/latest/userguide/hybrid-activation-managed-
    nodes.html: its expiry date, and its number of registrations. What SSM says then is not documented: our words.
    """
    if bool(config.ssm) == bool(config.roles_anywhere):
        return "its script must have exactly one kind of credentials"
    if config.roles_anywhere:
        for type_, key in ((ANCHOR, "trustAnchorArn"), (PROFILE, "profileArn")):
            arn = config.roles_anywhere.get(key)
            if not any(_value(each, "arn") == arn for each in cloud.store.resources(type_)):
                return f"Roles Anywhere: {key} {arn} not found"
        return ""
    activation = cloud.store.get(ACTIVATION, str(config.ssm.get("activationId")))
    if activation is None or _value(activation, "activationCode") != config.ssm.get("activationCode"):
        return "activation not found in Systems Manager: it was replaced or deleted after the script was written"
    if _has_ended(cloud, activation):
        return "the activation has expired; set own_servers.activation_expires to another day and run `pulumi up`"
    most = int(str(_value(activation, "registrationLimit") or 1))
    if cloud.store.counted(_counter(config)) >= most:
        return f"the activation is used up: {most} servers have registered; raise own_servers.count and run `pulumi up`"
    return ""


def _has_ended(cloud: Cloud, activation: SimulatedResource) -> bool:
    day = activation.inputs.get("expirationDate")
    if isinstance(day, str):
        return datetime.fromisoformat(day) <= datetime.now(UTC)
    return cloud.clock.counts and cloud.clock.now() > activation.created_at + ACTIVATION_SECONDS


def _node_name(server: str, config: JoinConfig) -> str:
    """With SSM that of the managed instance.

    Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-creds.html
    """
    if config.roles_anywhere:
        return str(config.roles_anywhere.get("nodeName") or server)
    digest = hashlib.sha256(f"{server}/{config.ssm['activationId']}".encode()).hexdigest()
    return f"mi-{digest[:17]}"


def _counter(config: JoinConfig) -> str:
    return f"registered:{config.ssm.get('activationId')}"


def _value(resource: SimulatedResource, key: str) -> Any:  # noqa: ANN401 - JSON
    merged: Mapping[str, Any] = {**resource.inputs, **resource.outputs}
    return merged.get(key)
