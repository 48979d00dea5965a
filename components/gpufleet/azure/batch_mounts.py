"""What the nodes of an Azure Batch pool mount: blob containers by identity, file shares by key, NFS."""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

import pulumi
from pulumi_azure_native import batch

SMB = "-o vers=3.0,dir_mode=0777,file_mode=0777,sec=ntlmssp"
"""How a file share is mounted on Linux: every user of the node may write.

Source: learn.microsoft.com/azure/batch/virtual-file-mount
"""
NFS = "-o vers=3,nolock,proto=tcp,sec=sys"
"""How a container is mounted by NFS 3.0.

Source: learn.microsoft.com/azure/storage/blobs/network-file-system-protocol-support-how-to
"""
Kind = Literal["blob", "files", "nfs"]


class Mount(TypedDict):
    """One file system on every node, at $AZ_BATCH_NODE_MOUNTS_DIR/`path`."""

    kind: Kind
    """blob (a container, by the pool's identity), files (a file share, by the account's key: Batch takes nothing else)
    or nfs. What blob mounts belongs to root: jobs run as administrators."""
    path: str
    """Where, for instance scripts: relative and plain."""
    account: NotRequired[pulumi.Input[str]]
    """Name of the storage account of kind blob or files."""
    container: NotRequired[pulumi.Input[str]]
    """Container of kind blob."""
    share: NotRequired[pulumi.Input[str]]
    """File share of kind files."""
    account_key: NotRequired[pulumi.Input[str]]
    """Key of the account of kind files; kept as a secret. Another key replaces the pool."""
    endpoint: NotRequired[pulumi.Input[str]]
    """Endpoint of the account's files. Default https://ACCOUNT.file.core.windows.net/."""
    source: NotRequired[pulumi.Input[str]]
    """What kind nfs mounts, such as store.blob.core.windows.net:/store/data."""
    options: NotRequired[str]
    """Options for blobfuse or mount, such as "-o allow_other". Default: blobfuse's own; for files SMB 3.0 with all
    rights for all; for nfs those of NFS 3.0."""
    region: NotRequired[str]
    """Region of the storage account, for validation only. Default: unknown."""
    shared_keys: NotRequired[bool]
    """Whether the account takes its keys (allow_shared_key_access), for validation only. Default:
    unknown."""


def mount_configurations(
    mounts: Sequence[Mount], identity_id: pulumi.Input[str]
) -> "list[batch.MountConfigurationArgs] | None":
    """`mountConfiguration` of a pool with an identity; None without mounts, since Azure rejects an empty list when the
    pool is written again (Azure/bicep#7902)."""
    return [_configuration(mount, identity_id) for mount in mounts] or None


def _configuration(mount: Mount, identity_id: pulumi.Input[str]) -> "batch.MountConfigurationArgs":
    options = mount.get("options")
    if mount["kind"] == "blob":
        return batch.MountConfigurationArgs(
            azure_blob_file_system_configuration=batch.AzureBlobFileSystemConfigurationArgs(
                account_name=mount["account"],
                container_name=mount["container"],
                relative_mount_path=mount["path"],
                identity_reference=batch.ComputeNodeIdentityReferenceArgs(resource_id=identity_id),
                blobfuse_options=options or None,
            )
        )
    if mount["kind"] == "nfs":
        return batch.MountConfigurationArgs(
            nfs_mount_configuration=batch.NFSMountConfigurationArgs(
                source=mount["source"], relative_mount_path=mount["path"], mount_options=options or NFS
            )
        )
    endpoint = mount.get("endpoint") or pulumi.Output.concat("https://", mount["account"], ".file.core.windows.net/")
    return batch.MountConfigurationArgs(
        azure_file_share_configuration=batch.AzureFileShareConfigurationArgs(
            account_name=mount["account"],
            account_key=pulumi.Output.secret(mount["account_key"]),
            azure_file_url=pulumi.Output.all(endpoint, mount["share"]).apply(_joined),
            relative_mount_path=mount["path"],
            mount_options=options or SMB,
        )
    )


def _joined(parts: Sequence[str]) -> str:
    """The URL of a share from the account's endpoint, which ends in a slash or not, and its name."""
    endpoint, share = parts
    return f"{endpoint.rstrip('/')}/{share}"
