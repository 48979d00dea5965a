"""A user as their processes see them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class User:
    """A login name with its ids. groups: further gids, such as the team's."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...] = ()


def passwd_text(user: User, home: str) -> str:
    """An /etc/passwd with the user, and those that ssh, sshd and shells look up.

    ssh and sshd end when the uid that they run under has no entry ("No user exists for uid", OpenSSH ssh.c and sshd.c).
    """
    lines = [
        "root:x:0:0:root:/root:/bin/sh",
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
        "sshd:x:100:65534::/run/sshd:/usr/sbin/nologin",
        f"{user.name}:x:{user.uid}:{user.gid}::{home}:/bin/sh",
    ]
    return "".join(f"{line}\n" for line in lines)
