"""The shape of a kubeconfig. Source: kubernetes.io/docs/reference/config-api/kubeconfig.v1/."""

from typing import Any, TypedDict

from gpufleet.documents.json import check_shape
from gpufleet.documents.yaml import parse_yaml


class KubeconfigCluster(TypedDict):
    name: str
    cluster: dict[str, Any]


class KubeconfigUser(TypedDict):
    name: str
    user: dict[str, Any]


class KubeconfigContextFields(TypedDict, total=False):
    cluster: str
    user: str
    namespace: str


class KubeconfigContext(TypedDict):
    name: str
    context: KubeconfigContextFields


Kubeconfig = TypedDict(
    "Kubeconfig",
    {
        "clusters": list[KubeconfigCluster] | None,
        "users": list[KubeconfigUser] | None,
        "contexts": list[KubeconfigContext] | None,
        "current-context": str | None,
    },
    total=False,
)


def parse_kubeconfig(text: str | bytes, where: str, fix: str = "") -> Kubeconfig:
    """A kubeconfig of YAML or JSON; an empty text is one without entries. Errors: DocumentError."""
    return check_shape(parse_yaml(text, where, fix) or {}, Kubeconfig, where, fix)
