"""The keys of an environment that is your own Kubernetes cluster."""

import json
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator

from cluster_settings import OnClusterSettings
from gpufleet.kubernetes.gpu_operator import GpuOperatorArgs
from gpufleet.kubernetes.node_place import OwnNodesArgs
from settings import Section
from typed_dict import model_of

NodesSettings = model_of(OwnNodesArgs, Section)
GpuOperatorSettings = model_of(GpuOperatorArgs, Section, without={"labels", "tolerations", "values"})


class OnpremSettings(OnClusterSettings):
    PROVIDER: ClassVar[str] = "kubernetes"
    OF_PROVIDER: ClassVar[frozenset[str]] = frozenset()
    SCALES_ITSELF: ClassVar[bool] = True

    kubeconfig: Annotated[str, BeforeValidator(lambda given: json.dumps(given) if isinstance(given, dict) else given)]
    """How to reach the cluster, as `kubectl config view --minify --flatten` prints it; a secret. A rehearsal puts its
    own control plane in its place."""
    nfs: str
    """The shared files: an NFS 4.1 server and the directory that it exports, for instance 10.0.0.5:/export/shared."""
    pools: dict[str, NodesSettings] = {}
    """Nodes with GPUs by name: those of one kind in one place, which are in the cluster already."""
    software: list[Literal["device-plugin", "gpu-operator", "mpi-operator"]] | None = None
    """What is installed on the cluster: device-plugin for nodes that have NVIDIA's driver and container runtime, or
    gpu-operator for nodes that have neither; mpi-operator. Default: device-plugin, mpi-operator."""
    gpu_operator: GpuOperatorSettings = GpuOperatorSettings()
    """NVIDIA's GPU operator, where software names it."""
    repositories: dict[str, str] = {}
    """Images of your own registry by the name that jobs use, for instance {training: registry.lab:5000/training}; its
    login is gpufleet:team.docker_config."""
