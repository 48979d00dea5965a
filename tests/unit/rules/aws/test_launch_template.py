"""Cases of gpufleet.rules.aws.launch_template."""

from gpufleet.rules.aws.launch_template import groups_once, partition_of_group, user_data_encoded

CASES = {
    groups_once: [
        ("interfaces", {"interfaces": 1, "instance_groups": 0}, "pass", ""),
        ("instance", {"interfaces": 0, "instance_groups": 2}, "pass", ""),
        (
            "both",
            {"interfaces": 1, "instance_groups": 1},
            "fail",
            (
                "trainers: vpc_security_group_ids=1: EC2 rejects groups of the instance beside 1 network "
                "interface; name the groups in network_interfaces only [aws-template-groups-once]"
            ),
        ),
        (
            "many",
            {"interfaces": 4, "instance_groups": 2},
            "fail",
            (
                "trainers: vpc_security_group_ids=2: EC2 rejects groups of the instance beside 4 network "
                "interfaces; name the groups in network_interfaces only [aws-template-groups-once]"
            ),
        ),
    ],
    partition_of_group: [
        ("none", {"partition": None, "group": False}, "pass", ""),
        ("with", {"partition": 3, "group": True}, "pass", ""),
        (
            "without",
            {"partition": 1, "group": False},
            "fail",
            (
                "trainers: partition_number=1: has no placement group; leave it out, or name a placement group"
                " of the strategy partition [aws-template-partition]"
            ),
        ),
    ],
    user_data_encoded: [
        ("base64", {"encoded": True}, "pass", ""),
        (
            "text",
            {"encoded": False},
            "fail",
            (
                "trainers: user_data=text: is not base64, which EC2 requires here; encode it in base64 "
                "[aws-template-user-data]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
