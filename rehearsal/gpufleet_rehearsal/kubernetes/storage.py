"""Which volumes a simulated cluster makes for claims: by its storage classes, and by the drivers that are there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from gpufleet.rules import coerce
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.site_line import CLUSTER
from gpufleet_rehearsal.onprem_cluster import STORAGE_CLASSES
from gpufleet_rehearsal.table.paths import Json

ADDON = "aws:eks/addon:Addon"
MANAGED_CLUSTER = "azure-native:containerservice:ManagedCluster"
CLAIM = "hub-db-dir"
"""The claim of JupyterHub's chart. Source: jupyterhub/templates/_helpers-names.tpl."""
DEFAULT = "storageclass.kubernetes.io/is-default-class"


@dataclass(frozen=True)
class ClusterStorage:
    """classes: each class with its driver. default: that of claims that name none, empty for none. drivers: those
    that are there; None: the owner's, which are."""

    classes: Mapping[str, str]
    default: str = ""
    drivers: frozenset[str] | None = None

    def with_objects(self, classes: Sequence[Mapping[str, Any]]) -> ClusterStorage:
        """The same, with StorageClasses that are objects of the cluster."""
        found, default = dict(self.classes), self.default
        for each in classes:
            metadata = each["metadata"]
            found[metadata["name"]] = str(each.get("provisioner"))
            if (metadata.get("annotations") or {}).get(DEFAULT) == "true":
                default = metadata["name"]
        return ClusterStorage(found, default, self.drivers)

    def why_unbound(self, name: object) -> str:
        """Why a claim of a class waits for ever, in the words of its events; empty if it gets a volume. name: None for
        a claim that leaves it out.

        Source: github.com/kubernetes/kubernetes, pkg/controller/volume/persistentvolume/pv_controller.go.
        """
        chosen = self.default if name is None else str(name)
        if not chosen:
            return "no persistent volumes available for this claim and no storage class is set"
        if chosen not in self.classes:
            return f'storageclass.storage.k8s.io "{chosen}" not found'
        driver = self.classes[chosen]
        if self.drivers is None or driver in self.drivers:
            return ""
        return (
            f"Waiting for a volume to be created either by the external provisioner '{driver}' or manually by the "
            "system administrator. If volume creation is delayed, please verify that the provisioner is running and "
            "correctly registered."
        )


def cluster_storage(directory: Path, server: str) -> ClusterStorage:
    """What the cluster whose API is at `server` has before the program makes classes."""
    database = directory / "cloud.db"
    store = Store(database) if database.exists() else None
    if store is None:
        return ClusterStorage({})
    for eks in store.resources(CLUSTER):
        if eks.view.get("endpoint") == server:
            return _eks(store, eks)
    for aks in store.resources(MANAGED_CLUSTER):
        if any(str(aks.view.get(key)) in server for key in ("fqdn", "privateFQDN") if aks.view.get(key)):
            return _aks(aks)
    return ClusterStorage(dict.fromkeys(json.loads(store.fact(STORAGE_CLASSES) or "[]"), "its owner's"))


def why_release_fails(release: Mapping[str, Json], storage: ClusterStorage) -> str:
    """Why a release of JupyterHub never has a hub that is ready, in Helm's words; empty if it has, and for others.

    Source: helm.sh/helm/v3 pkg/action/install.go (failRelease); jupyterhub/templates/hub/pvc.yaml.
    """
    if str(release.get("chart")).rpartition("/")[2] != "jupyterhub" or release.get("skipAwait"):
        return ""
    database = coerce.mapping(coerce.mapping(_mapping(release.get("values")), "hub"), "db")
    if database.get("type", "sqlite-pvc") != "sqlite-pvc":
        return ""
    why = storage.why_unbound(coerce.mapping(database, "pvc").get("storageClassName"))
    if not why:
        return ""
    name, namespace = release["name"], release.get("namespace") or "default"
    undone = ", and has been uninstalled due to atomic being set" if release.get("atomic") else ""
    return f"release {name} failed{undone}: context deadline exceeded; claim {namespace}/{CLAIM}: {why}"


def _eks(store: Store, cluster: SimulatedResource) -> ClusterStorage:
    row, name = _rows()["eks"], cluster.view.get("name")
    there = {str(each.view.get("addonName")) for each in store.resources(ADDON) if each.view.get("clusterName") == name}
    drivers = frozenset(driver for addon, driver in row["drivers"].items() if addon in there)
    return ClusterStorage(row["classes"], row["default"], drivers)


def _aks(cluster: SimulatedResource) -> ClusterStorage:
    row, profile = _rows()["aks"], coerce.mapping(cluster.view, "storageProfile")
    drivers = {
        driver for key, driver in row["drivers"].items() if coerce.mapping(profile, key).get("enabled") is not False
    }
    return ClusterStorage(row["classes"], row["default"], frozenset(drivers))


@cache
def _rows() -> Mapping[str, Mapping[str, Any]]:
    text = (files("gpufleet_rehearsal.kubernetes") / "storage_classes.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
