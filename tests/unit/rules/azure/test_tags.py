"""Cases of gpufleet.rules.azure.tags."""

from datetime import date

from gpufleet.rules import Status
from gpufleet.rules.azure.tags import tag_key, tag_number, tag_value, validate_azure_tags

CASES = {
    tag_key: [
        ("plain", {"key": "expires-at"}, "pass", ""),
        ("longest", {"key": "k" * 128}, "pass", ""),
        (
            "empty",
            {"key": ""},
            "fail",
            "trainers: tags='': is not 1 to 128 characters long; give it a key [azure-tag-key]",
        ),
        (
            "too-long",
            {"key": "k" * 129},
            "fail",
            f"trainers: tags={'k' * 129}: is not 1 to 128 characters long; use a shorter key [azure-tag-key]",
        ),
        (
            "reserved",
            {"key": "AzureTeam"},
            "fail",
            (
                "trainers: tags=AzureTeam: begins with a word that Azure keeps for itself; use another prefix "
                "[azure-tag-key]"
            ),
        ),
        (
            "characters",
            {"key": "a/b?"},
            "fail",
            "trainers: tags=a/b?: has ? and /, which Azure rejects; use other characters [azure-tag-key]",
        ),
    ],
    tag_value: [
        ("longest", {"key": "k", "value": "v" * 256}, "pass", ""),
        ("any-character", {"key": "k", "value": "a/b?;"}, "pass", ""),
        (
            "too-long",
            {"key": "k", "value": "v" * 257},
            "fail",
            f"trainers: tags.k={'v' * 157}...: is 257 characters long; use at most 256 [azure-tag-value]",
        ),
    ],
    tag_number: [
        ("most", {"number": 50, "most": 50}, "pass", ""),
        (
            "too-many",
            {"number": 51, "most": 50},
            "fail",
            "trainers: tags=51: is more tags than the resources may carry; use at most 50 [azure-tag-number]",
        ),
        (
            "too-many-for-dns",
            {"number": 16, "most": 15},
            "fail",
            "trainers: tags=16: is more tags than the resources may carry; use at most 15 [azure-tag-number]",
        ),
    ],
}


def test_case(case):
    case.check()


def test_tags_are_judged_one_by_one():
    tags = {"a<b": "x", "b": "y" * 300, "expires-at": "2026-11-20", "later": object()}
    findings = validate_azure_tags(tags, today=date(2026, 11, 21))
    rules = sorted({each.rule for each in findings if each.status is not Status.PASS})
    assert rules == ["any-tag-expired", "azure-tag-key", "azure-tag-value"]
