"""What the user data of a launch template is."""

import base64
import binascii

from gpufleet.rules.aws.node_group import MULTIPART, TOML

GZIP = "gzip"
TEXT = "text"
NOT_ENCODED = "not base64"


def form_of(user_data: str) -> str:
    """The form of user data as a launch template holds it, in base64."""
    try:
        data = base64.b64decode(user_data, validate=True)
    except (binascii.Error, ValueError):
        return NOT_ENCODED
    if data.startswith(b"\x1f\x8b"):
        return GZIP
    head = data.lstrip()[:4096].lower()
    if head.startswith((b"mime-version:", b"content-type: multipart/")):
        return MULTIPART
    return TOML if head.startswith((b"[settings", b"# ", b"[")) and b"=" in head else TEXT
