"""Metadata of the published package that depend on where its repository is: project URLs, and the README's links.

hatchling runs this when it builds. GPUFLEET_REPOSITORY is the address of the repository, for instance
https://github.com/OWNER/gpufleet; the workflow that publishes sets it. Without it, a build has no URLs, and the links
of the README stay relative.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class RepositoryMetadata(MetadataHookInterface):
    """Fills in `readme` and `urls`, which pyproject.toml declares dynamic."""

    def update(self, metadata: dict[str, object]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        address = os.environ.get("GPUFLEET_REPOSITORY", "").rstrip("/")
        if address:
            tag = f"v{metadata['version']}"
            text = with_absolute_links(text, address, tag)
            metadata["urls"] = project_urls(address, tag)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def project_urls(address: str, tag: str) -> dict[str, str]:
    """The URLs of a release's page on a package index."""
    return {
        "Repository": address,
        "Documentation": f"{address}/blob/{tag}/docs/README.md",
        "Changelog": f"{address}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def with_absolute_links(markdown: str, address: str, tag: str) -> str:
    """Markdown whose relative links lead to the repository at a tag; pictures to the files themselves."""

    def located(found: re.Match[str]) -> str:
        kind = "raw" if found["picture"] else "blob"
        return f"{found['picture']}[{found['text']}]({address}/{kind}/{tag}/{found['place']})"

    relative = r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?![a-z]+:|#|/)(?P<place>[^)\s]+)\)"
    return re.sub(relative, located, markdown)
