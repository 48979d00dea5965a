"""Whose an environment is, what for and until when, as its resources say: in tags, or in labels of Kubernetes objects.

An environment on an own cluster has nothing that takes tags. Where there are both, tags count: a label's value holds no
spaces and few signs.
"""

from collections import Counter
from collections.abc import Sequence

from gpufleet.plan.property_values import get_path
from gpufleet.plan.resource import Plan
from gpufleet.policies.ownership import default_tags, tags_of
from gpufleet.pools.node_labels import PREFIX


class OwnershipTags:
    """What the tags and the labels of a plan say."""

    def __init__(self, plan: Plan) -> None:
        everywhere = default_tags(plan)
        self._tags = [{**everywhere, **(tags_of(resource) or {})} for resource in plan.resources]
        objects = [resource for resource in plan.resources if resource.type.startswith("kubernetes:")]
        self._labels = [get_path(resource.inputs.get("metadata"), "labels") for resource in objects]

    def values(self, key: str) -> Sequence[str]:
        """What each resource says of it, in their order: by the tags; where none has that tag, by the labels."""
        tags = [value for each in self._tags if isinstance(value := each.get(key), str) and value]
        labels = (get_path(each, f"{PREFIX}{key}") for each in self._labels)
        return tags or [value for value in labels if isinstance(value, str)]

    def most(self, key: str) -> str | None:
        """The value on most resources; of two that are as frequent, the first by name; None where none has it."""
        counted = Counter(self.values(key))
        return min(counted, key=lambda value: (-counted[value], value), default=None)
