"""What stays with a control plane: it runs the real programs of hosted.toml, plays the kubelets' part with device
plugins (device_plugins.py), and ends all when the owner is gone.

It is started by ControlPlane, as `python -m tools.kubernetes.supervisor HOME [--owner PID:STARTED]`, and writes what it
does to its log.
"""

import argparse
import hashlib
import json
import sys
import time
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tools.kubernetes.api_client import ApiClient, ApiRefused, ApiSilent
from tools.kubernetes.control_plane import HOSTED, ControlPlane
from tools.kubernetes.credentials import kubeconfig, write_private
from tools.kubernetes.device_plugins import DevicePlugins
from tools.kubernetes.pod_files import ACCOUNT, mount, placed
from tools.kubernetes.processes import Identity, ProcessEnded, Processes
from tools.kubernetes.programs import HERE, programs

POLL_SECONDS = 0.5
TOKEN_SECONDS = 24 * 3600
TABLE = HERE / "hosted.toml"
PYTHON = "python3"
"""The program of a container whose own command is run, from what its pod mounts."""


class Hosted:
    """One Deployment, and the process that stands for its pod."""

    def __init__(self, key: str, program: str, processes: Processes, home: Path) -> None:
        self.namespace, _, self.deployment = key.partition("/")
        self.program = program
        self.name = f"{HOSTED}{self.namespace}-{self.deployment}"
        self._processes = processes
        self._kubeconfig = home / f"{self.name}.kubeconfig"
        self._files = home / f"{self.name}.files"
        self._template = ""

    def follow(self, client: ApiClient) -> None:
        """Start or end the process, as the Deployment is now. Raises ApiSilent and ApiRefused."""
        path = f"/apis/apps/v1/namespaces/{self.namespace}/deployments/{self.deployment}"
        deployment = client.find(path) or {}
        template = deployment.get("spec", {}).get("template", {})
        digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).hexdigest()
        wanted = self._has_pod(client, deployment)
        runs = self._processes.find(self.name) is not None
        if runs and (not wanted or digest != self._template):
            self._processes.stop([self.name])
            print(f"{self.name}: ended, {'another template' if wanted else 'no pod runs'}", flush=True)
        elif wanted and not runs:
            self._start(client, template["spec"])
            self._template = digest

    def _has_pod(self, client: ApiClient, deployment: dict[str, Any]) -> bool:
        """Whether a pod of it runs. One that is not ready, as while its node is silent, runs all the same."""
        labels = deployment.get("spec", {}).get("selector", {}).get("matchLabels", {})
        if not labels:
            return False
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        pods = client.get(f"/api/v1/namespaces/{self.namespace}/pods", labelSelector=selector)["items"]
        return any(
            pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"] for pod in pods
        )

    def _start(self, client: ApiClient, pod: dict[str, Any]) -> None:
        account = pod.get("serviceAccountName", "default")
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{account}/token"
        wish = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        answer = client.request("POST", path, {**wish, "spec": {"expirationSeconds": TOKEN_SECONDS}})
        user = f"{self.namespace}/{account}"
        token = answer["status"]["token"]
        if self.program == PYTHON:
            command, environment = self._python(client, pod, token)
        else:
            text = kubeconfig(client.server, client.authority.read_bytes(), token, user)
            write_private(self._kubeconfig, text)
            command = [str(programs()[self.program].executable), *pod["containers"][0].get("args", [])]
            environment = {"KUBECONFIG": str(self._kubeconfig)}
        self._processes.start(self.name, command, {**environment, "HOME": "/nonexistent"})
        print(f"{self.name}: started as {user}: {' '.join(command)}", flush=True)

    def _python(self, client: ApiClient, pod: dict[str, Any], token: str) -> tuple[list[str], dict[str, str]]:
        """The container's own command, by this Python, with its files and variables; where it gives no other account,
        that of this pod."""
        (container,) = pod["containers"]
        places = mount(client, self.namespace, pod, token, self._files)
        command = [sys.executable, *placed(container["command"][1:], places)]
        given = {each["name"]: each["value"] for each in container.get("env", ()) if "value" in each}
        variables = {name: placed([value], places)[0] for name, value in given.items()}
        server = urlsplit(client.server)
        service = {
            "KUBERNETES_SERVICE_HOST": server.hostname or "",
            "KUBERNETES_SERVICE_PORT": str(server.port),
            # A mount namespace would put them at this path; its place here is told instead.
            "GPUFLEET_ACCOUNT": str(places[ACCOUNT]),
        }
        return command, {**variables, **service}


def keep(home: Path, owner: Identity | None) -> None:
    """Follow hosted Deployments and device plugins until the owner, if there is one, is gone; then end the plane."""
    processes = Processes(home)
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    hosted = [Hosted(key, row["program"], processes, home) for key, row in table.items()]
    plane = ControlPlane(home)
    client = plane.client
    plugins = DevicePlugins(client)
    while owner is None or owner.alive:
        for each in hosted:
            try:
                each.follow(client)
            except (ApiRefused, ApiSilent, ProcessEnded) as problem:
                print(f"{each.name}: {problem}", flush=True)
        try:
            for name in plugins.follow():
                print(f"{name}: a device plugin runs there", flush=True)
        except (ApiRefused, ApiSilent) as problem:
            print(f"device plugins: {problem}", flush=True)
        time.sleep(POLL_SECONDS)
    print(f"the owner {owner} is gone: ending the control plane", flush=True)
    plane.stop(by_supervisor=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path)
    parser.add_argument("--owner", type=Identity.parse)
    words = parser.parse_args()
    keep(words.home, words.owner)


if __name__ == "__main__":
    main()
