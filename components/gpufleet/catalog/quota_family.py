"""Which quota the vCPUs of an instance type count against."""

from collections.abc import Mapping

from gpufleet.catalog.records import GpuType, Quota

MARKETS = ("on-demand", "spot")


def family_of(type_name: str, family: str, market: str | None) -> str:
    """The EC2 quota that a type counts against in a market.

    On demand all P types share one. On Spot that name is of P2 to P4 only, and P5 has its own quota; for later
    ones none is published, so that their family has no code in the catalog and is never taken for another one.
    Source: https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html, Spot Instance quotas.
    """
    if market != "spot" or family != "P" or type_name[:2] in ("p2", "p3", "p4"):
        return family
    return type_name[:2].upper()


def quotas_of(quotas: Mapping[tuple[str, str], Quota], record: GpuType) -> list[Quota]:
    """The quotas of a type that have a code, one for each market at the most. quotas: the catalog's."""
    families = [(family_of(record.type, record.quota_family, market), market) for market in MARKETS]
    return [quotas[key] for key in families if key in quotas]
