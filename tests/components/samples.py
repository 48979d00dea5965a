"""Every component of every cloud, found by walking the packages, and arguments for each that make all kinds of its
children."""

import hashlib
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TypeVar

import pulumi
import pytest

from tests.components import azure_samples
from tests.components.recorder import Recording, Registered, construct

T = TypeVar("T")
TAGS = {"owner": "ml", "project": "speech", "environment": "dev", "expires-at": "2027-01-31"}
LABELS = {"owner": "ml", "project": "speech"}
MARKS: dict[str, dict[str, object]] = {"aws": {"tags": TAGS}, "azure": {}, "kubernetes": {"labels": LABELS}}
"""Package below gpufleet -> the argument with which its components mark all of their children; the samples of Azure
have it themselves, as not every component there takes tags."""
SUBNETS = {"use1-az1": "subnet-1", "use1-az2": "subnet-2"}
BATCH_ARN = "arn:aws:batch:us-east-1:123456789012:"
_MANIFEST = Path(__file__).with_name("operator.yaml")
MANIFEST = {"manifest": str(_MANIFEST), "sha256": hashlib.sha256(_MANIFEST.read_bytes()).hexdigest()}
"""A small operator's manifest, in the arguments of MpiOperator."""

SAMPLES: dict[str, dict[str, dict[str, object]]] = {
    "aws": {
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
        "LustreFiles": {
            "region": "us-east-1",
            "zone": "use1-az1",
            "vpc_id": "vpc-1",
            "subnet_ids": SUBNETS,
            "client_security_group_ids": {"nodes": "sg-cluster"},
            "gib": 4800,
            "throughput": 1000,
            "efa": True,
            "buckets": {"/imagenet": "s3://images/train"},
            "export": True,
        },
        "AutoscalerIdentity": {"cluster_name": "fleet", "region": "us-east-1"},
        "ManagedPrometheus": {"cluster_name": "fleet", "region": "us-east-1", "retention_days": 400},
        "MountpointDriver": {
            "cluster_name": "fleet",
            "region": "us-east-1",
            "buckets": ["s3://images/train", "s3://speech"],
            "kms_key_arns": ["arn:aws:kms:us-east-1:123456789012:key/0a1b2c3d-4e5f-6000-8000-0a1b2c3d4e5f"],
        },
        "HybridNodes": {
            "cluster_name": "fleet",
            "cluster_security_group_id": "sg-cluster",
            "region": "us-east-1",
            "remote_networks": {"nodes": ["10.80.0.0/24"], "pods": ["10.81.0.0/16"]},
            "credentials": "ssm",
            "count": 3,
            "activation_expires": (datetime.now(UTC).date() + timedelta(days=7)).isoformat(),
        },
        "Budget": {
            "environment": "dev",
            "usd_per_month": 2500.5,
            "emails": ["ml@example.com"],
            "actual_percents": [50, 100],
        },
        "BatchEnvironment": {
            "region": "us-east-1",
            "types": ["p4d.24xlarge"],
            "min": 1,
            "max": 4,
            "zones": ["use1-az1"],
            "placement": "create",
            "network": "efa",
            "disk_gib": 500,
            "vpc_id": "vpc-1",
            "subnet_ids": SUBNETS,
            "security_group_ids": ["sg-extra"],
        },
        "BatchQueue": {
            "environments": [f"{BATCH_ARN}compute-environment/first", f"{BATCH_ARN}compute-environment/second"],
            "priority": 2,
            "shares": {"vision": 3, "speech": 1.5},
            "runnable_minutes": 30,
        },
        "TrainingJob": {
            "region": "us-east-1",
            "image": "registry.example.com/train:1",
            "command": ["python3", "train.py"],
            "gpus": 8,
            "nodes": 2,
            "instance_type": "p4d.24xlarge",
            "network": "efa",
            "files": {"file_system_id": "fs-1", "access_point_id": "fsap-1", "path": "/mnt/shared"},
            "bucket": {"arn": "arn:aws:s3:::outputs", "prefixes": ["runs/vision/"]},
            "environment": {"NCCL_DEBUG": "INFO"},
            "secrets": {"WANDB_API_KEY": "arn:aws:secretsmanager:us-east-1:123456789012:secret:wandb-AbCdEf"},
            "retries": 2,
            "timeout_minutes": 90,
        },
        "DataSync": {
            "region": "us-east-1",
            "nfs_server": "192.168.10.5",
            "nfs_path": "/export/data",
            "agent_arns": ["arn:aws:datasync:us-east-1:123456789012:agent/agent-0123456789abcdef0"],
            "to": "s3",
            "cloud_path": "/data",
            "bucket_arn": "arn:aws:s3:::vision-data",
            "every_hours": 6,
            "back_from": "/results",
            "back_to": "/export/results",
            "limit_mbit": 500,
        },
        "SiteLink": {
            "kind": "vpn",
            "vpc_id": "vpc-1",
            "vpc_cidr": "10.0.0.0/16",
            "route_table_ids": {"private": "rtb-1"},
            "site_cidrs": ["192.168.10.0/24"],
            "customer_address": "203.0.113.7",
            "static_routes": ["192.168.0.0/16"],
        },
        "OutputsBucket": {
            "bucket_prefix": "vision-outputs-",
            "expire_days": 90,
            "versioning": True,
            "access_logs": True,
        },
        "Registry": {
            "region": "us-east-1",
            "repositories": ["training/llm", "tools"],
            "untagged_days": 3,
            "pull_through": {"quay": "quay.io"},
        },
        "ImageMirror": {
            "region": "us-east-1",
            "repositories": ["lab/pytorch", "lab/cuda"],
            "github_repository": "lab/images",
            "kept_images": 5,
        },
    },
    "azure": azure_samples.SAMPLES,
    "kubernetes": {
        "DcgmExporter": {"image": "registry.example.com/dcgm-exporter"},
        "DevicePlugin": {"tolerations": [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}]},
        "EfaPlugin": {"image": "registry.example.com/efa"},
        "Cilium": {"pod_cidrs": ["10.81.0.0/16"], "mask_size": 26},
        "GpuOperator": {"rdma": True, "values": {"dcgmExporter": {"enabled": False}}},
        "NodeHealth": {"image": "registry.example.com/python:3.13-slim", "pools": {"lab": 4}},
        "JobSetController": {"image": "registry.example.com/jobset"},
        "Monitoring": {"environment": "lab", "usd_per_gpu_hour": {"a10g": 1.5}, "node_selector": {"zone": "a"}},
        "MpiOperator": {**MANIFEST, "image": "registry.example.com/mpi-operator:0.7.0"},
        "Notebooks": {
            "namespace": "vision",
            "environment": "lab",
            "host": "notebooks.example.com",
            "pools": {"a10g": {"gpu": "A10G", "gpus": 4, "usd_per_hour": 4.0}},
            "images": ["registry.example.com/notebook:1"],
            "volume_claim": "shared",
            "users": {"ana": {"uid": 1501, "gid": 1500}},
            "oidc": {
                "client_id": "hub",
                "client_secret": "never shown",
                "authorize_url": "https://login.example.com/authorize",
                "token_url": "https://login.example.com/token",
                "userdata_url": "https://login.example.com/userinfo",
            },
            "tls": {"secret": "hub-tls"},
            "storage_class": "gp3",
            "pull_secret": "registry",
            "jobs": {"namespace": "vision", "volume_claim": "shared"},
        },
        "NodeLabels": {"gpu": "V100", "gpus": 4, "nodes": ["gpu-1", "gpu-2"], "place": "lab"},
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
            "topology_levels": ["example.com/rack"],
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
            "read_claims": {"/images": "images"},
            "queue": "gpus",
            "env": {"NCCL_DEBUG": "INFO"},
        },
        "TrainingPlatform": {
            "environment": "lab",
            "project": "speech",
            "pools": {
                "v100": {
                    "gpu": "V100",
                    "gpus": 4,
                    "place": "onprem",
                    "zones": ["onprem"],
                    "max": 2,
                    "label": "lab-v100",
                    "taints": [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}],
                }
            },
            "node_groups": {"v100": "lab-v100"},
            "files": {"nfs": "10.0.0.5:/export/shared"},
            "software": ["gpu-operator", "mpi-operator"],
            "gpu_operator": {"rdma": True},
            "operator": {**MANIFEST, "implementations": ["OpenMPI"]},
            "team": {
                "namespace": "robots",
                "groups": ["robot-researchers"],
                "users": {"ana": {"uid": 1501, "gid": 1500}},
                "gid": 1700,
            },
            "volume": {"capacity": "2Ti", "mount_options": ["nfsvers=4.1", "hard"]},
            "usd_per_gpu_hour": {"v100": 0.5},
        },
    },
}
"""Package -> class name -> arguments, in Python's spelling and without marks. A TrainingPlatform on own servers."""

VARIANTS: dict[str, dict[str, dict[str, dict[str, object]]]] = {
    "kubernetes": {
        "TrainingPlatform": {
            "several teams": {
                "environment": "aws-dev",
                "project": "speech",
                "pools": {
                    "trainers": {
                        "types": ["p4d.24xlarge"],
                        "zones": ["use1-az1"],
                        "network": "efa",
                        "max": 4,
                        "label": "aws-dev-trainers",
                    },
                    "small": {"types": ["g6e.xlarge"], "zones": ["use1-az2"], "max": 2, "label": "aws-dev-small"},
                },
                "node_groups": {"trainers": "aws-dev-trainers-nodes", "small": "aws-dev-small-nodes"},
                "files": {"efs": "fs-0123456789abcdef0", "access_point": "fsap-0123456789abcdef0"},
                "files_zone": "use1-az1",
                "autoscaler": {"cluster_name": "aws-dev", "region": "us-east-1", "labels": LABELS},
                "teams": {
                    "vision": {"quota": {"trainers": 32}, "groups": ["vision-researchers"]},
                    "robots": {
                        "quota": {"trainers": 0, "small": 2},
                        "pools": ["small"],
                        "docker_config": '{"auths": {"registry.example.com": {"auth": "dTpw"}}}',
                    },
                },
                "queue": {"lend": True, "order": ["small"]},
                "notebooks": {
                    "host": "notebooks.example.com",
                    "images": ["registry.example.com/notebook:1"],
                    "database": "memory",
                },
                "cloud": "aws",
                "region": "us-east-1",
            },
        },
    },
}
"""The same for other children of a component than those of its sample, by what is said of them."""


def modules(package: str) -> list[str]:
    """The full name of every module with components of a package: those below gpufleet.<package>, and of the package
    kubernetes the platform's, which all clouds have."""
    folders = (package, "platform") if package == "kubernetes" else (package,)
    found = []
    for folder in folders:
        path = importlib.import_module(f"gpufleet.{folder}").__path__
        found += [info.name for info in pkgutil.walk_packages(path, f"gpufleet.{folder}.")]
    return found


@cache
def components(package: str) -> dict[str, type[pulumi.ComponentResource]]:
    """Class name -> class, of all components that the modules of a package define."""
    found: dict[str, type[pulumi.ComponentResource]] = {}
    for name in modules(package):
        for member in vars(importlib.import_module(name)).values():
            own = inspect.isclass(member) and member.__module__ == name
            if own and issubclass(member, pulumi.ComponentResource):
                found[member.__name__] = member
    return found


def construct_sample(build: Callable[[], T], preview: bool) -> Recording[T]:
    """What a sample registers, in a cloud that answers what samples ask."""
    return construct(build, preview, azure_samples.COMPUTED, azure_samples.ANSWERS)


@dataclass(frozen=True)
class Sample:
    """A component with its arguments. variant: those of VARIANTS."""

    package: str
    kind: str
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.package}.{self.kind}{self.variant and f' {self.variant}'}"

    @property
    def token(self) -> str:
        return f"gpufleet-{self.package}:index:{self.kind}"

    @property
    def component(self) -> type[pulumi.ComponentResource]:
        return components(self.package)[self.kind]

    @property
    def args(self) -> dict[str, object]:
        own = VARIANTS[self.package][self.kind][self.variant] if self.variant else SAMPLES[self.package][self.kind]
        return {**own, **MARKS[self.package]}

    @property
    def args_type(self) -> type:
        """The TypedDict of the component's arguments."""
        return inspect.signature(self.component.__init__).parameters["args"].annotation

    def build(self, preview: bool, **changes: object) -> Recording[pulumi.ComponentResource]:
        """The component, called ``mine``, as a Python program makes it; without changes, built once per process."""
        return self._build(preview, **changes) if changes else _build_once(self, preview)

    def _build(self, preview: bool, **changes: object) -> Recording[pulumi.ComponentResource]:
        return construct_sample(lambda: self.component("mine", {**self.args, **changes}), preview)  # type: ignore[call-arg]

    def children(self, preview: bool) -> list[Registered]:
        """What it makes in the cloud or on the cluster."""
        found = [each for each in self.descendants(preview) if each.custom]
        assert found, "a sample that makes nothing shows nothing"
        return found

    def descendants(self, preview: bool) -> list[Registered]:
        """The same, and the components that it is made of."""
        resources = self.build(preview).resources
        return [each for each in resources if (each.type, each.name) != (self.token, "mine")]


@cache
def _build_once(sample: Sample, preview: bool) -> Recording[pulumi.ComponentResource]:
    """Tests of many contracts look at the same recordings, and change nothing in them."""
    return sample._build(preview)


def every_component(*packages: str) -> pytest.MarkDecorator:
    """A test with the argument ``sample``, for each component of these packages, or of all."""
    samples = [
        Sample(package, kind, variant)
        for package in packages or SAMPLES
        for kind in sorted(SAMPLES[package])
        for variant in ("", *VARIANTS.get(package, {}).get(kind, ()))
    ]
    return pytest.mark.parametrize("sample", samples, ids=str)


every_package = pytest.mark.parametrize("package", sorted(SAMPLES))
