"""The tags of a resource in any program: its own, and those that its provider adds."""

from collections.abc import Collection, Mapping

from gpufleet.plan.property_values import blocks, from_json, get_path
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

_PROPERTIES = ("resourceTags", "tagsAll", "tags")
"""Properties that hold tags; of several the last counts. Batch pools of Azure keep those of their machines apart."""


def tags_of(resource: Resource) -> Mapping[str, object] | None:
    """The tags of a resource, those that its provider adds too where they show; None where they are not known."""
    return None if resource.inputs.get("tags") is UNKNOWN else tags_in(resource.inputs)


def tags_in(properties: Mapping[str, object]) -> Mapping[str, object]:
    """The tags among a resource's properties. Auto Scaling groups have a list of {key, value}."""
    found: dict[str, object] = {}
    for name in _PROPERTIES:
        value = properties.get(name)
        if isinstance(value, Mapping):
            found |= value
        else:
            found |= {str(get_path(each, "key")): get_path(each, "value") for each in blocks(value)}
    return found


def has_tags(properties: Mapping[str, object]) -> bool:
    """Whether a resource with these properties takes tags: one of them is for tags, if only an empty one."""
    return any(name in properties for name in _PROPERTIES)


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
