"""The users in an environment's outputs, and the user that a command is for."""

import getpass
from collections.abc import Mapping
from typing import Any

from gpufleet.errors import UserError
from gpufleet.rules.messages import join_words, use_one_of
from gpufleet.users.user import User


def users_from_outputs(users: Mapping[str, Any], gid: object) -> dict[str, User]:
    """Users by name, from a stack's outputs. gid: of the team's own files, a group of each; None: there is none."""
    # Pulumi's outputs have no whole numbers: 1501 comes back as 1501.0.
    groups = (int(gid),) if isinstance(gid, int | float) else ()
    return {name: User(name, int(ids["uid"]), int(ids["gid"]), groups) for name, ids in users.items()}


def select_user(users: Mapping[str, User], wanted: str | None, where: str) -> User | None:
    """The user of this name, else of the one who is logged in; None where the environment has no users.

    Errors: UserError for a name that is not among them: nobody's job runs under a uid that may be another's.
    """
    if not users:
        if wanted is not None:
            raise UserError(f"{where}: user={wanted}: the environment has no users; name them in gpufleet:team.users")
        return None
    name = wanted or logged_in()
    if name in users:
        return users[name]
    if wanted is None:
        raise UserError(f"{where}: user={name}: the logged-in user is not in the team; use --user {join_words(users)}")
    raise UserError(f"{where}: user={name}: user not found; {use_one_of(name, list(users))}")


def logged_in() -> str:
    """The name of who is logged in here; ? where the system knows none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "?"
