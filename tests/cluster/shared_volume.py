"""The shared volume of a rehearsed environment, and the pods of `gpufleet data` on it, whose commands run here.

Played are kubelet and volume: /mnt is a directory in a mount namespace. Command line, API server, websocket, and kwok's
code of a kubelet for commands and logs are the real ones.
"""

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from gpufleet.jobs.kubernetes.url_fetch import IMAGE as FETCHES
from tests.cluster.workloads import pods
from tools.kubernetes.api_client import ApiRefused, wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.kwok_stages import WAITING

DATA = "gpufleet.dev/purpose=data"
AT = "2026-11-21T10:00:00Z"
POLL_SECONDS = 0.2


def mounted(directory: Path) -> tuple[str, ...]:
    """The words before a command for which, and for all that it starts, /mnt is this directory."""
    script = 'mount --bind "$0" /mnt && exec "$@"'
    return ("unshare", "--map-root-user", "--mount", "sh", "-ec", script, str(directory))


@dataclass
class SharedVolume:
    """A namespace's pods for data. directory: what is on the volume; the plane was started by a command `mounted` on
    it. variables: of a pod that fetches."""

    plane: ControlPlane
    namespace: str
    directory: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def played(self) -> Iterator[None]:
        """Meanwhile pods for data run, and no others: the scheduler has no node to give, as this gives them theirs."""
        names = [str(each["metadata"]["name"]) for each in self.plane.client.get("/api/v1/nodes")["items"]]
        over = threading.Event()
        player = threading.Thread(target=self._play, args=(names[0], over))
        self._cordon(names, True)
        player.start()
        try:
            yield
        finally:
            over.set()
            player.join()
            self._cordon(names, None)

    def _cordon(self, names: list[str], cordoned: bool | None) -> None:
        for name in names:
            try:
                self.plane.client.merge(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": cordoned}})
            except ApiRefused as refused:
                # The autoscaler may take a node away meanwhile.
                if refused.code != HTTPStatus.NOT_FOUND:
                    raise

    def _play(self, node: str, over: threading.Event) -> None:
        seen: set[str] = set()
        while not over.wait(POLL_SECONDS):
            for each in pods(self.plane, self.namespace, DATA):
                if (name := str(each["metadata"]["name"])) not in seen:
                    seen.add(name)
                    fetches = each["spec"]["containers"][0]["image"] == FETCHES
                    (self._fetch if fetches else self._serve)(each, node)

    def _path(self, pod: Mapping[str, Any]) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods/{pod['metadata']['name']}"

    def _named(self, pod: Mapping[str, Any]) -> dict[str, str]:
        """The metadata of another object with the pod's name."""
        return {"name": pod["metadata"]["name"], "namespace": self.namespace}

    def _bind(self, pod: Mapping[str, Any], node: str) -> None:
        """Give the pod to the node, as the scheduler would."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": self._named(pod), "target": target}
        self.plane.client.request("POST", f"{self._path(pod)}/binding", binding)

    def _of_kwok(self, kind: str, pod: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
        document = {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": kind, "metadata": self._named(pod), "spec": spec}
        self.plane.client.apply(document)

    def _serve(self, pod: Mapping[str, Any], node: str) -> None:
        """It runs until it is deleted; kwok runs the commands in it."""
        self._of_kwok("Exec", pod, {"execs": [{"containers": ["data"], "local": {"workDir": "/"}}]})
        self._bind(pod, node)

    def _fetch(self, pod: Mapping[str, Any], node: str) -> None:
        """It has ended when its log is read: kwok, other than kubelets, does not end a log that is being followed."""
        client, path = self.plane.client, self._path(pod)
        client.merge(path, {"metadata": {"annotations": {WAITING: "Fetching"}}})
        self._bind(pod, node)
        wait_until("the kubelet has the pod", lambda: "containerStatuses" in client.get(path)["status"])
        container = pod["spec"]["containers"][0]
        log = self.directory.parent / f"{pod['metadata']['name']}.log"
        with log.open("w") as output:
            # Not by a pipe, which what still waits in the background would hold open.
            command = [*mounted(self.directory), *container["command"]]
            variables = {"PATH": os.environ["PATH"], **self.variables}
            done = subprocess.run(command, env=variables, stdout=output, stderr=subprocess.STDOUT, check=False)
        lines = log.read_text().splitlines()
        log.write_text("".join(f"{AT[:-1]}.{number:09d}Z stdout F {line}\n" for number, line in enumerate(lines)))
        self._of_kwok("Logs", pod, {"logs": [{"logsFile": str(log)}]})
        ended = {"exitCode": done.returncode, "reason": "Completed", "startedAt": AT, "finishedAt": AT}
        status = {"name": "data", "image": container["image"], "imageID": "", "ready": False, "restartCount": 0}
        phase = "Failed" if done.returncode else "Succeeded"
        change = {"phase": phase, "containerStatuses": [{**status, "state": {"terminated": ended}}]}
        client.merge(f"{path}/status", {"status": change})
