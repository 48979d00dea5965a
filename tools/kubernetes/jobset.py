"""JobSet on a control plane: its own definition, role, configuration and webhooks, and its real controller.

What is not as its chart makes it: see webhook_controller.py; it also serves no metrics and health checks, which would
listen on every address, and does not elect a leader.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tools.kubernetes.api_client import ApiClient, ApiRefused, ApiSilent
from tools.kubernetes.commands import HOST, Layout
from tools.kubernetes.programs import Program, programs
from tools.kubernetes.webhook_controller import Loader, copy_certificate, deployment, named_roles, webhooks
from tools.ports import free_ports

NAMESPACE = "jobset-system"
NAME = "jobset-controller"
"""Of its Deployment and of its service account, as its chart names them."""
CONFIG = "controller_manager_config.yaml"

_API = "/apis/jobset.x-k8s.io/v1alpha2"
_OF_JOBSETS = {"matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}]}


def install_jobset(client: ApiClient, layout: Layout, wait: Callable[[str, Callable[[], bool]], None]) -> None:
    """Install JobSet, and with `wait` wait until its webhooks answer. Raises ApiRefused, ApiSilent, ProgramMissing."""
    program = programs()["jobset"]
    folder = layout.home / "jobset"
    folder.mkdir(mode=0o700, exist_ok=True)
    config = _configuration(program, layout, folder)
    definition = program.file("jobset.x-k8s.io_jobsets.yaml").read_text(encoding="utf-8")
    client.apply(yaml.load(definition, Loader=Loader))
    wait("JobSet's kind is served", lambda: client.find(_API) is not None)
    roles = list(named_roles(program.file("role.yaml"), "jobset", NAMESPACE))
    image = f"registry.k8s.io/jobset/jobset:v{program.version}"
    hooks = webhooks(program.file("manifests.yaml"), "jobset", layout, config["webhook"]["port"], _selector)
    for document in [*deployment(NAMESPACE, NAME, image, [f"--config={folder / CONFIG}"], roles), *hooks]:
        client.apply(document)
    wait("JobSet's webhooks answer", lambda: _answers(client))


def _configuration(program: Program, layout: Layout, folder: Path) -> dict[str, Any]:
    """Its published configuration, with other addresses; written once, as the process that runs has read it."""
    path = folder / CONFIG
    if path.exists():
        return dict(yaml.safe_load(path.read_text(encoding="utf-8")))
    copy_certificate(layout, folder)
    config = yaml.safe_load(program.file(CONFIG).read_text(encoding="utf-8")) | {
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": HOST, "port": free_ports(1)[0], "certDir": str(folder)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    }
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return dict(config)


def _selector(hook: dict[str, Any]) -> dict[str, Any]:
    """As in its chart, those on pods are called for pods of JobSets only."""
    on_pods = any("pods" in rule["resources"] for rule in hook["rules"])
    return {"objectSelector": _OF_JOBSETS} if on_pods else {}


def _answers(client: ApiClient) -> bool:
    """Whether a JobSet could be made: its webhooks are called in a dry run, too."""
    metadata = {"name": "asked", "namespace": "default"}
    asked = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": {}}
    try:
        client.request("POST", f"{_API}/namespaces/default/jobsets", asked, dryRun="All")
    except (ApiRefused, ApiSilent):
        return False
    return True
