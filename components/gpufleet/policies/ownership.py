"""Who answers for what costs money, and until when: the tags of everything that is billed."""

from collections.abc import Collection, Iterator, Mapping
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from gpufleet.cost.resources import is_billed, kind_of
from gpufleet.plan.pools import planned_pools
from gpufleet.plan.property_values import blocks, from_json, get_path
from gpufleet.plan.resource import UNKNOWN, Plan, Resource
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

# What is billed and takes no tags of its own; and access entries, whose servers are billed, not they themselves.
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
        yield ResourceFinding(name, tag_expiry(value=value), urn)
        yield ResourceFinding(name, ownership.not_expired(key=EXPIRY, value=value, today=today), urn)
        if dev:
            yield ResourceFinding(name, ownership.temporary(key=EXPIRY, value=value, environment=stack), urn)


def tags_of(resource: Resource) -> Mapping[str, object] | None:
    """The tags of a resource, those that its provider adds too where they show; None where they are not known.

    Auto Scaling groups have a list of {key, value}; Batch pools of Azure keep those of their machines apart.
    """
    found: dict[str, object] = {}
    for name in ("resourceTags", "tagsAll", "tags"):
        value = resource.inputs.get(name)
        if value is UNKNOWN and name == "tags":
            return None
        if isinstance(value, Mapping):
            found |= value
        else:
            found |= {str(get_path(each, "key")): get_path(each, "value") for each in blocks(value)}
    return found


def default_tags(plan: Plan) -> Mapping[str, object]:
    """Tags that every AWS provider of a plan adds to all its resources. One that shows no resource adds none."""
    sets: list[Mapping[str, object]] = []
    for provider in plan.of_type("pulumi:providers:aws"):
        block = provider.inputs.get("defaultTags")
        # Providers get their settings as JSON.
        tags = get_path(from_json(block), "tags")
        sets.append(tags if isinstance(tags, Mapping) else {})
    shared: Collection[str] = set.intersection(*(set(each) for each in sets)) if sets else set()
    return {key: sets[0][key] for key in shared}
