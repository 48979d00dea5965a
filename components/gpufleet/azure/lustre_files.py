"""LustreFiles: one file system of Azure Managed Lustre, for training that reads more than NFS gives."""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_azure_native import storagecache

from gpufleet.azure.links import GroupLink
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.volume_source import VolumeSource
from gpufleet.rules import Finding
from gpufleet.rules.azure.lustre import DEFAULT_SKU, SKU_STEPS, validate_managed_lustre

FILE_SYSTEM = "lustrefs"
"""Name under which clients mount it: github.com/kubernetes-sigs/azurelustre-csi-driver, DefaultLustreFsName."""
Sku = Literal[
    "AMLFS-Durable-Premium-40", "AMLFS-Durable-Premium-125", "AMLFS-Durable-Premium-250", "AMLFS-Durable-Premium-500"
]
Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class LustreFilesConfig(TypedDict):
    """A file system of Azure Managed Lustre."""

    sku: NotRequired[Sku]
    """Its SKU, which ends in MB/s for each TiB. Azure changes no file system's. Default AMLFS-Durable-Premium-125."""
    tib: NotRequired[int]
    """Its size in TiB: a multiple of 48, 16, 8 or 4, for the SKUs from 40 to 500. So many are paid for, written or not,
    and Azure changes no file system's size. Default 16."""
    zone: NotRequired[str]
    """Its zone, that of the GPU nodes: 1, 2 or 3. Default 1."""
    maintenance_day: NotRequired[Day]
    """Day of the weekly maintenance. Default Sunday."""
    maintenance_time: NotRequired[str]
    """Time of day in UTC at which it begins, HH:MM. Default 04:00."""


class LustreFilesArgs(LustreFilesConfig, GroupLink):
    """The same, and where it is made."""

    filesystem_subnet_id: pulumi.Input[str]
    """Its subnet, /27 or larger, with more than 16 TiB larger yet. Nodes of the same virtual network mount it."""
    node_zones: NotRequired[Sequence[str]]
    """Zones of the nodes that mount it, for validation only. Default: not known."""
    erase: NotRequired[bool]
    """True: destroy deletes the files, once an up has recorded it. Default false: they are protected."""


class LustreFiles(Component):
    """A file system of Managed Lustre in one zone.

    Lustre has no credentials: who is in its virtual network reads and writes with the uid of their process. Pods mount
    it by the driver azurelustre.csi.azure.com, which AKS has no add-on of. Data outlives compute: the file system is
    protected, so that ``pulumi destroy --exclude-protected`` keeps it and its subnet.
    """

    file_system_name: pulumi.Output[str]
    """Name of the file system in its resource group."""
    mount_address: pulumi.Output[str]
    """What a client mounts: <address of its management server>@tcp:/lustrefs."""

    def __init__(
        self, name: str, args: LustreFilesArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[LustreFilesArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: LustreFilesArgs) -> list[Finding]:
        return validate_managed_lustre(args)

    def create(self, name: str, args: LustreFilesArgs) -> None:
        files = storagecache.AmlFilesystem(
            f"{name}-lustre",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            sku=storagecache.SkuNameArgs(name=args.get("sku", DEFAULT_SKU)),
            storage_capacity_ti_b=float(args.get("tib", SKU_STEPS[DEFAULT_SKU])),
            filesystem_subnet=args["filesystem_subnet_id"],
            zones=[args.get("zone", "1")],
            maintenance_window=storagecache.AmlFilesystemMaintenanceWindowArgs(
                day_of_week=storagecache.MaintenanceDayOfWeekType(args.get("maintenance_day", "Sunday")),
                time_of_day_utc=args.get("maintenance_time", "04:00"),
            ),
            tags=args.get("tags", {}),
            opts=self.child(protect=not args.get("erase", False)),
        )
        self.file_system_name = files.name
        address = files.client_info.apply(lambda info: info.mgs_address)
        self.mount_address = pulumi.Output.concat(address, f"@tcp:/{FILE_SYSTEM}")

    def for_volume(self) -> VolumeSource:
        """Where the files of a `SharedVolume` are."""
        return {"azure_lustre": self.mount_address}
