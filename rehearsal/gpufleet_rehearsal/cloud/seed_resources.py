"""What the simulated account contains before the first `up`: a capacity reservation, another team's VPC, a key pair.

An environment lists it in `rehearsal.<environment>.yaml` beside its stack configuration: a list of
{type, id, name, inputs}, with inputs as the provider would send them. Each resource is created once; one that exists
stays as it is. Where the file sets more than resources, it is a mapping:

    holds            the list of resources
    quotas           a list of `gpufleet.plan.quota_limits.QuotaArgs`; a quota that is not listed has no limit
    resource_quotas  limits of numbers of resources in each region, where they differ from AWS's defaults (`limits` of
                     aws/cloud.yaml): {elastic_ips: 10, nat_gateways: 8, nodes_per_node_group: 512, vpcs: 7}
    restricted_zones zones in which an Azure subscription may not use a VM size: {Standard_NC24ads_A100_v4: [eastus-1]}
    nodes            the servers of an on-prem cluster, a list of `SeedServer`; a server that is no longer listed is
                     switched off
    storage_classes  names of the storage classes of an on-prem cluster, whose drivers are there
    router_configured
                     whether the site's router is configured for the VPN of the environment; the line is down without
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt, TypeAdapter, ValidationError

from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet.rules.messages import use_one_of
from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.cloud.creation import plan_resource
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.scope import LIMITS, RESTRICTED
from gpufleet_rehearsal.onprem_cluster import NODES, ROUTER, STORAGE_CLASSES


class SeedError(UserError):
    """The file cannot be used; the text is one line that names file and row."""


class SeedResource(BaseModel):
    """A resource of the account that none of our stacks manages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str
    id: str
    name: str
    inputs: dict[str, JsonValue] = {}


class SeedServer(BaseModel):
    """A server of an on-prem cluster, as its node tells of it. taints: {key, value, effect} as of a pool."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    gpus: int
    vcpus: int = 40
    memory_gib: int = 256
    taints: list[dict[str, str]] = []


RestrictedZone: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9]+-[1-3]$")]
"""A zone of a subscription, as the catalog has it: eastus-1."""


class SeedFile(BaseModel):
    """All that the file says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    holds: list[SeedResource] = []
    quotas: list[dict[str, JsonValue]] = []
    resource_quotas: dict[str, NonNegativeInt] = {}
    restricted_zones: dict[str, list[RestrictedZone]] = {}
    nodes: list[SeedServer] = []
    storage_classes: list[str] = []
    router_configured: bool = False


QUOTAS = "quotas"
"""Key under which the store remembers the quotas, as JSON."""


def seed_account(cloud: Cloud, file: Path) -> None:
    """Put into the cloud what the file lists; a file that is not there means an empty account.

    Errors: DocumentError, SeedError and QuotaError, lines that name the file; nothing is made then.
    """
    if not file.exists():
        return
    document = read_yaml(file) or []
    try:
        if isinstance(document, dict):
            contents = SeedFile.model_validate(document)
        else:
            contents = SeedFile(holds=TypeAdapter(list[SeedResource]).validate_python(document))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        inner = SeedServer if first["loc"][:1] == ("nodes",) else SeedResource
        keys = SeedFile.model_fields if len(first["loc"]) == 1 else inner.model_fields
        extra = first["type"] == "extra_forbidden"
        reason = f"unknown key; must be one of {', '.join(keys)}" if extra else first["msg"]
        raise SeedError(f"{file}: {place or 'the file'}: {reason}") from error
    quotas, limits = _quotas(contents.quotas, file), _limits(contents.resource_quotas, cloud, file)
    with cloud.store.transaction():
        # Unlike resources, quotas are what the file says now: raising one is how a rehearsal continues.
        cloud.store.remember(QUOTAS, json.dumps(quotas))
        cloud.store.remember(LIMITS, json.dumps(limits))
        cloud.store.remember(RESTRICTED, json.dumps(contents.restricted_zones))
        cloud.store.remember(STORAGE_CLASSES, json.dumps(contents.storage_classes))
        cloud.store.remember(ROUTER, "yes" if contents.router_configured else "")
        if "nodes" in contents.model_fields_set:
            cloud.store.remember(NODES, json.dumps([server.model_dump() for server in contents.nodes]))
        for number, row in enumerate(contents.holds):
            if cloud.store.get(row.type, row.id) is not None:
                continue
            urn = f"urn:pulumi:account::account::{row.type}::{row.name}"
            try:
                kind = cloud.row(row.type)
            except CloudError as error:
                raise SeedError(f"{file}: {number}.type: {error.text}") from error
            made = plan_resource(cloud.view, kind, row.type, urn, row.name, row.inputs, id_=row.id)
            now = cloud.clock.now()
            cloud.store.add(
                type_=row.type, id_=row.id, urn=urn, name=row.name, inputs=made.inputs, outputs=made.outputs,
                at=now, ready_at=now,
            )  # fmt: skip


def _quotas(entries: list[dict[str, JsonValue]], file: Path) -> list[dict[str, JsonValue]]:
    """The quotas, which are legal. Errors: QuotaError."""
    if entries:
        from gpufleet.plan.quota_limits import read_quotas

        read_quotas(entries, f"{file}: quotas")
    return entries


def _limits(raised: Mapping[str, int], cloud: Cloud, file: Path) -> dict[str, int]:
    """Limits with what is raised along with them. Errors: SeedError."""
    if not raised:
        return {}
    if not cloud.table.row.limits:
        raise SeedError(f"{file}: resource_quotas: not supported for {cloud.table.cloud}; remove it")
    from gpufleet.catalog import aws

    quotas = aws().resource_quotas
    counted_by = {quota.code: counted for counted, quota in quotas.items()}
    raised_with = {counted: counted for counted in cloud.table.row.limits}
    raised_with |= {counted: counted_by[quota.raised_by] for counted, quota in quotas.items()}
    for counted in raised:
        if raised_with.get(counted) != counted:
            fix = use_one_of(raised_with.get(counted, counted), sorted(set(raised_with.values())))
            raise SeedError(f"{file}: resource_quotas.{counted}: is not a quota that AWS raises; {fix}")
    return {counted: raised[other] for counted, other in raised_with.items() if other in raised}
