"""The inventory of a rehearsal: what the simulated cloud holds of an environment, found as on the real one by tags."""

from collections.abc import Sequence

from gpufleet.adopt import Found
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.resource import Resource, folded
from gpufleet_rehearsal.table.paths import Scope, parse_path, plain
from gpufleet_rehearsal.table.templates import fill


class SimulatedInventory:
    """Tagged resources of the environment, and untagged ones that hang on these."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def holds(self, environment: str) -> Sequence[Found]:
        """Everything of the environment; what the cloud made by itself (hidden rows) is the cloud's own."""
        resources = [resource for resource in self._cloud.store.resources() if not resource.hidden]
        tagged = [resource for resource in resources if resource.tags.get("environment") == environment]
        handles = {handle for resource in tagged for handle in resource.handles}
        found = [self._found(resource, str(resource.tags.get("Name", ""))) for resource in tagged]
        for resource in resources:
            row = self._cloud.row(resource.type)
            if not row.taggable and handles & set(self._named(resource)):
                found.append(self._found(resource, None))
        return found

    def _named(self, resource: Resource) -> list[str]:
        """Whatever a resource names by its references."""
        scope = Scope(resource, self._cloud.around)
        paths = self._cloud.row(resource.type).references
        return [folded(plain(value)) for path in paths for value in parse_path(path).values(scope)]

    def _found(self, resource: Resource, name: str | None) -> Found:
        template = self._cloud.row(resource.type).import_id
        import_id = resource.id if template is None else plain(fill(template, Scope(resource, self._cloud.around)))
        return Found(resource.type, import_id, name, resource.id, {} if name else resource.inputs)
