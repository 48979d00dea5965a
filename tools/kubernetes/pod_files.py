"""What a kubelet mounts in a pod's container, as files on this machine, and the words of its command that name them.

Of volumes only ConfigMaps; and the account's token, certificate and namespace, which every pod has at one place
(https://kubernetes.io/docs/tasks/run-application/access-api-from-pod).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.kubernetes.api_client import ApiClient
from tools.kubernetes.credentials import write_private

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def mount(client: ApiClient, namespace: str, pod: Mapping[str, Any], token: str, home: Path) -> dict[str, Path]:
    """Write the files of a pod's first container below `home`; returns each mount path and where it lies here.

    Raises ApiRefused where a ConfigMap is not there, as the kubelet does not start such a container.
    """
    volumes = {each["name"]: each for each in pod.get("volumes", ())}
    places = {}
    for wish in pod["containers"][0].get("volumeMounts", ()):
        source = volumes[wish["name"]]["configMap"]
        data = client.get(f"/api/v1/namespaces/{namespace}/configmaps/{source['name']}").get("data", {})
        items = source.get("items") or [{"key": key, "path": key} for key in data]
        written = {each["path"]: data[each["key"]] for each in items}
        places[wish["mountPath"]] = _written(home / wish["name"], written)
    account = {"token": token, "namespace": namespace, "ca.crt": client.authority.read_text(encoding="utf-8")}
    return {**places, ACCOUNT: _written(home / "account", account)}


def placed(words: Sequence[str], places: Mapping[str, Path]) -> list[str]:
    """Words, each of which that is a mounted path, or lies below one, is where it lies here."""
    return [_place(word, places) for word in words]


def _place(word: str, places: Mapping[str, Path]) -> str:
    for path, here in places.items():
        if word == path or word.startswith(f"{path}/"):
            return f"{here}{word[len(path) :]}"
    return word


def _written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(folder / name, text)
    return folder
