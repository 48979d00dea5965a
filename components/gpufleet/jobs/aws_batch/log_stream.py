"""The log of one container in CloudWatch Logs, read from its beginning on: no line is lost or doubled.

Sources: botocore's model of logs (GetLogEvents: the same token again is the end for now; pages may be empty before it;
a token lives for 24 hours).
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from gpufleet.aws.client import AwsClientError
from gpufleet.jobs.aws_batch.client import AwsBatchClient, error_code

_PAGES = 100_000
"""Most pages of one reading: a log that grows faster than it is read would never end."""


class AwsBatchLogStream:
    """One log stream; `new_lines` returns each line once."""

    def __init__(self, aws: AwsBatchClient, group: str, name: str) -> None:
        self._aws, self._group, self.name = aws, group, name
        self._token: str | None = None
        self._latest = 0
        self._at_latest: Counter[str] = Counter()
        """Lines of the latest millisecond: an expired token is replaced by this time, which is read again."""
        self._again: Counter[str] = Counter()

    def new_lines(self) -> Iterator[str]:
        """Lines written since the last call; none if the stream does not exist yet.

        An error between two pages loses no line. Errors: AwsBusy,
        AwsClientError.
        """
        for _ in range(_PAGES):
            page = self._page()
            if not page:
                return
            for event in page.get("events") or []:
                yield from self._lines(event)
            token, self._token = self._token, str(page["nextForwardToken"])
            if token == self._token:
                return

    def _page(self) -> dict[str, Any]:
        where = {"logGroupName": self._group, "logStreamName": self.name, "startFromHead": True}
        if self._token is not None:
            try:
                return self._aws.call("logs", "get_log_events", **where, nextToken=self._token)
            except AwsClientError as error:
                if error_code(error) != "InvalidParameterException":
                    raise
            self._token = None
            self._again = self._at_latest.copy()
        start = {"startTime": self._latest} if self._latest else {}
        return self._aws.call("logs", "get_log_events", **where, **start)

    def _lines(self, event: dict[str, Any]) -> Iterator[str]:
        time, message = int(event["timestamp"]), str(event["message"])
        if time == self._latest and self._again[message]:
            self._again[message] -= 1
            return
        if time > self._latest:
            self._latest = time
            self._at_latest.clear()
        if time == self._latest:
            self._at_latest[message] += 1
        # What a container writes between two line breaks; a progress bar's carriage returns stay in it.
        yield from message.removesuffix("\n").split("\n")
