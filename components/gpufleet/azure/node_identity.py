"""NodeIdentity: who the nodes are, to storage, registry and Azure Batch."""

from typing import NotRequired, Unpack

import pulumi
from pulumi_azure_native import managedidentity

from gpufleet.azure.links import BlobUsersLink, GroupLink, IdentityLink, PullersLink
from gpufleet.azure.role_assignment import assign_role
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding
from gpufleet.rules.azure.key_vault import validate_node_identity


class NodeIdentityArgs(GroupLink):
    """Where the identity is, and whose secrets it reads."""

    key_vault_id: NotRequired[pulumi.Input[str]]
    """Id of an existing key vault with RBAC: the identity may read every secret in it, and so may every job on the
    nodes. Default: none."""


class NodeIdentity(Component):
    """A user-assigned managed identity, so that no node or job needs a key.

    User-assigned, because Azure Batch and AKS take no other for their nodes, and because its rights then exist
    before the first node starts. Its rights are set where they apply: on files and registry.
    """

    identity_id: pulumi.Output[str]
    """What pools and clusters are given."""
    principal_id: pulumi.Output[str]
    """What roles are given to."""
    client_id: pulumi.Output[str]
    """What programs on a node ask by, when the node has several identities."""

    def __init__(
        self, name: str, args: NodeIdentityArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NodeIdentityArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NodeIdentityArgs) -> list[Finding]:
        return validate_node_identity(args)

    def create(self, name: str, args: NodeIdentityArgs) -> None:
        identity = managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            tags=args.get("tags", {}),
            opts=self.child(),
        )
        vault = args.get("key_vault_id")
        if vault is not None:
            assign_role(f"{name}-secrets", self, "Key Vault Secrets User", vault, identity.principal_id)
        self.identity_id = identity.id
        self.principal_id = identity.principal_id
        self.client_id = identity.client_id

    def for_files(self) -> BlobUsersLink:
        """Principals that read and write the blobs of `SharedFiles`."""
        return {"client_principal_ids": {"nodes": self.principal_id}}

    def for_registry(self) -> PullersLink:
        """Who pulls from a `Registry`."""
        return {"pull_principal_ids": {"nodes": self.principal_id}}

    def for_batch(self) -> IdentityLink:
        """Who a `BatchAccount` and the nodes of a `BatchPool` are."""
        return {"identity_id": self.identity_id}
