"""BatchPool: GPU nodes that Azure Batch starts for tasks and stops after them, from nothing but their intent."""

from collections.abc import Sequence
from typing import NotRequired, Unpack

import pulumi
from pulumi_azure_native import batch

from gpufleet.azure.batch_mounts import mount_configurations
from gpufleet.azure.batch_pool_plan import EVALUATION, RESIZE_TIMEOUT, BatchPoolPlan, plan_batch_pool
from gpufleet.azure.links import BatchAccountLink, GroupLink, IdentityLink, MountsLink, RegistryLink, SubnetLink
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pools.azure_batch_pool import AzureBatchPool
from gpufleet.rules import Finding
from gpufleet.rules.azure.batch_pool import validate_batch_pool
from gpufleet.rules.coerce import text

REPLACING = (
    "vmSize",
    "deploymentConfiguration",
    "networkConfiguration",
    "mountConfiguration",
    "interNodeCommunication",
    "taskSlotsPerNode",
    "identity",
)
"""Properties of which a change makes another pool.

Azure refuses to change them (PropertyCannotBeUpdated: Azure/Batch#85, #144, #153, Azure/azure-sdk-for-net#40325), but
for the identity, which nodes that run would not get (BatchPoolIdentity of Microsoft.Batch 2024-07-01).
"""


class BatchPoolConfig(AzureBatchPool):
    """A pool's intent, and the images of its jobs."""

    container_images: NotRequired[Sequence[pulumi.Input[str]]]
    """Images that each node has before its first task. Default: none; tasks pull theirs."""


class BatchPoolArgs(BatchPoolConfig, GroupLink, BatchAccountLink, IdentityLink, SubnetLink, MountsLink, RegistryLink):
    """The same, and the account, identity, network, files and registries that it goes to."""


class BatchPool(Component):
    """An Azure Batch pool of nodes of one size, with one task per node at a time.

    Who decides how many nodes there are. With ``scaling=auto`` the formula does, from ``min`` to ``max`` of the
    configuration. With ``scaling=fixed`` there are ``desired`` nodes; leave that 0 and let `gpufleet pool resize` have
    nodes for as long as they are wanted. What a command has set, `resize 0` or another formula, stays through every
    ``up`` that changes nothing of the pool. An ``up`` that does change it in place (scaling words, start command, tags)
    makes the number what the configuration says, since Azure takes a pool's settings as a whole; after
    ``pulumi refresh`` the preview shows that as a change of ``scaleSettings``. Nothing is ignored on purpose: another
    ``max`` must reach the pool, as budgets count on it. Nodes that go finish their tasks first, for whatever reason
    they go.

    Size, image, disk, containers, mounts, network, identity, and whether tasks have several nodes, make another pool:
    see :data:`REPLACING`. The old one goes first, with the tasks that run there, because cores of the account are
    counted by quota, and a fixed pool that found none would not look again. Azure names it, so that it is never taken
    for the old one. Another start command reaches nodes when they next start.
    """

    pool_name: pulumi.Output[str]
    """Id by which jobs name the pool."""
    pool_id: pulumi.Output[str]
    """Id in Azure Resource Manager."""

    def __init__(
        self, name: str, args: BatchPoolArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[BatchPoolArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: BatchPoolArgs) -> list[Finding]:
        return validate_batch_pool(args, text(args, "region"))

    def create(self, name: str, args: BatchPoolArgs) -> None:
        plan = plan_batch_pool(args)
        pool = batch.Pool(
            f"{name}-pool",
            resource_group_name=args["resource_group_name"],
            account_name=args["account_name"],
            vm_size=plan.vm_size,
            deployment_configuration=_deployment(plan, args),
            network_configuration=batch.NetworkConfigurationArgs(
                subnet_id=args["subnet_id"],
                public_ip_address_configuration=batch.PublicIPAddressConfigurationArgs(
                    provision=batch.IPAddressProvisioningType.NO_PUBLIC_IP_ADDRESSES
                ),
            ),
            target_node_communication_mode=batch.NodeCommunicationMode.SIMPLIFIED,
            inter_node_communication=batch.InterNodeCommunicationState.ENABLED
            if plan.talks
            else batch.InterNodeCommunicationState.DISABLED,
            # More would keep multi-instance tasks waiting for ever, and give one node's GPUs to several tasks.
            task_slots_per_node=1,
            scale_settings=_scale(plan),
            mount_configuration=mount_configurations(args.get("mounts", []), args["identity_id"]),
            identity=batch.BatchPoolIdentityArgs(
                type=batch.PoolIdentityType.USER_ASSIGNED, user_assigned_identities=[args["identity_id"]]
            ),
            start_task=_start_task(plan),
            tags=args.get("tags", {}),
            opts=self.child(delete_before_replace=True, replace_on_changes=list(REPLACING)),
        )
        self.pool_name = pool.name
        self.pool_id = pool.id


def _deployment(plan: BatchPoolPlan, args: BatchPoolArgs) -> "batch.DeploymentConfigurationArgs":
    return batch.DeploymentConfigurationArgs(
        virtual_machine_configuration=batch.VirtualMachineConfigurationArgs(
            image_reference=batch.ImageReferenceArgs(
                id=plan.image_id, publisher=plan.publisher, offer=plan.offer, sku=plan.sku, version=plan.version
            ),
            node_agent_sku_id=plan.node_agent,
            os_disk=batch.OSDiskArgs(disk_size_gb=plan.disk_gib),
            container_configuration=_containers(args) if plan.docker else None,
        )
    )


def _containers(args: BatchPoolArgs) -> "batch.ContainerConfigurationArgs":
    """Without images or registries too: only a pool that says so runs containers at all. Empty lists are left out."""
    identity = args["identity_id"]
    return batch.ContainerConfigurationArgs(
        type=batch.ContainerType.DOCKER_COMPATIBLE,
        container_image_names=list(args.get("container_images", [])) or None,
        container_registries=[
            batch.ContainerRegistryArgs(
                registry_server=server,
                identity_reference=batch.ComputeNodeIdentityReferenceArgs(resource_id=identity),
            )
            for server in args.get("registry_servers", [])
        ]
        or None,
    )


def _scale(plan: BatchPoolPlan) -> "batch.ScaleSettingsArgs":
    if plan.formula is not None:
        formula = batch.AutoScaleSettingsArgs(formula=plan.formula, evaluation_interval=EVALUATION)
        return batch.ScaleSettingsArgs(auto_scale=formula)
    return batch.ScaleSettingsArgs(
        fixed_scale=batch.FixedScaleSettingsArgs(
            # Both, so that nodes of the other kind go when the capacity is changed.
            target_dedicated_nodes=plan.dedicated,
            target_low_priority_nodes=plan.spot,
            resize_timeout=RESIZE_TIMEOUT,
            node_deallocation_option=batch.ComputeNodeDeallocationOption.TASK_COMPLETION,
        )
    )


def _start_task(plan: BatchPoolPlan) -> "batch.StartTaskArgs | None":
    if plan.start_line is None:
        return None
    return batch.StartTaskArgs(
        command_line=plan.start_line,
        user_identity=batch.UserIdentityArgs(
            auto_user=batch.AutoUserSpecificationArgs(
                scope=batch.AutoUserScope.POOL, elevation_level=batch.ElevationLevel.ADMIN
            )
        ),
        max_task_retry_count=1,
        wait_for_success=True,
    )
