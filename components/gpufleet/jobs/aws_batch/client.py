"""AWS calls for Batch jobs, with transient errors (AwsBusy) told apart from permanent ones.

boto3 (extra `jobs`) is imported by the first call, not with the module.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from gpufleet.aws.client import AwsClient, AwsClientError
from gpufleet.jobs.retrying import TransientError

T = TypeVar("T")

_TRANSIENT = {
    "InternalServerException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestTimeout",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
}
"""Codes of answers to questions that may be asked again. Sources: docs.aws.amazon.com/AmazonCloudWatchLogs/latest/
APIReference/CommonErrors.html, docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html."""


class AwsBusy(AwsClientError, TransientError):
    """AWS was not reached, or could not answer; the same call may succeed later."""


class AwsBatchClient(AwsClient):
    """The account in one region.

    attempts: how often boto3 makes a throttled or failed call before it is `AwsBusy`. seconds: for one answer.
    """

    def __init__(self, region: str, *, seconds: float = 30.0, attempts: int = 5) -> None:
        super().__init__(region, seconds=seconds, attempts=attempts)
        self.region = region

    def call(self, service: str, call: str, **arguments: object) -> dict[str, Any]:
        """The answer to one call; {} when AWS reports that the object does not exist.

        service and call as boto3 names them. Errors: AwsBusy, AwsClientError.
        """

        def answer() -> dict[str, Any]:
            with self._in_one_line(service, call):
                found: dict[str, Any] = getattr(self._client(service), call)(**arguments)
                return found
            return {}

        return self._raising_busy(answer)

    def ask(self, service: str, call: str, answer: str, **arguments: object) -> list[Any]:
        """As of `AwsClient`. Errors: AwsBusy, AwsClientError."""
        return self._raising_busy(lambda: super(AwsBatchClient, self).ask(service, call, answer, **arguments))

    def _raising_busy(self, answer: Callable[[], T]) -> T:
        from botocore import exceptions as botocore

        try:
            return answer()
        except AwsClientError as error:
            cause = error.__cause__
            if isinstance(cause, botocore.ClientError):
                status = cause.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
                if error_code(error) in _TRANSIENT or status >= 500:
                    raise AwsBusy(str(error)) from cause
            if isinstance(cause, botocore.HTTPClientError | botocore.ConnectionError):
                where = f"{error}; is {self.region} the region of the environment, and the network there?"
                raise AwsBusy(where) from cause
            raise

    def _refusal(self, permission: str, code: str, words: str) -> str:
        if code in ("AccessDenied", "AccessDeniedException", "403"):
            return f"{permission}: denied by AWS; allow it to the credentials in use ({words})"
        return super()._refusal(permission, code, words)


def error_code(error: BaseException) -> str:
    """AWS's error code of a caught error; empty if it has none."""
    response = getattr(error.__cause__, "response", None)
    return str(response["Error"].get("Code", "")) if isinstance(response, dict) and "Error" in response else ""


def error_message(error: BaseException) -> str:
    """AWS's error message of a caught error; else the error's text."""
    response = getattr(error.__cause__, "response", None)
    said = response.get("Error", {}).get("Message") if isinstance(response, dict) else None
    return " ".join(str(said or error).split())
