"""Tell a webhook. Its URL is a secret as a rule: only its host is ever said."""

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

import urllib3

from gpufleet.errors import UserError

_SECONDS = 10.0


def notify(url: str, body: Mapping[str, object]) -> None:
    """Post JSON to a webhook, once more after a failure of the network. Errors: UserError."""
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise UserError("--notify: is no URL of a webhook; give one like https://hooks.example.com/services/...")
    where = f"--notify: {parts.hostname}"
    # Not followed elsewhere: what it is sent to is what was said.
    retries = urllib3.Retry(total=None, connect=1, read=0, redirect=False, status=0, backoff_factor=0.5)
    try:
        with urllib3.PoolManager(timeout=_SECONDS, retries=retries) as pool:
            answer = pool.request(
                "POST", url, body=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
            )
    except urllib3.exceptions.HTTPError as error:
        reason = getattr(error, "reason", None) or error
        raise UserError(f"{where}: was not told: {_without(str(reason), url)}; is its URL right?") from error
    if answer.status >= 300:
        raise UserError(f"{where}: was not told: it answers {answer.status}; is its URL right?")


def _without(text: str, url: str) -> str:
    """An error's words without the URL, the whole of it or its path."""
    parts = urlsplit(url)
    for part in (url, f"{parts.path}?{parts.query}", parts.path):
        text = text.replace(part, "...") if len(part) > 1 else text
    return " ".join(text.split())
