"""What gpufleet's catalog knows of instance types, zones and quotas of a cloud; it is read when first asked."""

from __future__ import annotations

from typing import Protocol

from gpufleet_rehearsal.table.zone_names import zone_id, zone_letter


class InstanceCatalog(Protocol):
    """What is known of a cloud's instance types. A type that is not known is taken to be offered, without a quota."""

    def offered(self, instance_type: str, region: str, zone: str | None) -> bool | None:
        """Whether a zone id (or the region) offers the type; None when that is not known."""
        ...

    def vcpus(self, instance_type: str) -> int | None:
        """vCPUs of one instance; None when the type is not known."""
        ...

    def family(self, instance_type: str) -> str | None:
        """The family whose quota it counts against, as the settings call it; None: it counts against none."""
        ...

    def quota_name(self, family: str) -> str:
        """A family as the account's file calls it."""
        ...

    def same_family(self, one: str, other: str) -> bool:
        """Whether two names mean one family."""
        ...

    def zone(self, name: str, region: str) -> str:
        """The zone id of a name (or id) of a zone."""
        ...

    def zones(self, region: str) -> list[str]:
        """Names of the zones of a region, sorted; empty when the region is not known."""
        ...


class AwsInstanceCatalog:
    """The catalog of AWS. Families are P, G and standard, known by the type's name alone."""

    def offered(self, instance_type: str, region: str, zone: str | None) -> bool | None:
        from gpufleet.catalog import aws

        if zone is not None:
            return aws().offered(instance_type, zone)
        zones = aws().zones_with(instance_type, region)
        return None if zones is None else bool(zones)

    def vcpus(self, instance_type: str) -> int | None:
        from gpufleet.catalog import aws

        known = aws().types.get(instance_type)
        return known.vcpus if known else None

    def family(self, instance_type: str) -> str | None:
        return "P" if instance_type.startswith("p") else "G" if instance_type.startswith(("g", "vt")) else "standard"

    def quota_name(self, family: str) -> str:
        return {"G": "G and VT"}.get(family, family)

    def same_family(self, one: str, other: str) -> bool:
        return one == other

    def zone(self, name: str, region: str) -> str:
        return zone_id(name)

    def zones(self, region: str) -> list[str]:
        from gpufleet.catalog import aws

        return sorted(f"{region}{zone_letter(zone)}" for zone in aws().regions.get(region, {}))


class EmptyInstanceCatalog(AwsInstanceCatalog):
    """A catalog that knows no type: everything is offered, nothing counts against a quota. Zones as on AWS."""

    def offered(self, instance_type: str, region: str, zone: str | None) -> bool | None:
        return None

    def vcpus(self, instance_type: str) -> int | None:
        return None

    def zones(self, region: str) -> list[str]:
        return []


class AzureInstanceCatalog:
    """The catalog of Azure. A zone is 1, 2 or 3 of a region (eastus-1 in the catalog and in faults), here always the
    same physical one. The shipped catalog does not know which zone offers a size."""

    def offered(self, instance_type: str, region: str, zone: str | None) -> bool | None:
        from gpufleet.catalog import azure

        if zone is not None:
            return azure().offered(instance_type, zone)
        zones = azure().zones_with(instance_type, region)
        return None if zones is None else bool(zones)

    def vcpus(self, instance_type: str) -> int | None:
        from gpufleet.catalog import azure

        known = azure().types.get(instance_type)
        return known.vcpus if known else None

    def family(self, instance_type: str) -> str | None:
        from gpufleet.catalog import azure

        known = azure().types.get(instance_type)
        return known.quota_family if known else None

    def quota_name(self, family: str) -> str:
        return family

    def same_family(self, one: str, other: str) -> bool:
        from gpufleet.catalog import same_family

        return same_family(one, other)

    def zone(self, name: str, region: str) -> str:
        return f"{region}-{name}" if name.isdecimal() else name

    def zones(self, region: str) -> list[str]:
        return ["1", "2", "3"]


INSTANCE_CATALOGS: dict[str, type[AwsInstanceCatalog] | type[AzureInstanceCatalog]] = {
    "aws": AwsInstanceCatalog,
    "azure-native": AzureInstanceCatalog,
}
"""Clouds that gpufleet has a catalog of."""


def instance_catalog_of(cloud: str) -> InstanceCatalog:
    """The catalog of a cloud; one that knows nothing where there is none."""
    return INSTANCE_CATALOGS.get(cloud, EmptyInstanceCatalog)()
