"""File systems of Managed Lustre of a plan: their sizes and subnets."""

from gpufleet.plan.property_values import get_path
from gpufleet.policies.azure.property_reader import PropertyReader
from gpufleet.rules.azure import lustre as rules

KIND = "storagecache:AmlFilesystem"


def validate_lustre_file_system(reading: PropertyReader) -> None:
    """What Managed Lustre refuses of a file system."""
    tib, sku = reading.whole("storageCapacityTiB"), reading.text("sku", "name")
    if tib is None:
        return
    if sku is not None:
        reading.add(rules.managed_lustre_size(argument="storage_capacity_ti_b", tib=tib, sku=sku))
    for subnet in reading.graph.behind(reading.resource, "filesystemSubnet", "network:Subnet"):
        cidr = get_path(reading.graph.props(subnet), "addressPrefix")
        if isinstance(cidr, str):
            reading.add(rules.managed_lustre_subnet(subnet=subnet.name, cidr=cidr, tib=tib))
