"""Secrets of jobs on Azure Batch: in a key vault of the environment, which nodes read by their identity.

Sources: learn.microsoft.com/rest/api/keyvault/secrets/set-secret/set-secret (7.4), and
learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates (names).
"""

import json
import re
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.login import KEY_VAULT_ENDPOINT, credential
from gpufleet.played_endpoint import endpoint_override

SECRET_NAME = re.compile(r"[0-9A-Za-z-]{1,127}")
_SECONDS = 30


def no_key_vault(environment: str) -> str:
    """Why an environment has no secrets for its jobs."""
    return (
        "the environment has no key vault for secrets of jobs; name one in gpufleet:batch.key_vault_id and run "
        f"`pulumi up -s {environment}`"
    )


def put_secret(vault: str, name: str, value: str) -> str:
    """Store a value in the key vault. Returns where it is. Errors: UserError, one line."""
    played = endpoint_override(KEY_VAULT_ENDPOINT)
    headers = {"Content-Type": "application/json"}
    if not played:
        headers["Authorization"] = f"Bearer {_token(vault)}"
    base = f"{played}/{urlsplit(vault).netloc}" if played else vault
    url, body = f"{base}/secrets/{name}?api-version=7.4", json.dumps({"value": value}).encode()
    try:
        request = urllib.request.Request(url, body, headers, method="PUT")
        with urllib.request.urlopen(request, timeout=_SECONDS):
            return f"secret {name} of {vault}"
    except urllib.error.HTTPError as error:
        fix = (
            "you need the role Key Vault Secrets Officer on the vault" if error.code in (401, 403) else "see the vault"
        )
        raise UserError(f"{name}: {vault} answers {error.code} {error.reason}; {fix}") from error
    except OSError as error:
        raise UserError(f"{name}: {vault} cannot be reached: {getattr(error, 'reason', error)}") from error


def _token(vault: str) -> str:
    """For the vault's cloud. Errors: UserError without a login."""
    from azure.core.exceptions import AzureError

    try:
        return str(credential().get_token(f"https://{urlsplit(vault).netloc.partition('.')[2]}/.default").token)
    except AzureError as error:
        raise UserError(f"{vault}: no login: {str(error).splitlines()[0]}; run `az login`") from error
