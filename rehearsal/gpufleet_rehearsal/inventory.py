"""The inventory of a rehearsal: what the simulated cloud holds of an environment, found as on the real ones.

By tags, and what takes none by what it hangs on, or lies in; a budget by the tag that it counts.
"""

from collections.abc import Mapping, Sequence

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.azure.arm_types import BUDGET, found_at, watched
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.resource import SimulatedResource, lies_in, normalized_handle
from gpufleet_rehearsal.table.paths import Scope, parse_path, plain
from gpufleet_rehearsal.table.templates import fill


class SimulatedInventory:
    """Tagged resources of the environment, and untagged ones that hang on these."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def holds(self, environment: str) -> Sequence[CloudResource]:
        """Everything of the environment; what the cloud made by itself (hidden rows) is the cloud's own."""
        resources = [resource for resource in self._cloud.store.resources() if not resource.hidden]
        tagged = [resource for resource in resources if resource.tags.get("environment") == environment]
        found = [self._found(resource, str(resource.tags.get("Name", ""))) for resource in tagged]
        for resource in resources:
            row = self._cloud.row(resource.type)
            if not row.taggable and (self._hangs_on(resource, tagged) or environment in _watched(resource)):
                found.append(self._found(resource, None))
        return found

    def _hangs_on(self, resource: SimulatedResource, tagged: Sequence[SimulatedResource]) -> bool:
        """Whether a resource names one of these by its references, or has an id that begins with one's."""
        scope = Scope(resource, self._cloud.view)
        paths = self._cloud.row(resource.type).references
        named = {normalized_handle(plain(value)) for path in paths for value in parse_path(path).values(scope)}
        tree = self._cloud.table.row.ids == "tree"
        return any(named & each.handles or (tree and lies_in(resource.id, each.id)) for each in tagged)

    def _found(self, resource: SimulatedResource, name: str | None) -> CloudResource:
        row = self._cloud.row(resource.type)
        placed = found_at(resource.id, resource.view, quiet=row.idempotent)
        if placed is not None:
            return placed
        template = row.import_id
        import_id = resource.id if template is None else plain(fill(template, Scope(resource, self._cloud.view)))
        return CloudResource(resource.type, import_id, name, resource.id, {} if name else resource.inputs)


def _watched(resource: SimulatedResource) -> set[str]:
    """Environments whose cost it counts: Azure's budgets of a whole subscription."""
    filter_ = resource.inputs.get("filter")
    return watched(filter_) if resource.type == BUDGET and isinstance(filter_, Mapping) else set()
