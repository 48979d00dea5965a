"""Checks of the Azure Batch accounts and pools in a plan."""

from collections.abc import Sequence
from datetime import date

from gpufleet.plan import UNKNOWN, Resource
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.azure.pools import AzurePool
from gpufleet.plan.property_values import get_path, items
from gpufleet.policies.azure.mounts import validate_mounts
from gpufleet.policies.azure.pools import record_of, validate_pool_intent
from gpufleet.policies.azure.property_reader import PropertyReader
from gpufleet.policies.azure.subnets import validate_subnet
from gpufleet.rules import coerce
from gpufleet.rules.azure import batch_image as azure_batch_image
from gpufleet.rules.azure import batch_mpi as azure_batch_mpi
from gpufleet.rules.azure import batch_scaling as azure_batch_scale
from gpufleet.rules.azure import batch_service as azure_batch
from gpufleet.rules.azure import capacity as azure_capacity
from gpufleet.rules.azure import names as azure_name
from gpufleet.rules.azure import registry as azure_registry

_VM = ("deploymentConfiguration", "virtualMachineConfiguration")


def validate_batch_pool(reading: PropertyReader, pools: Sequence[AzurePool]) -> None:
    """Every rule on a Batch pool; `pools` are its dedicated nodes, its Spot nodes, or both."""
    account = reading.graph.named(reading.resource, "accountName", "batch:BatchAccount", "accountName")
    allocation = _allocation(reading.graph, account)
    reading.add(azure_batch.api_version(version=reading.graph.types[reading.resource.type].version))
    inter_node = reading.text("interNodeCommunication", default="Disabled")
    if inter_node is not None:
        _inter_node(reading, pools, inter_node == "Enabled", allocation)
    _settings(reading, pools, allocation)
    _scale(reading)
    node_agent = reading.text(*_VM, "nodeAgentSkuId")
    if node_agent is not None:
        today = date.today()
        reading.add(azure_batch_image.image_ended(node_agent=node_agent, today=today))
        reading.add(azure_batch_image.image_ends(node_agent=node_agent, today=today))
    region = reading.graph.location(account) if account else None
    validate_mounts(reading, region)
    _registries(reading, region)
    validate_subnet(reading, inter_node == "Enabled")
    for pool in pools:
        validate_pool_intent(reading, pool)


def validate_batch_account(reading: PropertyReader) -> None:
    """Every rule on a Batch account, but for those on its storage."""
    reading.add(azure_batch.api_version(version=reading.graph.types[reading.resource.type].version))
    if name := reading.text("accountName"):
        reading.add(azure_name.account_name(name=name, what="Batch"))
    allocation = reading.text("poolAllocationMode", default="BatchService")
    if allocation is not None:
        reading.add(azure_batch.vault_given(allocation=allocation, vault=bool(reading.has("keyVaultReference"))))
    if reading.has("autoStorage"):
        mode = reading.text("autoStorage", "authenticationMode", default="StorageKeys")
        if mode is not None:
            identity = get_path(reading.props, "identity")
            has_identity = identity is UNKNOWN or get_path(identity, "type") not in (None, "None")
            reading.add(azure_batch.auto_storage_identity(mode=mode, has_identity=has_identity))


def _allocation(graph: AzureGraph, account: Resource | None) -> str | None:
    if account is None:
        return None
    mode = get_path(graph.props(account), "poolAllocationMode")
    return "BatchService" if mode is None else mode if isinstance(mode, str) else None


def _inter_node(reading: PropertyReader, pools: Sequence[AzurePool], talks: bool, allocation: str | None) -> None:
    policy = reading.text(*_VM, "nodePlacementConfiguration", "policy", default="Regional")
    slots = reading.whole("taskSlotsPerNode", default=1)
    record = record_of(pools[0]) if pools else None
    known = pools and pools[0].planned.gpu is False
    infiniband = bool(record.infiniband) if record else (None if not known else _cpu_infiniband(pools[0]))
    if policy is not None:
        zonal = azure_batch_mpi.zonal_infiniband(policy=policy, inter_node=talks, infiniband=infiniband)
        reading.add(zonal)
        reading.add(azure_batch_mpi.zonal_inter_node(policy=policy, inter_node=talks and infiniband is False))
    if slots is not None:
        reading.add(azure_batch_mpi.slots_inter_node(slots=slots, inter_node=talks))
        reading.add(azure_batch.slots_most(slots=slots, vcpus=record.vcpus if record else None))
    mosts = [pool.planned.intent.get("max") for pool in pools]
    if all(coerce.is_whole(most) for most in mosts):
        most = sum(int(each) for each in mosts if coerce.is_whole(each))
        reading.add(azure_batch_mpi.inter_node_size(most=most, inter_node=talks, allocation=allocation))
        if record:
            reading.add(
                azure_batch_mpi.inter_node_ethernet(
                    type_name=record.type, inter_node=talks, infiniband=record.infiniband, most=most
                )
            )
    for pool in pools:
        capacity = pool.planned.intent.get("capacity")
        if isinstance(capacity, str):
            reading.add(azure_capacity.spot_mpi(capacity=capacity, together=talks))


def _cpu_infiniband(pool: AzurePool) -> bool | None:
    """Whether a size without GPUs has InfiniBand: the H families have, or may have; D, E, F and the like have none."""
    names = coerce.texts(pool.planned.intent, "types")
    return (
        None if any(name.lower().removeprefix("standard_").startswith(("h", "a8", "a9")) for name in names) else False
    )


def _settings(reading: PropertyReader, pools: Sequence[AzurePool], allocation: str | None) -> None:
    if (mode := reading.text("targetNodeCommunicationMode", default="Default")) is not None:
        reading.add(azure_batch.communication(mode=mode))
    reading.add(azure_batch.certificates(count=len(items(get_path(reading.props, "certificates")))))
    tags = get_path(reading.props, "resourceTags")
    count = len(tags) if isinstance(tags, dict) else int(tags is not None)
    reading.add(azure_batch.resource_tags(count=count, allocation=allocation))
    network = ("networkConfiguration", "publicIPAddressConfiguration", "provision")
    if (provision := reading.text(*network, default="BatchManaged")) is not None:
        has_subnet = bool(reading.has("networkConfiguration", "subnetId"))
        reading.add(azure_batch.private_subnet(provision=provision, has_subnet=has_subnet))


def _scale(reading: PropertyReader) -> None:
    fixed, automatic = reading.has("scaleSettings", "fixedScale"), reading.has("scaleSettings", "autoScale")
    if fixed is None or automatic is None:
        return
    reading.add(azure_batch_scale.scale_one_way(fixed=fixed, automatic=automatic))
    if automatic:
        formula = reading.text("scaleSettings", "autoScale", "formula")
        if formula is not None:
            reading.add(azure_batch_scale.formula_length(formula=formula))
            reading.add(azure_batch_scale.formula_target(formula=formula))
            reading.add(azure_batch_scale.formula_samples(formula=formula))
        interval = reading.text("scaleSettings", "autoScale", "evaluationInterval", default="PT15M")
        if interval is not None:
            reading.add(azure_batch_scale.formula_interval(interval=interval))
    if fixed:
        option = reading.text("scaleSettings", "fixedScale", "nodeDeallocationOption")
        if option is not None:
            reading.add(azure_batch.retained_data(option=option))
        nodes = reading.whole("scaleSettings", "fixedScale", "targetLowPriorityNodes")
        if nodes is not None:
            reading.add(azure_batch_scale.low_priority(nodes=nodes))


def _registries(reading: PropertyReader, region: str | None) -> None:
    """Registries of this plan that a pool pulls its images from."""
    for registry in reading.graph.behind(reading.resource, "deploymentConfiguration", "containerregistry:Registry"):
        other = reading.graph.location(registry)
        reading.add(azure_registry.near_pool(registry=registry.name, region=other, pool_region=region))
