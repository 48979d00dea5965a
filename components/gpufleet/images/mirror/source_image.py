"""What there is of an image in its source's registry: its layers for a platform, before anything is fetched."""

from pathlib import Path
from typing import Any

from gpufleet.errors import UserError
from gpufleet.images.mirror.image_list import ListItem
from gpufleet.images.mirror.skopeo import RemoteImage, Skopeo
from gpufleet.images.repository import Repository

_INDEXES = ("application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json")


def layers_of(skopeo: Skopeo, item: ListItem, digest: str) -> dict[str, int]:
    """Bytes of each layer by its digest. Errors: UserError, also when the image is for other platforms."""
    source, platform = Repository("", item.image.source), item.image.platform
    found = skopeo.inspect(source, f"@{digest}")
    if found is None and item.digest:
        raise UserError(f"{source.url}@{digest}: image not found; check the name and the digest in the list")
    if found is None:
        raise UserError(f"{source.url}@{digest}: is gone from its registry; take the tag as it is now: --update")
    content = found.content
    if content.get("mediaType") in _INDEXES or "manifests" in content:
        content = _of_platform(skopeo, source, content, platform).content
    else:
        # It has no platform; the configuration does. Asked now: the layers may be 20 GB.
        configuration = skopeo.configuration(source, digest)
        is_for = f"{configuration.get('os')}/{configuration.get('architecture')}"
        if is_for != platform:
            raise UserError(f"{item.source}: platform={platform}: the image is for {is_for}; say so in the list")
    return {str(each["digest"]): int(each["size"]) for each in content.get("layers") or ()}


def missing_bytes(layers: dict[str, int], cache: Path) -> int:
    """Bytes of layers that are not on this disk yet."""
    blobs = cache / "blobs"
    return sum(size for each, size in layers.items() if not (blobs / Path(*each.split(":"))).is_file())


def _of_platform(skopeo: Skopeo, source: Repository, index: dict[str, Any], platform: str) -> RemoteImage:
    digests = {
        f"{each['platform']['os']}/{each['platform']['architecture']}": str(each["digest"])
        for each in reversed(index["manifests"])
        if "platform" in each
    }
    found = skopeo.inspect(source, f"@{digests[platform]}") if platform in digests else None
    if found is None:
        there = ", ".join(sorted(name for name in digests if not name.startswith("unknown")))
        raise UserError(f"{source.url}: platform={platform}: the image is not there for it; it has {there or 'none'}")
    return found
