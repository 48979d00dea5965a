"""Who answers for what costs money, and until when: the tags of everything that is billed."""

from collections.abc import Iterator, Mapping
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from gpufleet.cost.resources import is_billed, kind_of
from gpufleet.plan.pools import planned_pools
from gpufleet.plan.resource import Plan, Resource
from gpufleet.plan.tags import default_tags, tags_of
from gpufleet.policies.configuration import PolicySettings
from gpufleet.rules import ownership
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.tags import tag_expiry

TAGS = ("owner", "project", "expires-at")
EXPIRY = "expires-at"
DEV = "*dev*"

PROPERTIES: Mapping[str, dict[str, Any]] = {
    "tags": {
        "type": "array",
        "items": {"type": "string"},
        "description": f"Tags of everything that costs money. Default [{', '.join(TAGS)}].",
    },
    "dev": {"type": "string", "description": f"Stacks for development, * is a wildcard. Default `{DEV}`."},
}
"""JSON schema of each key that `validate_ownership` reads."""

# What is billed and takes no tags; and access entries, whose servers are billed, not they themselves.
_WITHOUT_TAGS = frozenset(
    {"aws:efs/backupPolicy:BackupPolicy", "aws:eks/accessEntry:AccessEntry", "azure-native:storage:FileShare"}
)


def validate_ownership(plan: Plan, config: Mapping[str, object], today: date | None = None) -> list[ResourceFinding]:
    """Every finding on the tags of a plan. Errors: UserError for a configuration that makes no sense."""
    settings = PolicySettings(config, "ownership", PROPERTIES)
    required = settings.texts("tags", TAGS)
    dev = fnmatchcase(plan.stack, settings.text("dev", DEV))
    settings.raise_faults()
    pools = {pool.resource.urn for pool in planned_pools(plan)}
    everywhere = default_tags(plan)
    resource_findings: list[ResourceFinding] = []
    days: dict[str, list[Resource]] = {}
    for resource in plan.resources:
        if (resource.urn not in pools and not is_billed(resource.type)) or kind_of(resource.type) in _WITHOUT_TAGS:
            continue
        own = tags_of(resource)
        tags = None if own is None else {**everywhere, **own}
        finding = ownership.owner_tags(tags=tags, required=required)
        resource_findings.append(ResourceFinding(resource.name, finding, resource.urn))
        if tags and isinstance(value := tags.get(EXPIRY), str):
            days.setdefault(value, []).append(resource)
    return [*resource_findings, *_expiry(plan.stack, days, dev, today or date.today())]


def _expiry(stack: str, days: Mapping[str, list[Resource]], dev: bool, today: date) -> Iterator[ResourceFinding]:
    """Findings on each day that is named, once: on the stack when everything names the same one."""
    for value, resources in days.items():
        name, urn = (stack, "") if len(days) == 1 else (resources[0].name, resources[0].urn)
        yield ResourceFinding(name, tag_expiry(value=value, today=today.isoformat()), urn)
        yield ResourceFinding(name, ownership.not_expired(key=EXPIRY, value=value, today=today), urn)
        if dev:
            yield ResourceFinding(name, ownership.temporary(key=EXPIRY, value=value, environment=stack), urn)
