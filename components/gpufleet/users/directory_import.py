"""Users from what `getent passwd` or `ldapsearch` prints: any directory that these can ask, LDAP and AD included.

No LDAP library is among the dependencies: ldap3 has had no release since 2021 and is LGPL. The tools are on every
machine that logs its users in from a directory, with its CA certificates and its login (SSSD, Kerberos) set up.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping

from gpufleet.errors import UserError

_NAMES = ("uid", "samaccountname")
"""Attributes with the login name: POSIX accounts' (RFC 2307), and Active Directory's."""
_ASK = "give the output of `getent passwd` or `ldapsearch -LLL ... uid uidNumber gidNumber`"


def parse_users(text: str, source: str, least: int = 1000) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Users by name as {uid, gid}, sorted by name; and a line for each entry that was left out, with its reason.

    Left out are the system's accounts (below `least`, and nobody) and entries without numbers, such as computers.
    Errors: UserError for lines that are neither format, a name with two uids, or text without any user.
    """
    entries = list(_ldif(text, source) if _is_ldif(text) else _passwd(text, source))
    users: dict[str, dict[str, int]] = {}
    skipped: list[str] = []
    faults: list[str] = []
    for name, uid, gid in entries:
        if uid is None or gid is None:
            skipped.append(f"{name}: has no POSIX uid and gid")
        elif uid < least or uid == 65534:
            skipped.append(f"{name}: uid {uid} is a system account's")
        elif users.setdefault(name, {"uid": uid, "gid": gid}) != {"uid": uid, "gid": gid}:
            faults.append(f"{source}: {name}={uid}: is there with uid {users[name]['uid']} too; ask for one directory")
    if faults:
        raise UserError("\n".join(faults))
    if not users:
        raise UserError(f"{source}: has no user with a uid of {least} or more; {_ASK}")
    return dict(sorted(users.items())), skipped


def _is_ldif(text: str) -> bool:
    return any(line.startswith("dn:") for line in text.splitlines())


def _passwd(text: str, source: str) -> Iterator[tuple[str, int | None, int | None]]:
    """Name, uid and gid of each line. Source: man 5 passwd."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split(":")
        if len(fields) != 7 or not _is_id(fields[2]) or not _is_id(fields[3]):
            raise UserError(f"{source}: line {number}: is not a line of passwd; {_ASK}")
        yield fields[0], int(fields[2]), int(fields[3])


def _ldif(text: str, source: str) -> Iterator[tuple[str, int | None, int | None]]:
    """The same of each entry. Source: RFC 2849 (folded lines, base64 after ::), RFC 2307 (uidNumber, gidNumber)."""
    unfolded = text.replace("\r\n", "\n").replace("\n ", "")
    for block in unfolded.split("\n\n"):
        entry = _attributes([line for line in block.splitlines() if line and not line.startswith("#")], source)
        name = next((entry[each] for each in _NAMES if each in entry), None)
        if "dn" not in entry or name is None:
            continue
        yield name, _number(entry, "uidnumber"), _number(entry, "gidnumber")


def _attributes(lines: Iterable[str], source: str) -> dict[str, str]:
    """The first value of each attribute, by its name in lower-case letters."""
    found: dict[str, str] = {}
    for line in lines:
        key, mark, value = line.partition(":")
        if not mark:
            raise UserError(f"{source}: {line[:40]}: is not a line of LDIF; {_ASK}")
        if value.startswith(":"):
            try:
                value = base64.b64decode(value[1:].strip(), validate=True).decode("utf-8")
            except ValueError:
                raise UserError(f"{source}: {key}: is not base64-encoded text; {_ASK}") from None
        found.setdefault(key.lower(), value.strip())
    return found


def _number(entry: Mapping[str, str], key: str) -> int | None:
    return int(entry[key]) if _is_id(entry.get(key, "")) else None


def _is_id(text: str) -> bool:
    # Linux's ids have 32 bits, and other scripts' digits are none.
    return text.isascii() and text.isdigit() and len(text) <= 10
