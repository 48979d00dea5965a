"""Programs that have the engine construct our components from their packages, as a program in any language does.

A component's arguments are those of its sample, with outputs of other components where the sample has made-up ids.
"""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from tests.components.samples import MARKS, SAMPLES
from tests.e2e.rehearsed_project import REPOSITORY, Project

ADMIN = {"platform": "arn:aws:iam::000000000000:role/platform"}
PACKAGES = REPOSITORY / "components" / "packages"

PROGRAM = '''
import json
import pathlib

import pulumi


class Remote(pulumi.ComponentResource):
    """A component of a package; its outputs are named, as no SDK says them."""

    def __init__(self, token, name, args, outputs):
        super().__init__(token, name, {**dict.fromkeys(outputs), **args}, None, remote=True)


def wired(value):
    """The value, with what stands for outputs in place: {"of": component, "output": name, "key": key} for one of
    another component, {"$secret": value} for a secret."""
    if isinstance(value, dict) and "$secret" in value:
        return pulumi.Output.secret(value["$secret"])
    if isinstance(value, dict) and "of" in value:
        output = getattr(made[value["of"]], value["output"])
        return output[value["key"]] if "key" in value else output
    if isinstance(value, dict):
        return {key: wired(inner) for key, inner in value.items()}
    return [wired(inner) for inner in value] if isinstance(value, list) else value


made = {}
plan = json.loads(pathlib.Path(__file__).with_name("components.json").read_text())
for each in plan["components"]:
    made[each["name"]] = Remote(each["token"], each["name"], wired(each["args"]), each["outputs"])
    for output in each["outputs"]:
        pulumi.export(each["name"] + "." + output, getattr(made[each["name"]], output))
'''


def of(component: str, output: str, key: str | None = None) -> dict[str, str]:
    """An output of another component, or one entry of it."""
    return {"of": component.lower(), "output": output} | ({"key": key} if key else {})


def secret(value: str) -> dict[str, str]:
    """The value as a secret, which the engine shall not know as a text."""
    return {"$secret": value}


def is_output(value: object) -> bool:
    """Whether a value of an argument stands for an output."""
    return isinstance(value, dict) and bool({"of", "$secret"} & value.keys())


def zones(output: str, *keys: str) -> dict[str, object]:
    return {key: of("Network", output, key) for key in keys}


_AZURE = {"resource_group_name": of("ResourceGroup", "resourceGroupName")}
_ZONES = zones("privateSubnetIds", "use1-az1", "use1-az2")
_POOL = {"vpc_id": of("Network", "vpcId"), "subnet_ids": _ZONES, "security_group_ids": []}
_OWN_SERVERS = {"nodes": ["10.80.0.0/24"], "pods": ["10.81.0.0/16"]}
_NIGHTS = [
    {"at": "20:00", "days": ["fri"], "time_zone": "Europe/Berlin", "min": 0, "max": 0},
    {"at": "07:00", "days": ["mon"], "time_zone": "Europe/Berlin"},
]
SECRET = "never-in-the-state"
"""In every secret of a program."""
LOGIN = f"arn:aws:secretsmanager:us-east-1:000000000000:secret:ecr-pullthroughcache/{SECRET}"
VAULT = "https://fleet.vault.azure.net/secrets"
_TAINTS = [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}, {"key": "lab", "effect": "NO_EXECUTE"}]
_VALUES = {"limits": {"cpu": 2, "share": 0.5}, "enabled": False, "args": ["-v", {"level": 3}]}
"""Values of a chart, which have no schema: numbers, texts, lists and mappings, one in the other."""
WIRED: dict[str, dict[str, dict[str, Any]]] = {
    "aws": {
        "Network": {},
        "Cluster": {
            "zones": ["use1-az1", "use1-az2"],
            "subnet_ids": _ZONES,
            "node_subnet_ids": _ZONES,
            "admins": ADMIN,
            "remote_networks": _OWN_SERVERS,
            "addon_versions": {"vpc-cni": "v1.20.4-eksbuild.1"},
            "log_types": ["audit", "authenticator"],
            "private_endpoint": False,
            "public_access_cidrs": ["8.8.8.0/24"],
            "system_types": ["m7i.large", "m6i.large"],
        },
        "SharedFiles": {
            "vpc_id": of("Network", "vpcId"),
            "subnet_ids": _ZONES,
            "client_security_group_ids": {"nodes": of("Cluster", "clusterSecurityGroupId")},
        },
        "LustreFiles": {
            "vpc_id": of("Network", "vpcId"),
            "subnet_ids": _ZONES,
            "client_security_group_ids": {"nodes": of("Cluster", "clusterSecurityGroupId")},
        },
        "GpuNodeGroup": {
            **_POOL,
            "cluster_name": of("Cluster", "clusterName"),
            "cluster_security_group_id": of("Cluster", "clusterSecurityGroupId"),
            "security_group_ids": [of("SharedFiles", "securityGroupId")],
            "schedule": _NIGHTS,
        },
        "HybridNodes": {
            "cluster_name": of("Cluster", "clusterName"),
            "cluster_security_group_id": of("Cluster", "clusterSecurityGroupId"),
            "remote_networks": _OWN_SERVERS,
        },
        "SiteLink": {
            "vpc_id": of("Network", "vpcId"),
            "route_table_ids": zones("privateRouteTableIds", "use1-az1", "use1-az2"),
        },
        "AutoscalerIdentity": {"cluster_name": of("Cluster", "clusterName")},
        "ManagedPrometheus": {"cluster_name": of("Cluster", "clusterName")},
        "MountpointDriver": {"cluster_name": of("Cluster", "clusterName")},
        "BatchEnvironment": _POOL,
        "BatchQueue": {"environments": [of("BatchEnvironment", "environmentArn")]},
        "OutputsBucket": {},
        "DataSync": {"bucket_arn": of("OutputsBucket", "bucketArn")},
        "Registry": {
            "pull_through": {"quay": "quay.io", "docker-hub": "registry-1.docker.io"},
            "credentials": {"docker-hub": secret(LOGIN)},
            "existing_repositories": ["data"],
            "mutable_tags": ["dev*", "latest"],
            "pull_role_names": {"nodes": of("Cluster", "nodeRoleName")},
        },
        "ImageMirror": {"existing_repositories": ["data"]},
        "TrainingJob": {
            "bucket": {"arn": of("OutputsBucket", "bucketArn"), "prefixes": ["runs/"]},
            "pull_through": ["quay"],
            "secrets": {},
        },
        "Budget": {"team": "vision", "forecast_percents": [90, 110.5]},
    },
    "azure": {
        "ResourceGroup": {},
        "Network": _AZURE,
        "NodeIdentity": _AZURE,
        "Cluster": {
            **_AZURE,
            "subnet_id": of("Network", "subnetIds", "nodes"),
            "outbound_addresses": of("Network", "outboundAddresses"),
        },
        "SharedFiles": {
            **_AZURE,
            "allowed_cidrs": ["8.8.8.8"],
            "endpoint_subnet_id": of("Network", "subnetIds", "endpoints"),
            "vnet_id": of("Network", "vnetId"),
            "client_principal_ids": {"nodes": of("NodeIdentity", "principalId")},
        },
        "LustreFiles": {
            **_AZURE,
            "filesystem_subnet_id": of("Network", "subnetIds", "endpoints"),
            "node_zones": ["2"],
        },
        "NfsShare": {
            **_AZURE,
            "client_subnet_ids": {"nodes": of("Network", "subnetIds", "nodes")},
            "log_workspace_id": of("SharedFiles", "logWorkspaceId"),
        },
        "SiteLink": {
            **_AZURE,
            "vnet_id": of("Network", "vnetId"),
            "zones": ["1", "3"],
            "pre_shared_key": secret(f"pre-shared, {SECRET}"),
        },
        "Registry": {
            **_AZURE,
            "pull_principal_ids": {"nodes": of("NodeIdentity", "principalId")},
            "credentials": {
                "quay": {"username_secret": secret(f"{VAULT}/{SECRET}"), "password_secret": f"{VAULT}/password"}
            },
        },
        "Budget": {
            "scope": of("ResourceGroup", "resourceGroupId"),
            "forecast_percents": [90, 110.5],
            "by_tag": True,
            "tags": {"owner": "ml"},
        },
        "BatchAccount": {
            **_AZURE,
            "identity_id": of("NodeIdentity", "identityId"),
            "storage_account_id": of("SharedFiles", "accountId"),
        },
        "BatchPool": {
            **_AZURE,
            "account_name": of("BatchAccount", "accountName"),
            "identity_id": of("NodeIdentity", "identityId"),
            "subnet_id": of("Network", "subnetIds", "nodes"),
            "registry_servers": [of("Registry", "loginServer")],
            "container_images": ["mcr.microsoft.com/training:1", secret(f"mcr.microsoft.com/{SECRET}:1")],
        },
        "GpuNodeGroup": {
            **_AZURE,
            "cluster_name": of("Cluster", "clusterName"),
            "subnet_id": of("Network", "subnetIds", "nodes"),
        },
    },
    "kubernetes": {
        "NodeLabels": {"taints": _TAINTS},
        "Team": {
            "users": {"ana": {"uid": 1501, "gid": 1500}, "ben": {"uid": 1502, "gid": 1500}},
            "gid": 1700,
            "ngc_key": secret(f"nvapi-{'k' * 40}-{SECRET}"),
        },
        "NodeHealth": {"pools": {"lab": 4}, "evict": False},
        "DcgmExporter": {"tolerations": _TAINTS},
        "DevicePlugin": {"excluded_pools": ["bottlerocket"]},
        "EfaPlugin": {"tolerations": _TAINTS},
        "GpuOperator": {"tolerations": _TAINTS},
        "JobSetController": {"node_selector": {"topology.kubernetes.io/region": "us-east-1"}},
        "Monitoring": {
            "values": _VALUES,
            "storage_gib": 50,
            "remote_write": {"url": "https://metrics.example.com/api/v1/write"},
        },
        "MpiOperator": {"implementations": ["OpenMPI", "MPICH"]},
        "SharedVolume": {"mount_options": ["tls", "iam"]},
        "Queue": {
            "lend": True,
            "node_selector": {"topology.kubernetes.io/region": "us-east-1"},
            "overflow": {"capacity_timeout_minutes": 15, "pools": ["h100", "a100"]},
        },
        "Autoscaler": {"values": _VALUES},
        "Cilium": {"values": _VALUES, "bgp": {"asn": 65020, "peers": [{"address": "10.80.0.1", "asn": 65010}]}},
        "MpiJob": {
            "uid": 1501,
            "gid": 1500,
            "user": "ana",
            "groups": [1700, 1701],
            "tolerations": _TAINTS,
            "place": "cloud",
            "files_place": "cloud",
            "unreached_places": ["lab"],
            "secrets": {"WANDB_API_KEY": "wandb/key"},
        },
        "Notebooks": {
            "pools": {"a10g": {"gpu": "A10G", "gpus": 4, "usd_per_hour": 4.25, "place": "lab", "taints": _TAINTS}},
            "oidc": {
                **SAMPLES["kubernetes"]["Notebooks"]["oidc"],
                "client_secret": secret(f"client, {SECRET}"),
                "allowed_groups": ["vision-researchers"],
                "scope": ["openid", "groups"],
            },
            "limits": {"cpus": 1.5, "memory_gib": 3, "cpus_per_gpu": 7.5},
            "admins": ["ana"],
            "object_labels": {"cost-centre": "42"},
            "node_selector": {"gpufleet.dev/place": "lab"},
            "taints": _TAINTS,
            "service_annotations": {"service.beta.kubernetes.io/aws-load-balancer-internal": "true"},
            "values": _VALUES,
        },
        # What it installs for all teams is on this cluster already, by the components above.
        "TrainingPlatform": {
            "software": [],
            "labels": {"gpufleet.dev/owner": "lab"},
            "pools": {
                **SAMPLES["kubernetes"]["TrainingPlatform"]["pools"],
                "rented": {"types": ["g6e.xlarge"], "zones": ["use1-az2"], "max": 2, "label": "lab-rented"},
            },
            "queue": {"install": False, "order": ["rented"]},
            "notebooks": {
                "host": "hub.example.com",
                "images": ["registry.example.com/notebook:1"],
                "storage_class": "local-path",
            },
            "autoscaler": {"cluster_name": "lab", "region": "us-east-1"},
            "purpose": "dev",
        },
    },
}
"""Package -> component, in the order in which they are made -> arguments that replace those of its sample."""
CONFIG: dict[str, dict[str, str]] = {
    "aws": {"aws:region": "us-east-1"},
    "azure": {"azure-native:location": "eastus"},
    "kubernetes": {},
}
"""The configuration that a package's cloud needs."""


def camel(name: str) -> str:
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def schema(package: str) -> dict[str, Any]:
    """The committed schema of a package."""
    return json.loads((PACKAGES / f"gpufleet-{package}" / "schema.json").read_text())


def spelt(value: object, declared: dict[str, Any], types: dict[str, Any]) -> object:
    """A value of Python's spelling as programs in other languages have it; keys of mappings stay."""
    if isinstance(value, dict) and not is_output(value):
        if "#/types/" not in declared.get("$ref", ""):
            return {key: spelt(each, declared.get("additionalProperties") or {}, types) for key, each in value.items()}
        fields = types[declared["$ref"].removeprefix("#/types/")]["properties"]
        return {camel(key): spelt(each, fields[camel(key)], types) for key, each in value.items()}
    return [spelt(each, declared.get("items") or {}, types) for each in value] if isinstance(value, list) else value


def python_args(package: str, kind: str, **changes: object) -> dict[str, Any]:
    """Arguments of one component in Python's spelling, with what stands for outputs."""
    return {**SAMPLES[package][kind], **MARKS[package], **WIRED[package][kind], **changes}


def component(package: str, kind: str, **changes: object) -> dict[str, Any]:
    """What the program is told of one component, called as its class is, in lower-case letters."""
    whole = schema(package)
    token = f"gpufleet-{package}:index:{kind}"
    declared = whole["resources"][token]
    args = python_args(package, kind, **changes)
    fields = declared["inputProperties"]
    types = whole.get("types", {})
    wire = {
        camel(key): spelt(value, fields.get(camel(key), {}), types) for key, value in args.items() if value is not None
    }
    return {"name": kind.lower(), "token": token, "args": wire, "outputs": sorted(declared["properties"])}


def remote_program(folder: Path, package: str, components: list[dict[str, Any]], account: object = None) -> Project:
    """A project `theirs` with the environment `dev`. account: what rehearsal.dev.yaml says; None: nothing."""
    folder.mkdir()
    plugin = {"name": f"gpufleet-{package}", "path": str(PACKAGES / f"gpufleet-{package}")}
    project = {"name": "theirs", "runtime": "python", "plugins": {"providers": [plugin]}}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
    (folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": CONFIG[package]}))
    (folder / "rehearsal.dev.yaml").write_text(yaml.safe_dump(account or []))
    (folder / "__main__.py").write_text(PROGRAM)
    (folder / "components.json").write_text(json.dumps({"components": components}))
    return Project(folder)
