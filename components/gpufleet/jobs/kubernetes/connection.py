"""Connect to a cluster's API with a kubeconfig; errors are one line."""

import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kubernetes.client import ApiClient, Configuration  # type: ignore[import-untyped]
from kubernetes.config import ConfigException  # type: ignore[import-untyped]
from kubernetes.config.kube_config import KubeConfigLoader  # type: ignore[import-untyped]

from gpufleet.documents.content import DocumentError
from gpufleet.documents.yaml import parse_yaml
from gpufleet.errors import UserError
from gpufleet.rules.messages import join_words, one_line

_ANEW = "take it again from the stack's outputs (`pulumi stack output kubeconfig --show-secrets`)"


class KubeconfigError(UserError):
    """The kubeconfig cannot be used; the text is one line for the user."""


def connect(kubeconfig: object, where: str) -> ApiClient:
    """A client of the kubeconfig's current context; nothing is sent yet, but its credential plugin has run.

    kubeconfig: its text (YAML or JSON), its content, or a function that returns one of these. where: what the user
    knows it by, for messages.
    Errors: KubeconfigError when it is none, names what it does not hold, or its plugin is missing or fails.
    """
    content = _content(kubeconfig() if callable(kubeconfig) else kubeconfig, where)
    plugin = _user(content, where).get("exec") or None
    if plugin is not None and not isinstance(plugin, Mapping):
        raise KubeconfigError(f"{where}: is not a kubeconfig: its user's exec must be a mapping; {_ANEW}")
    if plugin is not None and shutil.which(str(plugin.get("command"))) is None:
        hint = f"; {plugin['installHint']}" if plugin.get("installHint") else ""
        raise KubeconfigError(
            f"{where}: its credentials come from the program {plugin.get('command')}, which is not on PATH; "
            f"install it{hint}"
        )
    configuration = Configuration()
    # Ours are bounded, with pauses that grow (backoff.py); urllib3's three at once would only hide the first failure.
    configuration.retries = False
    try:
        with _logged() as said:
            KubeConfigLoader(content).load_and_set(configuration)
    except (ConfigException, OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        # The client does not check the kinds of what it reads; a wrong one is the file's fault all the same.
        raise KubeconfigError(f"{where}: the kubeconfig cannot be used: {one_line(str(error))}; {_ANEW}") from error
    if plugin is not None and not configuration.api_key and not configuration.cert_file:
        words = one_line(" ".join(" ".join(said).split())) or "it gave neither a token nor a certificate"
        raise KubeconfigError(
            f"{where}: its credential program {plugin['command']} failed: {words}; sign in, or fix what it reports"
        )
    # The client would renew a token on its own, and only log it when that fails: we connect again on a 401 instead.
    configuration.refresh_api_key_hook = None
    return ApiClient(configuration)


def _content(kubeconfig: object, where: str) -> dict[str, Any]:
    """A kubeconfig with a server in its current context. Errors: KubeconfigError."""
    try:
        content = parse_yaml(kubeconfig, where) if isinstance(kubeconfig, str) else kubeconfig
    except DocumentError as error:
        raise KubeconfigError(f"{where}: is not a kubeconfig: {error.reason}; {_ANEW}") from error
    if not isinstance(content, Mapping) or not content.get("current-context") or not content.get("clusters"):
        raise KubeconfigError(
            f"{where}: is not a kubeconfig: it needs clusters, users, contexts and a current-context; {_ANEW}"
        )
    context = _named(content, "context", content["current-context"], "its current-context", where)
    cluster = _named(content, "cluster", context.get("cluster"), "the cluster of its context", where)
    if not cluster.get("server"):
        raise KubeconfigError(f"{where}: the kubeconfig's cluster {context['cluster']} has no server; {_ANEW}")
    return dict(content)


def _named(content: Mapping[str, Any], kind: str, name: object, what: str, where: str) -> Mapping[str, Any]:
    """One context, cluster or user (kind). what: who names it, for the message. Errors: KubeconfigError."""
    listing = content.get(f"{kind}s") or []
    if not isinstance(listing, list) or not all(isinstance(each, Mapping) for each in listing):
        raise KubeconfigError(f"{where}: is not a kubeconfig: its {kind}s must be a list of mappings; {_ANEW}")
    entries = {str(each.get("name")): each.get(kind) or {} for each in listing}
    found = entries.get(str(name))
    if isinstance(found, Mapping):
        return found
    has = f"has only {join_words(entries, 'and')}" if entries else "has none"
    raise KubeconfigError(f"{where}: {what} is {name}, and the kubeconfig {has} under {kind}s; {_ANEW}")


def _user(content: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """The current context's user; {} where it names none, as with `kubectl proxy`."""
    name = _named(content, "context", content["current-context"], "its current-context", where).get("user")
    return _named(content, "user", name, "the user of its context", where) if name else {}


@contextmanager
def _logged() -> Iterator[list[str]]:
    """What the client logs meanwhile: it says there, and only there, why a plugin failed."""
    said: list[str] = []

    class Collecting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    handler = Collecting()
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield said
    finally:
        root.removeHandler(handler)
