"""Rules on the users of a team: which uid and gid the jobs of each run under."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

LEAST_ID = 1000
_MOST_ID = 2_147_483_647
_NOBODY = 65534
_LOGIN = re.compile(r"[a-z_]([a-z0-9._-]{0,30}[a-z0-9])?")
_OUT = f"must be from 1 to {_MOST_ID}, which Kubernetes takes"


@rule("any-user-login", Severity.ERROR)
def login_name(*, name: str) -> Outcome:
    """A user name is valid in /etc/passwd, as a directory name and as a label value.

    Source: man useradd (32 characters, lower-case letters first);
    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
    """
    if _LOGIN.fullmatch(name) and not name.startswith("_"):
        return passed()
    fix = "use up to 32 lower-case letters, digits and . _ - between them, a letter first, such as ana"
    return failed("users", name, "is not a valid login name", fix)


@rule("any-user-id", Severity.ERROR)
def id_of_a_person(*, argument: str, number: int, least: int) -> Outcome:
    """A uid or gid belongs to a person or a team: not to root, nobody or, below `least`, the system.

    Source: man login.defs (UID_MIN 1000); man 5 nfs: a server may take nobody's 65534 for everybody whom it does not
    know; https://kubernetes.io/docs/concepts/security/pod-security-standards/ (restricted: no root); the API server
    takes no number above 2147483647.
    """
    if number == 0:
        return failed(argument, number, "is root's", f"give a person's, {least} or more")
    if not 0 < number <= _MOST_ID:
        return failed(argument, number, _OUT, f"use one of {least} to {_MOST_ID}")
    if number == _NOBODY:
        return failed(argument, number, "is nobody's, on an NFS server's too", "give a person's")
    if number < least:
        return failed(argument, number, "is one of the system's", f"use {least} or more, or set least_id")
    return passed()


@rule("any-user-distinct", Severity.ERROR)
def uid_of_one(*, uid: int, names: Sequence[str]) -> Outcome:
    """A uid belongs to one user, because its files belong to everybody who has it. `names`: its users, with their team.

    Source: man 5 nfs (AUTH_SYS): a server knows users by their number alone.
    """
    if len(names) < 2:
        return passed()
    return failed("users", uid, f"is the uid of {' and '.join(names)}", "give each their own")


def validate_users(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the users of a team. Reads users (name to uid, gid), gid, least_id."""
    users = coerce.mapping(args, "users")
    least = coerce.whole(args, "least_id", LEAST_ID)
    findings: list[Finding] = []
    if coerce.is_whole(args.get("gid")):
        findings.append(id_of_a_person(argument="gid", number=coerce.whole(args, "gid", 0), least=least))
    for name, ids in users.items():
        findings.append(login_name(name=name))
        for kind in ("uid", "gid"):
            if isinstance(ids, Mapping) and coerce.is_whole(ids.get(kind)):
                number = coerce.whole(ids, kind, 0)
                findings.append(id_of_a_person(argument=f"users.{name}.{kind}", number=number, least=least))
    return findings + [uid_of_one(uid=uid, names=names) for uid, names in uids({"": users}).items()]


def validate_users_of_teams(teams: Mapping[str, Mapping[str, object]]) -> list[Finding]:
    """Whether users of different teams share a uid. teams: a team's users by its name.

    One person may be in several teams, under the same name and uid.
    """
    found = uids(teams)
    return [uid_of_one(uid=uid, names=names) for uid, names in found.items()]


def uids(teams: Mapping[str, Mapping[str, object]]) -> dict[int, list[str]]:
    """The users of each uid. teams: users by team; with an empty name of the team users stand without it."""
    found: dict[int, dict[str, str]] = {}
    for team, users in teams.items():
        for name, ids in users.items():
            if isinstance(ids, Mapping) and coerce.is_whole(ids.get("uid")):
                of = f"{name} of {team}" if team else name
                found.setdefault(coerce.whole(ids, "uid", 0), {}).setdefault(name, of)
    return {uid: list(names.values()) for uid, names in found.items()}
