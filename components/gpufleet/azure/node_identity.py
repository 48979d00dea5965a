"""NodeIdentity: who the nodes are, to storage, registry and Azure Batch."""

from typing import Unpack

import pulumi
from pulumi_azure_native import managedidentity

from gpufleet.azure.links import BlobUsersLink, GroupLink, IdentityLink, PullersLink
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding
from gpufleet.rules.azure.location import validate_azure_location


class NodeIdentityArgs(GroupLink):
    """Where the identity is."""


class NodeIdentity(Component):
    """A user-assigned managed identity, so that no node or job needs a key.

    User-assigned, because Azure Batch and AKS take no other for their nodes, and because its rights then exist
    before the first node starts. What it may do is said where it is: on files and registry.
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
        return validate_azure_location(args)

    def create(self, name: str, args: NodeIdentityArgs) -> None:
        identity = managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            tags=args.get("tags", {}),
            opts=self.child(),
        )
        self.identity_id = identity.id
        self.principal_id = identity.principal_id
        self.client_id = identity.client_id

    def for_files(self) -> BlobUsersLink:
        """Who reads and writes the blobs of `SharedFiles`."""
        return {"client_principal_ids": {"nodes": self.principal_id}}

    def for_registry(self) -> PullersLink:
        """Who pulls from a `Registry`."""
        return {"pull_principal_ids": {"nodes": self.principal_id}}

    def for_batch(self) -> IdentityLink:
        """Who a `BatchAccount` and the nodes of a `BatchPool` are."""
        return {"identity_id": self.identity_id}
