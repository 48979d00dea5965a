"""Rules on a shared EFS file system."""

from collections.abc import Mapping

from gpufleet.rules.rule import Finding


def judge_shared_files(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a shared file system.

    Reads region, zones (zone ids with nodes), client_security_group_ids, uid, gid, directory, permissions,
    throughput (elastic, bursting, provisioned), provisioned_mibps, infrequent_access_days, one_zone, zone_names, tags.
    """
    return []
