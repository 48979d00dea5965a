"""Rules on an EC2 launch template."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule


@rule("aws-template-groups-once", Severity.ERROR)
def groups_once(*, interfaces: int, instance_groups: int) -> Outcome:
    """Security groups are set on the network interfaces or on the instance, not both; the numbers count each.

    Source: terraform-aws-modules/terraform-aws-eks#1880 (InvalidParameterCombination: Network interfaces and an
    instance-level security groups may not be specified on the same request), at the first launch.
    """
    if not interfaces or not instance_groups:
        return passed()
    problem = f"EC2 rejects groups of the instance beside {interfaces} network interface{'s' * (interfaces > 1)}"
    fix = "name the groups in network_interfaces only"
    return failed("vpc_security_group_ids", instance_groups, problem, fix)


@rule("aws-template-partition", Severity.ERROR)
def partition_of_group(*, partition: int | None, group: bool) -> Outcome:
    """A partition number is given together with a placement group that has partitions.

    Source: terraform-aws-modules/terraform-aws-eks#875 (ValidationError: You cannot use PartitionNumber with a
    Placement Group that does not exist).
    """
    if partition is None or group:
        return passed()
    fix = "leave it out, or name a placement group of the strategy partition"
    return failed("partition_number", partition, "has no placement group", fix)


@rule("aws-template-user-data", Severity.ERROR)
def user_data_encoded(*, encoded: bool) -> Outcome:
    """User data of a launch template is base64; Pulumi does not encode it.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RequestLaunchTemplateData.html (UserData);
    InvalidUserData.Malformed: Invalid BASE64 encoding of user data.
    """
    if encoded:
        return passed()
    return failed("user_data", "text", "is not base64, which EC2 requires here", "encode it in base64")
