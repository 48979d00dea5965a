"""Helm releases whose state is lost: the only kind of Kubernetes object that `up` cannot create a second time.

Others are applied on the server, which updates what is there. A release is in no inventory of the cloud: it is taken
for the stack's where its cluster is the stack's own resource.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpufleet.adoption.match import logical_name
from gpufleet.documents.json import read_json
from gpufleet.pulumi_cli import PulumiCli

RELEASE = "kubernetes:helm.sh/v3:Release"
CLUSTERS = ("aws:eks/cluster:Cluster", "azure-native:containerservice:ManagedCluster")

Resources = Sequence[Mapping[str, Any]]


def lost_releases(engine: PulumiCli, stack: str) -> list[str]:
    """Import ids (`namespace/name`) of the releases that an `up` would install on the stack's own clusters."""
    steps = [step["newState"] for step in engine.preview(stack) if step["op"] == "create"]
    return [_import_id(step) for step in _on_own_clusters(steps, engine.state(stack))]


def import_releases(engine: PulumiCli, stack: str) -> list[str]:
    """Import them, each by itself: one that the cluster lacks is left to the next `up`. Returns the imported ones.

    Their cluster must be in the state.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "import.json"
        # Beside the steps, the engine writes what their provider is configured with, secrets encrypted.
        preview = engine.preview_json(stack, "--import-file", str(file))
        template = read_json(file)
        steps = [step["newState"] for step in preview["steps"] if step["op"] == "create"]
        imported = []
        for step in _on_own_clusters(steps, engine.state(stack)):
            file.write_text(json.dumps(_import_file(template, step)))
            if engine.run_operation("import", stack, "--file", str(file), "--generate-code=false") == 0:
                imported.append(_import_id(step))
        return imported


def _on_own_clusters(steps: Resources, state: Resources) -> list[Mapping[str, Any]]:
    """The releases among the steps whose provider is configured from a cluster of the stack."""
    known = {str(each["urn"]): each for each in (*steps, *state)}
    return [each for each in steps if each["type"] == RELEASE and _has_own_cluster(each, known)]


def _has_own_cluster(release: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> bool:
    provider = known.get(str(release.get("provider", "")).rpartition("::")[0], {})
    sources = (provider.get("propertyDependencies") or {}).get("kubeconfig") or ()
    return any(urn in known and known[urn]["type"] in CLUSTERS and known[urn].get("custom") for urn in sources)


def _import_id(release: Mapping[str, Any]) -> str:
    return f"{release['inputs']['namespace']}/{release['inputs']['name']}"


def _import_file(template: Mapping[str, Any], release: Mapping[str, Any]) -> dict[str, Any]:
    """Of an import file of everything: one release, and the components that it belongs to."""
    entries = {each["name"]: each for each in template["resources"]}
    name = next(
        name
        for name, each in entries.items()
        if each["type"] == RELEASE and each.get("logicalName", name) == logical_name(release)
    )
    resources = [{**entries[name], "id": _import_id(release)}]
    while (above := entries.get(resources[0].get("parent"))) is not None:
        resources.insert(0, above)
    return {**template, "resources": resources}
