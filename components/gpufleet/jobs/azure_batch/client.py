"""Azure Batch calls for jobs and pools: plain data in and out, named as in its REST API.

azure-batch (extra `jobs`) is imported by the first call, not with the module.
"""

import logging
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from gpufleet.jobs.azure_batch.errors import AzureBatchError, azure_errors
from gpufleet.jobs.azure_batch.login import BATCH_ENDPOINT, NoCredential, credential
from gpufleet.jobs.azure_batch.settings import AzureBatchSettings
from gpufleet.played_endpoint import endpoint_override

JsonObject = Mapping[str, Any]

_SECONDS = 30.0
"""For a connection, and for an answer."""
_NO_POLLING = 3600
"""Seconds between the looks of the SDK's own thread at what it has begun: we poll ourselves."""


class AzureBatchClient:
    """One Batch account. retries: how often the SDK repeats a throttled or failed call before it raises `AzureBusy`."""

    def __init__(self, settings: AzureBatchSettings, retries: int = 3) -> None:
        self._retries = retries
        played = endpoint_override(BATCH_ENDPOINT)
        self._url = f"{played}/{settings.account}" if played else f"https://{settings.endpoint}"
        self.host = urlsplit(self._url).netloc
        self._made: Any = None

    def find(self, call: str, *ids: str) -> dict[str, Any] | None:
        """The answer to a call such as get_job; None if not found. Errors: AzureBusy, AzureBatchError."""
        try:
            with self._azure_errors(call):
                found: dict[str, Any] = getattr(self._client, call)(*ids).as_dict()
                return found
        except AzureBatchError as error:
            if error.status != 404:
                raise
        return None

    def list_all(self, call: str, *ids: str, **options: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
        """All pages of a list, such as list_jobs. Errors: AzureBusy, AzureBatchError."""
        with self._azure_errors(call):
            for each in getattr(self._client, call)(*ids, **options):
                yield each.as_dict()

    def call(self, call: str, *ids: str, model: str = "", body: JsonObject | None = None) -> dict[str, Any]:
        """Call a method. model: of azure.batch.models, with `body` as its JSON. Errors: AzureBusy, AzureBatchError."""
        from azure.batch import models

        sent = [] if body is None else [getattr(models, model)(body)]
        with self._azure_errors(call):
            answer = getattr(self._client, call)(*ids, *sent)
        found: dict[str, Any] = answer.as_dict() if hasattr(answer, "as_dict") else {}
        return found

    def begin(self, call: str, *ids: str, model: str = "", body: JsonObject | None = None) -> None:
        """Start a long-running operation, such as begin_resize_pool. Errors: as of `call`."""
        from azure.batch import models

        sent = [] if body is None else [getattr(models, model)(body)]
        with self._azure_errors(call):
            getattr(self._client, call)(*ids, *sent, polling_interval=_NO_POLLING)

    def terminate_job(self, job: str, reason: str) -> None:
        """Ask for the end of a job and of its task. Errors: as of `call`."""
        with self._azure_errors("terminate_job"):
            # The SDK keeps the model of the reason to itself, and sends any mapping.
            options: Any = {"terminateReason": reason}
            self._client.begin_terminate_job(job, options, polling_interval=_NO_POLLING)

    def file(self, job: str, task: str, path: str, begin: int, end: int) -> bytes:
        """The bytes of a task's file on its node from one to before another. Errors: AzureBusy, AzureBatchError."""
        with self._azure_errors("download_task_file"):
            pieces = self._client.download_task_file(job, task, path, ocp_range=f"bytes={begin}-{end - 1}")
            return b"".join(pieces)

    def file_size(self, job: str, task: str, path: str) -> tuple[int, str]:
        """A file's bytes, and when it was made; the latter tells one try's file from the next. Errors: as of `file`."""
        with self._azure_errors("get_task_file_properties"):
            found = self._client.get_task_file_properties(job, task, path)
            return int(found.content_length), str(found.creation_time)
        raise AssertionError("what is raised in it is raised again")

    def _azure_errors(self, call: str) -> Any:  # noqa: ANN401
        return azure_errors("Azure Batch", call.removeprefix("begin_"), self.host)

    @property
    def _client(self) -> Any:  # noqa: ANN401
        from azure.batch import BatchClient
        from azure.core.pipeline.policies import SansIOHTTPPolicy

        if self._made is None:
            # Of answers without a body, as to every look for a file that is not there yet, it logs a traceback.
            logging.getLogger("azure.batch").setLevel(logging.ERROR)
            pace = {"retry_total": self._retries, "connection_timeout": _SECONDS, "read_timeout": _SECONDS}
            if self._url.startswith("http://"):
                self._made = BatchClient(self._url, NoCredential(), authentication_policy=SansIOHTTPPolicy(), **pace)
            else:
                self._made = BatchClient(self._url, credential(), **pace)
        return self._made
