"""A controller with webhooks on a control plane: what is not as its chart makes it.

It runs on this machine (supervisor.py), so the API server calls its webhooks at a port of 127.0.0.1 and not through a
Service. Both show the API server's certificate, which is for that address.
"""

import base64
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.kubernetes.commands import HOST, Layout

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_RBAC = "rbac.authorization.k8s.io/v1"


def copy_certificate(layout: Layout, folder: Path) -> None:
    """Put the certificate and its key where the controller looks for them."""
    shutil.copyfile(layout.authority, folder / "tls.crt")
    shutil.copy(layout.certificates / "apiserver.key", folder / "tls.key")


def named_roles(path: Path, prefix: str, namespace: str) -> Iterator[dict[str, Any]]:
    """The controller's own roles, with the prefix before their names; those of a namespace in its own."""
    for role in yaml.load_all(path.read_text(encoding="utf-8"), Loader=Loader):
        if role:
            place = {"namespace": namespace} if role["kind"] == "Role" else {}
            yield role | {"metadata": {"name": f"{prefix}-{role['metadata']['name']}", **place}}


def deployment(
    namespace: str, name: str, image: str, arguments: Sequence[str], roles: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Namespace, service account with these roles, and the Deployment that the supervisor follows."""
    place = {"name": name, "namespace": namespace}
    labels = {"app.kubernetes.io/name": name}
    container = {"name": "manager", "image": image, "args": list(arguments)}
    spec = {"serviceAccountName": name, "containers": [container]}
    bindings = [
        {
            "apiVersion": _RBAC,
            "kind": f"{role['kind']}Binding",
            "metadata": role["metadata"],
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": role["kind"],
                "name": role["metadata"]["name"],
            },
            "subjects": [{"kind": "ServiceAccount", **place}],
        }
        for role in roles
    ]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": place},
        *roles,
        *bindings,
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": place,
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        },
    ]


def webhooks(
    path: Path, prefix: str, layout: Layout, port: int, selector: Callable[[dict[str, Any]], dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Its webhooks, at that port. selector: the fields that choose the objects of a webhook."""
    authority = base64.b64encode(layout.authority.read_bytes()).decode()
    for document in yaml.load_all(path.read_text(encoding="utf-8"), Loader=Loader):
        if not document:
            continue
        document["metadata"]["name"] = f"{prefix}-{document['metadata']['name']}"
        for hook in document["webhooks"]:
            called = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {"url": f"https://{HOST}:{port}{called}", "caBundle": authority}
            hook.update(selector(hook))
        yield document
