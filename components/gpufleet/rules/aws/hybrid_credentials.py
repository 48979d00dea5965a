"""Rules on how own servers prove to a cluster who they are: an activation of SSM, or certificates (Roles Anywhere)."""

import ssl
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from gpufleet.rules import coerce
from gpufleet.rules.aws.remote_networks import validate_remote_networks
from gpufleet.rules.aws.zones import validate_region
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

KINDS = ("ssm", "roles-anywhere")
MOST_DAYS = 30
MOST_SERVERS = 1000


class CertificateAuthority(NamedTuple):
    """What a certificate says: whose it is, and its last moment (UTC)."""

    subject: str
    ends: datetime


@rule("aws-hybrid-credentials", Severity.ERROR)
def credentials_of_one_kind(*, credentials: str, activation_expires: str, has_authority: bool) -> Outcome:
    """On-prem servers have credentials of one kind: an SSM activation, or certificates of your own authority.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-creds.html: either; you should not use both.
    """
    if credentials == "ssm" and has_authority:
        problem = "is of no use with credentials=ssm, and both kinds at once are not supported"
        return failed("certificate_authority", "given", problem, "leave it out, or set credentials=roles-anywhere")
    if credentials == "roles-anywhere" and activation_expires:
        problem = "is of no use with credentials=roles-anywhere, and both kinds at once are not supported"
        return failed("activation_expires", activation_expires, problem, "leave it out, or set credentials=ssm")
    if credentials == "roles-anywhere" and not has_authority:
        fix = "give the PEM of the authority that signs the servers' certificates, or set credentials=ssm"
        return failed("certificate_authority", "", "is needed with credentials=roles-anywhere", fix)
    return passed()


@rule("aws-hybrid-activation-expires", Severity.ERROR)
def activation_ends(*, day: str, today: date) -> Outcome:
    """An activation ends at the start (UTC) of a future day, at most 30 days ahead.

    Source: https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateActivation.html (ExpirationDate:
    up to 30 days in advance; without one, 24 hours).
    """
    last = today + timedelta(days=MOST_DAYS)
    fix = f"give a day up to {last}, or leave it out: servers that have joined stay"
    try:
        ends = date.fromisoformat(day)
    except ValueError:
        return failed("activation_expires", day, "is not a date", f"write it like {last}")
    if ends <= today:
        return failed("activation_expires", day, "has passed, so no server can join with this activation", fix)
    if ends > last:
        return failed("activation_expires", day, f"is more than the {MOST_DAYS} days ahead that AWS allows", fix)
    return passed()


@rule("aws-hybrid-activation-count", Severity.ERROR)
def activation_count(*, count: int) -> Outcome:
    """An activation registers 1 to 1000 servers.

    Source: https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_CreateActivation.html
    (RegistrationLimit); an account's standard tier has room for 1000 in a region
    (docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-creds.html).
    """
    if 1 <= count <= MOST_SERVERS:
        return passed()
    fix = f"use 1 to {MOST_SERVERS}; more take a cluster each, or credentials=roles-anywhere"
    return failed("count", count, "is a number of servers that an activation of SSM does not register", fix)


@rule("aws-hybrid-certificate", Severity.ERROR)
def certificate_readable(*, certificates: int, authorities: int) -> Outcome:
    """A trust anchor is one certificate in PEM, of an authority; `authorities` counts those among the certificates.

    Source: https://docs.aws.amazon.com/rolesanywhere/latest/userguide/trust-model.html (signature verification): the
    certificate is X.509v3 with CA:true.
    """
    whose = "openssl x509 -in ca.pem -noout -text shows it"
    if certificates == 0:
        fix = "give the whole text from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----"
        return failed("certificate_authority", "given", "is not a PEM certificate", fix)
    if certificates > 1:
        fix = "give the one certificate whose key signs those of the servers"
        return failed("certificate_authority", "given", f"holds {certificates} certificates", fix)
    if authorities == 0:
        fix = f"give that of the authority (CA:TRUE; {whose}), not a server's own"
        return failed("certificate_authority", "given", "is not the certificate of an authority", fix)
    return passed()


@rule("aws-hybrid-certificate-ends", Severity.ERROR)
def certificate_ends(*, subject: str, ends: date, today: date) -> Outcome:
    """The certificate of an authority has not ended: Roles Anywhere then trusts no server.

    Source: https://docs.aws.amazon.com/rolesanywhere/latest/userguide/trust-model.html: certificates are valid.
    """
    if ends > today:
        return passed()
    return failed("certificate_authority", subject, f"ended on {ends}", "give that of an authority that still signs")


def authorities_of(pem: str) -> tuple[int, list[CertificateAuthority]]:
    """How many certificates a text in PEM holds, and those of authorities among them; (0, []) where it is not PEM."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=pem.encode("ascii").decode())
    except (ssl.SSLError, ValueError):
        return 0, []
    found = []
    for each in context.get_ca_certs():
        ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(each["notAfter"])), UTC)
        found.append(CertificateAuthority(_subject(each.get("subject")), ends))
    return context.cert_store_stats()["x509"], found


def validate_hybrid_nodes(args: Mapping[str, object], today: date | None = None) -> list[Finding]:
    """Every finding on own servers that join a cluster. today: UTC, default that of the clock.

    Reads region, credentials (ssm, roles-anywhere), count, activation_expires (2026-12-01), certificate_authority
    (PEM), remote_networks ({nodes, pods}), vpc_cidr, service_cidr, tags.
    """
    now = today or datetime.now(UTC).date()
    credentials, expires = coerce.text(args, "credentials"), coerce.text(args, "activation_expires")
    pem = coerce.text(args, "certificate_authority")
    findings = [
        validate_region(coerce.text(args, "region")),
        allowed_choice(argument="credentials", word=credentials, legal=KINDS),
        credentials_of_one_kind(credentials=credentials, activation_expires=expires, has_authority=bool(pem)),
        *validate_remote_networks(args),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    if credentials == "ssm":
        findings.append(activation_count(count=coerce.whole(args, "count", 1)))
        if expires:
            findings.append(activation_ends(day=expires, today=now))
    if credentials == "roles-anywhere" and pem:
        certificates, authorities = authorities_of(pem)
        findings.append(certificate_readable(certificates=certificates, authorities=len(authorities)))
        findings += [certificate_ends(subject=each.subject, ends=each.ends.date(), today=now) for each in authorities]
    return findings


def _subject(names: object) -> str:
    """The common name of a certificate's subject as the ssl module tells it: tuples of tuples of (name, value)."""
    parts = [pair for group in names for pair in group] if isinstance(names, tuple) else []
    return next((str(value) for name, value in parts if name == "commonName"), "without a common name")
