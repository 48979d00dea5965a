"""Device plugins that a program installs by a chart: of each chart the one DaemonSet that nodes need it for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Protocol

import yaml

from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.recorded_objects import recorded_in_all
from gpufleet_rehearsal.kubernetes.release import KIND
from gpufleet_rehearsal.table.paths import Json

MARK = "rehearsal.gpufleet.dev/chart"
"""Label of these DaemonSets."""
Document = Mapping[str, Any]


class DaemonSetClient(Protocol):
    """What tools/kubernetes/api_client.py offers."""

    def get(self, path: str, **query: str) -> dict[str, Any]: ...

    def apply(self, document: Document) -> object: ...

    def delete(self, path: str) -> None: ...

    def path(self, document: Document) -> str: ...


def follow(notes: Store, client: DaemonSetClient) -> list[str]:
    """Bring the DaemonSets to what the recorded releases say; what was done, a line each."""
    wanted = {each["metadata"]["name"]: each for each in daemonsets(recorded_in_all(notes, KIND))}
    found = client.get("/apis/apps/v1/daemonsets", labelSelector=MARK)["items"]
    there = {each["metadata"]["name"]: each for each in found}
    for name in sorted(wanted.keys() - there.keys()):
        client.apply(wanted[name])
    for name in sorted(there.keys() - wanted.keys()):
        client.delete(client.path({"apiVersion": "apps/v1", "kind": "DaemonSet", **there[name]}))
    return [
        f"{name}: its device plugin {'runs' if name in wanted else 'is gone'}" for name in sorted({*wanted} ^ {*there})
    ]


def daemonsets(releases: Sequence[Mapping[str, Json]]) -> list[Document]:
    """The DaemonSets of these releases, named as their charts: one of each chart."""
    found = {str(release.get("chart")).rpartition("/")[2]: release for release in releases}
    return [_daemonset(chart, row, found[chart]) for chart, row in _charts().items() if chart in found]


def _daemonset(chart: str, row: Document, release: Mapping[str, Json]) -> Document:
    values = _mapping(release.get("values"))
    given: Any = values
    for key in row["tolerations"]:
        given = _mapping(given).get(key)
    labels = {MARK: chart}
    pod = {
        "nodeSelector": {**row["nodes"], **_mapping(values.get("nodeSelector"))},
        "tolerations": row["default"] if given is None else given,
        "containers": [{"name": "plugin", "image": row["image"]}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": chart, "namespace": "kube-system", "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}},
    }


@cache
def _charts() -> Mapping[str, Document]:
    text = (files("gpufleet_rehearsal.kubernetes") / "plugin_charts.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
