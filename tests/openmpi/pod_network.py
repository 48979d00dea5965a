"""Network namespaces, one for each pod, joined by a bridge in one of their own: nothing is added to the machine's."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_PREFIX = "gpufleet-pods"
_SUBNET = "10.244.0"
_SECONDS = 600
"""No command of iproute2 takes longer."""


class PodNetwork:
    """Addresses and namespaces of pods by their names; each has the interfaces lo and eth0, as in a container.

    Attributes:
        addresses: the IPv4 address of each pod.
    """

    def __init__(self, pods: list[str]) -> None:
        self.addresses: Mapping[str, str] = {pod: f"{_SUBNET}.{10 + at}" for at, pod in enumerate(pods)}
        self._spaces = {pod: f"{_PREFIX}-{os.getpid()}-{at}" for at, pod in enumerate(pods)}
        self._switch = f"{_PREFIX}-{os.getpid()}-switch"

    def namespace(self, pod: str) -> Path:
        return Path("/run/netns", self._spaces[pod])

    def sent_bytes(self, pod: str) -> int:
        """Bytes that ``pod`` has sent through eth0 so far, frames and all."""
        told = json.loads(_ip("-n", self._spaces[pod], "-json", "-s", "link", "show", "eth0"))
        return int(told[0]["stats64"]["tx"]["bytes"])

    def limit(self, megabits: int) -> None:
        """From now on each pod sends at most ``megabits`` per second."""
        for space in self._spaces.values():
            shape = f"tc -n {space} qdisc replace dev eth0 root tbf rate {megabits}mbit burst 64kb latency 200ms"
            _run(shape.split())

    def build(self) -> None:
        _ip("netns", "add", self._switch)
        _ip("-n", self._switch, "link", "add", "switch", "type", "bridge")
        _ip("-n", self._switch, "link", "set", "switch", "up")
        for at, (pod, space) in enumerate(self._spaces.items()):
            port = f"port{at}"
            _ip("netns", "add", space)
            _ip("-n", self._switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space)
            _ip("-n", self._switch, "link", "set", port, "master", "switch", "up")
            _ip("-n", space, "addr", "add", f"{self.addresses[pod]}/24", "dev", "eth0")
            _ip("-n", space, "link", "set", "lo", "up")
            _ip("-n", space, "link", "set", "eth0", "up")

    def remove(self) -> None:
        for space in [*self._spaces.values(), self._switch]:
            if Path("/run/netns", space).exists():
                _ip("netns", "del", space)


@contextmanager
def pod_network(pods: list[str]) -> Iterator[PodNetwork]:
    """The network of ``pods``; its namespaces are gone afterwards."""
    _remove_left_behind()
    network = PodNetwork(pods)
    try:
        network.build()
        yield network
    finally:
        network.remove()


def _remove_left_behind() -> None:
    """Namespaces of a run that was killed: ours by name, and of a process that is no more."""
    for space in Path("/run/netns").glob(f"{_PREFIX}-*"):
        owner = space.name.removeprefix(f"{_PREFIX}-").partition("-")[0]
        if not Path("/proc", owner).exists():
            _ip("netns", "del", space.name)


def _ip(*words: str) -> str:
    return _run(["ip", *words])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout
