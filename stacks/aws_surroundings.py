"""What every AWS environment makes, whatever runs its jobs: network, files, registry and budget."""

from collections.abc import Mapping
from typing import Any, cast

import pulumi

from aws_account_settings import AwsAccountSettings
from aws_parts import mounted_zones, registry_of
from gpufleet.aws.budget import Budget, BudgetArgs
from gpufleet.aws.network import Network, NetworkArgs
from gpufleet.aws.registry import Registry, RegistryArgs
from gpufleet.aws.shared_files import SharedFiles, SharedFilesArgs
from parts import tags
from settings import given


def own(environment: str, settings: AwsAccountSettings) -> dict[str, Any]:
    """What every component of the environment gets."""
    return {"region": settings.region, "tags": tags(environment, settings)}


def network_of(environment: str, settings: AwsAccountSettings, **more: object) -> Network:
    """The VPC, made or existing. more: further arguments."""
    args = given(settings.network) | own(environment, settings) | more
    return Network(f"{environment}-network", cast(NetworkArgs, args))


def files_of(
    environment: str, settings: AwsAccountSettings, network: Network, clients: Mapping[str, pulumi.Input[str]]
) -> SharedFiles:
    """The shared file system. clients: a short name of each security group that mounts it."""
    args = given(settings.files) | own(environment, settings)
    args |= {
        "zones": mounted_zones(settings),
        "zone_names": settings.zone_names,
        "vpc_id": network.vpc_id,
        "subnet_ids": network.private_subnet_ids,
        "client_security_group_ids": clients,
        "erase": settings.erase,
    }
    return SharedFiles(f"{environment}-files", cast(SharedFilesArgs, args))


def registry_for(environment: str, settings: AwsAccountSettings) -> Registry:
    """The registry, with the environment's repositories."""
    args = registry_of(environment, settings) | own(environment, settings) | {"erase": settings.erase}
    return Registry(f"{environment}-registry", cast(RegistryArgs, args))


def watch_costs(environment: str, settings: AwsAccountSettings) -> None:
    """The budget, where there is one."""
    if settings.budget is not None:
        args = given(settings.budget) | {"environment": environment, "tags": tags(environment, settings)}
        Budget(f"{environment}-budget", cast(BudgetArgs, args))
