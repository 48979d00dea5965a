"""A kubeconfig, read: which API server, trusted how, as whom.

A rehearsal speaks to control planes on this machine only. A kubeconfig of a simulated cluster leads to the rehearsal's
own one: its address ends with `.rehearsal.invalid`, or its user gets tokens from EKS, which is simulated here with the
whole account. Any other address is rejected, so that no rehearsal can change a real cluster.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from gpufleet.errors import UserError

SIMULATED = ".rehearsal.invalid"
"""How the address of a simulated cluster's API server ends."""


class UnusableKubeconfig(UserError):
    """The kubeconfig cannot be used; the text is one line."""


@dataclass(frozen=True)
class Access:
    """One context of a kubeconfig.

    server: the API server's URL. eks: name of the EKS cluster whose tokens the user asks for. namespace: where
    namespaced objects go that name none. authority, certificate, key: PEM, None when not given. verify: False only
    where the kubeconfig says `insecure-skip-tls-verify`.
    """

    server: str
    eks: str | None = None
    namespace: str = "default"
    token: str | None = None
    authority: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None
    verify: bool = True
    server_name: str | None = None

    @property
    def simulated(self) -> bool:
        """Whether this is a cluster of the simulated cloud."""
        return self.eks is not None or (urlsplit(self.server).hostname or "").endswith(SIMULATED)

    @property
    def local(self) -> bool:
        """Whether the API server is on this machine."""
        host = urlsplit(self.server).hostname or ""
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def read_kubeconfig(given: str, context: str | None = None, cluster: str | None = None) -> Access:
    """The access that a kubeconfig gives: `given` is its text, or the path of its file.

    context, cluster: instead of the kubeconfig's own choice. Credentials of a simulated cluster are not looked at.
    Errors: UnusableKubeconfig.
    """
    document, folder = _document(given)
    name = context or document.get("current-context")
    if not name:
        raise UnusableKubeconfig(
            "kubeconfig: no current-context; set `context` of the provider, or current-context in it"
        )
    chosen = _named(document, "contexts", str(name), "context")
    cluster_name = str(cluster or chosen.get("cluster", ""))
    where = _named(document, "clusters", cluster_name, "cluster")
    server = str(where.get("server", "")).rstrip("/")
    if urlsplit(server).scheme not in ("http", "https") or not urlsplit(server).hostname:
        raise UnusableKubeconfig(f"kubeconfig: cluster {cluster_name}: server={server!r} is not an http(s) address")
    user = _named(document, "users", str(chosen["user"]), "user") if chosen.get("user") else {}
    access = Access(server, _eks(user), namespace=str(chosen.get("namespace") or "default"))
    if access.simulated:
        return access
    if not access.local:
        raise UnusableKubeconfig(
            f"kubeconfig: {server} is not on this machine; a rehearsal only changes a control plane of 127.0.0.1, or "
            "that of a simulated cluster; give such a kubeconfig, or run without a rehearsal"
        )
    if user.get("exec") or user.get("auth-provider"):
        raise UnusableKubeconfig(
            f"kubeconfig: user {chosen['user']}: a rehearsal runs no credential programs; give a token or a certificate"
        )
    return Access(
        server,
        namespace=access.namespace,
        token=_token(user, folder),
        authority=_pem(where, "certificate-authority", folder),
        certificate=_pem(user, "client-certificate", folder),
        key=_pem(user, "client-key", folder),
        verify=not where.get("insecure-skip-tls-verify", False),
        server_name=where.get("tls-server-name"),
    )


def _document(given: str) -> tuple[Mapping[str, Any], Path]:
    folder = Path()
    # A document has colons and line breaks; only what has neither can be a path.
    if "\n" not in given and "{" not in given and given.strip():
        path = Path(given).expanduser()
        try:
            given, folder = path.read_text(), path.parent
        except OSError as error:
            raise UnusableKubeconfig(f"kubeconfig: {given}: {error.strerror}") from error
    try:
        document = yaml.safe_load(given)
    except yaml.YAMLError as error:
        raise UnusableKubeconfig(f"kubeconfig: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, Mapping) or not document.get("clusters"):
        raise UnusableKubeconfig("kubeconfig: not a kubeconfig; it needs `clusters`, `contexts` and `users`")
    return document, folder


def _named(document: Mapping[str, Any], section: str, name: str, what: str) -> Mapping[str, Any]:
    entries = [entry for entry in document.get(section) or [] if isinstance(entry, Mapping)]
    for entry in entries:
        if entry.get("name") == name:
            found = entry.get(what)
            return found if isinstance(found, Mapping) else {}
    known = ", ".join(str(entry.get("name")) for entry in entries) or "none"
    raise UnusableKubeconfig(f"kubeconfig: no {what} {name!r}; it has: {known}")


def _eks(user: Mapping[str, Any]) -> str | None:
    """The cluster of `aws eks get-token --cluster-name NAME`, as AWS's command line and our Cluster write it."""
    program = user.get("exec")
    words = [str(word) for word in program.get("args") or []] if isinstance(program, Mapping) else []
    if "get-token" not in words or "--cluster-name" not in words[:-1]:
        return None
    return words[words.index("--cluster-name") + 1]


def _token(user: Mapping[str, Any], folder: Path) -> str | None:
    if user.get("token"):
        return str(user["token"])
    return _read(folder, str(user["tokenFile"])).decode().strip() if user.get("tokenFile") else None


def _pem(entry: Mapping[str, Any], key: str, folder: Path) -> bytes | None:
    if entry.get(f"{key}-data"):
        try:
            return base64.b64decode(str(entry[f"{key}-data"]), validate=True)
        except (binascii.Error, ValueError) as error:
            raise UnusableKubeconfig(f"kubeconfig: {key}-data: not base64") from error
    return _read(folder, str(entry[key])) if entry.get(key) else None


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise UnusableKubeconfig(f"kubeconfig: {name}: {error.strerror}") from error
