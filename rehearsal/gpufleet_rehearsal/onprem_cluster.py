"""On-prem servers in a rehearsal, those of `rehearsal.<environment>.yaml`.

An on-prem cluster's are its nodes: the rehearsal's control plane takes the place of the cluster that the user has, with
plain servers, without any label of gpufleet. Those that join a cloud's cluster become nodes when they have run their
scripts (kubernetes/joining.py).
"""

from collections.abc import Mapping
from pathlib import Path

import yaml

from gpufleet.documents.yaml import read_yaml

CLOUD = "onprem"
"""What `gpufleet:cloud` says of such an environment."""
NODES = "own-servers"
"""Key under which the store remembers the servers of the account's file, as JSON."""

ROUTER = "router-configured"
"""Key under which the store remembers that the site's router is configured; empty or without it, it is not."""

STORAGE_CLASSES = "storage-classes"
"""Key under which the store remembers, as JSON, the names of storage classes that an own cluster has."""
JOINED = "joined-servers"
"""Key under which the store remembers, as JSON, the servers that have joined a cloud's cluster, each with the name,
the labels and the taints of its node. Empty or without it, all servers are nodes."""


def is_onprem_config(config: object) -> bool:
    """Whether a stack's configuration, the mapping below `config`, is of an on-prem cluster."""
    return isinstance(config, Mapping) and config.get("gpufleet:cloud") == CLOUD


def is_onprem_cluster(configuration: Path) -> bool:
    """The same of a stack's configuration file. Errors: DocumentError."""
    document = read_yaml(configuration)
    return isinstance(document, dict) and is_onprem_config(document.get("config"))


def joins_servers(configuration: Path) -> bool:
    """Whether on-prem servers join the cluster of a stack by its configuration file. Errors: DocumentError."""
    document = read_yaml(configuration)
    config = document.get("config") if isinstance(document, dict) else None
    return isinstance(config, Mapping) and "gpufleet:own_servers" in config


def kubeconfig_text() -> str:
    """A kubeconfig that leads to the rehearsal's own control plane, and nowhere else: no secret, no real address."""
    name = "own-cluster"
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": f"https://{name}.rehearsal.invalid:6443"}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
            "users": [{"name": name, "user": {}}],
        },
        sort_keys=False,
    )
