"""Kueue on a control plane: its own definitions, role, configuration and webhooks, and its real controller.

What is not as its chart makes it, and why:
- The controller runs on this machine (supervisor.py), so the API server calls its webhooks at a port of 127.0.0.1 and
  not through a Service. Both show the API server's certificate, which is for that address.
- It serves no metrics, health checks and list of pending workloads: these would listen on every address.
- It is alone, and so does not elect a leader.
- Its definitions are not converted to v1beta1, which nothing here asks for.
"""

import base64
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.kubernetes.api_client import ApiClient, ApiRefused, ApiSilent
from tools.kubernetes.commands import HOST, Layout
from tools.kubernetes.programs import Program, programs
from tools.ports import free_ports

NAMESPACE = "kueue-system"
NAME = "kueue-controller-manager"
"""Of its Deployment and of its service account."""
CONFIG = "controller_manager_config.yaml"

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_GROUP = "kueue.x-k8s.io"
_RBAC = "rbac.authorization.k8s.io/v1"


def install_kueue(client: ApiClient, layout: Layout, wait: Callable[[str, Callable[[], bool]], None]) -> None:
    """Install Kueue, and with `wait` wait until its webhooks answer. Raises ApiRefused, ApiSilent, ProgramMissing.

    The kinds of jobs that it is to manage must be served before: it looks for them when it starts.
    """
    program = programs()["kueue"]
    folder = layout.home / "kueue"
    folder.mkdir(mode=0o700, exist_ok=True)
    config = _configuration(program, layout, folder)
    kinds = list(_definitions(program))
    for document in kinds:
        client.apply(document)
    wait("Kueue's kinds are served", lambda: _served(client) >= len(kinds))
    port = config["webhook"]["port"]
    for document in [*_deployment(program, folder), *_webhooks(program, layout, port)]:
        client.apply(document)
    wait("Kueue's webhooks answer", lambda: _answers(client))


def _definitions(program: Program) -> Iterator[dict[str, Any]]:
    for file in sorted(program.directory.glob(f"{_GROUP}_*.yaml")):
        yield yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)


def _configuration(program: Program, layout: Layout, folder: Path) -> dict[str, Any]:
    """Its published configuration, with other addresses; written once, as the process that runs has read it."""
    path = folder / CONFIG
    if path.exists():
        return dict(yaml.safe_load(path.read_text(encoding="utf-8")))
    shutil.copyfile(layout.authority, folder / "tls.crt")
    shutil.copy(layout.certificates / "apiserver.key", folder / "tls.key")
    published = program.file(CONFIG).read_text(encoding="utf-8")
    config = yaml.safe_load(published) | {
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": HOST, "port": free_ports(1)[0], "certDir": str(folder)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "featureGates": {"VisibilityOnDemand": False},
    }
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return dict(config)


def _deployment(program: Program, folder: Path) -> list[dict[str, Any]]:
    """Namespace, service account with Kueue's own role, and the Deployment that the supervisor follows."""
    place = {"name": NAME, "namespace": NAMESPACE}
    roles = list(_roles(program))
    labels = {"app.kubernetes.io/name": "kueue"}
    container = {"name": "manager", "image": f"registry.k8s.io/kueue/kueue:v{program.version}"}
    spec = {"serviceAccountName": NAME, "containers": [container | {"args": [f"--config={folder / CONFIG}"]}]}
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
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
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


def _roles(program: Program) -> Iterator[dict[str, Any]]:
    """Its own: on the cluster, and on the secrets of its namespace."""
    for name in ("role.yaml", "manager_secrets_role.yaml"):
        for role in yaml.load_all(program.file(name).read_text(encoding="utf-8"), Loader=_LOADER):
            if role:
                place = {"namespace": NAMESPACE} if role["kind"] == "Role" else {}
                yield role | {"metadata": {"name": f"kueue-{role['metadata']['name']}", **place}}


def _webhooks(program: Program, layout: Layout, port: int) -> Iterator[dict[str, Any]]:
    """Its webhooks, at that port. As in its chart, those on jobs and pods leave its own namespace alone."""
    authority = base64.b64encode(layout.authority.read_bytes()).decode()
    own = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", NAMESPACE]}
    text = program.file("manifests.yaml").read_text(encoding="utf-8")
    for document in yaml.load_all(text, Loader=_LOADER):
        if not document:
            continue
        document["metadata"]["name"] = f"kueue-{document['metadata']['name']}"
        for hook in document["webhooks"]:
            path = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {"url": f"https://{HOST}:{port}{path}", "caBundle": authority}
            if not _is_on(hook, _GROUP):
                hook["namespaceSelector"] = {"matchExpressions": [own]}
        yield document


def _is_on(hook: Mapping[str, Any], group: str) -> bool:
    return any(group in rule["apiGroups"] for rule in hook["rules"])


def _served(client: ApiClient) -> int:
    """How many of its kinds the API server knows."""
    found = client.find(f"/apis/{_GROUP}/v1beta2") or {}
    return sum("/" not in each["name"] for each in found.get("resources", ()))


def _answers(client: ApiClient) -> bool:
    """Whether an object of Kueue could be made: its webhooks are called in a dry run, too."""
    flavor = {"apiVersion": f"{_GROUP}/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "asked"}, "spec": {}}
    try:
        client.request("POST", f"/apis/{_GROUP}/v1beta2/resourceflavors", flavor, dryRun="All")
    except (ApiRefused, ApiSilent):
        return False
    return True
