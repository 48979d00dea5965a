"""Which login each registry of a list gets: of the list, of the cloud, or what the user has logged in with."""

import base64
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet.images.mirror.image_list import Login
from gpufleet.images.registry_auth import login_file


@dataclass(frozen=True)
class Credentials:
    """logins: of the list. environment: variables with their passwords."""

    logins: Sequence[Login] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def check(self) -> None:
        """Errors: UserError, a line for each login whose variable is not there."""
        faults = [
            f"logins: {each.registry}: the variable {each.password_env} is not set; set it to the password or API key"
            for each in self.logins
            if not self.environment.get(each.password_env)
        ]
        if faults:
            raise UserError("\n".join(faults))

    @contextmanager
    def file(self, host: str) -> Iterator[Path | None]:
        """An auth file for a registry; None where the user's own is enough. Errors: UserError."""
        login = self._of(host)
        entry = None
        if login is not None:
            pair = f"{login.user}:{self.environment[login.password_env]}"
            entry = base64.b64encode(pair.encode()).decode()
        with login_file(host, entry=entry) as file:
            yield file

    def login_hint(self, host: str) -> str:
        """What to look at when a registry refuses the login."""
        login = self._of(host)
        if login is None:
            if host == "nvcr.io":
                return "list it under `logins` with the user $oauthtoken and the variable that holds the API key"
            return f"`skopeo login {host}`, or list it under `logins`"
        if login.user == "$oauthtoken":
            return (
                f"is ${login.password_env} a valid NGC API key of an account that may see it? The user is $oauthtoken"
            )
        return f"look at the user {login.user}, and at the password in ${login.password_env}"

    def _of(self, host: str) -> Login | None:
        return next((login for login in self.logins if login.registry == host), None)
