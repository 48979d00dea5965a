"""Copying through the real API server's websocket into a pod. Its commands run on this machine, as kwok plays them."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.kubernetes.data_pod import running_data_pod
from gpufleet.jobs.kubernetes.pod_exec import CommandError, exec_in_pod
from gpufleet.jobs.kubernetes.volume_files import VolumeFiles
from gpufleet.jobs.settings import read_settings
from tools.kubernetes.control_plane import ControlPlane


def test_files_go_through_the_api_server_and_come_back(plane: ControlPlane, namespace: str, tmp_path: Path) -> None:
    kubeconfig = plane.kubeconfig.read_text()
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "shared", "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "volumeName": f"pv-{namespace}",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{namespace}"},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "1Gi"},
            "nfs": {"server": "nfs.invalid", "path": "/"},
        },
    }
    where = {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Exec",
        "metadata": {"name": "copier", "namespace": namespace},
        "spec": {"execs": [{"containers": ["data"], "local": {"workDir": str(tmp_path)}}]},
    }
    for document in (volume, claim, where):
        plane.client.apply(document)
    settings = read_settings(
        {"kubeconfig": kubeconfig, "jobs": {"namespace": namespace, "volume_claim": "shared"}}, "dev"
    )
    api = KubernetesApi.of(kubeconfig, "dev")
    content = os.urandom(3_000_001)
    (tmp_path / "local").write_bytes(content)
    (tmp_path / "mnt").mkdir()
    with running_data_pod(api, settings, name="copier") as pod:

        def there(command: Sequence[str], given: Iterator[bytes]) -> Iterator[bytes]:
            return exec_in_pod(api, namespace, pod, command, given)

        files = VolumeFiles(there, str(tmp_path / "mnt"))
        [sent] = files.put(tmp_path / "local", "data/one")
        assert (sent.transferred_bytes, (tmp_path / "mnt/data/one").read_bytes()) == (len(content), content)
        assert [(each.path, each.size) for each in files.list_files()] == [("data/one", len(content))]
        list(files.get("data/one", tmp_path / "back"))
        with pytest.raises(CommandError, match="file not found on the volume") as failed:
            files.list_files("nothing")
    assert failed.value.code == 4
    assert (tmp_path / "back").read_bytes() == content
    assert api.find(f"/api/v1/namespaces/{namespace}/pods/copier") is None
    plane.client.delete(f"/api/v1/persistentvolumes/pv-{namespace}")
