"""Cases of gpufleet.rules.kubernetes.mpi_pods."""

from gpufleet.rules.kubernetes.mpi_pods import (
    hugepages_left,
    interface_name,
    mount_path_free,
    mounts_apart,
    not_root,
    reservation,
    secret_reference,
    variable_name,
)

CASES = {
    reservation: [
        ("below", {"argument": "memory_gib", "wanted": 2047, "type_name": "p5.48xlarge", "of_node": 2048}, "pass", ""),
        (
            "all",
            {"argument": "memory_gib", "wanted": 2048, "type_name": "p5.48xlarge", "of_node": 2048},
            "fail",
            (
                "trainers: memory_gib=2048: leaves nothing of the 2048 of p5.48xlarge to the system; use 2047 or"
                " less [any-mpi-reservation]"
            ),
        ),
        (
            "none",
            {"argument": "shared_memory_gib", "wanted": 0, "type_name": "p5.48xlarge", "of_node": 2048},
            "fail",
            "trainers: shared_memory_gib=0: is below 1; use 1 or more [any-mpi-reservation]",
        ),
        ("any-type", {"argument": "cpus", "wanted": 8, "type_name": "", "of_node": None}, "pass", ""),
        (
            "own-node",
            {"argument": "cpus", "wanted": 8, "type_name": "dgx-station", "of_node": None},
            "unverified",
            (
                "trainers: cpus=8: not verified: dgx-station is not in the catalog; make sure that its nodes "
                "have more [any-mpi-reservation]"
            ),
        ),
    ],
    hugepages_left: [
        ("usual", {"memory_gib": 32, "type_name": "p5.48xlarge", "of_node": 2048}, "pass", ""),
        ("at-limit", {"memory_gib": 122, "type_name": "g5.8xlarge", "of_node": 128}, "pass", ""),
        (
            "above",
            {"memory_gib": 123, "type_name": "g5.8xlarge", "of_node": 128},
            "fail",
            (
                "trainers: memory_gib=123: leaves none of the 128 GiB of g5.8xlarge for EFA's 5 GiB of huge "
                "pages; use 122 or less [aws-mpi-hugepages]"
            ),
        ),
    ],
    mount_path_free: [
        ("mnt", {"argument": "mount_path", "path": "/mnt"}, "pass", ""),
        ("deep", {"argument": "mount_path", "path": "/data/shared"}, "pass", ""),
        ("like-a-taken-one", {"argument": "mount_path", "path": "/etcetera"}, "pass", ""),
        (
            "root",
            {"argument": "mount_path", "path": "/"},
            "fail",
            ("trainers: mount_path=/: must be an absolute path; use a path such as /mnt [any-mpi-mount-path]"),
        ),
        (
            "relative",
            {"argument": "mount_path", "path": "mnt"},
            "fail",
            ("trainers: mount_path=mnt: must be an absolute path; use a path such as /mnt [any-mpi-mount-path]"),
        ),
        (
            "up",
            {"argument": "mount_path", "path": "/mnt/../etc"},
            "fail",
            (
                "trainers: mount_path=/mnt/../etc: must be an absolute path; use a path such as /mnt "
                "[any-mpi-mount-path]"
            ),
        ),
        (
            "shared-memory",
            {"argument": "mount_path", "path": "/dev/shm"},
            "fail",
            (
                "trainers: mount_path=/dev/shm: hides what a container has in /dev; use a path such as /mnt "
                "[any-mpi-mount-path]"
            ),
        ),
        (
            "usr",
            {"argument": "mount_path", "path": "/usr"},
            "fail",
            (
                "trainers: mount_path=/usr: hides what a container has in /usr; use a path such as /mnt [any-"
                "mpi-mount-path]"
            ),
        ),
        (
            "of-a-read-claim",
            {"argument": "read_claims", "path": "images"},
            "fail",
            "trainers: read_claims=images: must be an absolute path; use a path such as /mnt [any-mpi-mount-path]",
        ),
    ],
    mounts_apart: [
        ("one", {"paths": ("/mnt",)}, "pass", ""),
        ("beside", {"paths": ("/mnt", "/images", "/mnt2")}, "pass", ""),
        (
            "inside",
            {"paths": ("/mnt", "/mnt/images")},
            "fail",
            "trainers: read_claims=/mnt/images: lies in /mnt, where another volume is; use a path beside it "
            "[any-mpi-mounts-apart]",
        ),
        (
            "the-same",
            {"paths": ("/mnt", "/mnt")},
            "fail",
            "trainers: read_claims=/mnt: lies in /mnt, where another volume is; use a path beside it "
            "[any-mpi-mounts-apart]",
        ),
    ],
    secret_reference: [
        ("name", {"variable": "KEY", "reference": "wandb", "in_env": False}, "pass", ""),
        ("key", {"variable": "KEY", "reference": "hub.lab/api_token.txt", "in_env": False}, "pass", ""),
        (
            "variable",
            {"variable": "A B", "reference": "wandb", "in_env": False},
            "fail",
            "trainers: secrets=A B: is not a valid variable name; use letters, digits and _, starting with a letter "
            "or _ [any-mpi-secret]",
        ),
        (
            "twice",
            {"variable": "KEY", "reference": "wandb", "in_env": True},
            "fail",
            "trainers: secrets=KEY: env has this variable too; leave it out of one of them [any-mpi-secret]",
        ),
        (
            "value",
            {"variable": "KEY", "reference": "Hunter22", "in_env": False},
            "fail",
            "trainers: secrets.KEY=[secret]: must name a Secret, not hold its value; write SECRET or SECRET/KEY "
            "[any-mpi-secret]",
        ),
    ],
    variable_name: [
        ("usual", {"name": "NCCL_DEBUG"}, "pass", ""),
        (
            "digit-first",
            {"name": "2ND"},
            "fail",
            (
                "trainers: env=2ND: is not a valid variable name; use letters, digits and _, starting with a letter "
                "or _ "
                "[any-mpi-env]"
            ),
        ),
        (
            "semicolon",
            {"name": "A;B"},
            "fail",
            (
                "trainers: env=A;B: is not a valid variable name; use letters, digits and _, starting with a letter "
                "or _ "
                "[any-mpi-env]"
            ),
        ),
    ],
    interface_name: [
        ("eth0", {"interface": "eth0"}, "pass", ""),
        ("longest", {"interface": "aaaaaaaaaaaaaaa"}, "pass", ""),
        (
            "too-long",
            {"interface": "aaaaaaaaaaaaaaaa"},
            "fail",
            (
                "trainers: network_interface=aaaaaaaaaaaaaaaa: is not a network interface name; use one name, such as"
                " eth0 [any-mpi-interface]"
            ),
        ),
        (
            "several",
            {"interface": "eth0,eth1"},
            "fail",
            (
                "trainers: network_interface=eth0,eth1: is not a network interface name; use one name, such as eth0 "
                "[any-mpi-interface]"
            ),
        ),
        (
            "pattern",
            {"interface": "^lo"},
            "fail",
            (
                "trainers: network_interface=^lo: is not a network interface name; use one name, such as eth0 [any-"
                "mpi-interface]"
            ),
        ),
    ],
    not_root: [
        ("user", {"uid": 1}, "pass", ""),
        (
            "root",
            {"uid": 0},
            "fail",
            (
                "trainers: uid=0: is root, which a team's namespace rejects (Pod Security restricted); use 1000 "
                "or another user of the image [any-mpi-user]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
