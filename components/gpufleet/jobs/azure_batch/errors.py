"""Errors of Azure's services as one line each, transient ones (AzureBusy) told apart from permanent ones.

Sources: azure.core.exceptions; learn.microsoft.com/rest/api/batchservice/batch-status-and-error-codes;
learn.microsoft.com/rest/api/storageservices/blob-service-error-codes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.retrying import TransientError

_SIGN_IN = "sign in with `az login`, or set AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET"
_ROLES = {
    "Azure Batch": "Azure Batch Data Contributor on the Batch account",
    "Azure Container Registry": "AcrPull on the registry",
    "Azure Storage": "Storage Blob Data Contributor on the storage account",
}


class AzureBatchError(UserError):
    """status: of the answer, 0 where there was none. code, words: Azure's own, maybe empty."""

    def __init__(self, line: str, status: int = 0, code: str = "", words: str = "") -> None:
        super().__init__(line)
        self.status, self.code, self.azure_message = status, code, words


class AzureBusy(AzureBatchError, TransientError):
    """Azure was not reached, or could not answer; the same call may succeed later."""


@contextmanager
def azure_errors(service: str, call: str, host: str) -> Iterator[None]:
    """service: one of _ROLES. Errors: AzureBusy, AzureBatchError instead of those of the SDK."""
    from azure.core import exceptions as core

    where = f"{service}: {call}"
    try:
        yield
    except core.ClientAuthenticationError as error:
        raise _authentication_error(service, host, error) from error
    # Before HttpResponseError, of which an answer that breaks off is one.
    except (core.ServiceRequestError, core.ServiceResponseError, core.IncompleteReadError) as error:
        said = _first_line(error)
        raise AzureBusy(
            f"{where}: {host} does not answer ({said}); is it the environment's, and the network there?"
        ) from error
    except core.HttpResponseError as error:
        raise _response_error(service, where, host, error) from error
    except core.AzureError as error:
        raise AzureBatchError(f"{where}: {_first_line(error)}") from error


def _authentication_error(service: str, host: str, error: Any) -> AzureBatchError:  # noqa: ANN401
    """Without a token, or with one that is not accepted."""
    if error.response is None:
        return AzureBatchError(f"Azure credentials: {_first_line(error)}; {_SIGN_IN}")
    code, words = _code_and_message(error)
    why = f" ({code}: {words})" if code else ""
    return AzureBatchError(f"Azure credentials: not accepted by {host}{why}; {_SIGN_IN}", 401, code, words)


def _response_error(service: str, where: str, host: str, error: Any) -> AzureBatchError:  # noqa: ANN401
    status = int(error.status_code or 0)
    if status == 401:
        return _authentication_error(service, host, error)
    code, words = _code_and_message(error)
    said = ": ".join(each for each in (code, words) if each) or f"HTTP {status}"
    if status == 403:
        fix = f"give the identity in use the role {_ROLES[service]}, from a network that it lets in"
        return AzureBatchError(f"{where}: denied by {host}; {fix} ({said})", status, code, words)
    kind = AzureBusy if status == 429 or status >= 500 else AzureBatchError
    return kind(f"{where}: {said}", status, code, words)


def _code_and_message(error: Any) -> tuple[str, str]:  # noqa: ANN401
    """Azure's code and words for an error, in one line. Batch has an id and a time of the request on lines below."""
    model = getattr(error, "model", None)
    code = getattr(model, "code", None) or getattr(error, "error_code", None) or ""
    code = str(getattr(code, "value", code))
    message = getattr(getattr(model, "message", None), "value", None)
    if message is None:
        message = error.message if code else ""
    words = next(iter(str(message).strip().splitlines()), "")
    details = getattr(model, "error_values", None) or []
    more = "; ".join(f"{each.key}: {each.value}" for each in details if each.key and each.value)
    return code, " ".join(f"{words} ({more})".split() if more else words.split())


def _first_line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
