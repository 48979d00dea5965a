"""Cases of gpufleet.rules.kubernetes.users."""

from gpufleet.rules.kubernetes.users import (
    id_of_a_person,
    login_name,
    uid_of_one,
    validate_users,
    validate_users_of_teams,
)

_NAME = "use up to 32 lower-case letters, digits and . _ - between them, a letter first, such as ana [any-user-login]"
_SYSTEM = "is one of the system's; use 1000 or more, or set least_id [any-user-id]"
_RANGE = "must be from 1 to 2147483647, which Kubernetes takes; use one of 1000 to 2147483647 [any-user-id]"

CASES = {
    login_name: [
        ("short", {"name": "a"}, "pass", ""),
        ("usual", {"name": "ana.b-c_2"}, "pass", ""),
        ("longest", {"name": "a" * 32}, "pass", ""),
        ("too long", {"name": "a" * 33}, "fail", f"trainers: users={'a' * 33}: is not a valid login name; {_NAME}"),
        ("capital", {"name": "Ana"}, "fail", f"trainers: users=Ana: is not a valid login name; {_NAME}"),
        ("domain", {"name": "LAB\\ana"}, "fail", f"trainers: users=LAB\\ana: is not a valid login name; {_NAME}"),
        ("of a service", {"name": "_apt"}, "fail", f"trainers: users=_apt: is not a valid login name; {_NAME}"),
        ("colon", {"name": "ana:0"}, "fail", f"trainers: users=ana:0: is not a valid login name; {_NAME}"),
    ],
    id_of_a_person: [
        ("least", {"argument": "gid", "number": 1000, "least": 1000}, "pass", ""),
        ("older", {"argument": "gid", "number": 500, "least": 500}, "pass", ""),
        ("most", {"argument": "gid", "number": 2147483647, "least": 1000}, "pass", ""),
        (
            "root",
            {"argument": "users.ana.uid", "number": 0, "least": 1000},
            "fail",
            "trainers: users.ana.uid=0: is root's; give a person's, 1000 or more [any-user-id]",
        ),
        (
            "system",
            {"argument": "users.ana.uid", "number": 999, "least": 1000},
            "fail",
            f"trainers: users.ana.uid=999: {_SYSTEM}",
        ),
        (
            "nobody",
            {"argument": "gid", "number": 65534, "least": 1000},
            "fail",
            "trainers: gid=65534: is nobody's, on an NFS server's too; give a person's [any-user-id]",
        ),
        ("negative", {"argument": "gid", "number": -1, "least": 1000}, "fail", f"trainers: gid=-1: {_RANGE}"),
        (
            "too large",
            {"argument": "gid", "number": 2147483648, "least": 1000},
            "fail",
            f"trainers: gid=2147483648: {_RANGE}",
        ),
    ],
    uid_of_one: [
        ("one", {"uid": 1501, "names": ["ana"]}, "pass", ""),
        (
            "two",
            {"uid": 1501, "names": ["ana", "ben"]},
            "fail",
            "trainers: users=1501: is the uid of ana and ben; give each their own [any-user-distinct]",
        ),
    ],
}


def refused(findings):
    return [each.line("trainers") for each in findings if each.rejects]


def test_all_of_a_team():
    users = {"ana": {"uid": 0, "gid": 1501}, "ben": {"uid": 1501, "gid": 1501}, "cy": {"uid": 1501, "gid": 12}}
    assert refused(validate_users({"users": users, "gid": 3})) == [
        f"trainers: gid=3: {_SYSTEM}",
        "trainers: users.ana.uid=0: is root's; give a person's, 1000 or more [any-user-id]",
        f"trainers: users.cy.gid=12: {_SYSTEM}",
        "trainers: users=1501: is the uid of ben and cy; give each their own [any-user-distinct]",
    ]


def test_values_of_another_kind_are_not_judged():
    assert refused(validate_users({"users": {"ana": 7}, "gid": "staff"})) == []


def test_one_person_in_two_teams_and_two_persons_of_one_uid():
    ana, eve = {"uid": 1501, "gid": 1501}, {"uid": 1501, "gid": 1600}
    assert refused(validate_users_of_teams({"vision": {"ana": ana}, "speech": {"ana": ana}})) == []
    assert refused(validate_users_of_teams({"vision": {"ana": ana}, "speech": {"eve": eve}})) == [
        "trainers: users=1501: is the uid of ana of vision and eve of speech; give each their own [any-user-distinct]"
    ]


def test_case(case):
    case.check()
