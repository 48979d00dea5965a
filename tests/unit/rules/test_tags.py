"""Cases of gpufleet.rules.tags."""

from datetime import date

from gpufleet.rules.tags import not_expired, tag_expiry, tag_key, tag_number, tag_value, validate_tags

CASES = {
    tag_key: [
        ("plain", {"key": "owner"}, "pass", ""),
        ("other-script", {"key": "propriétaire"}, "pass", ""),
        ("longest", {"key": "k" * 128}, "pass", ""),
        (
            "too-long",
            {"key": "k" * 129},
            "fail",
            ("trainers: tags=" + "k" * 129 + ": is not 1 to 128 characters long; use a shorter key [aws-tag-key]"),
        ),
        (
            "empty",
            {"key": ""},
            "fail",
            "trainers: tags='': is not 1 to 128 characters long; give it a key [aws-tag-key]",
        ),
        (
            "reserved",
            {"key": "aws:owner"},
            "fail",
            (
                "trainers: tags=aws:owner: begins with aws:, which AWS keeps for itself; use another prefix "
                "[aws-tag-key]"
            ),
        ),
        (
            "reserved-case",
            {"key": "AWS:owner"},
            "fail",
            (
                "trainers: tags=AWS:owner: begins with aws:, which AWS keeps for itself; use another prefix "
                "[aws-tag-key]"
            ),
        ),
        (
            "character",
            {"key": "owner?"},
            "fail",
            (
                "trainers: tags=owner?: has characters that AWS rejects; use letters, digits, spaces and _ . : / = "
                "+ - @ [aws-tag-key]"
            ),
        ),
    ],
    tag_value: [
        ("plain", {"key": "owner", "value": "team a@example.org"}, "pass", ""),
        ("empty", {"key": "owner", "value": ""}, "pass", ""),
        ("longest", {"key": "owner", "value": "v" * 256}, "pass", ""),
        (
            "too-long",
            {"key": "owner", "value": "v" * 257},
            "fail",
            ("trainers: tags.owner=" + "v" * 157 + "...: is 257 characters long; use at most 256 [aws-tag-value]"),
        ),
        (
            "character",
            {"key": "owner", "value": "a;b"},
            "fail",
            (
                "trainers: tags.owner=a;b: has characters that AWS rejects; use letters, digits, spaces and _ . : "
                "/ = + - @ [aws-tag-value]"
            ),
        ),
    ],
    tag_number: [
        ("most", {"number": 49}, "pass", ""),
        (
            "too-many",
            {"number": 50},
            "fail",
            (
                "trainers: tags=50: is more tags than a resource may carry beside its name; use at most 49 "
                "[aws-tag-number]"
            ),
        ),
    ],
    tag_expiry: [
        ("day", {"value": "2027-01-31", "today": "2026-11-21"}, "pass", ""),
        ("lifetime", {"value": "150h", "today": "2026-11-21"}, "pass", ""),
        ("never", {"value": "never", "today": "2026-11-21"}, "pass", ""),
        (
            "no-such-day",
            {"value": "2027-02-30", "today": "2026-11-21"},
            "fail",
            (
                "trainers: tags.expires-at=2027-02-30: is not a date; write it as 2027-01-31, 150h or never "
                "[any-tag-expiry]"
            ),
        ),
        (
            "basic-form",
            {"value": "20270131", "today": "2026-11-21"},
            "fail",
            "trainers: tags.expires-at=20270131: is not a date; write it as 2027-01-31, 150h or never [any-tag-expiry]",
        ),
        (
            "word",
            {"value": "tomorrow", "today": "2026-11-21"},
            "fail",
            "trainers: tags.expires-at=tomorrow: is not a date; write it as 2027-01-31, 150h or never [any-tag-expiry]",
        ),
        ("five-years", {"value": "2031-11-20", "today": "2026-11-21"}, "pass", ""),
        (
            "more-than-five-years",
            {"value": "2031-11-21", "today": "2026-11-21"},
            "fail",
            (
                "trainers: tags.expires-at=2031-11-21: is more than 5 years away; write a day until 2031-11-20, "
                "or never [any-tag-expiry]"
            ),
        ),
        (
            "last-day-of-all",
            {"value": "9999-12-31", "today": "2026-11-21"},
            "fail",
            (
                "trainers: tags.expires-at=9999-12-31: is more than 5 years away; write a day until 2031-11-20, "
                "or never [any-tag-expiry]"
            ),
        ),
        ("lifetime-of-five-years", {"value": "1825d", "today": "2026-11-21"}, "pass", ""),
        (
            "longer-lifetime",
            {"value": "1826d", "today": "2026-11-21"},
            "fail",
            (
                "trainers: tags.expires-at=1826d: is more than 5 years away; write a day until 2031-11-20, or never "
                "[any-tag-expiry]"
            ),
        ),
    ],
    not_expired: [
        ("today", {"value": "2026-11-21", "today": "2026-11-21"}, "pass", ""),
        (
            "yesterday",
            {"value": "2026-11-20", "today": "2026-11-21"},
            "fail",
            (
                "trainers: tags.expires-at=2026-11-20: has passed; bring the environment down, or set a later "
                "day if somebody still needs it [any-tag-expired]"
            ),
        ),
        ("never", {"value": "never", "today": "2026-11-21"}, "pass", ""),
        ("no-day", {"value": "soon", "today": "2026-11-21"}, "pass", ""),
    ],
}


def test_case(case):
    case.check()


def test_the_day_of_today_is_the_clocks():
    findings = validate_tags({"expires-at": "2026-01-31"}, date(2026, 2, 1))
    assert [each.rule for each in findings if each.status == "fail"] == ["any-tag-expired"]
    assert [each.rule for each in validate_tags({"expires-at": "1999-01-31"}) if each.status == "fail"] == [
        "any-tag-expired"
    ]
