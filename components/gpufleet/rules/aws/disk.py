"""Rules on the kind and the speed of a node's EBS disk."""

from collections.abc import Mapping
from typing import NamedTuple

from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

DEFAULT_TYPE = "gp3"


class DiskType(NamedTuple):
    """What a type of volume may do. iops, throughput (MiB/s): least and most; per_gib: most IOPS for each GiB."""

    iops: tuple[int, int]
    per_gib: int
    throughput: tuple[int, int] | None


DISK_TYPES: Mapping[str, DiskType] = {
    "gp3": DiskType((3000, 80_000), 500, (125, 2000)),
    "io2": DiskType((100, 256_000), 1000, None),
}
IOPS_PER_MIBPS = 4
"""A gp3 volume has at most 0.25 MiB/s for each of its IOPS."""
IO2_IOPS = 3000
"""Of an io2 volume without a number: as many as of gp3, which has them free of charge."""


@rule("aws-disk-iops", Severity.ERROR)
def iops_range(*, disk_type: str, disk_iops: int, disk_gib: int) -> Outcome:
    """The IOPS of a disk are within what its type allows, altogether and for each GiB.

    Source: https://aws.amazon.com/about-aws/whats-new/2025/09/amazon-ebs-size-provisioned-performance-gp3-volumes/ and
    kubernetes-sigs/aws-ebs-csi-driver#2678 (gp3: 80,000); EbsBlockDevice of botocore's model of ec2 (io2: 100 to
    256,000); https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html (500 and 1,000 for each GiB).
    """
    (least, most), per_gib, _ = DISK_TYPES[disk_type]
    if not least <= disk_iops <= most:
        return failed("disk_iops", disk_iops, f"{disk_type} has {least:,} to {most:,} IOPS", "use one of these")
    if disk_iops > per_gib * disk_gib and disk_iops > least:
        problem = f"{disk_type} has at most {per_gib} IOPS for each GiB, {per_gib * disk_gib:,} for disk_gib={disk_gib}"
        return failed("disk_iops", disk_iops, problem, f"use at most that, or disk_gib={-(-disk_iops // per_gib)}")
    return passed()


@rule("aws-disk-throughput", Severity.ERROR)
def throughput_range(*, disk_type: str, disk_throughput: int, disk_iops: int) -> Outcome:
    """The throughput of a disk is set for gp3 only, within its range, and at most a quarter of its IOPS in MiB/s.

    Source: hashicorp/terraform-provider-aws#44604 (125 to 2,000); runs-on/runs-on#426 (throughput can only be specified
    for volumeType gp3); runs-on/runs-on#260 (Throughput (MiBps) to iops ratio is too high; maximum is 0.250000), which
    EC2 says when it launches an instance, not when the template is made.
    """
    limits = DISK_TYPES[disk_type].throughput
    if limits is None:
        problem = f"{disk_type} has no separate throughput: it follows from the IOPS"
        return failed("disk_throughput", disk_throughput, problem, "leave it out, or use disk_type=gp3")
    least, most = limits
    if not least <= disk_throughput <= most:
        problem = f"{disk_type} has {least} to {most:,} MiB/s"
        return failed("disk_throughput", disk_throughput, problem, "use one of these")
    if disk_throughput * IOPS_PER_MIBPS > disk_iops:
        problem = f"is more than a quarter of disk_iops={disk_iops}, and EC2 then launches no node"
        fix = f"set disk_iops={disk_throughput * IOPS_PER_MIBPS} or leave it out"
        return failed("disk_throughput", disk_throughput, problem, fix)
    return passed()


def default_iops(disk_type: str, disk_throughput: int | None) -> int | None:
    """The IOPS of a disk without a number; None: as EC2 says, 3,000 for gp3."""
    if disk_type == "io2":
        return IO2_IOPS
    least = DISK_TYPES[DEFAULT_TYPE].iops[0]
    needed = IOPS_PER_MIBPS * (disk_throughput or 0)
    return needed if needed > least else None


def validate_disk(pool: Mapping[str, object]) -> list[Finding]:
    """Every finding on a pool's disk, passes included. Reads disk_type, disk_iops, disk_throughput, disk_gib."""
    kind = coerce.text(pool, "disk_type", DEFAULT_TYPE)
    findings = [allowed_choice(argument="disk_type", word=kind, legal=tuple(DISK_TYPES))]
    if kind not in DISK_TYPES:
        return findings
    throughput = coerce.whole(pool, "disk_throughput", 0)
    iops = coerce.whole(pool, "disk_iops", 0)
    if coerce.is_whole(pool.get("disk_iops")):
        findings.append(iops_range(disk_type=kind, disk_iops=iops, disk_gib=coerce.whole(pool, "disk_gib", 100)))
    if coerce.is_whole(pool.get("disk_throughput")):
        enough = iops or default_iops(kind, throughput) or DISK_TYPES[kind].iops[0]
        findings.append(throughput_range(disk_type=kind, disk_throughput=throughput, disk_iops=enough))
    return findings
