"""NodeIdentity: who the nodes are, to storage, registry and Azure Batch."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import pulumi
from pulumi_azure_native import managedidentity

from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_arguments
from gpufleet.rules.azure.place import judge_azure_place


class NodeIdentityArgs(TypedDict):
    """Where the identity is."""

    region: str
    """Region of the identity, for instance eastus."""
    resource_group_name: pulumi.Input[str]
    """The resource group."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


class NodeIdentity(pulumi.ComponentResource):
    """One user-assigned identity, so that no node and no job needs a key.

    User-assigned, because Azure Batch and AKS take no other for their nodes, and because its rights then exist
    before the first node starts. What it may do is said where it is: on files and registry.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
    """

    identity_id: pulumi.Output[str]
    """What pools and clusters are given."""
    principal_id: pulumi.Output[str]
    """What roles are given to."""
    client_id: pulumi.Output[str]
    """What programs on a node ask by, when the node has several identities."""

    def __init__(self, name: str, args: NodeIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        refuse_or_warn(name, [*judge_arguments(args, NodeIdentityArgs), *judge_azure_place(args)])
        # No inputs: a component's children wait until every value that the component registers with is known.
        super().__init__("gpufleet-azure:index:NodeIdentity", name, {}, opts)
        identity = managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            tags=dict(args.get("tags", {})),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.identity_id = identity.id
        self.principal_id = identity.principal_id
        self.client_id = identity.client_id
        self.register_outputs(
            {"identity_id": self.identity_id, "principal_id": self.principal_id, "client_id": self.client_id}
        )
