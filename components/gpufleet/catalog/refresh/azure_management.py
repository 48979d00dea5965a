"""Azure Resource Manager, read with the user's credentials."""

import logging
import os
import urllib.request
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential

ADDRESS = "https://management.azure.com"
SCOPE = "https://management.azure.com/.default"
TRIES = 4


class NotAllowedError(UserError):
    """What the user's credentials do not give; one line with the reason and what would help."""


class Management:
    """One subscription. Each answer is read whole, with what follows it."""

    def __init__(self, credential: "TokenCredential", address: str, subscription: str, backoff_seconds: float) -> None:
        self._credential = credential
        self._address = address
        self._backoff = backoff_seconds
        self.subscription = subscription

    def items(self, path: str) -> Iterator[Mapping[str, object]]:
        """The entries of a list, page by page. path: from the address on, with its query.

        Raises NotAllowedError for everything but an answer, after TRIES attempts where trying again may help.
        """
        url: object = f"{self._address}{path}"
        while isinstance(url, str) and url:
            if urlsplit(url)[:2] != urlsplit(self._address)[:2]:
                raise NotAllowedError(f"Azure Resource Manager names a next page on another server: {url}")
            content = self._get(url)
            value = content.get("value")
            yield from (each for each in (value if isinstance(value, list) else []) if isinstance(each, dict))
            url = content.get("nextLink")

    def _get(self, url: str) -> Mapping[str, object]:
        import urllib3

        retries = urllib3.Retry(
            total=TRIES - 1,
            backoff_factor=self._backoff,
            status_forcelist=(429, 500, 502, 503, 504),
            raise_on_status=False,
        )
        host = urlsplit(url)
        proxy = urllib.request.getproxies().get(host.scheme)
        if proxy and urllib.request.proxy_bypass(host.hostname or ""):
            proxy = None
        pool = urllib3.ProxyManager(proxy) if proxy else urllib3.PoolManager()
        where = f"{host.scheme}://{host.netloc}{host.path}"
        with pool:
            headers = {"Authorization": f"Bearer {_token(self._credential)}", "User-Agent": "gpufleet"}
            try:
                answer = pool.request("GET", url, headers=headers, retries=retries, timeout=60)
            except urllib3.exceptions.HTTPError as error:
                raise NotAllowedError(f"{where}: cannot be read in {TRIES} attempts: {_line(error)}") from error
        try:
            content = parse_json(answer.data, where)
        except ValueError:
            content = None
        if answer.status != 200 or not isinstance(content, dict):
            raise NotAllowedError(f"{where}: {_refusal(answer.status, content)}")
        return content


def open_management(
    credential: "TokenCredential | None" = None, address: str = ADDRESS, backoff_seconds: float = 1.0
) -> Management:
    """The subscription that AZURE_SUBSCRIPTION_ID names, else the only one that the credentials reach.

    credential: default: DefaultAzureCredential (environment, workload identity, managed identity, Azure CLI).
    Raises NotAllowedError: no credentials, no subscription, or several.
    """
    if credential is None:
        from azure.identity import DefaultAzureCredential

        # It would print a paragraph for each way that it tries; one line says it all.
        logging.getLogger("azure").addHandler(logging.NullHandler())
        credential = DefaultAzureCredential()
    _token(credential)
    chosen = os.environ.get("AZURE_SUBSCRIPTION_ID")
    if chosen:
        return Management(credential, address, chosen, backoff_seconds)
    every = Management(credential, address, "", backoff_seconds)
    found = [str(each.get("subscriptionId")) for each in every.items("/subscriptions?api-version=2022-12-01")]
    if len(found) != 1:
        problem = (
            f"the credentials reach {len(found)} subscriptions" if found else "the credentials reach no subscription"
        )
        raise NotAllowedError(f"{problem}; set AZURE_SUBSCRIPTION_ID")
    return Management(credential, address, found[0], backoff_seconds)


def _token(credential: "TokenCredential") -> str:
    from azure.core.exceptions import AzureError

    try:
        return credential.get_token(SCOPE).token
    except (AzureError, ValueError) as error:
        raise NotAllowedError(
            "no Azure credentials (`az login`, or AZURE_CLIENT_ID and the like, gives some)"
        ) from error


def _refusal(status: int, content: object) -> str:
    """The service's own words, on one line."""
    error = content.get("error") if isinstance(content, dict) else None
    if isinstance(error, dict) and error.get("code"):
        return f"{status} {error['code']}: {_line(error.get('message') or '')}"
    return f"the answer is not what Azure Resource Manager gives (status {status})"


def _line(text: object) -> str:
    return " ".join(str(text).split())
