"""Objects of Kubernetes as plain resources of Pulumi: one for each, named after what it is."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

FIRST = ("Namespace", "CustomResourceDefinition")
"""What everything else of a manifest needs."""
WORKLOADS = ("Deployment", "DaemonSet", "StatefulSet", "Job")
"""What needs everything else of a manifest: service accounts, roles, configuration."""


def object_type(document: Mapping[str, Any]) -> str:
    """The type token of an object, for instance kubernetes:core/v1:Namespace or kubernetes:apps/v1:DaemonSet."""
    api = document["apiVersion"]
    group, _, version = api.rpartition("/")
    return f"kubernetes:{group or 'core'}/{version}:{document['kind']}"


def object_name(document: Mapping[str, Any]) -> str:
    """Kind and name of an object, for instance deployment-mpi-operator."""
    return f"{document['kind'].lower()}-{document['metadata']['name']}"


def labelled(document: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """A copy of an object with more labels; those that it has win."""
    metadata = document["metadata"]
    merged = {**labels, **metadata.get("labels", {})}
    return {**document, "metadata": {**metadata, **({"labels": merged} if merged else {})}}


def kubernetes_object(name: str, document: Mapping[str, Any], opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """One object, unchanged but for its status, which is the cluster's to write."""
    inputs = {key: value for key, value in document.items() if key != "status"}
    return pulumi.CustomResource(object_type(document), name, inputs, opts)


def kubernetes_objects(
    name: str,
    documents: Sequence[Mapping[str, Any]],
    parent: pulumi.Resource,
    needed: Sequence[pulumi.Resource] = (),
) -> list[pulumi.CustomResource]:
    """All objects of a manifest below `parent`, after `needed`: namespaces and definitions, the rest, the workloads.

    Deleted the other way round, so that an operator is gone before the definitions of what it looks after.
    """
    made: list[pulumi.CustomResource] = []
    for level in range(3):
        before = [*needed, *made]
        opts = pulumi.ResourceOptions(parent=parent, depends_on=before)
        made += [
            kubernetes_object(f"{name}-{object_name(document)}", document, opts)
            for document in documents
            if _level(document["kind"]) == level
        ]
    return made


def _level(kind: str) -> int:
    return 0 if kind in FIRST else 2 if kind in WORKLOADS else 1
