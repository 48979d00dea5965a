"""The configuration of an environment that is your own Kubernetes cluster."""

import json
from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

from gpufleet.config.shared import SharedConfig
from gpufleet.kubernetes.gpu_operator import GpuOperatorConfig
from gpufleet.kubernetes.node_labels import NodeLabelsArgs
from gpufleet.platform.config import PlatformConfig
from gpufleet.typed_dicts import Check, Default


def _as_text(kubeconfig: object) -> object:
    return json.dumps(kubeconfig) if isinstance(kubeconfig, dict) else kubeconfig


class OnpremConfig(SharedConfig, PlatformConfig):
    """All keys of an environment on your own cluster."""

    kubeconfig: Annotated[str, Check(_as_text, takes_mapping=True)]
    """How to reach the cluster, as `kubectl config view --minify --flatten` prints it; a secret. A rehearsal puts its
    own control plane in its place."""
    nfs: str
    """The shared files: an NFS 4.1 server and the directory that it exports, for instance 10.0.0.5:/export/shared."""
    pools: Annotated[dict[str, NodeLabelsArgs], Default({})]
    """Nodes with GPUs by name: those of one kind in one place, which are in the cluster already."""
    software: NotRequired[
        Sequence[
            Literal[
                "device-plugin",
                "gpu-operator",
                "mpi-operator",
                "dcgm-exporter",
                "node-health",
                "monitoring",
                "jobset",
            ]
        ]
    ]
    """What is installed on the cluster: device-plugin for nodes that have NVIDIA's driver and container runtime, or
    gpu-operator for nodes that have neither, which brings DCGM's exporter along; mpi-operator; dcgm-exporter;
    node-health, which cordons bad nodes (docs/health.md); monitoring, Prometheus and Grafana (docs/dashboards.md);
    jobset, which jobs of torchrun need. Default: device-plugin, mpi-operator, dcgm-exporter."""
    gpu_operator: Annotated[GpuOperatorConfig, Default({})]
    """NVIDIA's GPU operator, where software names it."""
    repositories: Annotated[dict[str, str], Default({})]
    """Images of your own registry by the name that jobs use, for instance {training: registry.lab:5000/training}; its
    login is gpufleet:team.docker_config."""
