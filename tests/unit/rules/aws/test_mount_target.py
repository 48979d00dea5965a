"""Cases of gpufleet.rules.aws.mount_target."""

from gpufleet.rules.aws.mount_target import (
    directory_made,
    nfs_open,
    region_of_nodes,
    target_for_nodes,
    target_in_zone,
    target_once,
)

CASES = {
    target_once: [
        ("one", {"zone": "use1-az1", "others": ()}, "pass", ""),
        (
            "two",
            {"zone": "use1-az1", "others": ("second",)},
            "fail",
            (
                "trainers: subnet_id=use1-az1: EFS takes one mount target in a zone, and second is in use1-az1 "
                "too; keep one of them: all subnets of the zone reach it [aws-files-target-once]"
            ),
        ),
    ],
    target_for_nodes: [
        ("there", {"zone": "use1-az1", "targets": ("use1-az1",), "complete": True}, "pass", ""),
        ("there-of-unclear", {"zone": "use1-az1", "targets": ("use1-az1",), "complete": False}, "pass", ""),
        (
            "elsewhere",
            {"zone": "use1-az2", "targets": ("use1-az1",), "complete": True},
            "fail",
            (
                "trainers: zones=use1-az2: no file system has a mount target here, so that mounts hang; add a "
                "mount target in use1-az2, or use use1-az1 [aws-files-target-for-nodes]"
            ),
        ),
        (
            "unclear",
            {"zone": "use1-az2", "targets": (), "complete": False},
            "unverified",
            (
                "trainers: zones=use1-az2: not verified: where the mount targets lie is not known from the "
                "program; add a mount target in use1-az2 [aws-files-target-for-nodes]"
            ),
        ),
    ],
    nfs_open: [
        ("open", {"opened": True, "clients": ("nodes",)}, "pass", ""),
        (
            "closed",
            {"opened": False, "clients": ("nodes", "jobs")},
            "fail",
            (
                "trainers: security_groups=[nodes, jobs]: TCP 2049 is not open from nodes or jobs, so that "
                "mounts hang; add an ingress rule of TCP 2049 from the security group of the nodes "
                "[aws-files-nfs-open]"
            ),
        ),
        (
            "closed-to-all",
            {"opened": False, "clients": ()},
            "fail",
            (
                "trainers: security_groups=[]: TCP 2049 is not open from anybody, so that mounts hang; add an "
                "ingress rule of TCP 2049 from the security group of the nodes [aws-files-nfs-open]"
            ),
        ),
        (
            "unclear",
            {"opened": None, "clients": ("nodes",)},
            "unverified",
            (
                "trainers: security_groups=[nodes]: not verified: whether TCP 2049 is open from nodes is not "
                "known from the program; add an ingress rule of TCP 2049 from the security group of the nodes "
                "[aws-files-nfs-open]"
            ),
        ),
    ],
    target_in_zone: [
        ("regional", {"file_zone": "", "zone": "use1-az1"}, "pass", ""),
        ("same", {"file_zone": "use1-az1", "zone": "use1-az1"}, "pass", ""),
        (
            "other",
            {"file_zone": "us-east-1a", "zone": "us-east-1b"},
            "fail",
            (
                "trainers: subnet_id=us-east-1b: the file system lies in us-east-1a only; use a subnet in "
                "us-east-1a, or leave availability_zone_name out [aws-files-target-in-zone]"
            ),
        ),
        (
            "unclear",
            {"file_zone": "us-east-1a", "zone": None},
            "unverified",
            (
                "trainers: subnet_id=null: not verified: whether it is in us-east-1a, where the file system "
                "lies, is not known from the program; make sure of it, or give zone_names to the policy pack "
                "[aws-files-target-in-zone]"
            ),
        ),
    ],
    region_of_nodes: [
        ("same", {"region": "us-east-1", "node_regions": ("us-east-1", "us-west-2")}, "pass", ""),
        ("no-nodes", {"region": "us-east-1", "node_regions": ()}, "pass", ""),
        (
            "other",
            {"region": "us-east-1", "node_regions": ("us-west-2",)},
            "fail",
            ("trainers: region=us-east-1: all GPU nodes are in us-west-2; put both into one region [aws-files-region]"),
        ),
    ],
    directory_made: [
        ("root", {"directory": "/", "creation_info": False, "new": True}, "pass", ""),
        ("unsaid", {"directory": "", "creation_info": False, "new": True}, "pass", ""),
        ("made", {"directory": "/data", "creation_info": True, "new": True}, "pass", ""),
        (
            "missing",
            {"directory": "/data", "creation_info": False, "new": True},
            "fail",
            (
                "trainers: root_directory=/data: does not exist, and without creation_info EFS does not make it;"
                ' add creation_info with owner_uid, owner_gid and permissions such as "0755" '
                "[aws-files-directory-made]"
            ),
        ),
        (
            "old-files",
            {"directory": "/data", "creation_info": False, "new": False},
            "unverified",
            (
                "trainers: root_directory=/data: not verified: whether the directory exists is not known; add "
                'creation_info with owner_uid, owner_gid and permissions such as "0755" '
                "[aws-files-directory-made]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
