"""What Azure holds of an environment: in its resource groups, and what hangs on that elsewhere.

A resource group is the environment's by its tag `environment`, or because configuration or state name it. In it, a
thing is the environment's by that tag; what takes no tags (subnets, containers, shares, cache rules) by what it lies
in. Each type is listed by the service itself: the list of all resources of a group is minutes behind. Types that
arm_types.json does not have are taken from that list, so that nothing tagged is passed over.

Role assignments have no tags. Looked at are those on the environment's things, and those given to its identities
elsewhere, such as on a key vault. Budgets: those of its groups, and those of the subscription that count its tag.

The group that AKS makes for nodes carries the cluster's tags, and is the cluster's own (`managedBy`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.azure.arm_types import BUDGET, GROUP, ROLE, ArmType, counted_tags, found_at, inside, row_of, rows, tags_of
from gpufleet.preflight.azure.arm import ArmClient

Tags: TypeAlias = Mapping[str, object]

_GROUP_ROW = row_of(GROUP)
_ROLE_ROW = row_of(ROLE)
_ABSENT = ("notregistered", "unregistered")
_GOING = ("deleting", "deleted")


class AzureInventory:
    """A look at one subscription. groups: names of resource groups that configuration or state name."""

    def __init__(self, arm: ArmClient, groups: Collection[str] = ()) -> None:
        self._arm, self._groups = arm, {name.lower() for name in groups}
        self._here = f"/subscriptions/{arm.subscription}"

    def holds(self, environment: str) -> Sequence[CloudResource]:
        """Everything of the environment; each thing once, what it lies in before it.

        What no row reads has Azure's type. Errors: gpufleet.preflight.azure.arm.ArmError, also when only one permission
        is missing: what cannot be seen is never taken for absent.
        """
        registered = self._registered()
        found: dict[str, CloudResource] = {}
        principals: dict[str, Tags] = {}
        for group in self._listed(_GROUP_ROW, _GROUP_ROW.collection.format(subscriptionId=self._arm.subscription)):
            tags = tags_of(group)
            tagged = _names(tags, environment)
            if group.get("managedBy") or not (tagged or group["name"].lower() in self._groups):
                continue
            place = f"{self._here}/resourceGroups/{group['name']}"
            if tagged:
                # A group that somebody has named is theirs, and stays when the program does not make it.
                _add(found, group, place, tags, quiet=group["name"].lower() in self._groups)
            for item, owner in self._within(place, environment, registered):
                principals |= dict.fromkeys(principals_of(item), owner)
                _add(found, item, item["id"], owner)
            for budget in self._budgets(place, registered):
                _add(found, budget, budget["id"], {**tags, **counted_tags(budget["properties"].get("filter"))})
        for budget in self._budgets(self._here, registered):
            counted = counted_tags(budget["properties"].get("filter"))
            if _names(counted, environment):
                _add(found, budget, budget["id"], counted)
        for role in self._listed(_ROLE_ROW, _ROLE_ROW.collection.format(scope=self._here)):
            scope, principal = role["properties"]["scope"].lower(), role["properties"]["principalId"]
            if scope in found or principal in principals:
                _add(found, role, role["id"], found[scope].tags if scope in found else principals[principal])
        return list(found.values())

    def _registered(self) -> set[str]:
        """Services that the subscription uses; Azure does not list the resources of others."""
        permission = "Microsoft.Resources/subscriptions/providers/read"
        listed = self._arm.listed("/providers", permission, api_version=_GROUP_ROW.version)
        return {
            each["namespace"].lower()
            for each in listed
            if str(each.get("registrationState", "")).lower() not in _ABSENT
        }

    def _within(self, group: str, environment: str, registered: set[str]) -> Iterator[tuple[Mapping[str, Any], Tags]]:
        """What a group has of the environment, and the tags that say so: its own, or of what it lies in."""
        for row in inside(_GROUP_ROW):
            if _space(row) in registered:
                for item in self._listed(row, group + row.collection.removeprefix(_GROUP_ROW.id)):
                    if _names(tags_of(item), environment):
                        yield item, tags_of(item)
                    yield from self._children(row, item, environment)
        known = {row.kind.lower() for row in rows()}
        for item in self._listed(_GROUP_ROW, f"{group}/resources"):
            other = item["type"].lower() not in known and not item.get("managedBy")
            if other and _names(tags_of(item), environment):
                yield item, tags_of(item)

    def _children(
        self, above: ArmType, parent: Mapping[str, Any], environment: str
    ) -> Iterator[tuple[Mapping[str, Any], Tags]]:
        """What lies in a thing. In a thing of somebody else only what has tags may be the environment's."""
        mine = _names(tags_of(parent), environment)
        for row in inside(above):
            if (mine or row.tagged) and parent.get("kind") not in row.not_in:
                place = parent["id"] + row.collection.removeprefix(above.id)
                for item in self._listed(row, place):
                    if mine or _names(tags_of(item), environment):
                        yield item, tags_of(item) or tags_of(parent)

    def _budgets(self, scope: str, registered: set[str]) -> Iterator[Mapping[str, Any]]:
        row = row_of(BUDGET)
        if _space(row) in registered:
            yield from self._listed(row, row.collection.format(scope=scope))

    def _listed(self, row: ArmType, address: str) -> Iterator[Mapping[str, Any]]:
        """What is there of a type, but for what is being deleted."""
        below = address[len(self._here) :]
        for item in self._arm.listed(below, f"{row.kind}/read", api_version=row.version):
            state = (item.get("properties") or {}).get("provisioningState")
            if str(state).lower() not in _GOING:
                yield item


def _add(
    found: dict[str, CloudResource], item: Mapping[str, Any], id_: str, owner: Tags, *, quiet: bool = False
) -> None:
    """Add a thing with the tags that say whose it is."""
    placed = found_at(id_, item, owner, quiet=quiet) or CloudResource(item["type"], id_, item["name"], id_, tags=owner)
    found.setdefault(id_.lower(), placed)


def _names(tags: Tags, environment: str) -> bool:
    return tags.get("environment") == environment


def principals_of(item: Mapping[str, Any]) -> set[str]:
    """Who a thing is when it asks for something: itself as an identity, its own identity, and its nodes'."""
    properties = item.get("properties") or {}
    own = [properties.get("principalId"), (item.get("identity") or {}).get("principalId")]
    own.append((properties.get("identity") or {}).get("principalId"))
    own += [each.get("objectId") for each in (properties.get("identityProfile") or {}).values()]
    return {each for each in own if each}


def _space(row: ArmType) -> str:
    """The service that has a type, as subscriptions register it: microsoft.storage."""
    return row.kind.partition("/")[0].lower()


def resource_groups(config: Mapping[str, object], state: Iterable[Mapping[str, Any]]) -> set[str]:
    """Names of the resource groups that a stack's configuration or state name. config: key -> value."""
    given = config.get("gpufleet:resource_group")
    named = {str(given)} if given else set()
    for resource in state:
        parts = str(resource.get("id", "")).split("/")
        if len(parts) > 4 and (parts[1], parts[3].lower()) == ("subscriptions", "resourcegroups"):
            named.add(parts[4])
    return named
