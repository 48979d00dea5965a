"""Cases of gpufleet.rules.aws.efa_security_groups."""

from gpufleet.rules.aws.efa_security_groups import group_to_self, one_on_each_card

CASES = {
    group_to_self: [
        ("both", {"ingress": True, "egress": True}, "pass", ""),
        (
            "no-egress",
            {"ingress": True, "egress": False},
            "fail",
            (
                "trainers: security_groups=egress: there is no egress of all protocols between members, so that "
                "EFA hangs at its first message; add egress of protocol -1 with the group itself as the other "
                "side; 0.0.0.0/0 does not match EFA [aws-efa-group-to-self]"
            ),
        ),
        (
            "no-ingress",
            {"ingress": False, "egress": True},
            "fail",
            (
                "trainers: security_groups=ingress: there is no ingress of all protocols between members, so "
                "that EFA hangs at its first message; add ingress of protocol -1 with the group itself as the "
                "other side; 0.0.0.0/0 does not match EFA [aws-efa-group-to-self]"
            ),
        ),
        (
            "neither",
            {"ingress": False, "egress": False},
            "fail",
            (
                "trainers: security_groups=ingress and egress: there is no ingress and egress of all protocols "
                "between members, so that EFA hangs at its first message; add ingress and egress of protocol -1 "
                "with the group itself as the other side; 0.0.0.0/0 does not match EFA [aws-efa-group-to-self]"
            ),
        ),
        (
            "unclear",
            {"ingress": None, "egress": None},
            "unverified",
            (
                "trainers: security_groups=null: not verified: whether their rules let all traffic in and out "
                "between members is not known from the program; make sure of both directions, all protocols, "
                "with the group itself as the other side [aws-efa-group-to-self]"
            ),
        ),
        (
            "half-unclear",
            {"ingress": True, "egress": None},
            "unverified",
            (
                "trainers: security_groups=null: not verified: whether their rules let all traffic in and out "
                "between members is not known from the program; make sure of both directions, all protocols, "
                "with the group itself as the other side [aws-efa-group-to-self]"
            ),
        ),
        (
            "missing-and-unclear",
            {"ingress": None, "egress": False},
            "fail",
            (
                "trainers: security_groups=egress: there is no egress of all protocols between members, so that "
                "EFA hangs at its first message; add egress of protocol -1 with the group itself as the other "
                "side; 0.0.0.0/0 does not match EFA [aws-efa-group-to-self]"
            ),
        ),
    ],
    one_on_each_card: [
        ("each", {"cards": (0, 1, 2, 3)}, "pass", ""),
        ("none", {"cards": ()}, "pass", ""),
        (
            "two",
            {"cards": (0, 0)},
            "fail",
            (
                "trainers: network_card_index=0: is named by 2 EFA interfaces; give each EFA interface its "
                "own network_card_index [aws-fabric-cards]"
            ),
        ),
        (
            "three",
            {"cards": (0, 1, 1, 1)},
            "fail",
            (
                "trainers: network_card_index=1: is named by 3 EFA interfaces; give each EFA interface its "
                "own network_card_index [aws-fabric-cards]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
