"""Every component of gpufleet.kubernetes, found by walking it, and arguments that make all kinds of its children."""

import hashlib
import importlib
import inspect
import pkgutil
from pathlib import Path

import pulumi
from recorder import Recording, construct

import gpufleet.kubernetes

PACKAGE = "gpufleet-kubernetes"
LABELS = {"owner": "ml", "project": "speech"}
_MANIFEST = Path(__file__).with_name("operator.yaml")
MANIFEST = {"manifest": str(_MANIFEST), "sha256": hashlib.sha256(_MANIFEST.read_bytes()).hexdigest()}
"""A small operator's manifest, in the arguments of MpiOperator."""

SAMPLES: dict[str, dict[str, object]] = {
    "DevicePlugin": {"tolerations": [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}]},
    "EfaPlugin": {"image": "registry.example.com/efa"},
    "GpuOperator": {"rdma": True, "values": {"dcgmExporter": {"enabled": False}}},
    "MpiOperator": {**MANIFEST, "image": "registry.example.com/mpi-operator:0.7.0"},
    "SharedVolume": {
        "namespace": "vision",
        "source": {"efs": "fs-0123456789abcdef0", "access_point": "fsap-0123456789abcdef0"},
        "zone": "use1-az1",
    },
    "Team": {
        "namespace": "vision",
        "groups": ["vision-researchers"],
        "docker_config": '{"auths": {"registry.example.com": {"auth": "dTpw"}}}',
    },
    "Queue": {
        "flavors": {
            "h100": {"gpu": "H100", "zone": "use1-az1"},
            "a100": {"gpu": "A100", "zone": "use1-az2"},
        },
        "quotas": {"vision": {"h100": 64}, "speech": {"h100": 16, "a100": 8}},
        "topology": True,
    },
    "Autoscaler": {"cluster_name": "train", "region": "us-east-1", "idle_minutes": 5},
    "MpiJob": {
        "namespace": "vision",
        "workers": 2,
        "gpus_per_worker": 8,
        "image": "registry.example.com/train:1",
        "command": ["python3", "train.py"],
        "instance_type": "p5.48xlarge",
        "network": "efa",
        "zone": "use1-az1",
        "volume_claim": "shared",
        "queue": "gpus",
        "env": {"NCCL_DEBUG": "INFO"},
    },
}
"""Class name -> arguments, in Python's spelling and without labels."""


def modules() -> list[str]:
    """The full name of every module below gpufleet.kubernetes."""
    return [info.name for info in pkgutil.walk_packages(gpufleet.kubernetes.__path__, "gpufleet.kubernetes.")]


def _components() -> dict[str, type[pulumi.ComponentResource]]:
    found: dict[str, type[pulumi.ComponentResource]] = {}
    for name in modules():
        for member in vars(importlib.import_module(name)).values():
            own = inspect.isclass(member) and member.__module__ == name
            if own and issubclass(member, pulumi.ComponentResource):
                found[member.__name__] = member
    return found


COMPONENTS = _components()
"""Class name -> class, of all components that modules of gpufleet.kubernetes define."""


def build(kind: str, preview: bool, **changes: object) -> Recording[pulumi.ComponentResource]:
    """The sample of a component, called ``mine``, as a Python program makes it."""
    args = {**SAMPLES[kind], "labels": LABELS, **changes}
    return construct(lambda: COMPONENTS[kind]("mine", args), preview)  # type: ignore[call-arg]
