"""An option as the configuration of a stack: the keys that it decides, for Pulumi.<environment>.yaml."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from gpufleet.catalog import eks_zones
from gpufleet.choose.onprem_config import HYBRID, ONPREM, onprem_findings, onprem_keys, remarks
from gpufleet.choose.onprem_servers import PricedServers
from gpufleet.choose.options import OWN_SERVERS, Option
from gpufleet.errors import UserError
from gpufleet.rules.aws.batch_environment import validate_batch_environment
from gpufleet.rules.aws.gpu_pool import validate_pool
from gpufleet.rules.azure.batch_pool import validate_azure_batch_pool
from gpufleet.rules.azure.gpu_node_group import validate_azure_pool
from gpufleet.rules.rule import Finding, Status

STACKS: Mapping[str, tuple[str, ...]] = {
    "aws": ("aws", "aws-batch", HYBRID),
    "azure": ("azure", "azure-batch"),
    OWN_SERVERS: (ONPREM, HYBRID),
}
"""What runs a cloud's nodes, the usual one first: values of gpufleet:cloud, azure-batch for Batch in azure, and hybrid
for own servers in a cluster of aws."""
POOL = "trainers"
"""Name of the pool."""


def stack_of(option: Option, asked: str | None) -> str:
    """What runs an option's nodes, of STACKS. Errors: UserError if the one asked for does not run its nodes.

    Several nodes with InfiniBand run on Azure Batch only, as rule `azure-infiniband-on-aks` says.
    """
    legal = STACKS[option.cloud]
    if asked is not None and asked not in legal:
        whose = "own servers" if option.cloud == OWN_SERVERS else f"nodes of {option.cloud}"
        raise UserError(f"{option.type}: stack={asked}: does not run {whose}; use {' or '.join(legal)} [choose-stack]")
    if option.cloud != "azure" or option.nodes < 2 or option.network.kind != "InfiniBand":
        return asked or legal[0]
    if asked == "azure":
        raise UserError(
            f"{option.type}: stack=azure: no pod on AKS reaches a node's InfiniBand; use azure-batch [choose-stack]"
        )
    return "azure-batch"


def config_of(option: Option, stack: str, spot: bool, servers: Sequence[PricedServers] = ()) -> dict[str, Any]:
    """The keys under `config:` that an option decides. stack: of `stack_of`. spot: buy the nodes on Spot.

    servers: all own ones. Of an option on own servers its group becomes a pool; with a cloud's, in HYBRID, all do.

    One zone for several nodes, because bytes between zones cost and EFA does not cross them; which zones have free
    capacity nobody knows, so it is the first that offers the type. A placement group only with EFA, whose own rule asks
    for it: no gain of one was measured on plain networks.
    Errors: UserError for several nodes on Spot on AWS Batch, for a region without a zone for EKS, and for HYBRID
    without own servers.
    """
    if option.cloud == OWN_SERVERS:
        cloud = ONPREM if stack == ONPREM else "aws"
        return {"gpufleet:cloud": cloud} | onprem_keys(stack, [each for each in servers if each.name == option.type])
    if stack == HYBRID and not servers:
        raise UserError(f"{option.type}: stack=hybrid: has own servers too; list them with --servers [choose-stack]")
    if stack == "aws-batch" and spot and option.nodes > 1:
        raise UserError(
            f"{option.type}: Batch runs no job of several nodes on Spot; leave --spot out, or use --stack aws "
            "[choose-stack]"
        )
    pool: dict[str, Any] = {"types": [option.type], "max": option.nodes}
    if stack == "azure-batch" and option.nodes > 1:
        # Batch chooses the zone itself, and a job of several nodes is one task.
        pool["task_nodes"] = option.nodes
    if stack != "azure-batch" and (zones := _zones(option, stack)):
        pool["zones"] = zones
    if option.nodes > 1 and option.network.kind == "EFA":
        pool |= {"placement": "create", "network": "efa"}
    if option.nodes > 1 and option.network.kind == "InfiniBand":
        pool["network"] = "infiniband"
    if spot:
        pool["capacity"] = "spot"
    region = "azure-native:location" if option.cloud == "azure" else "aws:region"
    config: dict[str, Any] = {region: option.region, "gpufleet:cloud": stack.removesuffix("-batch")}
    if stack == "azure-batch":
        return config | {"gpufleet:batch": {"pools": {POOL: pool}}}
    if stack == HYBRID:
        return config | {"gpufleet:cloud": "aws", "gpufleet:pools": {POOL: pool}} | onprem_keys(stack, servers)
    config |= {"gpufleet:cloud": stack, "gpufleet:pools": {POOL: pool}}
    if stack == "aws-batch" and option.nodes > 1:
        config["gpufleet:multinode"] = {"pool": POOL, "nodes": option.nodes}
    return config


def option_findings(option: Option, config: Mapping[str, Any]) -> list[Finding]:
    """What the rules say of the pool, passes left out: what `pulumi preview` would say too."""
    pool = _pool(config)
    judge = {"aws": validate_pool, "azure": validate_azure_pool}
    findings: list[Finding] = []
    if config["gpufleet:cloud"] == "aws-batch":
        findings = validate_batch_environment({**pool, "region": option.region})
    elif "gpufleet:batch" in config:
        findings = validate_azure_batch_pool(pool, option.region)
    elif pool:
        findings = judge[option.cloud](pool, option.region)
    return [finding for finding in [*onprem_findings(config), *findings] if finding.status is not Status.PASS]


def render_yaml(
    option: Option, config: Mapping[str, Any], confirmed: str, stack: str = "", servers: Sequence[PricedServers] = ()
) -> str:
    """The configuration as a file. confirmed: what the researcher has agreed to, in a sentence. stack, servers: as
    `config_of` has taken them."""
    text = yaml.safe_dump({"config": dict(config)}, sort_keys=False, default_flow_style=None, width=110)
    where = "Put these keys into stacks/config/Pulumi.<environment>.yaml, in place of those that it has."
    zones = _pool(config).get("zones")
    network = ""
    if zones and option.cloud == "aws":
        network = f"# gpufleet:network must name {'this zone' if len(zones) == 1 else 'these zones'} too.\n"
    if option.cloud == OWN_SERVERS:
        more = remarks(stack, [each for each in servers if each.name == option.type], option.nodes)
    else:
        more = remarks(stack, servers, None) if stack == HYBRID else []
    return f"# {confirmed}\n# {where}\n{network}" + "".join(f"# {line}\n" for line in more) + text


def _pool(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The pool that a cloud rents out; empty where there is none."""
    pools = config["gpufleet:batch"]["pools"] if "gpufleet:batch" in config else config.get("gpufleet:pools", {})
    pool: Mapping[str, Any] = {} if config["gpufleet:cloud"] == ONPREM else pools.get(POOL, {})
    return pool


def _zones(option: Option, stack: str) -> list[str]:
    """Zones of the pool, as its stack names them; empty where Azure is to choose, as nobody knows its offers."""
    if option.cloud == "azure":
        numbers = [zone.rpartition("-")[2] for zone in option.zone_ids or ()]
        return numbers[:1] if option.nodes > 1 else numbers
    zones = list(option.zone_ids or ())
    if stack in ("aws", HYBRID):
        legal = eks_zones(option.region)
        zones = [zone for zone in zones if legal.get(zone)]
        if not zones:
            raise UserError(
                f"{option.type}: no zone of {option.region} that offers it takes a control plane of EKS; "
                "choose another region with --region [choose-stack]"
            )
    return zones[:1] if option.nodes > 1 else zones[:2]
