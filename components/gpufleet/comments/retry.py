"""urllib3's Retry with code hosts' rate limits, and with a time limit."""

import time
from typing import Any

import urllib3
from urllib3 import BaseHTTPResponse

from gpufleet.comments.code_host import CommentError

SECONDS = 120.0
"""How long one command waits for a code host altogether."""
_MINUTE = 60.0
"""What GitHub asks for where no output of how long:
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit"""


class RateLimitRetry(urllib3.Retry):
    """Tries again on 429 and 5xx, and on 403 with Retry-After, which is how GitHub limits too.

    It also repeats what writes: a comment that is created twice by that is found and deleted (sticky.py).
    Never beyond `until` (time.monotonic()): then it raises CommentError.
    """

    RETRY_AFTER_STATUS_CODES = frozenset({403, 413, 429, 503})
    until: float
    label: str

    @classmethod
    def of(cls, label: str, seconds: float = SECONDS) -> "RateLimitRetry":
        made = cls(
            total=8,
            redirect=0,
            allowed_methods=None,
            status_forcelist=(429, 500, 502, 503, 504),
            backoff_factor=0.5,
            backoff_max=20,
            raise_on_status=False,
            raise_on_redirect=False,
        )
        made.until, made.label = time.monotonic() + seconds, label
        return made

    def new(self, **kw: Any) -> "RateLimitRetry":  # noqa: ANN401 - as urllib3 has it
        made = super().new(**kw)
        made.until, made.label = self.until, self.label
        return made

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Seconds by the answer's headers; None where it has none. Errors: CommentError where that is too long."""
        seconds = super().get_retry_after(response)
        if seconds is None and response.headers.get("x-ratelimit-remaining") == "0":
            seconds = max(1.0, float(response.headers.get("x-ratelimit-reset") or 0) - time.time())
        left = self.until - time.monotonic()
        if seconds is not None and seconds > left:
            raise CommentError(
                f"{self.label}: too many requests: the server asks to wait {seconds:.0f} s more, and "
                f"{max(left, 0):.0f} s are left; run it again later, or with more --patience"
            )
        return seconds

    def get_backoff_time(self) -> float:
        """Seconds where the answer says nothing; none are left beyond `until`. Errors: CommentError."""
        seconds = super().get_backoff_time()
        if seconds > self.until - time.monotonic():
            raise CommentError(f"{self.label}: keeps failing; run it again later")
        return seconds

    def wait_out(self, response: BaseHTTPResponse) -> bool:
        """Wait where a 403 is a limit that urllib3 knows nothing of, and say whether it was. Errors: CommentError."""
        if response.status not in (403, 429):
            return False
        seconds = self.get_retry_after(response)
        if seconds is None:
            if b"rate limit" not in response.data:
                return False
            seconds = _MINUTE
            if seconds > self.until - time.monotonic():
                raise CommentError(f"{self.label}: too many requests; run it again in a minute")
        time.sleep(max(1.0, seconds))
        return time.monotonic() < self.until
