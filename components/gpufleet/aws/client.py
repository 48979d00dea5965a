"""Reading an AWS account: every page of a call, and every failure as one line that says what to do.

Nothing here writes. boto3 (extra `jobs`) is imported by the first call, not with the module.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gpufleet.errors import UserError
from gpufleet.played_endpoint import endpoint_override

AWS_ENDPOINT = "GPUFLEET_AWS_ENDPOINT"
"""Variable of a rehearsal: the URL of what plays all services of AWS."""

_IAM_PREFIX = {"efs": "elasticfilesystem", "resourcegroupstaggingapi": "tag", "service-quotas": "servicequotas"}
"""How IAM calls a service, where that differs from boto3's name."""

_DENIED = {"AccessDenied", "AccessDeniedException", "UnauthorizedException", "UnauthorizedOperation"}
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
_UNKNOWN = {
    "AuthFailure",
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_SIGN_IN = "sign in again, for instance with `aws sso login`"


class AwsClientError(UserError):
    """AWS could not be read; the text is the one line for the user."""


class AwsClient:
    """The account that the credentials in use belong to, seen in one region.

    region, profile: boto3's own defaults (AWS_REGION, AWS_PROFILE, ~/.aws/config) when None. seconds: how long one
    answer may take, boto3's own minute when None. attempts: how often a throttled or failed call is made; a listing of
    a large account is throttled sooner or later.
    """

    def __init__(
        self,
        region: str | None = None,
        profile: str | None = None,
        *,
        seconds: float | None = None,
        attempts: int = 10,
    ) -> None:
        self._region, self._profile = region, profile
        self._seconds, self._attempts = seconds, attempts
        self._session: Any = None
        self._clients: dict[str, Any] = {}

    def ask(self, service: str, call: str, answer: str, **arguments: object) -> list[Any]:
        """What the JMESPath `answer` finds in every page of a call; [] when what it asks about is gone.

        service and call as boto3 names them. Errors: AwsClientError.
        """
        import jmespath  # type: ignore[import-untyped]

        wanted = jmespath.compile(answer)
        with self._in_one_line(service, call):
            client = self._client(service)
            if client.can_paginate(call):
                pages = client.get_paginator(call).paginate(**arguments)
            else:
                pages = [getattr(client, call)(**arguments)]
            return [found for page in pages for found in wanted.search(page) or []]
        return []

    def _client(self, service: str) -> Any:  # noqa: ANN401  (boto3 makes its clients' classes at run time)
        import boto3
        from botocore.config import Config

        if service not in self._clients:
            patient = Config(retries={"mode": "standard", "total_max_attempts": self._attempts})
            if self._seconds is not None:
                patient = patient.merge(Config(connect_timeout=self._seconds, read_timeout=self._seconds))
            # One for all: it keeps what is read of botocore's models.
            if self._session is None:
                self._session = boto3.session.Session(profile_name=self._profile, region_name=self._region)
            played = endpoint_override(AWS_ENDPOINT)
            # A played service gets no real login.
            near = {"endpoint_url": played, "aws_access_key_id": "none", "aws_secret_access_key": "none"}
            self._clients[service] = self._session.client(service, config=patient, **(near if played else {}))
        return self._clients[service]

    @contextmanager
    def _in_one_line(self, service: str, call: str) -> Iterator[None]:
        from botocore import exceptions as botocore

        action = "".join(word.capitalize() for word in call.split("_"))
        permission = f"{_IAM_PREFIX.get(service, service)}:{action}"
        try:
            yield
        except botocore.ClientError as error:
            code, words = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
            if not _is_gone(code):
                raise AwsClientError(self._refusal(permission, code, " ".join(words.split()))) from error
        except (botocore.NoCredentialsError, botocore.PartialCredentialsError) as error:
            raise AwsClientError(
                f"AWS credentials: {error}; set AWS_PROFILE, or sign in with `aws configure` or `aws sso login`"
            ) from error
        except (botocore.SSOError, botocore.TokenRetrievalError, botocore.CredentialRetrievalError) as error:
            raise AwsClientError(f"AWS credentials: {error}; {_SIGN_IN}") from error
        except botocore.NoRegionError as error:
            raise AwsClientError(
                "aws:region: not set; `pulumi config set aws:region us-east-1`, for instance"
            ) from error
        except botocore.BotoCoreError as error:
            raise AwsClientError(f"{permission}: {' '.join(str(error).split())}") from error

    def _refusal(self, permission: str, code: str, words: str) -> str:
        if code in _DENIED:
            return (
                f"{permission}: denied by AWS; without it some of what the cloud holds cannot be seen: allow it to the "
                f"credentials in use ({words})"
            )
        if code in _EXPIRED:
            return f"AWS credentials: expired; {_SIGN_IN}"
        if code in _UNKNOWN:
            return f"AWS credentials: not accepted ({code}); check them, and that the region is enabled in the account"
        return f"{permission}: {code}: {words}"


def _is_gone(code: str) -> bool:
    """Whether AWS says by an error's code that what was asked about is not there (any more)."""
    return code in ("NoSuchEntity", "NoSuchResourceException") or code.endswith(("NotFound", "NotFoundException"))
