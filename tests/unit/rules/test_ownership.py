"""Cases of the rules on who answers for what costs money."""

from datetime import date

from gpufleet.rules import ownership

REQUIRED = ("owner", "project", "expires-at")
TODAY = date(2026, 11, 21)


def expiry(value):
    return {"key": "expires-at", "value": value, "today": TODAY}


CASES = {
    ownership.owner_tags: [
        ("all", {"tags": ["owner", "project", "expires-at", "Name"], "required": REQUIRED}, "pass", ""),
        ("none-required", {"tags": [], "required": ()}, "pass", ""),
        (
            "one-missing",
            {"tags": ["owner", "expires-at"], "required": REQUIRED},
            "fail",
            "trainers: tags=[expires-at, owner]: project is missing; add it [any-owner-tags]",
        ),
        (
            "all-missing",
            {"tags": {}, "required": REQUIRED},
            "fail",
            "trainers: tags=[]: owner, project and expires-at are missing; add them [any-owner-tags]",
        ),
        (
            "not-known",
            {"tags": None, "required": REQUIRED},
            "unverified",
            "trainers: tags=unknown: not verified: which tags it has is not known; give the keys as plain text "
            "[any-owner-tags]",
        ),
    ],
    ownership.not_expired: [
        ("today", expiry("2026-11-21"), "pass", ""),
        ("never", expiry("never"), "pass", ""),
        ("no-day", expiry("soon"), "pass", ""),
        (
            "yesterday",
            expiry("2026-11-20"),
            "fail",
            "trainers: tags.expires-at=2026-11-20: this day has passed; destroy what nobody needs, or give a later day "
            "[any-owner-expiry]",
        ),
    ],
    ownership.temporary: [
        ("day", {"key": "expires-at", "value": "2027-01-31", "environment": "dev"}, "pass", ""),
        (
            "never",
            {"key": "expires-at", "value": "never", "environment": "aws-dev"},
            "fail",
            "trainers: tags.expires-at=never: aws-dev is for development and never ends; give a day like 2027-01-31 "
            "[any-owner-temporary]",
        ),
    ],
}


def test_case(case):
    case.check()
