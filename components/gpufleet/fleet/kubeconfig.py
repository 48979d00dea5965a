"""The contexts of the user's kubeconfigs, as `kubectl` finds them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from gpufleet.errors import UserError
from gpufleet.rules.messages import join_words, nearest

_KINDS = {"contexts": "context", "clusters": "cluster", "users": "user"}
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
        content = _content(path)
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


def _content(path: Path) -> Mapping[str, Any]:
    """A file whose entries are all of the right kind. Errors: UserError."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; is it yours?") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: is not a kubeconfig: not YAML") from error
    if not isinstance(content, Mapping):
        raise UserError(f"{path}: is not a kubeconfig: must be a mapping")
    for kinds, kind in _KINDS.items():
        entries = content.get(kinds) or []
        if not isinstance(entries, list) or not all(
            isinstance(each, Mapping) and "name" in each and isinstance(each.get(kind), Mapping) for each in entries
        ):
            raise UserError(f"{path}: is not a kubeconfig: {kinds} must be a list of name and {kind}")
    return content


def _found(entry: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """An entry whose files are named by their whole path."""
    return {key: str(path.parent / value) if key in _FILES and value else value for key, value in entry.items()}
