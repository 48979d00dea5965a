"""Volumes that a simulated cluster makes for a hub's claim: by class and driver, as the real one would."""

import asyncio
import json

import pytest

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.seed_resources import seed_account
from gpufleet_rehearsal.kubernetes.cluster import SimulatedCluster
from gpufleet_rehearsal.kubernetes.configuration import read_configuration
from gpufleet_rehearsal.kubernetes.engine_log import EngineLog
from gpufleet_rehearsal.kubernetes.storage import ClusterStorage, cluster_storage, why_release_fails
from tests.rehearsal.fast_clock import FastClock

EKS, AKS = "https://dev.eks.rehearsal.invalid", "https://dev-1.hcp.eastus.azmk8s.rehearsal.invalid:443"
OWN = "https://own-cluster.rehearsal.invalid:6443"
EBS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "gpufleet-notebooks"},
    "provisioner": "ebs.csi.aws.com",
}
NO_CLASS = "no persistent volumes available for this claim and no storage class is set"
WAITING = (
    "Waiting for a volume to be created either by the external provisioner '{}' or manually by the system "
    "administrator. If volume creation is delayed, please verify that the provisioner is running and correctly "
    "registered."
)


def add(cloud, type_, id_, inputs, outputs):
    now = cloud.clock.now()
    cloud.store.add(
        type_=type_, id_=id_, urn=f"urn:{id_}", name=id_, inputs=inputs, outputs=outputs, at=now, ready_at=now
    )


@pytest.fixture
def home(tmp_path):
    (tmp_path / "rehearsal.json").write_text('{"control_plane": false, "latency_scale": 0.5}')
    cloud = open_cloud("aws", tmp_path)
    add(cloud, "aws:eks/cluster:Cluster", "dev", {"name": "dev"}, {"endpoint": EKS})
    fqdn = {"fqdn": AKS.removeprefix("https://").removesuffix(":443")}
    add(cloud, "azure-native:containerservice:ManagedCluster", "/dev", {}, fqdn)
    return tmp_path


def install(home, addon):
    add(open_cloud("aws", home), "aws:eks/addon:Addon", addon, {"clusterName": "dev", "addonName": addon}, {})


def why(home, server, name=None, objects=()):
    return cluster_storage(home, server).with_objects(objects).why_unbound(name)


def test_eks_has_gp2_and_no_default_class_and_no_driver(home):
    assert why(home, EKS) == NO_CLASS
    assert why(home, EKS, "gpufleet-notebooks") == 'storageclass.storage.k8s.io "gpufleet-notebooks" not found'
    assert why(home, EKS, "gpufleet-notebooks", [EBS]) == WAITING.format("ebs.csi.aws.com")
    assert why(home, EKS, "gp2") == WAITING.format("ebs.csi.aws.com")
    install(home, "aws-efs-csi-driver")
    assert why(home, EKS, "gp2") == WAITING.format("ebs.csi.aws.com")
    install(home, "aws-ebs-csi-driver")
    assert why(home, EKS, "gp2") == ""
    assert why(home, EKS, "gpufleet-notebooks", [EBS]) == ""
    assert why(home, EKS, "gpufleet-notebooks") == 'storageclass.storage.k8s.io "gpufleet-notebooks" not found'
    assert why(home, EKS) == NO_CLASS
    marked = {"name": "mine", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    assert why(home, EKS, None, [{**EBS, "metadata": marked}]) == ""


def test_aks_has_classes_and_drivers_unless_they_are_turned_off(home):
    assert (why(home, AKS), why(home, AKS, "managed-csi")) == ("", "")
    assert why(home, AKS, "gp2") == 'storageclass.storage.k8s.io "gp2" not found'
    off = {"storageProfile": {"diskCSIDriver": {"enabled": False}}}
    other = AKS.replace("dev-1", "dev-2")
    fqdn = {"privateFQDN": other.removeprefix("https://").removesuffix(":443")}
    add(open_cloud("aws", home), "azure-native:containerservice:ManagedCluster", "/off", off, fqdn)
    assert why(home, other, "managed-csi") == WAITING.format("disk.csi.azure.com")
    assert why(home, other, "azurefile-csi") == ""


def test_own_cluster_has_the_classes_that_its_owner_lists(home, tmp_path_factory):
    assert why(home, OWN, "local-path") == 'storageclass.storage.k8s.io "local-path" not found'
    file = tmp_path_factory.mktemp("config") / "rehearsal.onprem.yaml"
    file.write_text("storage_classes: [local-path]\n")
    seed_account(open_cloud("aws", home), file)
    assert why(home, OWN, "local-path") == ""
    assert why(home, OWN) == NO_CLASS


def test_cluster_before_there_is_any_cloud(tmp_path):
    assert cluster_storage(tmp_path, OWN) == ClusterStorage({})


HUB = {"chart": "jupyterhub", "name": "jupyterhub", "namespace": "vision", "atomic": True}


def database(**db):
    return {**HUB, "values": {"hub": {"db": db}}}


@pytest.mark.parametrize(
    ("release", "told"),
    [
        (HUB, f"claim vision/hub-db-dir: {NO_CLASS}"),
        (database(type="sqlite-pvc"), f"claim vision/hub-db-dir: {NO_CLASS}"),
        (
            database(pvc={"storageClassName": "x"}),
            'claim vision/hub-db-dir: storageclass.storage.k8s.io "x" not found',
        ),
        (database(pvc={"storageClassName": "here"}), ""),
        (database(type="sqlite-memory"), ""),
        (database(type="postgres"), ""),
        ({**HUB, "skipAwait": True}, ""),
        ({**HUB, "chart": "kueue"}, ""),
    ],
)
def test_hub_without_a_volume_is_never_ready(release, told):
    undone = "release jupyterhub failed, and has been uninstalled due to atomic being set: context deadline exceeded; "
    storage = ClusterStorage({"here": "driver"}, "", frozenset({"driver"}))
    assert why_release_fails(release, storage) == (undone + told if told else "")
    if told:
        kept = why_release_fails({**release, "atomic": False, "namespace": None}, storage)
        failed = f"release jupyterhub failed: context deadline exceeded; {told}"
        assert kept == failed.replace("vision/", "default/")


def test_release_of_a_hub_fails_after_its_time_and_goes_with_class_and_driver(home):
    clusters, contexts = [{"name": "c", "cluster": {"server": EKS}}], [{"name": "x", "context": {"cluster": "c"}}]
    kubeconfig = {"clusters": clusters, "contexts": contexts, "current-context": "x"}
    configuration = read_configuration({"kubeconfig": json.dumps(kubeconfig)})
    clock = FastClock()
    cluster = SimulatedCluster(home, configuration, clock, EngineLog(None))
    release = {**database(pvc={"storageClassName": "gpufleet-notebooks"}), "timeout": 600}

    def create():
        return asyncio.run(cluster.releases.create("urn", release, preview=False))[0]

    with pytest.raises(UserError, match='"gpufleet-notebooks" not found'):
        create()
    assert clock.at == 300
    type_ = "kubernetes:storage.k8s.io/v1:StorageClass"
    asyncio.run(cluster.create(type_, f"urn:pulumi:s::p::{type_}::a", EBS, 0))
    with pytest.raises(UserError, match="Waiting for a volume to be created"):
        create()
    install(home, "aws-ebs-csi-driver")
    assert create() == "vision/jupyterhub"
    assert clock.at == 600
