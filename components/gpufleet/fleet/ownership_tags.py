"""Owner, purpose and expiry of an environment, read from its resources' tags or Kubernetes labels.

An environment on an on-prem cluster has nothing that takes tags. If there are both, tags win: a label's value holds no
spaces and few punctuation marks.
"""

from collections import Counter
from collections.abc import Sequence

from gpufleet.plan.property_values import get_path
from gpufleet.plan.resource import Plan
from gpufleet.policies.ownership import default_tags, tags_of
from gpufleet.pools.node_labels import PREFIX


class OwnershipTags:
    """The ownership tags and labels in a plan."""

    def __init__(self, plan: Plan) -> None:
        everywhere = default_tags(plan)
        self._tags = [{**everywhere, **(tags_of(resource) or {})} for resource in plan.resources]
        objects = [resource for resource in plan.resources if resource.type.startswith("kubernetes:")]
        self._labels = [get_path(resource.inputs.get("metadata"), "labels") for resource in objects]

    def values(self, key: str) -> Sequence[str]:
        """The values of a key on all resources, in order: of the tags, or of the labels if no resource has that tag."""
        tags = [value for each in self._tags if isinstance(value := each.get(key), str) and value]
        labels = (get_path(each, f"{PREFIX}{key}") for each in self._labels)
        return tags or [value for value in labels if isinstance(value, str)]

    def most_common(self, key: str) -> str | None:
        """The most frequent value, the alphabetically first of equally frequent ones; None if there is none."""
        counted = Counter(self.values(key))
        return min(counted, key=lambda value: (-counted[value], value), default=None)
