"""Cloud resources missing in the state: which of them are the stack's, and which of these the program declares."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.adoption.cloud_resource import CloudResource, Inventory
from gpufleet.adoption.match import is_azure_id, logical_name, match, same_id
from gpufleet.errors import UserError
from gpufleet.fleet.retained_data import is_cloud_resource
from gpufleet.ownership import Ownership, stack_mark
from gpufleet.pulumi_cli import PulumiCli
from gpufleet.urn import stack_of_urn


class AdoptError(UserError):
    """Orphans could not be imported; the text is one line for the user."""


@dataclass(frozen=True)
class Orphans:
    """Resources missing in the state. wanted: orphan -> URN and parent of the resource that the program declares.

    unknown: orphans that the program does not declare. ambiguous: orphan -> the program's resources that it might be;
    if that is only one, it might also be another orphan's. foreign: resources with the environment's name that are not
    certainly the stack's -> how their ownership differs. interrupted: replacements that a crash interrupted, which
    cannot be imported as the state has what they were to replace -> the same step under another URN. declared: number
    of resources that the program declares in this cloud. creates: everything that an `up` would create, parents first.
    """

    wanted: tuple[tuple[CloudResource, Mapping[str, Any]], ...] = ()
    unknown: tuple[CloudResource, ...] = ()
    ambiguous: tuple[tuple[CloudResource, Sequence[Mapping[str, Any]]], ...] = ()
    foreign: tuple[tuple[CloudResource, Sequence[str]], ...] = ()
    interrupted: tuple[tuple[CloudResource, Mapping[str, Any]], ...] = ()
    declared: int = 0
    creates: tuple[Mapping[str, Any], ...] = ()

    @property
    def are_most(self) -> bool:
        """Whether they are more than half of the environment.

        A crash leaves the few that were being created at that moment; so many missing ones are those of a lost state,
        or of a state in another backend.
        """
        return 2 * (len(self.wanted) + len(self.ambiguous)) > self.declared

    @property
    def ambiguities(self) -> list[str]:
        """A line for each resource of the program that several orphans might be, and the reverse.

        `up` would make it once more; which of them holds the data that counts is for a person to say.
        """
        might: dict[str, list[CloudResource]] = {}
        lines: list[str] = []
        for found, steps in self.ambiguous:
            if len(steps) > 1:
                names = ", ".join(map(logical_name, steps))
                lines.append(
                    f"{found.import_id}: may be more than one of the program: {names}; `pulumi import` it as what it is"
                )
            else:
                might.setdefault(f"{logical_name(steps[0])} ({found.type})", []).append(found)
        for resource, several in might.items():
            ids = ", ".join(found.import_id for found in several)
            lines.append(f"{resource}: may be any of {ids}; delete what is not, or `pulumi import` what is")
        return lines


def find_orphans(engine: PulumiCli, stack: str, inventory: Inventory) -> Orphans:
    """Compare cloud, state and program. Changes nothing."""
    state = engine.state(stack)
    lost = [found for found in inventory.holds(stack) if not any(_is(found, resource) for resource in state)]
    if not lost:
        return Orphans()
    steps = engine.preview(stack)
    creates = [step["newState"] for step in steps if step["op"] == "create"]
    replacements = [step["newState"] for step in steps if step["op"] == "replace"]
    resources = [each for each in (*state, *creates) if is_cloud_resource(each)]
    owners = _owners(resources)
    nearest = _nearest(resources, owners)
    mine = [found for found in lost if found.ownership in owners]
    foreign = [(found, nearest.differences(found.ownership)) for found in lost if found.ownership not in owners]
    matched = match(mine, creates, state)
    replaced = {each["urn"] for each in replacements}
    second = match(matched.unknown, replacements, (each for each in state if each["urn"] not in replaced))
    return Orphans(
        tuple(matched.wanted),
        tuple(found for found in second.unknown if not found.quiet),
        (*matched.ambiguous, *second.ambiguous),
        tuple((found, differences) for found, differences in foreign if not found.quiet),
        tuple((found, {**step, "urn": f"{step['urn']}-interrupted"}) for found, step in second.wanted),
        _count_of_cloud(lost, resources),
        tuple(creates),
    )


def _count_of_cloud(lost: Iterable[CloudResource], resources: Iterable[Mapping[str, Any]]) -> int:
    """How many resources are in the cloud of the lost ones, by their provider's package: not those in clusters."""
    packages = tuple({found.type.partition(":")[0] for found in lost})
    return sum(str(each["type"]).startswith(packages) for each in resources)


def _owners(resources: Iterable[Mapping[str, Any]]) -> frozenset[Ownership]:
    """Whose a stack's resources are by their tags: all four are there, and the mark is this stack's."""
    found = {(Ownership.of_tags(_tags(each)), _mark(each)) for each in resources}
    return frozenset(owner for owner, mark in found if owner.stack == mark and owner.owns(owner))


def _nearest(resources: Sequence[Mapping[str, Any]], owners: frozenset[Ownership]) -> Ownership:
    """What to compare others with: the stack's ownership, as far as its resources' tags name it."""
    common = Ownership.most_common(Ownership.of_tags(tags) for each in resources if (tags := _tags(each)))
    if common in owners or not resources:
        return common
    return Ownership(_mark(resources[0]), common.environment, common.project, common.owner)


def _tags(resource: Mapping[str, Any]) -> Mapping[str, object]:
    """The tags of a resource of the state or of a preview, those that the provider adds too."""
    given = [resource.get("inputs", {}).get("tags"), resource.get("outputs", {}).get("tagsAll")]
    return {key: value for tags in given if isinstance(tags, Mapping) for key, value in tags.items()}


def _mark(resource: Mapping[str, Any]) -> str:
    """The mark of the stack that a resource's URN names."""
    return stack_mark(*stack_of_urn(str(resource["urn"])))


def _is(found: CloudResource, resource: Mapping[str, Any]) -> bool:
    """Whether a resource of the state is the one found."""
    if found.arn is not None and resource.get("outputs", {}).get("arn") == found.arn:
        # Whatever type the inventory takes it for.
        return True
    if is_azure_id(found.import_id):
        # Azure's ids are unique over all types.
        return same_id(str(resource.get("id")), found.import_id)
    if resource["type"] != found.type:
        return False
    if found.id is not None:
        # A resource with an id is known by it alone: two of one name are two.
        return bool(resource.get("id") == found.id)
    given = resource.get("inputs", {})
    return bool(found.inputs) and all(given.get(name) == value for name, value in found.inputs.items())


def reject_lost_state(stack: str, orphans: Orphans) -> None:
    """Errors: AdoptError where most of the environment is missing in the state: it may be another state's."""
    if orphans.are_most:
        missing = len(orphans.wanted) + len(orphans.ambiguous)
        raise AdoptError(
            f"{stack}: {missing} of {orphans.declared} resources are in the cloud and not in this state, as if they "
            "were kept in another backend; compare with `pulumi whoami --verbose`, and if the state is lost, add "
            "--lost-state"
        )
