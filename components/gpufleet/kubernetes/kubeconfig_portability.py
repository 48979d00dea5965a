"""What prevents a kubeconfig from working on another machine. Pure: text in, messages out."""

from collections.abc import Iterator, Mapping
from typing import Any

from gpufleet.documents.content import DocumentError
from gpufleet.jobs.kubernetes.kubeconfig import parse_kubeconfig

_FILES = {
    "clusters": ("cluster", ("certificate-authority",)),
    "users": ("user", ("client-certificate", "client-key", "tokenFile")),
}
"""Keys that name files, by the section of a kubeconfig and the key of its entries."""


def kubeconfig_faults(text: str) -> list[str]:
    """What is wrong with a kubeconfig, as ends of a sentence that begins with it; none for one that will do."""
    try:
        document = parse_kubeconfig(text, "")
    except DocumentError as error:
        return [f"is not a kubeconfig: {error.reason}"]
    if not document.get("clusters"):
        return ["is not a kubeconfig with clusters, contexts and users"]
    return list(dict.fromkeys(_faults(document)))


def _faults(document: Mapping[str, Any]) -> Iterator[str]:
    contexts = {entry.get("name") for entry in _entries(document, "contexts")}
    current = document.get("current-context")
    if not current:
        yield "has no current-context"
    elif current not in contexts:
        yield f"has no context {current}, which is its current-context"
    for section, (key, files) in _FILES.items():
        for entry in _entries(document, section):
            inside = entry.get(key)
            for name in files:
                if isinstance(inside, Mapping) and inside.get(name):
                    yield f"names a file ({name})"


def _entries(document: Mapping[str, Any], section: str) -> list[Mapping[str, Any]]:
    found = document.get(section)
    return [entry for entry in found if isinstance(entry, Mapping)] if isinstance(found, list) else []
