"""Objects of Kubernetes by the classes of pulumi_kubernetes: one resource for each, named after what it is."""

import importlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_kubernetes import apiextensions

from gpufleet.errors import UserError

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


def sdk_class(document: Mapping[str, Any]) -> type[pulumi.CustomResource] | None:
    """The SDK's class for the kind of an object; None for a kind that the SDK does not know, such as MPIJob.

    The SDK names a group's module after the group's first word: rbac.v1 for rbac.authorization.k8s.io/v1. Importing
    one group is what a program pays for: all of them take two seconds.
    """
    group, _, version = document["apiVersion"].rpartition("/")
    try:
        module = importlib.import_module(f"pulumi_kubernetes.{group.partition('.')[0] or 'core'}.{version}")
    except ModuleNotFoundError:
        return None
    found: type[pulumi.CustomResource] | None = getattr(module, document["kind"], None)
    # Another group may begin with the same word: apps.example.com is not apps.
    return found if getattr(found, "pulumi_type", None) == object_type(document) else None


def kubernetes_object(name: str, document: Mapping[str, Any], opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """One object, unchanged but for its status, which is the cluster's to write.

    Errors: UserError, one line, for a kind or a field that the SDK cannot register, and for a field that it misses.
    """
    api, kind = document["apiVersion"], document["kind"]
    made = sdk_class(document)
    if made is None and "/" not in api:
        raise UserError(f"{object_name(document)}: {api} has no kind {kind}; correct apiVersion or kind")
    inputs = {_snake(key): value for key, value in document.items() if key != "status"}
    legal = made or apiextensions.CustomResourceArgs
    unknown = [key for key in document if _snake(key) in inputs and not hasattr(legal, _snake(key))]
    if unknown:
        raise UserError(
            f"{object_name(document)}: {', '.join(unknown)}: {kind} of {api} has no such field in pulumi_kubernetes; "
            "correct it, or apply this object by kubectl"
        )
    if kind == "Secret":
        opts = pulumi.ResourceOptions.merge(opts, _unmarked(inputs))
    try:
        return (made or apiextensions.CustomResource)(name, **inputs, opts=opts)
    except TypeError as error:
        raise UserError(f"{object_name(document)}: {error}; add it") from error


def kubernetes_objects(
    name: str,
    documents: Sequence[Mapping[str, Any]],
    parent: pulumi.Resource,
    needed: Sequence[pulumi.Resource] = (),
) -> list[pulumi.CustomResource]:
    """All objects of a manifest below `parent`, after `needed`: namespaces and definitions, the rest, the workloads.

    Deleted the other way round, so that an operator is gone before the definitions of what it looks after.
    Errors: UserError as of `kubernetes_object`.
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


def _snake(key: str) -> str:
    """The SDK's name of a field of an object itself; what is inside of a field keeps its names."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower()


def _unmarked(inputs: Mapping[str, Any]) -> pulumi.ResourceOptions:
    """Options by which a Secret's data are as secret as they were given.

    The SDK makes one secret of all of it, which is unknown in a preview as soon as one value is; the provider hides
    every value anyway.
    """

    def given(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
        return pulumi.ResourceTransformationResult({**args.props, **inputs}, args.opts)

    return pulumi.ResourceOptions(transformations=[given])
