"""The inventory of a rehearsal: what the simulated cloud holds of an environment, found as on the real ones.

By tags, and what takes none by what it hangs on, or lies in; a budget by the tags that it counts. Types and inputs are
those of the real inventories, so that it sees no more than they see.
"""

from collections.abc import Iterator, Mapping, Sequence

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.aws.inventory import table
from gpufleet.aws.untagged_types import UNTAGGED
from gpufleet.azure.arm_types import BUDGET, GROUP, ROLE, counted_tags, found_at
from gpufleet.azure.inventory import principals_of
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.resource import SimulatedResource, lies_in, normalized_handle
from gpufleet_rehearsal.table.paths import Json, Scope, parse_path, plain
from gpufleet_rehearsal.table.templates import fill


class SimulatedInventory:
    """What a simulated cloud holds under an environment's name; what it made by itself (hidden rows) is its own."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    def holds(self, environment: str) -> Sequence[CloudResource]:
        """As the real inventory of this cloud: everything of the environment, no matter who owns it."""
        resources = [resource for resource in self._cloud.store.resources() if not resource.hidden]
        return list(self._azure(resources, environment) if self._is_tree else self._aws(resources, environment))

    @property
    def _is_tree(self) -> bool:
        return self._cloud.table.row.ids == "tree"

    def _aws(self, resources: Sequence[SimulatedResource], environment: str) -> Iterator[CloudResource]:
        read = {row.type for row in table().rows}
        tagged = [each for each in resources if each.type not in UNTAGGED and _names(each.tags, environment)]
        for each in tagged:
            name, arn = str(each.tags.get("Name", "")), str(each.view.get("arn", ""))
            if each.type in read:
                yield CloudResource(each.type, self._import_id(each), name, each.id, arn=arn or None, tags=each.tags)
            elif arn:
                yield CloudResource(f"aws:{arn.split(':')[2]}", arn, name, arn=arn, tags=each.tags)
        for each in resources:
            row = UNTAGGED.get(each.type)
            if row is not None:
                inputs = {key: each.view[key] for key in row.inputs if each.view.get(key) is not None}
                parents = {
                    normalized_handle(plain(value))
                    for path in row.parents
                    for value in parse_path(f"{path}[*]" if isinstance(each.view.get(path), list) else path).values(
                        Scope(each, self._cloud.view)
                    )
                }
                above = next((parent for parent in tagged if parents & parent.handles), None)
                if above is not None:
                    import_id = self._import_id(each)
                    yield CloudResource(each.type, import_id, None, each.id, inputs, own=row.own, tags=above.tags)

    def _import_id(self, resource: SimulatedResource) -> str:
        template = self._cloud.row(resource.type).import_id
        return resource.id if template is None else plain(fill(template, Scope(resource, self._cloud.view)))

    def _azure(self, resources: Sequence[SimulatedResource], environment: str) -> Iterator[CloudResource]:
        tagged = [each for each in resources if _names(each.tags, environment)]
        owner: dict[str, Mapping[str, Json]] = {normalized_handle(each.id): each.tags for each in tagged}
        for each in resources:
            counted = _counted(each)
            above = next((top for top in tagged if top.type != GROUP and lies_in(each.id, top.id)), None)
            if each.type == BUDGET:
                scope = owner.get(normalized_handle(str(each.view.get("scope"))), {})
                if scope or _names(counted, environment):
                    owner[normalized_handle(each.id)] = {**scope, **counted}
            elif above is not None and not each.tags:
                owner.setdefault(normalized_handle(each.id), above.tags)
        principals = {
            principal: owner[key]
            for each in resources
            if (key := normalized_handle(each.id)) in owner
            for principal in principals_of({"properties": each.view, "identity": each.view.get("identity")})
        }
        for each in resources:
            key = normalized_handle(each.id)
            if each.type == ROLE and key not in owner:
                tags = owner.get(normalized_handle(str(each.view["scope"]))) or principals.get(
                    str(each.view["principalId"])
                )
                if tags:
                    owner[key] = tags
            if key in owner:
                yield self._placed(each, owner[key])

    def _placed(self, resource: SimulatedResource, tags: Mapping[str, Json]) -> CloudResource:
        quiet = self._cloud.row(resource.type).idempotent
        placed = found_at(resource.id, resource.view, tags, quiet=quiet)
        type_ = resource.type.removeprefix("azure-native:")
        return placed or CloudResource(type_, resource.id, resource.name, resource.id, tags=tags)


def _names(tags: Mapping[str, Json], environment: str) -> bool:
    return tags.get("environment") == environment


def _counted(resource: SimulatedResource) -> Mapping[str, str]:
    """The tags by which a budget counts cost."""
    filter_ = resource.inputs.get("filter")
    return counted_tags(filter_) if resource.type == BUDGET and isinstance(filter_, Mapping) else {}
