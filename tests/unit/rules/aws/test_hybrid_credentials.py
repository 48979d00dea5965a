"""Cases of gpufleet.rules.aws.hybrid_credentials, and of its validation."""

from datetime import UTC, date, datetime, timedelta

import pytest

from gpufleet.rules import Status
from gpufleet.rules.aws.hybrid_credentials import (
    activation_count,
    activation_ends,
    authorities_of,
    certificate_ends,
    certificate_readable,
    credentials_of_one_kind,
    validate_hybrid_nodes,
)
from tests.components.certificates import certificate

TODAY = date(2026, 11, 22)
YESTERDAY = (TODAY - datetime.now(UTC).date()).days - 1
"""The day before TODAY, in days from now, by which a certificate's end is given."""
UNTIL = "give a day up to 2026-12-22, or leave it out: servers that have joined stay [aws-hybrid-activation-expires]"

CASES = {
    credentials_of_one_kind: [
        ("ssm", {"credentials": "ssm", "activation_expires": "2026-12-01", "has_authority": False}, "pass", ""),
        ("roles", {"credentials": "roles-anywhere", "activation_expires": "", "has_authority": True}, "pass", ""),
        (
            "ssm-with-certificate",
            {"credentials": "ssm", "activation_expires": "", "has_authority": True},
            "fail",
            "trainers: certificate_authority=given: is of no use with credentials=ssm, and both kinds at once are not "
            "supported; leave it out, or set credentials=roles-anywhere [aws-hybrid-credentials]",
        ),
        (
            "roles-with-activation",
            {"credentials": "roles-anywhere", "activation_expires": "2026-12-01", "has_authority": True},
            "fail",
            "trainers: activation_expires=2026-12-01: is of no use with credentials=roles-anywhere, and both kinds at "
            "once are not supported; leave it out, or set credentials=ssm [aws-hybrid-credentials]",
        ),
        (
            "roles-without-certificate",
            {"credentials": "roles-anywhere", "activation_expires": "", "has_authority": False},
            "fail",
            "trainers: certificate_authority='': is needed with credentials=roles-anywhere; give the PEM of the "
            "authority that signs the servers' certificates, or set credentials=ssm [aws-hybrid-credentials]",
        ),
    ],
    activation_ends: [
        ("tomorrow", {"day": "2026-11-23", "today": TODAY}, "pass", ""),
        ("thirty-days", {"day": "2026-12-22", "today": TODAY}, "pass", ""),
        (
            "today",
            {"day": "2026-11-22", "today": TODAY},
            "fail",
            "trainers: activation_expires=2026-11-22: has passed, so no server can join with this activation; " + UNTIL,
        ),
        (
            "thirty-one-days",
            {"day": "2026-12-23", "today": TODAY},
            "fail",
            "trainers: activation_expires=2026-12-23: is more than the 30 days ahead that AWS allows; " + UNTIL,
        ),
        (
            "no-day",
            {"day": "next week", "today": TODAY},
            "fail",
            "trainers: activation_expires=next week: is not a date; write it like 2026-12-22 "
            "[aws-hybrid-activation-expires]",
        ),
    ],
    activation_count: [
        ("one", {"count": 1}, "pass", ""),
        ("most", {"count": 1000}, "pass", ""),
        (
            "none",
            {"count": 0},
            "fail",
            "trainers: count=0: is a number of servers that an activation of SSM does not register; use 1 to 1000; "
            "more take a cluster each, or credentials=roles-anywhere [aws-hybrid-activation-count]",
        ),
        (
            "too-many",
            {"count": 1001},
            "fail",
            "trainers: count=1001: is a number of servers that an activation of SSM does not register; use 1 to 1000; "
            "more take a cluster each, or credentials=roles-anywhere [aws-hybrid-activation-count]",
        ),
    ],
    certificate_readable: [
        ("one-authority", {"certificates": 1, "authorities": 1}, "pass", ""),
        (
            "no-pem",
            {"certificates": 0, "authorities": 0},
            "fail",
            "trainers: certificate_authority=given: is not a PEM certificate; give the whole text from -----BEGIN "
            "CERTIFICATE----- to -----END CERTIFICATE----- [aws-hybrid-certificate]",
        ),
        (
            "two",
            {"certificates": 2, "authorities": 2},
            "fail",
            "trainers: certificate_authority=given: holds 2 certificates; give the one certificate whose key signs "
            "those of the servers [aws-hybrid-certificate]",
        ),
        (
            "server",
            {"certificates": 1, "authorities": 0},
            "fail",
            "trainers: certificate_authority=given: is not the certificate of an authority; give that of the authority "
            "(CA:TRUE; openssl x509 -in ca.pem -noout -text shows it), not a server's own [aws-hybrid-certificate]",
        ),
    ],
    certificate_ends: [
        ("tomorrow", {"subject": "Lab CA", "ends": date(2026, 11, 23), "today": TODAY}, "pass", ""),
        (
            "today",
            {"subject": "Lab CA", "ends": TODAY, "today": TODAY},
            "fail",
            "trainers: certificate_authority=Lab CA: ended on 2026-11-22; give that of an authority that still signs "
            "[aws-hybrid-certificate-ends]",
        ),
    ],
}

GOOD = {"region": "us-east-1", "credentials": "ssm", "remote_networks": {"nodes": ["10.80.0.0/24"]}}
CERTIFIED = GOOD | {"credentials": "roles-anywhere"}


def not_passed(args, today=None):
    return [finding.rule for finding in validate_hybrid_nodes(args, today) if finding.status is not Status.PASS]


def test_authorities_of_a_text():
    now = datetime.now(UTC)
    count, found = authorities_of(certificate("Lab CA", 10))
    assert (count, [each.subject for each in found]) == (1, ["Lab CA"])
    assert abs(found[0].ends - now - timedelta(days=10)) < timedelta(minutes=5)
    assert authorities_of(certificate("gpu-1", authority=False)) == (1, [])
    assert authorities_of(certificate("a") + certificate("b"))[0] == 2
    cut = certificate().replace("-----END", "")
    assert authorities_of("the lab's") == authorities_of(cut) == authorities_of("é") == (0, [])


@pytest.mark.parametrize(
    ("args", "rules"),
    [
        (GOOD, []),
        (GOOD | {"count": 40, "activation_expires": "2026-12-01"}, []),
        (CERTIFIED | {"certificate_authority": certificate()}, []),
        (GOOD | {"credentials": "password"}, ["any-argument-word"]),
        (GOOD | {"region": "mars"}, ["aws-region-known"]),
        (GOOD | {"tags": {"expires-at": "soon"}}, ["any-tag-expiry"]),
        (GOOD | {"activation_expires": "2026-10-01"}, ["aws-hybrid-activation-expires"]),
        (GOOD | {"count": 5000}, ["aws-hybrid-activation-count"]),
        (GOOD | {"vpc_cidr": "10.80.0.0/16"}, ["aws-hybrid-ranges-apart"]),
        (CERTIFIED | {"certificate_authority": certificate("old", YESTERDAY)}, ["aws-hybrid-certificate-ends"]),
        (CERTIFIED | {"certificate_authority": "PEM"}, ["aws-hybrid-certificate"]),
        (CERTIFIED, ["aws-hybrid-credentials"]),
    ],
)
def test_door(args, rules):
    assert not_passed(args, TODAY) == rules


def test_today_is_the_clocks_where_nobody_says():
    soon = datetime.now(UTC).date() + timedelta(days=2)
    assert not_passed(GOOD | {"activation_expires": soon.isoformat()}) == []


def test_case(case):
    case.check()
