"""Every rule on what a pool of GPU nodes is to be: a component's arguments, or a plan's resources."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gpufleet.catalog import AwsGpuType, aws
from gpufleet.rules import capacity as capacities
from gpufleet.rules import coerce, efa, instance_types, placement
from gpufleet.rules.aws import image
from gpufleet.rules.aws.disk import validate_disk
from gpufleet.rules.aws.zones import validate_zones
from gpufleet.rules.counts import idle_nodes, validate_counts, validate_fewer_nodes
from gpufleet.rules.cuda import validate_cuda
from gpufleet.rules.generic import allowed_choice, distinct, not_empty
from gpufleet.rules.labels import validate_labels
from gpufleet.rules.rule import Finding
from gpufleet.rules.tags import validate_tags

TAINT_EFFECTS = ("NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE")


@dataclass(frozen=True)
class _PoolFacts:
    """A pool with its defaults filled in, and what the catalog knows about its types."""

    region: str
    types: tuple[str, ...]
    zones: tuple[str, ...]
    records: tuple[AwsGpuType, ...]
    placement: str
    group: str
    capacity: str
    reservation_id: str
    network: str
    public: bool
    interfaces: int | None


_NEEDS: Mapping[str, tuple[str, ...]] = {
    "any-placement-one-zone": ("placement", "zones"),
    "aws-placement-same-type": ("placement", "types"),
    "aws-placement-no-block": ("placement", "capacity"),
    "aws-placement-of-reservation": ("placement", "capacity", "placement_group"),
    "any-placement-group-name": ("placement", "placement_group"),
    "any-capacity-id-given": ("capacity", "reservation_id"),
    "aws-capacity-id-form": ("reservation_id",),
    "aws-capacity-one-place": ("capacity", "types", "zones"),
    "any-capacity-spot-choice": ("capacity", "types", "zones"),
    "aws-capacity-block-sold": ("capacity", "types"),
    "aws-efa-one-zone": ("network", "zones"),
    "aws-efa-near": ("network", "placement", "capacity"),
    "aws-efa-same-cards": ("network", "types"),
    "aws-efa-supported": ("network", "types"),
    "aws-efa-private": ("public_addresses", "network", "types"),
    "any-pool-private": ("public_addresses",),
    "any-count-idle": ("min", "capacity"),
    "any-count-min-max": ("min", "max"),
    "any-count-desired": ("min", "desired", "max"),
    "aws-disk-iops": ("disk_type", "disk_iops", "disk_throughput", "disk_gib"),
    "aws-disk-throughput": ("disk_type", "disk_iops", "disk_throughput"),
    "aws-image-disk": ("image", "disk_gib"),
    "any-image-cuda": ("image", "cuda"),
    "any-image-cuda-dropped": ("cuda", "types"),
    "any-image-cuda-new-gpu": ("cuda", "types"),
    "any-pool-fewer-nodes": ("types", "max", "zones"),
}
"""Rules on several words, or on a word with a default: where one of these is not known, the rule is not checked.

Rules on each entry of a list have nothing to check where the list is not known."""


def validate_pool_arguments(
    pool: Mapping[str, object], region: str, unknown: Collection[str] = (), interfaces: int | None = None
) -> list[Finding]:
    """Every finding on a pool's intent, passes included. Never raises, whatever the values.

    Words that are absent have their defaults; none is demanded. `unknown` are words whose value nobody knows yet:
    rules that need one of them are left out, and it is for the caller to say so (`any-plan-known`). `interfaces`:
    network interfaces of a node where that is known, else one on each card with EFA.
    """
    types = coerce.texts(pool, "types")
    intent = _PoolFacts(
        region=coerce.text({"region": region}, "region"),
        types=types,
        zones=coerce.texts(pool, "zones"),
        records=tuple(aws().types[name] for name in types if name in aws().types),
        placement=coerce.text(pool, "placement", "none"),
        group=coerce.text(pool, "placement_group"),
        capacity=coerce.text(pool, "capacity", "on-demand"),
        reservation_id=coerce.text(pool, "reservation_id"),
        network=coerce.text(pool, "network", "plain"),
        public=coerce.flag(pool, "public_addresses", False),
        interfaces=interfaces,
    )
    findings = [
        *_words(pool, intent),
        *_counts(pool, intent),
        *_types_and_zones(pool, intent),
        *_placement(intent),
        *_capacity(intent),
        *_network(intent),
        *_image(pool, intent),
        *validate_disk(pool),
        *validate_labels(pool),
        *validate_cuda(pool, intent.records),
        *validate_fewer_nodes(intent.records, coerce.whole(pool, "max", 0), intent.zones, intent.region),
        *validate_tags(coerce.mapping(pool, "tags")),
    ]
    unknown = frozenset(unknown)
    left_out = {rule for rule, words in _NEEDS.items() if not unknown.isdisjoint(words)}
    return [finding for finding in findings if finding.rule not in left_out]


def _words(pool: Mapping[str, object], intent: _PoolFacts) -> list[Finding]:
    taints = pool.get("taints")
    effects = (
        [taint.get("effect") for taint in taints if isinstance(taint, Mapping)] if isinstance(taints, list) else []
    )
    return [
        allowed_choice(argument="placement", word=intent.placement, legal=placement.PLACEMENTS),
        allowed_choice(argument="capacity", word=intent.capacity, legal=capacities.CAPACITIES),
        allowed_choice(argument="network", word=intent.network, legal=efa.NETWORKS),
        *(allowed_choice(argument="taints.effect", word=str(effect), legal=TAINT_EFFECTS) for effect in effects),
    ]


def _counts(pool: Mapping[str, object], intent: _PoolFacts) -> list[Finding]:
    least = coerce.whole(pool, "min", 0)
    if not coerce.is_whole(pool.get("max")):
        return []
    most = coerce.whole(pool, "max", 0)
    desired = coerce.whole(pool, "desired", least)
    return [*validate_counts(least, desired, most), idle_nodes(least=least, capacity=intent.capacity)]


def _types_and_zones(pool: Mapping[str, object], intent: _PoolFacts) -> list[Finding]:
    findings = [*validate_zones(intent.region, intent.zones), distinct(argument="types", values=intent.types)]
    for argument, values, holds in (("types", intent.types, "instance type"), ("zones", intent.zones, "zone id")):
        if coerce.is_texts(pool.get(argument)):
            findings.append(not_empty(argument=argument, values=values, holds=holds))
    findings += [instance_types.type_known(type_name=name, known=tuple(aws().types)) for name in intent.types]
    for record in intent.records:
        findings.append(
            instance_types.type_current(type_name=record.type, retired=record.retired, successor=record.successor)
        )
        if not record.retired:
            findings += _offers(record.type, intent)
    gpus = tuple(f"{record.gpus} x {record.gpu_model}" for record in intent.records)
    return [*findings, instance_types.same_gpu(types=intent.types, gpus=gpus)]


def _offers(name: str, intent: _PoolFacts) -> list[Finding]:
    """Whether region and zones offer a type. Zones that are not known have been reported already."""
    zones = aws().zones_with(name, intent.region)
    elsewhere = aws().regions_with(name)
    in_region = instance_types.type_in_region(type_name=name, region=intent.region, zones=zones, elsewhere=elsewhere)
    if not zones:
        return [in_region]
    known = [zone for zone in intent.zones if zone in aws().regions[intent.region]]
    return [in_region, *(instance_types.type_in_zone(type_name=name, zone=zone, zones=zones) for zone in known)]


def _placement(intent: _PoolFacts) -> list[Finding]:
    return [
        placement.one_zone(placement=intent.placement, zones=intent.zones),
        placement.same_type(placement=intent.placement, types=intent.types),
        placement.no_block(placement=intent.placement, capacity=intent.capacity),
        placement.group_of_reservation(placement=intent.placement, capacity=intent.capacity, group=intent.group),
        placement.group_name(placement=intent.placement, group=intent.group),
    ]


def _capacity(intent: _PoolFacts) -> list[Finding]:
    sold = tuple(name for name, record in aws().types.items() if record.capacity_block)
    return [
        capacities.id_given(capacity=intent.capacity, reservation_id=intent.reservation_id),
        capacities.id_form(reservation_id=intent.reservation_id),
        capacities.one_place(capacity=intent.capacity, argument="types", values=intent.types),
        capacities.one_place(capacity=intent.capacity, argument="zones", values=intent.zones),
        capacities.spot_choice(capacity=intent.capacity, types=intent.types, zones=intent.zones),
        *(
            capacities.block_sold(
                capacity=intent.capacity, type_name=record.type, sold=record.capacity_block, others=sold
            )
            for record in intent.records
        ),
    ]


def _network(intent: _PoolFacts) -> list[Finding]:
    findings = [
        efa.one_zone(network=intent.network, zones=intent.zones),
        efa.near(network=intent.network, placement=intent.placement, capacity=intent.capacity),
        efa.pool_private(public_addresses=intent.public),
        efa.same_cards(
            network=intent.network,
            types=intent.types,
            layouts=tuple(_layout(record) for record in intent.records),
        ),
    ]
    for record in intent.records:
        findings.append(
            efa.supported(
                network=intent.network,
                type_name=record.type,
                efa_interfaces=record.efa_interfaces,
                larger=_with_efa(record),
            )
        )
        each_card = record.efa_interfaces if intent.network == "efa" else 1
        interfaces = each_card if intent.interfaces is None else intent.interfaces
        findings.append(efa.private(public_addresses=intent.public, type_name=record.type, interfaces=interfaces))
    return findings


def _layout(record: AwsGpuType) -> str:
    cards = f"{record.efa_interfaces or 'no'} EFA interface{'' if record.efa_interfaces == 1 else 's'}"
    return cards if record.first_card_has_efa is not False else f"{cards} after a plain one"


def _with_efa(record: AwsGpuType) -> tuple[str, ...]:
    """Types of the same family with EFA, smallest first."""
    family = record.type.split(".")[0] + "."
    found = [each for name, each in aws().types.items() if name.startswith(family) and each.efa_interfaces]
    return tuple(each.type for each in sorted(found, key=lambda each: (each.vcpus, each.type)))


def _image(pool: Mapping[str, object], intent: _PoolFacts) -> list[Finding]:
    name = coerce.text(pool, "image", "al2023")
    architectures = tuple(record.architecture for record in intent.records)
    return [
        image.image_known(image=name),
        image.one_architecture(types=intent.types, architectures=architectures),
        image.disk_holds_image(image=name, disk_gib=coerce.whole(pool, "disk_gib", 100)),
    ]
