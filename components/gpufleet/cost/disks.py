"""Disks of a pool's nodes, as the program configures them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpufleet.cost.line_item import PriceTag, amount_of
from gpufleet.cost.prices import service_price
from gpufleet.cost.usage_assumptions import UsageAssumptions
from gpufleet.plan.aws.launch_template import TEMPLATE
from gpufleet.plan.pools import PlannedPool
from gpufleet.plan.property_values import blocks, get_path, value_of
from gpufleet.plan.resource import UNKNOWN, Plan
from gpufleet.rules.coerce import texts

_TEMPLATE_IN = ("launchTemplate", "mixedInstancesPolicy", "computeResources")
"""Properties by which pools of AWS name their launch template."""
_FREE_IOPS = 3000
_FREE_MBPS = 125
"""What a gp3 volume has without extra pay, as the catalog's items gp3-iops and gp3-throughput say."""
_AZURE_SIZES = {4: 32, 6: 64, 10: 128, 15: 256, 20: 512, 30: 1024, 40: 2048, 50: 4096}
"""Number of a managed disk's size (P10, E10) -> GiB. Source: https://learn.microsoft.com/azure/virtual-machines/disks-types"""
_AZURE_DISKS = {"Premium_LRS": ("premium-ssd", "p"), "StandardSSD_LRS": ("standard-ssd", "e")}
"""Kind of managed disk -> the catalog's item, and the letter of its sizes."""
_OS_DISKS = (
    ("storageProfile", "osDisk"),
    ("virtualMachineProfile", "storageProfile", "osDisk"),
    ("deploymentConfiguration", "virtualMachineConfiguration", "osDisk"),
)


@dataclass(frozen=True, slots=True)
class DiskPart:
    """Something that one node's disk is billed for: amount in the price's unit; None = not known."""

    what: str
    price: PriceTag
    amount: float | None
    note: str = ""


def disk_parts(pool: PlannedPool, plan: Plan, usage: UsageAssumptions) -> list[DiskPart]:
    """What the disks of one node are billed for in a month in which it runs."""
    return list(_aws(pool, plan, usage) if pool.cloud == "aws" else _azure(pool, usage))


def _aws(pool: PlannedPool, plan: Plan, usage: UsageAssumptions) -> Iterator[DiskPart]:
    for volume in _volumes(pool, plan):
        kind = volume.get("volumeType") or "gp3"
        yield DiskPart(
            f"disk ({kind})",
            service_price("aws", "ebs", f"{kind}-storage", pool.region, "GB-month"),
            _size(volume, "volumeSize", usage.disk_gib),
        )
        for name, included, item, unit in (
            ("iops", _FREE_IOPS, f"{kind}-iops", "IOPS-month"),
            ("throughput", _FREE_MBPS, f"{kind}-throughput", "MBps-month"),
        ):
            asked = _size(volume, name, 0.0)
            more = None if asked is None else max(0.0, asked - (included if kind == "gp3" else 0))
            if more != 0:
                yield DiskPart(f"disk {name} ({kind})", service_price("aws", "ebs", item, pool.region, unit), more)


def _volumes(pool: PlannedPool, plan: Plan) -> Sequence[Mapping[str, object]]:
    """The EBS volumes of one node; a single one without a size where the image decides."""
    behind = [each for name in _TEMPLATE_IN for each in plan.behind(pool.resource, name, TEMPLATE)]
    found: list[Mapping[str, object]] = []
    for resource in (pool.resource, *behind[:1]):
        mappings = blocks(value_of(resource, "blockDeviceMappings"))
        found += [ebs for each in mappings if isinstance(ebs := get_path(each, "ebs"), Mapping)]
        for name in ("rootBlockDevice", "ebsBlockDevices"):
            found += blocks(value_of(resource, name))
    return found or [{"volumeSize": UNKNOWN if "disk_gib" in pool.unknown else pool.intent.get("disk_gib")}]


def _azure(pool: PlannedPool, usage: UsageAssumptions) -> Iterator[DiskPart]:
    """The managed disk that holds a node's system. Azure bills its next larger size, whatever is used of it."""
    # Where each kind of pool says it: agent pools, machines, scale sets, Batch pools.
    holders = _holders(pool)
    kinds = [get_path(each, "osDiskType") for each in holders]
    disks = [_os_disk(each) for each in holders]
    if "Ephemeral" in kinds or any(get_path(disk, "diffDiskSettings") is not None for disk in disks):
        return
    sizes = [get_path(each, "osDiskSizeGB") for each in holders] + [get_path(disk, "diskSizeGB") for disk in disks]
    said = next((size for size in sizes if size), pool.intent.get("disk_gib"))
    size = _size({"size": said}, "size", usage.disk_gib)
    account = next(
        (kind for disk in disks if (kind := get_path(disk, "managedDisk", "storageAccountType"))), "Premium_LRS"
    )
    family, letter = _AZURE_DISKS.get(str(account), (str(account), ""))
    if size is None:
        yield DiskPart(f"disk ({account})", service_price("azure", "disk", family, pool.region, "GB-month"), None)
        return
    number, billed = next(((n, gib) for n, gib in _AZURE_SIZES.items() if gib >= size), (0, size))
    exact = service_price("azure", "disk", f"{family}-{letter}{number}", pool.region, "disk-month")
    if exact.usd is not None:
        yield DiskPart(f"disk ({account}, {billed} GiB)", exact, 1.0)
        return
    price = service_price("azure", "disk", family, pool.region, "GB-month")
    yield DiskPart(f"disk ({account}, {billed:g} GiB)", price, float(billed), "by the price of a GiB of another size")


def azure_setting(pool: PlannedPool, name: str) -> object:
    """The value of a setting of an AKS pool, be it a resource of its own or a profile in its cluster; else None."""
    return next((value for each in _holders(pool) if (value := each.get(name)) is not None), None)


def _holders(pool: PlannedPool) -> list[Mapping[str, object]]:
    return [pool.resource.inputs, *_profiles(pool)] if pool.cloud == "azure" else []


def _profiles(pool: PlannedPool) -> list[Mapping[str, object]]:
    """The profiles inside an AKS cluster that make up this pool, by their VM size."""
    found = blocks(pool.resource.inputs.get("agentPoolProfiles"))
    return [each for each in found if [each.get("vmSize")] == list(texts(pool.intent, "types"))][:1]


def _os_disk(holder: Mapping[str, object]) -> Mapping[str, object]:
    """The block about the system's disk, wherever a type of resource has it."""
    for path in _OS_DISKS:
        if isinstance(found := get_path(holder, *path), Mapping):
            return found
    return {}


def _size(holder: Mapping[str, object], name: str, default: float) -> float | None:
    """A number of a disk: the default where the program does not say, None where it is not known."""
    value = holder.get(name)
    return default if value is None else amount_of(value)
