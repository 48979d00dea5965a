"""The images that a team's jobs run by default: recorded in the team's namespace when they are built.

A ConfigMap `images`: the repository's name, with `..` for each slash, to URL:TAG@DIGEST. A repository's name never
holds two dots in a row, so that no two names fall together; and each has its own key, so that two people who push
to two repositories at once do not undo each other's. A second ConfigMap, `image-cuda`, has the CUDA version of those
that bring one, as DIGEST VERSION under the same keys: release 0.1.0 refuses anything more in the first.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesObject

NAME = "images"
CUDA_NAME = "image-cuda"
_REFERENCE = re.compile(r"(?P<url>[^\s@]+?)(?::(?P<tag>[\w.-]+))?@(?P<digest>sha256:[0-9a-f]{64})", re.ASCII)


@dataclass(frozen=True)
class PinnedImage:
    """An image in a repository. tag: what people called it; its digest is what runs.

    cuda: the CUDA version that it brings, major.minor; None: none, or not known.
    """

    url: str
    tag: str
    digest: str
    cuda: str | None = None

    @property
    def pinned(self) -> str:
        """What a pod gets: without the tag, which some container runtimes refuse beside a digest."""
        return f"{self.url}@{self.digest}"

    @classmethod
    def read(cls, text: str) -> "PinnedImage | None":
        """From URL:TAG@DIGEST, or URL@DIGEST as somebody's kubectl may have written; None for anything else."""
        found = _REFERENCE.fullmatch(text.strip())
        return cls(found["url"], found["tag"] or "", found["digest"]) if found else None

    def __str__(self) -> str:
        return f"{self.url}:{self.tag}@{self.digest}" if self.tag else self.pinned


def read_pinned_images(api: KubernetesApi, namespace: str) -> dict[str, PinnedImage]:
    """Image by name of its repository. Errors: UserError of the API, or for a record that nobody here has written."""
    images, versions = {}, _recorded(api, namespace, CUDA_NAME)
    for key, text in _recorded(api, namespace, NAME).items():
        image = PinnedImage.read(str(text))
        if image is None:
            raise UserError(
                f"{api.where}: ConfigMap {NAME} in namespace {namespace}: {key} is not of the form URL@sha256:...; "
                "build the image again, or correct it with `kubectl edit`"
            )
        digest, _, cuda = str(versions.get(key, "")).partition(" ")
        images[key.replace("..", "/")] = replace(image, cuda=cuda) if digest == image.digest else image
    return images


def pinned_references(api: KubernetesApi, namespace: str) -> dict[str, str]:
    """What the pods of jobs get, by name of the repository. Errors: as of `read_pinned_images`."""
    return {repository: image.pinned for repository, image in read_pinned_images(api, namespace).items()}


def pin_image(api: KubernetesApi, namespace: str, repository: str, image: PinnedImage) -> None:
    """Make it what jobs run that name only the repository, or none. Errors: UserError of the API."""
    key = repository.replace("/", "..")
    if image.cuda:
        _record(api, namespace, CUDA_NAME, {key: f"{image.digest} {image.cuda}"})
    _record(api, namespace, NAME, {key: str(image)})


def _recorded(api: KubernetesApi, namespace: str, name: str) -> Mapping[str, Any]:
    """The data of a ConfigMap; none where it does not exist."""
    return (api.find(api_paths.core(namespace, "configmaps", name)) or {}).get("data") or {}


def _record(api: KubernetesApi, namespace: str, name: str, values: Mapping[str, str]) -> None:
    data = {"data": values}
    try:
        if api.find(api_paths.core(namespace, "configmaps", name)) is None:
            _create(api, namespace, name, data)
            return
    except KubernetesApiError as error:
        # Somebody else was quicker.
        if error.status != 409:
            raise
    api.patch(api_paths.core(namespace, "configmaps", name), data)


def _create(api: KubernetesApi, namespace: str, name: str, data: Mapping[str, Any]) -> None:
    labels = {"app.kubernetes.io/managed-by": "gpufleet"}
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    document: KubernetesObject = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **data}
    try:
        api.create(api_paths.core(namespace, "configmaps"), document)
    except KubernetesApiError as error:
        if error.status == 404:
            raise UserError(
                f"{api.where}: namespace={namespace}: namespace not found; `pulumi up` creates it"
            ) from error
        raise
