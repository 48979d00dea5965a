"""From a kubeconfig to a cluster's API, with the one line that says why where it does not work."""

import logging
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import yaml
from kubernetes.client import ApiClient, Configuration  # type: ignore[import-untyped]
from kubernetes.config import ConfigException  # type: ignore[import-untyped]
from kubernetes.config.kube_config import KubeConfigLoader  # type: ignore[import-untyped]

from gpufleet.errors import UserError
from gpufleet.rules.wording import one_line


class KubeconfigError(UserError):
    """The kubeconfig leads nowhere; the text is the one line for the user."""


def connect(kubeconfig: object, where: str) -> ApiClient:
    """A client of the kubeconfig's current context; nothing is sent yet, but its credential plugin has run.

    kubeconfig: its text (YAML or JSON) or its content. where: what the user knows it by, for messages.
    Errors: KubeconfigError when it is none, names what it does not hold, or its plugin is missing or fails.
    """
    content = _content(kubeconfig, where)
    plugin = _plugin(content)
    if plugin is not None and shutil.which(str(plugin.get("command"))) is None:
        hint = f"; {plugin['installHint']}" if plugin.get("installHint") else ""
        raise KubeconfigError(
            f"{where}: its credentials come from the program {plugin.get('command')}, which is not on PATH; "
            f"install it{hint}"
        )
    configuration = Configuration()
    # Ours are bounded, with pauses that grow (patience.py); urllib3's three at once would only hide the first failure.
    configuration.retries = False
    try:
        with _logged() as said:
            KubeConfigLoader(content).load_and_set(configuration)
    except ConfigException as error:
        raise KubeconfigError(f"{where}: {one_line(str(error))}; make it anew with `pulumi up`") from error
    if plugin is not None and not configuration.api_key and not configuration.cert_file:
        words = one_line(" ".join(" ".join(said).split())) or "it gave neither a token nor a certificate"
        raise KubeconfigError(
            f"{where}: its credential program {plugin['command']} failed: {words}; sign in, or mend what it says"
        )
    # The client would renew a token on its own, and only log it when that fails: we connect anew on a 401 instead.
    configuration.refresh_api_key_hook = None
    return ApiClient(configuration)


def _content(kubeconfig: object, where: str) -> dict[str, Any]:
    try:
        content = yaml.safe_load(kubeconfig) if isinstance(kubeconfig, str) else kubeconfig
    except yaml.YAMLError as error:
        raise KubeconfigError(f"{where}: is no kubeconfig: {one_line(str(error))}") from error
    if not isinstance(content, Mapping) or not content.get("clusters") or not content.get("current-context"):
        raise KubeconfigError(f"{where}: is no kubeconfig: it needs clusters, users, contexts and a current-context")
    return dict(content)


def _plugin(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The credential plugin of the current context's user."""
    contexts = {each.get("name"): each.get("context") or {} for each in content.get("contexts") or []}
    users = {each.get("name"): each.get("user") or {} for each in content.get("users") or []}
    user = users.get(contexts.get(content["current-context"], {}).get("user")) or {}
    plugin = user.get("exec")
    return plugin if isinstance(plugin, Mapping) else None


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
