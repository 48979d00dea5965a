"""Azure Resource Manager over HTTP: every page of an answer, and every failure as one line that says what to do."""

import logging
import os
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError

MANAGEMENT = "https://management.azure.com"
SECONDS = 10.0
"""How long a connection, and how long an answer may take."""
ATTEMPTS = 3
LONGEST_WAIT = 10.0
"""Seconds. Azure may ask for minutes (Retry-After); a preflight rather says that it does not know."""
_SIGN_IN = "sign in with `az login`, or set AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET"


class ArmError(UserError):
    """Azure could not be read; the text is the one line for the user."""


def default_token() -> str:
    """An access token of the credentials in use: environment, workload or managed identity, or the Azure CLI.

    Errors: ArmError without credentials; ModuleNotFoundError without the extra `accounts`.
    """
    from azure.core.exceptions import ClientAuthenticationError
    from azure.identity import DefaultAzureCredential

    # It logs each place without credentials as a warning, which the error then says once more.
    logging.getLogger("azure.identity").setLevel(logging.ERROR)
    try:
        with DefaultAzureCredential(process_timeout=int(SECONDS)) as credential:
            return credential.get_token(f"{MANAGEMENT}/.default").token
    except ClientAuthenticationError as error:
        first = next(iter(str(error).splitlines()), "")
        raise ArmError(f"Azure credentials: {first.strip()}; {_SIGN_IN}") from error


def subscription_of(config: Mapping[str, object]) -> str:
    """The subscription's id: of the stack's configuration, or of the variables that the provider reads too.

    Errors: ArmError.
    """
    given = (
        config.get("azure-native:subscriptionId"),
        *map(os.environ.get, ("ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID")),
    )
    found = next((each for each in given if isinstance(each, str) and each), None)
    if found is None:
        raise ArmError(
            "Azure subscription: not known; set ARM_SUBSCRIPTION_ID, or `pulumi config set azure-native:subscriptionId`"
        )
    return found


class ArmClient:
    """Reads one subscription, and resources by their id.

    token: gives an access token; asked once. base: where Resource Manager is. sleep: waits so many seconds.
    """

    def __init__(
        self,
        subscription: str,
        token: Callable[[], str] = default_token,
        base: str = MANAGEMENT,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.subscription = subscription
        self._ask_token, self._base, self._sleep = token, base, sleep
        self._token: str | None = None
        self._rejected: dict[str, ArmError] = {}

    def listed(self, path: str, permission: str, **query: str) -> list[dict[str, Any]]:
        """`value` of every page of a list. path: below the subscription. permission: the action that it needs.

        Errors: ArmError.
        """
        if permission in self._rejected:
            raise self._rejected[permission]
        try:
            return self._listed(path, permission, query)
        except ArmError as error:
            # Asked again it would be rejected again, after as many attempts.
            self._rejected[permission] = error
            raise

    def read(self, resource_id: str, permission: str, **query: str) -> dict[str, Any]:
        """One resource. resource_id: its full id, which may lie in another subscription.

        Errors: ArmError.
        """
        return self._page(f"{self._base}{resource_id}?{urlencode(_named(query))}", permission)

    def _listed(self, path: str, permission: str, query: Mapping[str, str]) -> list[dict[str, Any]]:
        address: str | None = f"{self._base}/subscriptions/{self.subscription}{path}?{urlencode(_named(query))}"
        found: list[dict[str, Any]] = []
        while address:
            page = self._page(address, permission)
            found += page.get("value") or []
            # A token is for Resource Manager and for nobody else.
            after = page.get("nextLink")
            address = after if isinstance(after, str) and after.startswith(f"{self._base}/") else None
            if after and address is None:
                raise ArmError(f"{permission}: Azure continues its answer at another place: {after}")
        return found

    def _page(self, address: str, permission: str) -> dict[str, Any]:
        for attempt in range(1, ATTEMPTS + 1):
            status, headers, body = self._get(address, permission)
            if status == 200:
                return _parsed(body, permission)
            wait = _wait(headers.get("Retry-After"), attempt)
            if (status != 429 and status < 500) or attempt == ATTEMPTS or wait > LONGEST_WAIT:
                raise ArmError(_rejection(status, body, permission))
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _bearer(self) -> str:
        """The token, or the error of the one attempt to get it: each looks for credentials in many places."""
        if _SIGN_IN in self._rejected:
            raise self._rejected[_SIGN_IN]
        if self._token is None:
            try:
                self._token = self._ask_token()
            except ArmError as error:
                self._rejected[_SIGN_IN] = error
                raise
        return self._token

    def _get(self, address: str, permission: str) -> tuple[int, Mapping[str, str], bytes]:
        from urllib.request import getproxies

        import urllib3

        token = self._bearer()
        proxy = getproxies().get("https") if address.startswith("https:") else None
        pool = urllib3.ProxyManager(proxy) if proxy else urllib3.PoolManager()
        try:
            with pool:
                answer = pool.request(
                    "GET",
                    address,
                    headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
                    timeout=urllib3.Timeout(connect=SECONDS, read=SECONDS),
                    retries=False,
                    redirect=False,
                )
                return answer.status, answer.headers, answer.data
        except urllib3.exceptions.HTTPError as error:
            raise ArmError(f"{permission}: Azure does not answer: {_reason(error)}") from error


def _named(query: Mapping[str, str]) -> dict[str, str]:
    """Names of a query as Azure spells them: api_version -> api-version, filter -> $filter."""
    return {{"filter": "$filter"}.get(name, name.replace("_", "-")): value for name, value in query.items()}


def _wait(retry_after: str | None, attempt: int) -> float:
    """Seconds to wait before the next attempt."""
    try:
        return max(0.0, float(retry_after)) if retry_after is not None else float(2 ** (attempt - 1))
    except ValueError:  # a date instead of seconds
        return float(2 ** (attempt - 1))


def _parsed(body: bytes, permission: str) -> dict[str, Any]:
    try:
        parsed = parse_json(body, permission)
    except ValueError as error:
        raise ArmError(f"{permission}: Azure's answer is not JSON") from error
    if not isinstance(parsed, dict):
        raise ArmError(f"{permission}: Azure's answer is not an object")
    return parsed


def _rejection(status: int, body: bytes, permission: str) -> str:
    """One line for an answer that is none."""
    try:
        error = parse_json(body, permission).get("error") or {}
        code, words = str(error.get("code", "")), " ".join(str(error.get("message", "")).split())
    except (ValueError, AttributeError):
        code, words = "", ""
    said = ": ".join(each for each in (code, words) if each) or f"HTTP {status}"
    if status == 401:
        return f"Azure credentials: not accepted ({code or status}); {_SIGN_IN}"
    if status == 403:
        return f"{permission}: denied by Azure; the role Reader on the subscription allows it ({said})"
    if status == 404:
        return f"{permission}: Azure finds no such thing: {said}"
    if status == 429:
        return f"{permission}: Azure answers too many requests; try again later"
    return f"{permission}: {said}"


def _reason(error: Exception) -> str:
    return " ".join(str(getattr(error, "reason", None) or error).split())
