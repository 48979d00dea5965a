"""Rules on an EFS file system and its mount targets, as a program's resources make them."""

from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("aws-files-target-once", Severity.ERROR)
def target_once(*, zone: str, others: Sequence[str]) -> Outcome:
    """A file system has one mount target in a zone; `others` are further ones in the same zone.

    Source: hashicorp/terraform-provider-aws#2525 (MountTargetConflict: mount target already exists in this AZ).
    """
    if not others:
        return passed()
    problem = f"EFS takes one mount target in a zone, and {join_words(others, 'and')} is in {zone} too"
    return failed("subnet_id", zone, problem, "keep one of them: all subnets of the zone reach it")


@rule("aws-files-target-for-nodes", Severity.ERROR)
def target_for_nodes(*, zone: str, targets: Sequence[str], complete: bool) -> Outcome:
    """Each zone of a GPU pool has a mount target of a file system; `targets` are the zones of those there are.

    `complete`: whether the zones of all mount targets are known.
    Source: kubernetes-sigs/aws-efs-csi-driver#228: a pod in a zone without one hangs until its mount times out.
    """
    if zone in targets:
        return passed()
    fix = f"add a mount target in {zone}" + (f", or use {join_words(targets)}" if targets else "")
    if not complete:
        return unverified("zones", zone, "where the mount targets lie is not known from the program", fix)
    return failed("zones", zone, "no file system has a mount target here, so that mounts hang", fix)


@rule("aws-files-nfs-open", Severity.ERROR)
def nfs_open(*, opened: bool | None, clients: Sequence[str]) -> Outcome:
    """A mount target allows TCP 2049 from the nodes; `clients` are their security groups. `opened`:

    None where not known.
    Source: kubernetes-sigs/aws-efs-csi-driver#228: with the port closed a mount hangs until it times out.
    """
    if opened:
        return passed()
    who = join_words(clients, "or") if clients else "anybody"
    fix = "add an ingress rule of TCP 2049 from the security group of the nodes"
    if opened is None:
        problem = f"whether TCP 2049 is open from {who} is not known from the program"
        return unverified("security_groups", list(clients), problem, fix)
    return failed("security_groups", list(clients), f"TCP 2049 is not open from {who}, so that mounts hang", fix)


@rule("aws-files-target-in-zone", Severity.ERROR)
def target_in_zone(*, file_zone: str, zone: str | None) -> Outcome:
    """The mount target of a One Zone file system is in its zone; `zone` is None where it is not known.

    Source: https://docs.aws.amazon.com/efs/latest/ug/how-it-works.html: One Zone file systems have a single mount
    target, in the zone that they lie in (EFS: AvailabilityZonesMismatch).
    """
    if not file_zone or zone == file_zone:
        return passed()
    if zone is None:
        problem = f"whether it is in {file_zone}, where the file system lies, is not known from the program"
        return unverified("subnet_id", None, problem, "make sure of it, or give zone_names to the policy pack")
    problem = f"the file system lies in {file_zone} only"
    return failed("subnet_id", zone, problem, f"use a subnet in {file_zone}, or leave availability_zone_name out")


@rule("aws-files-region", Severity.ERROR)
def region_of_nodes(*, region: str, node_regions: Sequence[str]) -> Outcome:
    """A file system lies in a region with nodes that can mount it.

    Source: https://docs.aws.amazon.com/efs/latest/ug/how-it-works.html: mount targets are in the VPC of the nodes;
    from another region nothing mounts without VPC peering, and each byte is paid.
    """
    if not node_regions or region in node_regions:
        return passed()
    return failed(
        "region", region, f"all GPU nodes are in {join_words(node_regions, 'and')}", "put both into one region"
    )


@rule("aws-files-directory-made", Severity.ERROR)
def directory_made(*, directory: str, creation_info: bool, new: bool) -> Outcome:
    """An access point to a directory says who owns it, so that EFS makes it; `new`: the program makes the file system.

    Source: kubernetes-sigs/aws-efs-csi-driver#505: mounting an access point whose root directory does not exist fails.
    """
    if directory in ("", "/") or creation_info:
        return passed()
    fix = 'add creation_info with owner_uid, owner_gid and permissions such as "0755"'
    if not new:
        return unverified("root_directory", directory, "whether the directory exists is not known", fix)
    return failed("root_directory", directory, "does not exist, and without creation_info EFS does not make it", fix)
