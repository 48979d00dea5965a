"""The part of CloudWatch Logs by which a container's log is read.

Source: botocore's model of logs (GetLogEvents: a token that comes back is the end for now).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpufleet_rehearsal.aws_batch.played_batch import DEFAULT_GROUP
from gpufleet_rehearsal.aws_batch.rejection import AwsRejection

Data = dict[str, Any]
_MOST_EVENTS = 10_000


@dataclass(frozen=True)
class PlayedLogs:
    """groups: names of the account's log groups. streams: events by group and stream, each ms since 1970 and a line."""

    groups: set[str]
    streams: Mapping[str, Mapping[str, list[list[Any]]]]

    def get_log_events(self, logGroupName: str, logStreamName: str, **asked: Any) -> Data:  # noqa: ANN401
        """GetLogEvents, from the beginning on."""
        if not asked.get("startFromHead") or "endTime" in asked:
            raise AwsRejection("NotImplemented", "a rehearsal reads logs from their beginning to their end only", 501)
        if logGroupName not in self.groups and logGroupName != DEFAULT_GROUP:
            raise AwsRejection("ResourceNotFoundException", "The specified log group does not exist.")
        events = self.streams.get(logGroupName, {}).get(logStreamName)
        if events is None:
            raise AwsRejection("ResourceNotFoundException", "The specified log stream does not exist.")
        begin = int(str(asked.get("nextToken", "f/0")).removeprefix("f/"))
        page = [each for each in events[begin:] if each[0] >= asked.get("startTime", 0)]
        page = page[: asked.get("limit", _MOST_EVENTS)]
        end = begin if not page else events.index(page[-1]) + 1
        return {
            "events": [{"timestamp": moment, "message": line, "ingestionTime": moment} for moment, line in page],
            "nextForwardToken": f"f/{end}",
            "nextBackwardToken": f"b/{begin}",
        }
