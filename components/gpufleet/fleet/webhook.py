"""Post to a webhook. Its URL usually contains a secret, so messages name only its host."""

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
        raise UserError("--notify: must be the URL of a webhook, such as https://hooks.example.com/services/...")
    where = f"--notify: {parts.hostname}"
    # Redirects are not followed: the body goes only to the given host.
    retries = urllib3.Retry(total=None, connect=1, read=0, redirect=False, status=0, backoff_factor=0.5)
    try:
        with urllib3.PoolManager(timeout=_SECONDS, retries=retries) as pool:
            answer = pool.request(
                "POST", url, body=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
            )
    except urllib3.exceptions.HTTPError as error:
        reason = getattr(error, "reason", None) or error
        raise UserError(
            f"{where}: the webhook cannot be reached: {_without(str(reason), url)}; check its URL"
        ) from error
    if answer.status >= 300:
        raise UserError(f"{where}: the webhook answers {answer.status}; check its URL")


def _without(text: str, url: str) -> str:
    """An error's words without the URL, the whole of it or its path."""
    parts = urlsplit(url)
    for part in (url, f"{parts.path}?{parts.query}", parts.path):
        text = text.replace(part, "...") if len(part) > 1 else text
    return " ".join(text.split())
