"""Whether this is a rehearsal, and where it plays a cloud's service: a URL of this machine in a variable."""

import os
from urllib.parse import urlsplit

from gpufleet.errors import UserError

REHEARSAL = "GPUFLEET_REHEARSAL"
"""Variable that says that this is a rehearsal: its directory."""


def is_state_rehearsed() -> bool:
    """Whether the engine that runs this program keeps its state in a rehearsal.

    The directory alone does not say so: in a rehearsal's shell somebody may log in to another backend.
    """
    home = os.environ.get(REHEARSAL)
    return bool(home) and os.environ.get("PULUMI_BACKEND_URL", "").startswith(f"file://{home}/")


def endpoint_override(variable: str) -> str | None:
    """The URL of a played service, None for the real one.

    Errors: UserError outside of a rehearsal, and for another machine.
    """
    url = os.environ.get(variable)
    if not url:
        return None
    parts = urlsplit(url)
    if REHEARSAL not in os.environ:
        raise UserError(f"{variable}={url}: holds in a rehearsal only; unset it, or run `gpufleet rehearse ENV -- ...`")
    if parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1"):
        return url.rstrip("/")
    raise UserError(f"{variable}={url}: must be an http:// URL of this machine; change or unset it")
