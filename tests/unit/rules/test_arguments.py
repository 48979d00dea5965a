"""Cases of gpufleet.rules.arguments."""

from gpufleet.rules.arguments import argument_given, argument_kind, argument_known

CASES = {
    argument_known: [
        ("known", {"name": "zones", "value": ("use1-az1",), "known": ("types", "zones")}, "pass", ""),
        (
            "misspelt",
            {"name": "zone", "value": ("use1-az1",), "known": ("types", "zones")},
            "fail",
            "trainers: zone=[use1-az1]: unknown argument; did you mean zones? [any-argument-known]",
        ),
        (
            "far-off",
            {"name": "spread", "value": True, "known": ("types", "zones")},
            "fail",
            ("trainers: spread=true: unknown argument; remove it, or use types or zones [any-argument-known]"),
        ),
    ],
    argument_given: [
        ("given", {"name": "max", "given": True, "says": "a whole number"}, "pass", ""),
        (
            "missing",
            {"name": "max", "given": False, "says": "a whole number"},
            "fail",
            "trainers: max=null: is required; give a whole number [any-argument-given]",
        ),
    ],
    argument_kind: [
        ("text", {"name": "image", "value": "al2023", "kind": str}, "pass", ""),
        (
            "number-for-text",
            {"name": "image", "value": 2023, "kind": str},
            "fail",
            "trainers: image=2023: is not a string; give a string, known before deployment [any-argument-kind]",
        ),
        ("whole", {"name": "max", "value": 2, "kind": int}, "pass", ""),
        ("whole-as-float", {"name": "max", "value": 2.0, "kind": int}, "pass", ""),
        (
            "fraction",
            {"name": "max", "value": 2.5, "kind": int},
            "fail",
            (
                "trainers: max=2.5: is not a whole number; give a whole number, known before deployment "
                "[any-argument-kind]"
            ),
        ),
        (
            "text-for-whole",
            {"name": "max", "value": "2", "kind": int},
            "fail",
            (
                'trainers: max="2": is not a whole number; give a whole number, known before deployment '
                "[any-argument-kind]"
            ),
        ),
        (
            "flag-for-whole",
            {"name": "max", "value": True, "kind": int},
            "fail",
            (
                "trainers: max=true: is not a whole number; give a whole number, known before deployment "
                "[any-argument-kind]"
            ),
        ),
        (
            "not-a-number",
            {"name": "max", "value": float("nan"), "kind": int},
            "fail",
            (
                "trainers: max=nan: is not a whole number; give a whole number, known before deployment "
                "[any-argument-kind]"
            ),
        ),
        ("number", {"name": "provisioned_mibps", "value": 1.5, "kind": float}, "pass", ""),
        ("flag", {"name": "erase", "value": False, "kind": bool}, "pass", ""),
        (
            "text-for-flag",
            {"name": "erase", "value": "false", "kind": bool},
            "fail",
            (
                'trainers: erase="false": is not true or false; give true or false, known before deployment '
                "[any-argument-kind]"
            ),
        ),
        ("list", {"name": "zones", "value": ("use1-az1",), "kind": list}, "pass", ""),
        (
            "text-for-list",
            {"name": "zones", "value": "use1-az1", "kind": list},
            "fail",
            (
                'trainers: zones="use1-az1": is not a list of strings; give a list of strings, known before '
                "deployment [any-argument-kind]"
            ),
        ),
        (
            "numbers-in-list",
            {"name": "zones", "value": [1], "kind": list},
            "fail",
            (
                "trainers: zones=[1]: is not a list of strings; give a list of strings, known before deployment "
                "[any-argument-kind]"
            ),
        ),
        ("mapping", {"name": "labels", "value": {"a": "b"}, "kind": dict}, "pass", ""),
        (
            "numbers-in-mapping",
            {"name": "labels", "value": {"a": 1}, "kind": dict},
            "fail",
            (
                "trainers: labels={a: 1}: is not a mapping from strings to strings; give a mapping from strings to "
                "strings, known before deployment [any-argument-kind]"
            ),
        ),
        ("any", {"name": "vpc_id", "value": object(), "kind": None}, "pass", ""),
        (
            "output",
            {"name": "region", "value": object(), "kind": str},
            "fail",
            "trainers: region=<object>: is not a string; give a string, known before deployment [any-argument-kind]",
        ),
    ],
}


def test_case(case):
    case.check()
