"""Every component of the package, found by walking it, and arguments for each that make all kinds of its children."""

import importlib
import inspect
import pkgutil

import pulumi
from recorder import Recording, construct

import gpufleet.aws

PACKAGE = "gpufleet-aws"
TAGS = {"owner": "ml", "project": "speech", "environment": "dev", "expires-at": "2027-01-31"}
SUBNETS = {"use1-az1": "subnet-1", "use1-az2": "subnet-2"}

SAMPLES: dict[str, dict[str, object]] = {
    "Network": {
        "region": "us-east-1",
        "zones": ["use1-az1", "use1-az2"],
        "nat": "per-zone",
        "max_zones": 2,
        "interface_endpoints": ["ecr.api", "ecr.dkr"],
        "flow_logs": True,
        "flow_log_retention_days": 14,
        "cluster_name": "fleet",
    },
    "Cluster": {
        "region": "us-east-1",
        "subnet_ids": SUBNETS,
        "admins": {"platform": "arn:aws:iam::123456789012:role/platform"},
        "log_retention_days": 14,
        "system_min": 1,
        "system_desired": 2,
        "system_max": 4,
        "system_disk_gib": 60,
    },
    "GpuNodeGroup": {
        "region": "us-east-1",
        "types": ["p4d.24xlarge"],
        "min": 1,
        "desired": 2,
        "max": 4,
        "zones": ["use1-az1"],
        "placement": "create",
        "network": "efa",
        "disk_gib": 500,
        "labels": {"team": "vision"},
        "taints": [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}],
        "cluster_name": "fleet",
        "vpc_id": "vpc-1",
        "subnet_ids": SUBNETS,
        "cluster_security_group_id": "sg-cluster",
        "security_group_ids": ["sg-extra"],
    },
    "SharedFiles": {
        "region": "us-east-1",
        "zones": ["use1-az1", "use1-az2"],
        "vpc_id": "vpc-1",
        "subnet_ids": SUBNETS,
        "client_security_group_ids": {"nodes": "sg-cluster"},
        "uid": 1001,
        "throughput": "provisioned",
        "provisioned_mibps": 256,
        "infrequent_access_days": 7,
    },
    "AutoscalerIdentity": {"cluster_name": "fleet", "region": "us-east-1"},
    "Budget": {
        "environment": "dev",
        "usd_per_month": 2500.5,
        "emails": ["ml@example.com"],
        "actual_percents": [50, 100],
    },
    "Registry": {
        "region": "us-east-1",
        "repositories": ["training/llm", "tools"],
        "untagged_days": 3,
        "pull_through": {"quay": "quay.io"},
    },
}
"""Class name -> arguments, in Python's spelling and without tags."""


def modules() -> list[str]:
    """The full name of every module below gpufleet.aws."""
    return [info.name for info in pkgutil.walk_packages(gpufleet.aws.__path__, "gpufleet.aws.")]


def _components() -> dict[str, type[pulumi.ComponentResource]]:
    found: dict[str, type[pulumi.ComponentResource]] = {}
    for name in modules():
        for member in vars(importlib.import_module(name)).values():
            own = inspect.isclass(member) and member.__module__ == name
            if own and issubclass(member, pulumi.ComponentResource):
                found[member.__name__] = member
    return found


COMPONENTS = _components()
"""Class name -> class, of all components that modules of gpufleet.aws define."""


def build(kind: str, preview: bool) -> Recording[pulumi.ComponentResource]:
    """The sample of a component, called ``mine``, as a Python program makes it."""
    args = {**SAMPLES[kind], "tags": TAGS}
    return construct(lambda: COMPONENTS[kind]("mine", args), preview)  # type: ignore[call-arg]
