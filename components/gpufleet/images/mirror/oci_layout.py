"""Images on this disk, as OCI image layouts: a directory each, and one directory of blobs for all of them.

A blob that is there is never fetched again, so that a transfer that broke continues where it was, and images of one
family share their layers. Source: github.com/opencontainers/image-spec, image-layout.md, manifest.md
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import read_json
from gpufleet.errors import UserError

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_ANEW = "remove the cache's directory, so that the image is copied again"


class _Descriptor(TypedDict):
    digest: Annotated[str, Meta(pattern="^[a-z0-9]+:[0-9a-f]+$")]
    size: NotRequired[int]
    mediaType: NotRequired[str]


class _Index(TypedDict):
    manifests: list[_Descriptor]


@dataclass(frozen=True)
class OciLayout:
    """An image in a directory."""

    folder: Path

    @classmethod
    def create(cls, cache: Path, name: str) -> "OciLayout":
        """An empty one in the cache, or the one of this name. Errors: UserError when the disk does not take it."""
        folder = cache / "images" / name
        try:
            (cache / "blobs" / "sha256").mkdir(parents=True, exist_ok=True)
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / "blobs").is_symlink():
                (folder / "blobs").symlink_to("../../blobs")
            (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
        except OSError as error:
            raise UserError(f"cache={cache}: cannot be written: {error.strerror}; name another with --cache") from error
        return cls(folder)

    @property
    def complete(self) -> bool:
        """Whether a manifest has been written, which comes last."""
        return (self.folder / "index.json").is_file()

    @property
    def descriptor(self) -> _Descriptor:
        """Of the only image in it."""
        index = read_json(self.folder / "index.json", _ANEW, shape=_Index)
        if len(index["manifests"]) != 1:
            raise DocumentError(str(self.folder / "index.json"), "must have one manifest", _ANEW)
        return index["manifests"][0]

    @property
    def digest(self) -> str:
        return self.descriptor["digest"]

    @property
    def manifest(self) -> dict[str, Any]:
        return self.read(self.digest)

    @property
    def configuration(self) -> dict[str, Any]:
        return self.read(self.manifest["config"]["digest"])

    def blob(self, digest: str) -> Path:
        """The file of a blob."""
        return self.folder / "blobs" / Path(*digest.split(":"))

    def read(self, digest: str) -> dict[str, Any]:
        """A blob that is JSON."""
        return read_json(self.blob(digest), _ANEW, shape=dict[str, Any])

    def put(self, manifest: Mapping[str, Any]) -> None:
        """Make this the image. Its blobs are there already. Errors: UserError when the disk does not take it."""
        body = json.dumps(manifest, separators=(",", ":"), sort_keys=True).encode()
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        entry = {"mediaType": manifest.get("mediaType", MANIFEST), "digest": digest, "size": len(body)}
        try:
            self.blob(digest).write_bytes(body)
            index = json.dumps({"schemaVersion": 2, "manifests": [entry]})
            (self.folder / "index.json").write_text(index, encoding="utf-8")
        except OSError as error:
            raise UserError(f"cache={self.folder}: cannot be written: {error.strerror}; free room there") from error


def annotate(manifest: Mapping[str, Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    """The manifest with annotations; those that a builder has left are replaced, since they name files of this disk."""
    kept = {
        key: value
        for key, value in (manifest.get("annotations") or {}).items()
        if not key.startswith("org.opencontainers.image.base.")
    }
    return {**manifest, "mediaType": MANIFEST, "annotations": {**kept, **annotations}}


def graft_layers(base: OciLayout, wrapped: OciLayout) -> dict[str, Any]:
    """The wrapped image's manifest with the base's own layers below the new ones.

    A builder unpacks the base and packs it again, as other bytes: a registry that holds the base would get all of it
    once more. The layers are the same, by the digests of their content. Errors: UserError when they are not.
    """
    below, manifest = base.manifest["layers"], wrapped.manifest
    own = base.configuration["rootfs"]["diff_ids"]
    if wrapped.configuration["rootfs"]["diff_ids"][: len(own)] != own:
        raise UserError("images: the builder has changed layers of the base image; take another version of it")
    return {**manifest, "layers": [*below, *manifest["layers"][len(below) :]]}
