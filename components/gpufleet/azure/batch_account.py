"""BatchAccount: where the pools and jobs of Azure Batch belong."""

from typing import NotRequired, TypedDict, Unpack

import pulumi
from pulumi_azure_native import batch

from gpufleet.azure.links import BatchAccountLink, GroupLink, IdentityLink, StorageLink
from gpufleet.azure.naming import legal_name
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding
from gpufleet.rules.azure.batch_account import AUTO_STORAGE, validate_azure_batch_account

LONGEST_NAME = 24


class BatchAccountConfig(TypedDict):
    """The account."""

    account_name: NotRequired[str]
    """Its name: 3 to 24 lower-case letters and digits, unique within the region. Default: the component's with a
    random suffix."""


class BatchAccountArgs(BatchAccountConfig, GroupLink, IdentityLink, StorageLink):
    """The same, where it is made, and the identity and storage that it works with."""


class BatchAccount(Component):
    """A Batch account without keys: users sign in with Entra ID; storage access uses an identity.

    Nodes are Batch's own (mode BatchService), so that no service principal has rights in the subscription. The endpoint
    is public and admits nobody without a role; nodes call it, and it never calls them (simplified communication). One
    user-assigned identity serves account and nodes: Azure/Azure-DataFactory#287 is an account that works so.

    Deleting the account deletes the record of its jobs, and none of their data. Another name, region or resource group
    replaces it, and all of its pools with it.
    """

    account_name: pulumi.Output[str]
    """Name of the Batch account."""
    account_id: pulumi.Output[str]
    """Id in Azure Resource Manager: the scope of roles on jobs, such as Azure Batch Data Contributor."""
    account_endpoint: pulumi.Output[str]
    """Host to which jobs are submitted, for instance NAME.eastus.batch.azure.com."""

    def __init__(
        self, name: str, args: BatchAccountArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[BatchAccountArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: BatchAccountArgs) -> list[Finding]:
        return validate_azure_batch_account(args)

    def create(self, name: str, args: BatchAccountArgs) -> None:
        identity, storage = args["identity_id"], args.get("storage_account_id")
        account = batch.BatchAccount(
            # Without a hyphen: the automatic name in Azure begins with it.
            legal_name(name, LONGEST_NAME),
            account_name=args.get("account_name"),
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            pool_allocation_mode=batch.PoolAllocationMode.BATCH_SERVICE,
            allowed_authentication_modes=[batch.AuthenticationMode.AAD],
            public_network_access=batch.PublicNetworkAccessType.ENABLED,
            identity=batch.BatchAccountIdentityArgs(
                type=batch.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[identity]
            ),
            auto_storage=None
            if storage is None
            else batch.AutoStorageBasePropertiesArgs(
                storage_account_id=storage,
                authentication_mode=batch.AutoStorageAuthenticationMode(AUTO_STORAGE),
                node_identity_reference=batch.ComputeNodeIdentityReferenceArgs(resource_id=identity),
            ),
            tags=args.get("tags", {}),
            # A name of the customer's own is taken until the old account is gone; so are its pools' cores.
            opts=self.child(delete_before_replace=True),
        )
        self.account_name = account.name
        self.account_id = account.id
        self.account_endpoint = account.account_endpoint

    def for_pool(self) -> BatchAccountLink:
        """The account of a `BatchPool`."""
        return {"account_name": self.account_name}
