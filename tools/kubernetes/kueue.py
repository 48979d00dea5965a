"""Kueue on a control plane: its own definitions, role, configuration and webhooks, and its real controller.

What is not as its chart makes it, and why:
- Its webhooks are called at a port of 127.0.0.1: see webhook_controller.py.
- It serves no metrics, health checks and list of pending workloads: these would listen on every address.
- It is alone, and so does not elect a leader.
- Its definitions are not converted to v1beta1, which nothing here asks for.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tools.kubernetes.api_client import ApiClient, ApiRefused, ApiSilent
from tools.kubernetes.commands import HOST, Layout
from tools.kubernetes.programs import Program, programs
from tools.kubernetes.webhook_controller import Loader, copy_certificate, deployment, named_roles, webhooks
from tools.ports import free_ports

NAMESPACE = "kueue-system"
NAME = "kueue-controller-manager"
"""Of its Deployment and of its service account."""
CONFIG = "controller_manager_config.yaml"

_GROUP = "kueue.x-k8s.io"


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
    image = f"registry.k8s.io/kueue/kueue:v{program.version}"
    hooks = webhooks(program.file("manifests.yaml"), "kueue", layout, config["webhook"]["port"], _selector)
    made = deployment(NAMESPACE, NAME, image, [f"--config={folder / CONFIG}"], _roles(program))
    for document in [*made, *hooks]:
        client.apply(document)
    wait("Kueue's webhooks answer", lambda: _answers(client))


def _definitions(program: Program) -> Iterator[dict[str, Any]]:
    for file in sorted(program.directory.glob(f"{_GROUP}_*.yaml")):
        yield yaml.load(file.read_text(encoding="utf-8"), Loader=Loader)


def _configuration(program: Program, layout: Layout, folder: Path) -> dict[str, Any]:
    """Its published configuration, with other addresses; written once, as the process that runs has read it."""
    path = folder / CONFIG
    if path.exists():
        return dict(yaml.safe_load(path.read_text(encoding="utf-8")))
    copy_certificate(layout, folder)
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


def _roles(program: Program) -> list[dict[str, Any]]:
    """Its own: on the cluster, and on the secrets of its namespace."""
    files = (program.file("role.yaml"), program.file("manager_secrets_role.yaml"))
    return [role for file in files for role in named_roles(file, "kueue", NAMESPACE)]


def _selector(hook: dict[str, Any]) -> dict[str, Any]:
    """As in its chart, webhooks on jobs and pods leave its own namespace alone."""
    own = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", NAMESPACE]}
    return {} if _is_on(hook, _GROUP) else {"namespaceSelector": {"matchExpressions": [own]}}


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
