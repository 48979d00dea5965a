"""Rules on the CPU nodes that run a cluster's own pods."""

from collections.abc import Mapping, Sequence

from gpufleet.rules.coerce import mapping, texts, whole
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

LEAST_DISK_GIB = 20
"""The image of Amazon Linux 2023 for EKS has a snapshot of 20 GiB; a root volume cannot be smaller."""


@rule("aws-system-nodes-count", Severity.ERROR)
def count_in_order(*, least: int, desired: int, most: int) -> Outcome:
    """The system node counts are in order, and at least one: DNS and drivers run on them.

    Source: docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html
    """
    if least < 1:
        return failed("system_min", least, "leaves no node for DNS and the EFS driver", "use at least 1, better 2")
    if most < least:
        return failed("system_max", most, f"is below system_min={least}", f"use at least {least}")
    if not least <= desired <= most:
        return failed("system_desired", desired, "is outside system_min and system_max", f"use {least} to {most}")
    return passed()


@rule("aws-system-nodes-types", Severity.ERROR)
def types_are_x86(*, types: Sequence[str]) -> Outcome:
    """System nodes have at least one instance type, and none with an Arm processor: their image is for x86.

    Source: docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html (amiType)
    """
    if not types:
        return failed("system_types", [], "names no instance type", "name one, for instance m7i.large")
    arm = [each for each in types if _is_arm(each)]
    if not arm:
        return passed()
    return failed(
        "system_types", list(types), f"{join_words(arm, 'and')} has an Arm processor", "use x86, for instance m7i.large"
    )


@rule("aws-system-nodes-disk", Severity.ERROR)
def disk_large_enough(*, disk_gib: int) -> Outcome:
    """The root volume of a system node is not smaller than the snapshot of its image, nor larger than gp3 goes.

    Source: docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html (gp3: 1 GiB to 64 TiB)
    """
    if LEAST_DISK_GIB <= disk_gib <= 65536:
        return passed()
    return failed("system_disk_gib", disk_gib, "is not a valid root volume size", f"use {LEAST_DISK_GIB} to 65536")


@rule("aws-system-nodes-subnets", Severity.ERROR)
def subnets_for_nodes(*, given: bool, zones: Sequence[str]) -> Outcome:
    """System nodes have at least one subnet.

    Source: docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html (subnets)
    """
    if not given or zones:
        return passed()
    return failed("node_subnet_ids", {}, "gives nodes no subnet", "give one per zone, or leave it out")


def _is_arm(instance_type: str) -> bool:
    """Whether the family carries Graviton's g after its generation: m7g and c7gn are Arm, g5 and g6e are not."""
    family = instance_type.partition(".")[0]
    if family.startswith("a1"):
        return True
    generation = next((place for place, letter in enumerate(family) if letter.isdigit()), len(family))
    return family[generation + 1 : generation + 2] == "g"


def validate_system_nodes(args: Mapping[str, object], defaults: tuple[Sequence[str], int, int, int]) -> list[Finding]:
    """Every finding on the system nodes. Reads system_types, _min, _desired, _max, _disk_gib and node_subnet_ids.

    ``defaults`` are types, min, max and disk size.
    """
    types, least_default, most, disk = defaults
    least = whole(args, "system_min", least_default)
    return [
        count_in_order(
            least=least,
            desired=whole(args, "system_desired", least),
            most=whole(args, "system_max", max(most, least)),
        ),
        types_are_x86(types=texts(args, "system_types") if "system_types" in args else types),
        disk_large_enough(disk_gib=whole(args, "system_disk_gib", disk)),
        subnets_for_nodes(given="node_subnet_ids" in args, zones=sorted(mapping(args, "node_subnet_ids"))),
    ]
