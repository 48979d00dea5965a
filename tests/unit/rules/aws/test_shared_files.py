"""Cases of gpufleet.rules.aws.shared_files."""

from gpufleet.rules.aws.shared_files import (
    clients,
    directory_legal,
    lifecycle,
    one_zone,
    permissions_legal,
    throughput_figure,
    user,
    zone_name_given,
)

CASES = {
    one_zone: [
        ("regional", {"zone": "", "node_zones": ("use1-az1", "use1-az2")}, "pass", ""),
        ("same", {"zone": "use1-az1", "node_zones": ("use1-az1",)}, "pass", ""),
        (
            "two-zones",
            {"zone": "use1-az1", "node_zones": ("use1-az1", "use1-az2")},
            "fail",
            (
                "trainers: one_zone=use1-az1: gives no mount target in use1-az2; set zones=[use1-az1], or leave "
                "one_zone out [aws-files-one-zone]"
            ),
        ),
        (
            "other-zone",
            {"zone": "use1-az1", "node_zones": ("use1-az2",)},
            "fail",
            (
                "trainers: one_zone=use1-az1: has no nodes; they are in use1-az2; use a zone of nodes "
                "[aws-files-one-zone]"
            ),
        ),
        ("no-mount-target", {"zone": "use1-az1", "node_zones": ()}, "pass", ""),
    ],
    zone_name_given: [
        ("named", {"zone": "use1-az1", "named": ("use1-az1",)}, "pass", ""),
        (
            "unnamed",
            {"zone": "use1-az1", "named": ("use1-az2",)},
            "fail",
            (
                "trainers: one_zone=use1-az1: has no entry in zone_names; give this account's name of it, for "
                "instance zone_names={use1-az1: us-east-1a} [aws-files-zone-name]"
            ),
        ),
        ("regional", {"zone": "", "named": ()}, "pass", ""),
    ],
    clients: [
        ("one", {"zones": ("use1-az1",), "groups": ("nodes",)}, "pass", ""),
        (
            "nobody",
            {"zones": ("use1-az1",), "groups": ()},
            "fail",
            (
                "trainers: client_security_group_ids={}: lets nobody mount: TCP 2049 would be open from nowhere; "
                "give the security group of the nodes [aws-files-clients]"
            ),
        ),
        ("no-mount-target", {"zones": (), "groups": ()}, "pass", ""),
    ],
    user: [
        ("least", {"argument": "uid", "number": 1}, "pass", ""),
        (
            "root",
            {"argument": "uid", "number": 0},
            "fail",
            (
                "trainers: uid=0: is root, who may change everybody's files; use 1 to 4294967295, such as 1000 "
                "[aws-files-user]"
            ),
        ),
        (
            "negative",
            {"argument": "gid", "number": -1},
            "fail",
            "trainers: gid=-1: is not a POSIX id; use 1 to 4294967295, such as 1000 [aws-files-user]",
        ),
        ("most", {"argument": "gid", "number": 4294967295}, "pass", ""),
        (
            "beyond",
            {"argument": "gid", "number": 4294967296},
            "fail",
            "trainers: gid=4294967296: is not a POSIX id; use 1 to 4294967295, such as 1000 [aws-files-user]",
        ),
    ],
    throughput_figure: [
        ("elastic", {"throughput": "elastic", "mibps": None}, "pass", ""),
        (
            "elastic-figure",
            {"throughput": "elastic", "mibps": 100.0},
            "fail",
            (
                "trainers: provisioned_mibps=100.0: is not used with throughput=elastic; leave it out, or set "
                "throughput=provisioned [aws-files-throughput]"
            ),
        ),
        ("provisioned", {"throughput": "provisioned", "mibps": 1.0}, "pass", ""),
        (
            "too-little",
            {"throughput": "provisioned", "mibps": 0.5},
            "fail",
            (
                "trainers: provisioned_mibps=0.5: is below EFS's minimum of 1 MiB/s; use 1 or more "
                "[aws-files-throughput]"
            ),
        ),
        (
            "not-a-number",
            {"throughput": "provisioned", "mibps": float("nan")},
            "fail",
            (
                "trainers: provisioned_mibps=nan: is below EFS's minimum of 1 MiB/s; use 1 or more "
                "[aws-files-throughput]"
            ),
        ),
        (
            "no-figure",
            {"throughput": "provisioned", "mibps": None},
            "fail",
            (
                "trainers: throughput=provisioned: has no figure; set provisioned_mibps to MiB/s, or "
                "throughput=elastic [aws-files-throughput]"
            ),
        ),
    ],
    lifecycle: [
        ("never", {"days": 0}, "pass", ""),
        ("offered", {"days": 30}, "pass", ""),
        (
            "next-to-it",
            {"days": 31},
            "fail",
            (
                "trainers: infrequent_access_days=31: is not a lifecycle period that EFS supports; use 0, 1, 7, 14, "
                "30, "
                "60, 90, 180, 270 or 365 [aws-files-lifecycle]"
            ),
        ),
    ],
    directory_legal: [
        ("plain", {"directory": "/shared"}, "pass", ""),
        ("four-deep", {"directory": "/a/b/c/d"}, "pass", ""),
        (
            "five-deep",
            {"directory": "/a/b/c/d/e"},
            "fail",
            (
                "trainers: directory=/a/b/c/d/e: is not a valid directory for an EFS access point; use a path "
                "such as /shared, at most four directories deep [aws-files-directory]"
            ),
        ),
        (
            "relative",
            {"directory": "shared"},
            "fail",
            (
                "trainers: directory=shared: is not a valid directory for an EFS access point; use a path such "
                "as /shared, at most four directories deep [aws-files-directory]"
            ),
        ),
        (
            "root",
            {"directory": "/"},
            "fail",
            (
                "trainers: directory=/: is not a valid directory for an EFS access point; use a path such as "
                "/shared, at most four directories deep [aws-files-directory]"
            ),
        ),
        (
            "hidden",
            {"directory": "/.shared"},
            "fail",
            (
                "trainers: directory=/.shared: is not a valid directory for an EFS access point; use a path such "
                "as /shared, at most four directories deep [aws-files-directory]"
            ),
        ),
        ("longest", {"directory": "/" + "d" * 99}, "pass", ""),
        (
            "too-long",
            {"directory": "/" + "d" * 100},
            "fail",
            (
                "trainers: directory=/"
                + "d" * 100
                + (
                    ": is not a valid directory for an EFS access point; use a path such as "
                    "/shared, at most four directories deep [aws-files-directory]"
                )
            ),
        ),
    ],
    permissions_legal: [
        ("four", {"permissions": "0755"}, "pass", ""),
        ("three", {"permissions": "750"}, "pass", ""),
        (
            "two",
            {"permissions": "75"},
            "fail",
            (
                'trainers: permissions=75: is not an octal file mode; use three or four digits 0 to 7, such as "0755" '
                "[aws-files-permissions]"
            ),
        ),
        (
            "not-octal",
            {"permissions": "0789"},
            "fail",
            (
                "trainers: permissions=0789: is not an octal file mode; use three or four digits 0 to 7, such as "
                '"0755" '
                "[aws-files-permissions]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
