"""What holds for every rule: found by walking the package, so that a new rule cannot be forgotten."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import gpufleet.rules
from gpufleet.catalog.network_layers import LAYER_LABEL
from gpufleet.cost.estimate import estimate
from gpufleet.policies.cost import validate_price_age
from gpufleet.pools.eks_pool import EksPool
from gpufleet.rules import (
    Severity,
    all_rules,
    rules_table_markdown,
    validate_arguments,
    validate_batch_environment,
    validate_batch_queue,
    validate_cluster,
    validate_network,
    validate_outputs_bucket,
    validate_registry,
    validate_shared_files,
    validate_training_job,
)
from gpufleet.rules.access_logs import validate_access_logs
from gpufleet.rules.aws.autoscaler_identity import validate_autoscaler_identity
from gpufleet.rules.aws.batch_stack import validate_multinode_pool, validate_pool_names, validate_repository
from gpufleet.rules.aws.cluster import validate_control_zones
from gpufleet.rules.aws.cluster_access import validate_cluster_access, validate_installation
from gpufleet.rules.aws.data_sync import validate_data_sync, validate_synced_files
from gpufleet.rules.aws.existing_network import validate_existing_network
from gpufleet.rules.aws.hybrid_credentials import validate_hybrid_nodes
from gpufleet.rules.aws.image_mirror import validate_image_mirror, validate_mirror_file, validate_mirror_list
from gpufleet.rules.aws.image_pull import validate_images
from gpufleet.rules.aws.lustre import validate_lustre_environment, validate_lustre_files
from gpufleet.rules.aws.managed_prometheus import validate_managed_prometheus, validate_prometheus_environment
from gpufleet.rules.aws.mountpoint_driver import validate_mountpoint_driver
from gpufleet.rules.aws.node_image import validate_node_image
from gpufleet.rules.aws.node_version import validate_node_version
from gpufleet.rules.aws.onprem_servers import validate_onprem_servers
from gpufleet.rules.aws.pool_arguments import validate_pool_arguments
from gpufleet.rules.aws.registry_host import validate_registry_host
from gpufleet.rules.aws.remote_networks import validate_joined_cluster
from gpufleet.rules.aws.service_cidr import validate_service_overlap, validate_services
from gpufleet.rules.aws.site_link import validate_site_link
from gpufleet.rules.aws.subnet_plan import validate_subnet_plan
from gpufleet.rules.aws.system_nodes import validate_system_nodes
from gpufleet.rules.aws.training_job import validate_command
from gpufleet.rules.aws.zones import validate_provider_region
from gpufleet.rules.azure.addresses import validate_azure_addresses
from gpufleet.rules.azure.batch_account import validate_azure_batch_account
from gpufleet.rules.azure.batch_pool import validate_batch_pool
from gpufleet.rules.azure.batch_scaling import validate_autoscale
from gpufleet.rules.azure.budget import validate_azure_budget
from gpufleet.rules.azure.cluster import validate_azure_cluster
from gpufleet.rules.azure.gpu_node_group import validate_agent_pool
from gpufleet.rules.azure.key_vault import validate_node_identity
from gpufleet.rules.azure.location import validate_resource_group
from gpufleet.rules.azure.lustre import validate_managed_lustre
from gpufleet.rules.azure.network import validate_azure_network
from gpufleet.rules.azure.nfs_share import validate_nfs_share
from gpufleet.rules.azure.registry import validate_azure_registry
from gpufleet.rules.azure.site_link import validate_azure_site_link
from gpufleet.rules.azure.stack import validate_azure_stack, validate_job_containers, validate_stack_mounts
from gpufleet.rules.azure.storage_files import validate_azure_files
from gpufleet.rules.budget import validate_budget
from gpufleet.rules.kubernetes.autoscaler import validate_autoscaler
from gpufleet.rules.kubernetes.cilium import validate_cilium
from gpufleet.rules.kubernetes.device_plugins import (
    validate_device_plugin,
    validate_efa_plugin,
    validate_gpu_operator,
    validate_monitoring,
)
from gpufleet.rules.kubernetes.file_access import validate_file_access
from gpufleet.rules.kubernetes.jobset_controller import validate_jobset_controller
from gpufleet.rules.kubernetes.jupyterhub import validate_hub_login
from gpufleet.rules.kubernetes.mpi_job import validate_mpi_job
from gpufleet.rules.kubernetes.notebooks import validate_notebooks
from gpufleet.rules.kubernetes.onprem_nodes import validate_onprem_cluster, validate_onprem_nodes
from gpufleet.rules.kubernetes.operator import validate_mpi_operator
from gpufleet.rules.kubernetes.queue import validate_queue
from gpufleet.rules.kubernetes.queue_flavors import validate_queue_pool
from gpufleet.rules.kubernetes.queue_topology import validate_topology_pool
from gpufleet.rules.kubernetes.software import validate_software
from gpufleet.rules.kubernetes.team import validate_team
from gpufleet.rules.kubernetes.team_quotas import validate_teams, validate_users_of_files
from gpufleet.rules.kubernetes.volume import validate_shared_volume
from gpufleet.rules.names import validate_automatic_name
from gpufleet.rules.rule import failed, passed, unverified
from gpufleet.rules.schedule import validate_schedule
from gpufleet.rules.subnet import validate_addresses, validate_subnets
from tests.components.certificates import certificate
from tests.mistakes import entry_points
from tests.mistakes.corpus import mistakes
from tests.policies.raw_program import plan_from

RULES = {rule.name: rule for rule in all_rules()}
HERE = Path(__file__).parent
ROOT = Path(__file__).parents[3]
OUTCOMES = {passed: "pass", failed: "fail", unverified: "unverified"}


@cache
def case_tables() -> dict[str, set[str]]:
    """Rule name -> statuses of its cases, from the table CASES of every test module in this directory."""
    found: dict[str, set[str]] = {}
    for path in sorted(HERE.rglob("test_*.py")):
        if path.name == Path(__file__).name:
            continue
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        assert hasattr(module, "CASES") == hasattr(module, "test_case"), f"{path}: nothing runs its CASES"
        for rule, rows in getattr(module, "CASES", {}).items():
            found.setdefault(rule.name, set()).update(status for _, _, status, _ in rows)
    return found


def outcomes_of(function: Callable[..., object], seen: frozenset[object] = frozenset()) -> set[str]:
    """The outcomes that a function's body can return, by itself or through a function of the rules that it calls."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        called = function.__globals__.get(node.func.id)
        if called in OUTCOMES:
            found.add(OUTCOMES[called])
        elif inspect.isfunction(called) and called.__module__.startswith("gpufleet.rules") and called not in seen:
            found |= outcomes_of(called, seen | {function})
    return found


def test_the_walk_finds_the_rules():
    assert len(RULES) > 60
    assert "any-placement-one-zone" in RULES


@pytest.mark.parametrize("name", RULES)
def test_every_rule_has_cases_of_each_outcome(name):
    possible = outcomes_of(RULES[name].check)
    assert "pass" in possible, "a rule that never passes is no rule"
    assert possible & {"fail", "unverified"}, "a rule that never objects is no rule"
    assert case_tables().get(name, set()) == possible


@pytest.mark.parametrize("name", RULES)
def test_every_rule_states_itself_and_its_source(name):
    rule = RULES[name]
    assert re.fullmatch(r"(any|aws|azure)(-[a-z0-9]+){2,}", name)
    assert rule.sentence.endswith(".")
    assert rule.source
    assert isinstance(rule.severity, Severity)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_takes_few_plain_keyword_arguments(name):
    parameters = inspect.signature(RULES[name].check).parameters.values()
    assert 1 <= len(parameters) <= 6
    assert {parameter.kind for parameter in parameters} == {inspect.Parameter.KEYWORD_ONLY}
    assert "pulumi" not in str(inspect.signature(RULES[name].check))


REGION, ZONES = "us-east-1", ["use1-az1"]
TAGS = {"expires-at": "2027-01-31"}
NETWORK = {"region": REGION, "zones": ZONES, "nat": "none", "interface_endpoints": []}
CLUSTER = {
    "region": REGION,
    "zones": ZONES,
    "version": "1.34",
    "public_access_cidrs": ["203.0.113.0/24"],
    "log_types": ["api"],
    "cluster_name": "train",
    "admins": {"ops": "arn:aws:iam::123456789012:role/ops"},
    "addon_versions": {"coredns": "v1"},
    "support": "STANDARD",
    "tags": TAGS,
}
REGISTRY = {
    "region": REGION,
    "repositories": ["llm"],
    "pull_through": {"gh": "ghcr.io"},
    "credentials": {"gh": "arn:..."},
}
MIRROR = {"region": REGION, "repositories": ["dev/cuda"], "github_repository": "lab/images"}
POOL = {"types": ["g5.8xlarge"], "max": 1, "zones": ZONES, "labels": {"team": "vision"}}
AKS = {
    "region": "eastus",
    "version": "1.36",
    "authorized_ranges": ["203.0.113.0/24"],
    "admins": {"ops": "11111111-2222-3333-4444-555555555555"},
    "cluster_name": "train",
    "zones": ["1"],
}
AGENT_POOL = {"types": ["Standard_NC4as_T4_v3"], "max": 2, "zones": ["1"], "labels": {"team": "vision"}}
NOTEBOOKS = {
    "host": "hub.example.com",
    "pools": {"a10g": {"gpu": "A10G", "gpus": 4, "usd_per_hour": 4.0}},
    "images": ["r/notebook:1"],
    "oidc": {"token_url": "https://login.example.com"},
    "admins": ["ana"],
}
JOB = {
    "namespace": "vision",
    "image": "r/llm:1",
    "instance_type": "p5.48xlarge",
    "network": "efa",
    "zone": "use1-az1",
    "volume_zone": "use1-az1",
    "queue": "gpus",
    "prefer_place": "onprem",
    "topology": "gpufleet.dev/zone-id",
    "prefer_topology": "example.com/rack",
    "volume_claim": "shared",
    "unreached_places": ["cloud"],
    "files_place": "onprem",
    "env": {"NCCL_DEBUG": "INFO"},
    "secrets": {"KEY": "wandb"},
}
QUEUE = {
    "flavors": {"h100": {"gpu": "H100", "zone": "use1-az1"}},
    "quotas": {"vision": {"h100": 8}},
    "topology_levels": ["topology.k8s.aws/network-node-layer-1"],
    "overflow": {"capacity_timeout_minutes": 15, "pools": ["h100"]},
}
MOUNT = {"kind": "blob", "account": "store", "container": "scripts", "path": "scripts", "region": "eastus"}
BATCH = "arn:aws:batch:us-east-1:123456789012:compute-environment/first"
TRAINING = {
    "region": REGION,
    "image": "r/llm:1",
    "gpus": 8,
    "vcpus": 96,
    "memory_gib": 500,
    "shared_memory_gib": 100,
    "instance_type": "p5.48xlarge",
    "timeout_minutes": 60,
    "files": {"file_system_id": "fs-1"},
    "bucket": {"arn": "arn:aws:s3:::outputs", "prefixes": ["runs/"]},
    "environment": {"NCCL_DEBUG": "INFO"},
    "secrets": {"KEY": "arn:aws:secretsmanager:us-east-1:123456789012:secret:key-AbCdEf"},
}
OWN = {"nodes": ["10.80.0.0/24"], "pods": ["10.81.0.0/16"]}
BGP = {"asn": 65020, "peers": [{"address": "10.80.0.1", "asn": 65010}]}
NODEADM = {"version": "v1.0.9", "sha256": "a" * 64}
LINK = {"vpc_cidr": "10.0.0.0/16", "site_cidrs": ["192.168.10.0/24"], "route_table_ids": {"private": "rtb-1"}}
DX = {"direct_connect_gateway_id": "1b4d5f7a-0c3e-4c8a-9f27-5ad0b1c2d3e4", "announced_cidrs": ["10.0.0.0/16"]}
SYNC = {"to": "efs", "agent_arns": ["agent-1"], "limit_mbit": 100, "back_from": "/out", "nfs_path": "/in"}
AZURE_LOGIN = {"hub": {"username_secret": "https://...", "password_secret": "https://..."}}
CONSTRUCTED = [
    (validate_arguments, POOL, EksPool),
    (validate_pool_arguments, {**POOL, "disk_iops": 4000, "disk_throughput": 500}, REGION),
    (validate_node_version, {"version": "1.34", "cluster_version": "1.35"}),
    (validate_schedule, {**POOL, "schedule": [{"at": "20:00", "max": 0}]}),
    (validate_network, NETWORK),
    (validate_subnet_plan, NETWORK, "10.0.0.0/16", 3),
    (validate_addresses, ["10.0.0.0/24"], 1, 21),
    (validate_existing_network, NETWORK),
    (validate_cluster, CLUSTER),
    (validate_control_zones, ZONES, ZONES),
    (validate_cluster_access, CLUSTER, ["coredns"]),
    (validate_installation, CLUSTER),
    (validate_pool_names, "pools", ["spot"], ["spot"]),
    (validate_multinode_pool, {"types": ["p5.48xlarge"], "zones": ["use1-az1"], "max": 4}, 2),
    (validate_repository, "dev/training"),
    (validate_system_nodes, CLUSTER, (["m7i.large"], 2, 3, 50)),
    (validate_shared_files, {"region": REGION, "zones": ZONES, "tags": TAGS}),
    (validate_lustre_environment, {"zone": "use1-az1", "efa": True}, ["use1-az1"], ["efa"], []),
    (
        validate_lustre_files,
        {"region": REGION, "zone": "use1-az1", "buckets": {"/data": "s3://images"}, "tags": TAGS},
    ),
    (validate_subnets, {"zones": ZONES, "subnet_ids": {"use1-az1": "subnet-1"}}),
    (validate_node_image, {}),
    (validate_registry, REGISTRY),
    (validate_registry_host, REGISTRY),
    (validate_image_mirror, {**MIRROR, "github_branch": "main", "github_environment": "e", "provider_arn": "arn:..."}),
    (validate_mirror_file, "images.yaml", ["is no YAML"]),
    (validate_mirror_list, "123456789012.dkr.ecr.us-east-1.amazonaws.com/dev", True, REGION),
    (validate_site_link, {**LINK, "kind": "vpn", "static_routes": ["192.168.0.0/16"], "customer_address": "192.0.2.7"}),
    (validate_site_link, {**LINK, "kind": "vpn", "customer_asn": 65010, "gateway_asn": 64513}),
    (validate_site_link, {**LINK, **DX, "kind": "direct-connect"}),
    (validate_data_sync, SYNC),
    (validate_synced_files, "efs", True),
    (validate_file_access, {"places": ["onprem", "cloud"], "files_place": "onprem", "sync_hours": 6}),
    (validate_batch_environment, {**POOL, "region": REGION, "strategy": "BEST_FIT_PROGRESSIVE"}),
    (validate_batch_queue, {"environments": [BATCH], "shares": {"vision": 2}, "runnable_minutes": 30}),
    (validate_training_job, TRAINING),
    (validate_command, 100),
    (validate_outputs_bucket, {"bucket_prefix": "vision-", "expire_days": 90}),
    (validate_autoscale, {"min": 0, "max": 10, "spot": True, "idle_minutes": 15, "task_nodes": 4}),
    (validate_azure_batch_account, {"region": "eastus", "account_name": "fleet01", "storage_account_id": "s"}),
    (
        validate_batch_pool,
        {"types": ["Standard_NC4as_T4_v3"], "max": 10, "mounts": [MOUNT], "container_images": ["r/llm:1"]},
        "eastus",
    ),
    (validate_budget, {"usd_per_month": 1000, "emails": ["ml@example.com"]}),
    (validate_resource_group, {"region": "eastus", "resource_group_name": "fleet", "tags": TAGS | {"owner": "ml"}}),
    (validate_node_identity, {"region": "eastus", "key_vault_id": "vault"}),
    (validate_azure_files, {"containers": ["data"], "account_name": "files", "allowed_cidrs": ["203.0.113.7"]}),
    (validate_azure_files, {"access": "private-endpoint"}),
    (validate_azure_network, {"route_table_id": "/subscriptions/..."}),
    (
        validate_azure_site_link,
        {
            "kind": "vpn",
            "vnet_cidr": "10.60.0.0/16",
            "gateway_subnet_cidr": "10.60.255.224/27",
            "customer_bgp_address": "192.168.10.1",
            "pre_shared_key": "a-long-enough-key",
        },
    ),
    (validate_azure_site_link, {"kind": "express-route", "circuit_id": "lab", "gateway_subnet_id": "hub"}),
    (
        validate_azure_registry,
        {"repositories": ["llm"], "pull_through": {"hub": "docker.io"}, "credentials": AZURE_LOGIN},
    ),
    (validate_azure_budget, {"scope": "/subscriptions/...", "emails": ["ml@example.com"], "usd_per_month": 10}),
    (validate_azure_network, {"vnet_id": "/subscriptions/...", "subnet_ids": {"nodes": "/subscriptions/..."}}),
    (validate_azure_cluster, AKS),
    (validate_agent_pool, {**AGENT_POOL, "capacity": "spot", "spot_max_price": 1.5}, "eastus"),
    (validate_managed_lustre, {"region": "eastus", "node_zones": ["1"], "tags": TAGS}),
    (validate_nfs_share, {"client_subnet_ids": {"nodes": "subnet-1"}}),
    (validate_azure_stack, True, ["a"], ["b"]),
    (validate_job_containers, ["scripts", "result"], True),
    (validate_azure_addresses, "10.60.0.0/16", {"nodes": 5, "batch": 10}, {}),
    (validate_stack_mounts, ["logs"], ["result", "logs"]),
    (validate_autoscaler_identity, {"region": REGION}),
    (validate_managed_prometheus, {"retention_days": 400, "region": REGION, "tags": TAGS}),
    (validate_prometheus_environment, ["monitoring"], "single", []),
    (
        validate_mountpoint_driver,
        {"region": REGION, "buckets": ["s3://images"], "addon_version": "v2.7.0-eksbuild.1"},
    ),
    (validate_autoscaler, {"region": REGION, "version": "9.52.1"}),
    (validate_device_plugin, {"image": "registry.example.com/plugin"}),
    (validate_efa_plugin, {"version": "0.5.13", "region": REGION}),
    (validate_software, ["device-plugin"], {"trainers": POOL}),
    (validate_images, {"queue.image": "registry.k8s.io/kueue/kueue"}, REGION, []),
    (validate_gpu_operator, {"rdma": True}),
    (validate_jobset_controller, {"node_selector": {"topology.kubernetes.io/region": REGION}}),
    (validate_monitoring, {"environment": "aws-dev"}),
    (validate_cilium, {"pod_cidrs": ["10.81.0.0/16"], "version": "1.17.6-0", "bgp": BGP}),
    (validate_mpi_operator, {"manifest": "mpi-operator.yaml"}, ["v0.7.0"]),
    (validate_mpi_operator, {"flavour": "trainer"}, []),
    (validate_mpi_job, "llm", JOB),
    (validate_services, {"service_cidr": "10.200.0.0/16"}),
    (validate_service_overlap, "10.200.0.0/16", "10.0.0.0/16"),
    (validate_joined_cluster, {"remote_networks": OWN}),
    (
        validate_hybrid_nodes,
        {"region": REGION, "credentials": "ssm", "activation_expires": "2026-12-01", "remote_networks": OWN},
        date(2026, 11, 22),
    ),
    (
        validate_hybrid_nodes,
        {"region": REGION, "credentials": "roles-anywhere", "certificate_authority": certificate()},
    ),
    (validate_hub_login, {}),
    (validate_automatic_name, "Role", "dev-role", 64, "dev"),
    (validate_access_logs, True, ["efs"]),
    (validate_notebooks, NOTEBOOKS),
    (validate_onprem_nodes, {"gpu": "V100", "gpus": 4, "nodes": ["gpu-1"]}),
    (validate_onprem_servers, {"v100": ["gpu-1"]}, ["rented"], "", [], NODEADM, ["10.81.0.0/16"], {"bgp": BGP}),
    (validate_onprem_cluster, {"v100": ["gpu-1"]}, [], ["device-plugin"]),
    (validate_provider_region, "us-east-1", "us-east-1"),
    (validate_queue, "gpus", QUEUE),
    (validate_queue_pool, {"types": ["g5.xlarge"], "zones": ["use1-az1"]}, {"g5.xlarge": "A10G"}),
    (validate_topology_pool, {"types": ["p5.48xlarge"], "min": 2, "max": 2}, [f"{LAYER_LABEL}1"], {}),
    (validate_shared_volume, {"source": {"nfs": "10.0.0.5:/export"}, "mount_options": ["hard"]}),
    (validate_teams, {"vision": {"quota": {"near": 1}, "pools": ["own"], "budget": {}}}, False, {"near": 8}, ["own"]),
    (validate_users_of_files, {"vision": {"users": {}}}, False),
    (
        validate_team,
        {"namespace": "vision", "docker_config": "{}", "ngc_key": "key", "users": {"ana": {"uid": 1501, "gid": 1501}}},
    ),
]
"""The validations of components and stacks, with arguments that apply each of their rules."""


@cache
def called_by_constructors() -> frozenset[str]:
    return frozenset(finding.rule for validate, *args in CONSTRUCTED for finding in validate(*args))


@pytest.mark.parametrize("validate", [validate for validate, *_ in CONSTRUCTED], ids=lambda validate: validate.__name__)
def test_every_validation_is_called_by_a_constructor(validate):
    """A component or a stack calls it, not only this test."""
    root = Path(__file__).parents[3]
    ours = root / "components/gpufleet"
    packages = [ours / name for name in ("aws", "azure", "kubernetes", "platform", "config", "checks")]
    sources = [path for folder in (*packages, root / "stacks") for path in folder.glob("*.py")]
    sources += [ours / "component.py", ours / "automatic_names.py"]
    assert any(f"{validate.__name__}(" in source.read_text() for source in sources)


@cache
def called_by_packs_and_preflight() -> frozenset[str]:
    """The rules that the packs call on the raw programs of tests/mistakes, and preflight on the accounts there."""
    return frozenset(
        finding.rule
        for mistake in mistakes()
        for version in (mistake.wrong, mistake.legal)
        for entry_point in ("resources", "account")
        if entry_point in version
        for finding in entry_points.findings(mistake, entry_point, version[entry_point])
    )


@cache
def called_by_estimates() -> frozenset[str]:
    """What `gpufleet cost` says beside the packs, whose results do not depend on the day."""
    return frozenset({validate_price_age(estimate(plan_from({}))).finding.rule})


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_called_by_a_door(name):
    assert name in called_by_constructors() | called_by_packs_and_preflight() | called_by_estimates()


def test_what_judges_imports_no_pulumi_and_no_sdk():
    root = Path(gpufleet.rules.__file__).parents[1]
    files = [file for name in ("rules", "plan", "cost", "policies") for file in (root / name).rglob("*.py")]
    # A refresh asks the clouds, and imports their SDKs when it runs; pack.py is where Pulumi's policy SDK is known.
    files += [file for file in (root / "catalog").rglob("*.py") if file.parent.name != "refresh"]
    assert len(files) > 100
    for path in files:
        if path != root / "policies" / "pack.py":
            assert not re.search(r"^\s*(from|import) (pulumi|boto|azure|moto)\b", path.read_text(), re.M), path.name


def test_the_table_lists_every_rule_once_in_one_row():
    rows = rules_table_markdown().splitlines()[2:]
    assert [re.match(r'\| <a id="([^"]+)"', row)[1] for row in rows] == sorted(RULES)
    assert all(len(re.split(r"(?<!\\)\|", row)) == 6 for row in rows)
