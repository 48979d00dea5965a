"""What the parts of an AWS environment get from its settings: plain values, for judging and for making them."""

from collections.abc import Sequence
from typing import Any

from aws_account_settings import AwsAccountSettings
from aws_settings import AwsSettings
from gpufleet.catalog import aws
from settings import given


def control_zones(settings: AwsSettings) -> list[str]:
    """Zones of the control plane: as configured, else those of the network that EKS does not refuse."""
    if settings.cluster.zones is not None:
        return list(settings.cluster.zones)
    refused = refused_zones(settings)
    return [zone for zone in settings.network.zones if zone not in refused]


def refused_zones(settings: AwsSettings) -> list[str]:
    """Zones of the network in which EKS puts no control planes, as far as the catalog knows them."""
    known = aws().regions.get(settings.region, {})
    return [zone for zone in settings.network.zones if zone in known and not known[zone].eks_control_plane]


def cluster_of(settings: AwsSettings) -> dict[str, Any]:
    """The cluster's arguments but those that the stack fills in.

    With own servers no pod mounts EFS: no driver is made.
    """
    own: dict[str, Any] = {}
    if settings.own_servers is not None:
        own = {"remote_networks": given(settings.own_servers.networks), "efs_driver": False}
    return {key: value for key, value in given(settings.cluster).items() if key != "zones"} | own


def mounted_zones(settings: AwsAccountSettings) -> Sequence[str]:
    """Zones with a mount target: all that have nodes; One Zone files have a single one."""
    return [settings.files.one_zone] if settings.files.one_zone else settings.network.zones


def registry_of(environment: str, settings: AwsAccountSettings) -> dict[str, Any]:
    """The registry's arguments. Repository names are shared by the whole account: the environment's goes in front."""
    registry = given(settings.registry)
    return registry | {"repositories": [f"{environment}/{name}" for name in registry.get("repositories", [])]}


def volume_files(settings: AwsSettings, file_system: object, access_point: object) -> dict[str, Any]:
    """Where the files of the shared volume are; the arguments are ids, or outputs that will be.

    With own servers, where they say: no EFS is made then.
    """
    if settings.own_servers is not None:
        return {"nfs": settings.own_servers.nfs}
    point = {} if settings.files.access_point is False else {"access_point": access_point}
    return {"efs": file_system} | point


def autoscaler_of(settings: AwsSettings) -> dict[str, Any]:
    """The autoscaler's arguments but the cluster's name."""
    return given(settings.autoscaler) | {"region": settings.region}
