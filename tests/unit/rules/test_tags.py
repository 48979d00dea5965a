"""Cases of gpufleet.rules.tags."""

from gpufleet.rules.tags import tag_expiry, tag_key, tag_number, tag_value

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
                "trainers: tags=owner?: has characters that AWS refuses; use letters, digits, spaces and _ . : / = "
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
                "trainers: tags.owner=a;b: has characters that AWS refuses; use letters, digits, spaces and _ . : "
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
        ("day", {"value": "2027-01-31"}, "pass", ""),
        ("never", {"value": "never"}, "pass", ""),
        (
            "no-such-day",
            {"value": "2027-02-30"},
            "fail",
            "trainers: tags.expires-at=2027-02-30: is no date; write it as 2027-01-31, or never [any-tag-expiry]",
        ),
        (
            "basic-form",
            {"value": "20270131"},
            "fail",
            "trainers: tags.expires-at=20270131: is no date; write it as 2027-01-31, or never [any-tag-expiry]",
        ),
        (
            "word",
            {"value": "tomorrow"},
            "fail",
            "trainers: tags.expires-at=tomorrow: is no date; write it as 2027-01-31, or never [any-tag-expiry]",
        ),
    ],
}


def test_case(case):
    case.check()
