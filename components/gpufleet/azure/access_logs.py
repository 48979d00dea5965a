"""The record of who reads and writes a storage account, as children of the components that make one."""

from typing import Literal

import pulumi
from pulumi_azure_native import monitor, operationalinsights

from gpufleet.azure.links import GroupLink
from gpufleet.rules.access_logs import KEPT_DAYS

Service = Literal["blob", "file"]
SERVICES: tuple[Service, ...] = ("blob", "file")
CATEGORIES = ("StorageRead", "StorageWrite", "StorageDelete")
"""Every request to a service of an account is of one of these.

Source: learn.microsoft.com/azure/storage/blobs/monitor-blob-storage-reference
"""


def record_account(
    name: str, account_id: pulumi.Output[str], place: GroupLink, opts: pulumi.ResourceOptions
) -> pulumi.Output[str]:
    """Record the accesses to blobs and files of an account, for 90 days; the id of the workspace that is made for it.

    What a workspace of Log Analytics takes in is paid for by the GB.
    """
    workspace = operationalinsights.Workspace(
        name,
        resource_group_name=place["resource_group_name"],
        location=place["region"],
        sku=operationalinsights.WorkspaceSkuArgs(name="PerGB2018"),
        retention_in_days=KEPT_DAYS,
        tags=place.get("tags", {}),
        opts=opts,
    )
    for service in SERVICES:
        record_accesses(f"{name}-{service}", service, account_id, workspace.id, opts)
    return workspace.id


def record_accesses(
    name: str,
    service: Service,
    account_id: pulumi.Output[str],
    workspace_id: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> None:
    """Send the record of an account's service to a workspace; the account itself has metrics only.

    Source: Azure/azure-rest-api-specs#10646: of the account, the categories are not supported.
    """
    monitor.DiagnosticSetting(
        name,
        name="access",
        resource_uri=pulumi.Output.concat(account_id, f"/{service}Services/default"),
        workspace_id=workspace_id,
        logs=[monitor.DiagnosticsLogSettingsArgs(category=category, enabled=True) for category in CATEGORIES],
        opts=opts,
    )
