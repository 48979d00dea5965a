"""Costs of resources other than pools, by the table in charges.json."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property

from gpufleet.cost.charges import Charge, charges, free_reason
from gpufleet.cost.line_item import Amounts, LineItem, PriceTag, amount_of
from gpufleet.cost.prices import node_price, service_price
from gpufleet.cost.quantities import (
    access_tier,
    account_content,
    eks_support,
    file_tier,
    redundancy,
    storage_account_of,
)
from gpufleet.cost.usage_assumptions import AMOUNTS, HOURS, UsageAssumptions
from gpufleet.plan.azure.graph import AzureGraph, azure_type
from gpufleet.plan.property_values import get_path, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

_PLACE = re.compile(r"\{([\w.]+)\}")
_CLOUDS = ("aws", "aws-native", "azure", "azure-native", "azuread", "gcp", "google-native")
"""Packages whose resources are never user components."""
_EVERYWHERE = "global"
"""Location of what Azure keeps in no region, such as DNS zones."""
_GROUP = "resources:ResourceGroup"


@dataclass(frozen=True)
class BilledCharge:
    """A resource and one thing that it is billed for. certain: whether the charge surely applies."""

    resource: Resource
    charge: Charge
    certain: bool


@dataclass(frozen=True)
class ResourceCosts:
    """The costs of a plan's resources except pools. pools: URNs of the pools. today: for support that has ended."""

    plan: Plan
    pools: frozenset[str]
    usage: UsageAssumptions
    today: date

    @cached_property
    def lines(self) -> list[LineItem]:
        """One line for each charge of each resource."""
        # A tier of a price is shared by the same resources as the first one.
        sharing = Counter((each.charge.by, each.charge.above) for each in self._all_billed)
        # An amount of files that are read is shared by those who read, one of files that are kept by those who keep.
        lines = [self._line(each, sharing[each.charge.by, each.charge.above]) for each in self._all_billed]
        return [*lines, *self._between_zones()]

    @cached_property
    def assumed(self) -> frozenset[str]:
        """The assumptions that the lines rest on: keys of AMOUNTS."""
        moved = ["cross_zone_gb"] if any(self._between_zones()) else []
        return frozenset(AMOUNTS) & {*moved, *(each.charge.by for each in self._all_billed)}

    @cached_property
    def _all_billed(self) -> Sequence[BilledCharge]:
        return [each for resource in self._managed for each in self._billed(resource)]

    @cached_property
    def free(self) -> Mapping[str, int]:
        """Free types, and the number of resources of each."""
        return self._counted(free=True)

    @cached_property
    def not_priced(self) -> Mapping[str, int]:
        """Types missing in the table, and the number of resources of each: their cost is in no figure."""
        return self._counted(free=False)

    @cached_property
    def _managed(self) -> Sequence[Resource]:
        """Resources that the stack manages; those it only reads are paid elsewhere."""
        return [resource for resource in self.plan.resources if resource.operation not in ("read", "read-replacement")]

    def _counted(self, free: bool) -> dict[str, int]:
        found: dict[str, int] = {}
        for resource in self._managed:
            kind = kind_of(resource.type)
            if resource.urn in self.pools or kind in charges() or self._is_component(resource):
                continue
            if (free_reason(kind) is not None) is free:
                found[kind] = found.get(kind, 0) + 1
        return found

    def _is_component(self, resource: Resource) -> bool:
        """A component of somebody's own: of no cloud's package, and with children."""
        return resource.type.split(":")[0] not in _CLOUDS and resource.urn in self._parents

    @cached_property
    def _parents(self) -> frozenset[str]:
        return frozenset(resource.parent for resource in self.plan.resources)

    @cached_property
    def _azure(self) -> AzureGraph:
        return AzureGraph(self.plan)

    def _billed(self, resource: Resource) -> Iterator[BilledCharge]:
        for charge in charges().get(kind_of(resource.type), ()):
            applies = self._applies(resource, charge)
            if applies is not False and self._reached(charge):
                yield BilledCharge(resource, charge, applies is True)

    def _reached(self, charge: Charge) -> bool:
        """Whether what is assumed of a month reaches the tier of a charge; what is not known reaches the first."""
        if not charge.above:
            return True
        amount: float | None = getattr(self.usage, charge.by)
        return amount is not None and amount * charge.hours > charge.above

    def _applies(self, resource: Resource, charge: Charge) -> bool | None:
        """Whether a resource has a charge; None when a property that decides it is not known."""
        answers: list[bool | None] = []
        for conditions, wanted in ((charge.when, True), (charge.unless, False)):
            for path, values in conditions.items():
                value = self._value(resource, charge, path)
                answers.append(None if value is UNKNOWN else (value in values) is wanted)
        return False if False in answers else None if None in answers else True

    def _value(self, resource: Resource, charge: Charge, path: str) -> object:
        """A property by its path; some have names here for what follows from several of them."""
        if path == "support":
            return eks_support(resource, self.today)
        if path == "tier":
            return file_tier(self._azure, resource)
        if path == "holds":
            return account_content(self._azure, resource)
        if path == "redundancy":
            return redundancy(self._azure, resource)
        if path == "access":
            return access_tier(resource)
        first, *rest = path.split(".")
        value = get_path(value_of(resource, first), *rest)
        return charge.default.get(path) if value is None else value

    def _line(self, billed: BilledCharge, sharing: int) -> LineItem:
        resource, charge = billed.resource, billed.charge
        what, item = (self._filled(text, resource, charge) for text in (charge.what, charge.item))
        line = LineItem(
            what=what,
            resources=(resource.name,),
            price=self._price(resource, charge, item),
            amounts=self._amounts(resource, charge, sharing),
            committed=charge.committed,
        )
        if billed.certain and charge.by in AMOUNTS and getattr(self.usage, charge.by) is None:
            return replace(line, note=f"{charge.by} is not given, give it in gpufleet:usage")
        if billed.certain:
            return line
        decides = " and ".join([*charge.when, *charge.unless])
        return replace(line, amounts=Amounts.always(None), note=f"{decides} is not known before deployment")

    def _filled(self, text: str, resource: Resource, charge: Charge) -> str:
        """A text with the resource's values in it."""

        def fill(place: re.Match[str]) -> str:
            value = self._value(resource, charge, place[1])
            return "?" if value is UNKNOWN or value is None else str(value)

        return _PLACE.sub(fill, text)

    def _price(self, resource: Resource, charge: Charge, item: str) -> PriceTag:
        cloud, region = self._where(resource)
        if item.startswith("node:"):
            return node_price(cloud, item.removeprefix("node:"), region)
        return service_price(cloud, charge.service, item, region, charge.unit)

    def _where(self, resource: Resource) -> tuple[str, str | None]:
        if azure_type(resource.type):
            # A share has no location: it lies where its account does.
            place = self._azure.location(storage_account_of(self._azure, resource) or resource)
            if place == _EVERYWHERE:
                # Such a price is one for all regions, and the catalog has it with each of them.
                group = self._azure.named(resource, "resourceGroupName", _GROUP, "resourceGroupName")
                place = self._azure.location(group) if group else None
            return "azure", place
        said = value_of(resource, "region")
        return "aws", said if isinstance(said, str) else resource.provider_region

    def _amounts(self, resource: Resource, charge: Charge, sharing: int) -> Amounts:
        if charge.by.startswith("property:"):
            each = self._number(resource, charge, charge.by.removeprefix("property:"))
        elif charge.by in ("time", "month"):
            each = HOURS if charge.by == "time" else 1.0
        else:
            each = self._assumed(charge, sharing)
        each = None if each is None else max(0.0, self._capped(each, resource, charge) - charge.included)
        if each is not None and charge.moved:
            return Amounts.moved(each)
        times = self._number(resource, charge, charge.times) if charge.times else 1.0
        return Amounts.always(None if each is None or times is None else each * times)

    def _assumed(self, charge: Charge, sharing: int) -> float | None:
        """What a month has of something by the assumptions, in the tier of a charge, for one of those who share it."""
        amount: float | None = getattr(self.usage, charge.by)
        if amount is None:
            return None
        return (min(amount * charge.hours, charge.upto) - charge.above) / sharing

    def _capped(self, amount: float, resource: Resource, charge: Charge) -> float:
        """An assumed amount, where the resource cannot hold as much: what it can hold."""
        most = self._number(resource, charge, charge.most) if charge.most else None
        return amount if most is None else min(amount, most)

    def _number(self, resource: Resource, charge: Charge, path: str) -> float | None:
        """A number that a property states, or how many entries a list has; None if that is not known."""
        value = self._value(resource, charge, path)
        if isinstance(value, Sequence) and not isinstance(value, str):
            return float(len(value))
        return amount_of(value)

    def _between_zones(self) -> Iterator[LineItem]:
        """Traffic between zones, where the stack has subnets in several. Both sides pay, so each GB counts twice."""
        subnets = self.plan.of_type("aws:ec2/subnet:Subnet")
        zones = {str(value_of(each, key)) for each in subnets for key in ("availabilityZoneId", "availabilityZone")}
        if len(zones - {"None"}) < 2:
            return
        price = service_price("aws", "vpc", "cross-zone-transfer", self._where(subnets[0])[1], "GB")
        amounts = Amounts.moved(2 * self.usage.cross_zone_gb)
        yield LineItem("data between zones, paid on both sides", (), price, amounts)


@cache
def kind_of(token: str) -> str:
    """A type token without an API version: azure-native:network:NatGateway."""
    found = azure_type(token)
    return f"azure-native:{found.kind}" if found else token


def is_billed(kind: str) -> bool:
    """Whether the table has a charge for resources of a type; pools are not in it."""
    return kind_of(kind) in charges()
