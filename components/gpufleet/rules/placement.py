"""Rules on placement groups."""

from collections.abc import Sequence

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

PLACEMENTS = ("none", "create", "existing")
_GROUPED = ("create", "existing")


@rule("any-placement-one-zone", Severity.ERROR)
def one_zone(*, placement: str, zones: Sequence[str]) -> Outcome:
    """A pool in a cluster placement group lies in one zone.

    Source: terraform-aws-modules/terraform-aws-eks#3045: with several subnets the node group is created, and its
    first update fails (Instances in the Placement Group must be launched in the Availability Zone).
    """
    if placement not in _GROUPED or len(zones) < 2:
        return passed()
    fix = "keep one zone, or set placement=none"
    return failed("zones", list(zones), "a cluster placement group lies in one zone", fix)


@rule("aws-placement-same-type", Severity.WARNING)
def same_type(*, placement: str, types: Sequence[str]) -> Outcome:
    """A pool in a cluster placement group has one instance type.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html#placement-groups-cluster:
    more than one type in a group makes an insufficient capacity error likelier.
    """
    if placement not in _GROUPED or len(types) < 2:
        return passed()
    problem = "several types in one cluster placement group make an insufficient capacity error more likely"
    return failed("types", list(types), problem, "keep one type, or set placement=none")


@rule("aws-placement-no-block", Severity.ERROR)
def no_block(*, placement: str, capacity: str) -> Outcome:
    """A capacity block, or capacity reserved outside of the group, is not used in a cluster placement group.

    Source: eksctl-io/eksctl#7949 (11 of 16 instances came) and terraform-aws-modules/terraform-aws-eks#3730.
    """
    if (placement in _GROUPED and capacity == "capacity-block") or (
        placement == "create" and capacity == "reservation"
    ):
        lies = "a capacity block" if capacity == "capacity-block" else "a reservation that exists already"
        fix = "set placement=none"
        if capacity == "reservation":
            fix += ", or make the reservation in a placement group and set placement=existing"
        return failed("placement", placement, f"{lies} is delivered only in part into a placement group", fix)
    return passed()


@rule("aws-placement-of-reservation", Severity.WARNING)
def group_of_reservation(*, placement: str, capacity: str, group: str) -> Outcome:
    """A reservation is used in the placement group that it was created in; its group is not known here.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    """
    if placement != "existing" or capacity != "reservation":
        return passed()
    problem = "delivers the whole reservation only if it was created in this group"
    return failed("placement_group", group, problem, "make sure that it was, or set placement=none")


@rule("any-placement-group-name", Severity.ERROR)
def group_name(*, placement: str, group: str) -> Outcome:
    """A placement group is named exactly if it exists already.

    Source: an EC2 launch template joins a group by name or id; a group made here gets its name here.
    """
    if (placement == "existing") is bool(group):
        return passed()
    if group:
        fix = "set placement=existing to use it, or leave placement_group out"
        return failed("placement_group", group, f"is not used with placement={placement}", fix)
    return failed("placement", placement, "does not say which group", "set placement_group to its name")
