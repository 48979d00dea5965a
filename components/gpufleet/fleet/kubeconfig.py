"""The contexts of the user's kubeconfigs, as `kubectl` finds them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gpufleet.documents.content import MIB, read_content
from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.kubeconfig import parse_kubeconfig
from gpufleet.rules.messages import join_words, nearest

_KINDS = {"contexts": "context", "clusters": "cluster", "users": "user"}
_FIX = "give a kubeconfig that is yours"
_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
"""Words whose values are paths, seen from the file that holds them."""


def select_contexts(wanted: str) -> dict[str, Mapping[str, Any]]:
    """A kubeconfig for each selected context: comma-separated names, or `all`. Errors: UserError."""
    files = os.environ.get("KUBECONFIG") or "~/.kube/config"
    paths = [path for each in files.split(os.pathsep) if each and (path := Path(each).expanduser()).is_file()]
    if not paths:
        raise UserError(f"{files}: kubeconfig not found; set KUBECONFIG, or leave out --contexts")
    merged: dict[str, dict[str, Any]] = {kinds: {} for kinds in _KINDS}
    for path in paths:
        content: Mapping[str, Any] = parse_kubeconfig(read_content(path, _FIX, MIB), str(path), _FIX)
        for kinds, kind in _KINDS.items():
            for entry in content.get(kinds) or []:
                # Of two with the same name the first counts, as with kubectl.
                merged[kinds].setdefault(str(entry["name"]), {"name": entry["name"], kind: _found(entry[kind], path)})
    names = list(merged["contexts"])
    chosen = names if wanted == "all" else [each.strip() for each in wanted.split(",")]
    for name in chosen:
        if name not in names:
            near = nearest(name, names)
            hint = f"did you mean {near}?" if near else f"it has {join_words(names, 'and') if names else 'none'}"
            raise UserError(f"{files}: has no context {name}; {hint}")
    whole = {kinds: list(entries.values()) for kinds, entries in merged.items()}
    return {name: {**whole, "current-context": name} for name in chosen}


def host_of(kubeconfig: Mapping[str, Any]) -> str:
    """Host of a kubeconfig's current context, empty where it does not say; by it a stack is known to be its."""
    contexts = {each["name"]: each["context"] for each in kubeconfig["contexts"]}
    clusters = {each["name"]: each["cluster"] for each in kubeconfig["clusters"]}
    cluster = clusters.get(contexts[kubeconfig["current-context"]].get("cluster"), {})
    try:
        return urlsplit(str(cluster.get("server", ""))).hostname or ""
    except ValueError:
        return ""


def _found(entry: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """An entry whose files are named by their whole path."""
    return {key: str(path.parent / str(value)) if key in _FILES and value else value for key, value in entry.items()}
