"""The newest image of a repository of ACR, as its digest: what jobs run where no cluster records the images.

Sources: github.com/Azure/acr, docs/AAD-OAuth.md (a token of Azure for one of the registry's, and that for one of the
repository's); github.com/Azure/azure-rest-api-specs, containerregistry data plane (acr/v1/NAME/_manifests: digest, tags
and lastUpdateTime of each, the newest first with orderby=timedesc).
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpufleet.jobs.azure_batch.errors import azure_errors
from gpufleet.jobs.azure_batch.login import credential
from gpufleet.played_endpoint import endpoint_override

if TYPE_CHECKING:
    from gpufleet.images.pinned_images import PinnedImage

REGISTRY_ENDPOINT = "GPUFLEET_AZURE_REGISTRY_ENDPOINT"
"""Variable of a rehearsal: the URL below which registries are played, each under its host."""

_ACR = re.compile(r"[a-z0-9]+(-[a-z0-9]+)?\.azurecr\.(io|cn|us)")
_PLAYED_HOST = ".azurecr.rehearsal.invalid"
_SCOPE = "https://containerregistry.azure.net/.default"
_LOOKED_AT = 50
"""Newest manifests of a repository among which a tagged one is looked for: what has lost its tag is nobody's choice."""
_ABOUT_OTHERS = re.compile(r"sha256-[0-9a-f]{64}(\..*)?")
"""Tags of signatures and attestations. Source: github.com/sigstore/cosign, specs/SIGNATURE_SPEC.md."""


def newest_images(repositories: Mapping[str, str]) -> "dict[str, PinnedImage]":
    """The image that was pushed or tagged last, by the repository's name. repositories: URL by name.

    Repositories that are empty, gone or not of ACR are left out. Errors: AzureBusy, AzureBatchError.
    """
    # Brings along the client of Kubernetes, which a rehearsal does not need.
    from gpufleet.images.pinned_images import PinnedImage

    found = {}
    for name, url in repositories.items():
        host, _, path = url.partition("/")
        newest = _newest(host, path) if _is_acr(host) else None
        if newest:
            found[name] = PinnedImage(url, min(_tags(newest)), str(newest["digest"]))
    return found


def put_played(url: str, tag: str, manifest: bytes) -> None:
    """Name an image that nothing has built in the played registry of a rehearsal; nowhere else, and not on AWS.

    url: of the repository. Errors: AzureBusy, AzureBatchError.
    """
    played = endpoint_override(REGISTRY_ENDPOINT)
    host, _, path = url.partition("/")
    if played is None or not host.endswith(_PLAYED_HOST):
        return
    from azure.core import PipelineClient
    from azure.core.rest import HttpRequest

    client: Any = PipelineClient(played, policies=[])
    with azure_errors("Azure Container Registry", f"images of {path}", host), client:
        put = HttpRequest("PUT", f"{played}/{host}/v2/{path}/manifests/{tag}", content=manifest)
        client.send_request(put).raise_for_status()


def _is_acr(host: str) -> bool:
    return bool(_ACR.fullmatch(host)) or (
        host.endswith(_PLAYED_HOST) and endpoint_override(REGISTRY_ENDPOINT) is not None
    )


def _newest(host: str, path: str) -> Mapping[str, Any] | None:
    from azure.core import PipelineClient
    from azure.core.pipeline.policies import RetryPolicy

    near = endpoint_override(REGISTRY_ENDPOINT)
    base = f"{near}/{host}" if near else f"https://{host}"
    client: Any = PipelineClient(base, policies=[RetryPolicy(retry_total=3)])
    with azure_errors("Azure Container Registry", f"images of {path}", host), client:
        # A played registry never gets a real token.
        own = "none" if base.startswith("http://") else credential().get_token(_SCOPE).token
        given = {"grant_type": "access_token", "service": host, "access_token": own}
        refresh = _post(client, f"{base}/oauth2/exchange", given)["refresh_token"]
        wanted = {"service": host, "scope": f"repository:{path}:metadata_read", "refresh_token": refresh}
        token = _post(client, f"{base}/oauth2/token", {"grant_type": "refresh_token", **wanted})["access_token"]
        return _first_tagged(client, f"{base}/acr/v1/{path}/_manifests", token)


def _first_tagged(client: Any, url: str, token: str) -> Mapping[str, Any] | None:  # noqa: ANN401
    from azure.core.rest import HttpRequest

    query = {"orderby": "timedesc", "n": str(_LOOKED_AT)}
    asked = HttpRequest("GET", url, params=query, headers={"Authorization": f"Bearer {token}"})
    answer = client.send_request(asked)
    if answer.status_code == 404:
        return None
    answer.raise_for_status()
    tagged = [each for each in answer.json().get("manifests") or [] if _tags(each)]
    return max(tagged, key=lambda each: str(each["lastUpdateTime"]), default=None)


def _tags(manifest: Mapping[str, Any]) -> list[str]:
    return [str(tag) for tag in manifest.get("tags") or [] if not _ABOUT_OTHERS.fullmatch(str(tag))]


def _post(client: Any, url: str, form: Mapping[str, str]) -> Mapping[str, Any]:  # noqa: ANN401
    from azure.core.rest import HttpRequest

    answer = client.send_request(HttpRequest("POST", url, data=dict(form)))
    answer.raise_for_status()
    content: Mapping[str, Any] = answer.json()
    return content
