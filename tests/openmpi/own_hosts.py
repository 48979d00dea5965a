"""Own servers on this machine, each in a network namespace with sshd of a user, and a folder that all of them share."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufleet.jobs.mpi_ssh import SSH_PORT, sshd_with_keys
from tests.openmpi.pod import IMAGE_PATH, Pod, PodPlan, running_pod
from tests.openmpi.pod_network import PodNetwork, pod_network

UID = 1000
SLOTS = 2


@dataclass
class OwnHosts:
    """pods: by name. shared: at the same path on all of them, as NFS would be."""

    network: PodNetwork
    pods: dict[str, Pod]
    shared: Path

    def told(self) -> dict[str, Any]:
        """The environment's outputs at `jobs.hosts`. The first host starts the jobs; it is reached as `head`."""
        return {
            "login": "head",
            "ssh": f"-F {self.shared}/ssh_config",
            "directory": str(self.shared),
            "interface": "eth0",
            "hosts": [{"name": name, "slots": SLOTS} for name in self.pods],
        }


@contextmanager
def own_hosts(folder: Path, count: int = 2, mounts: Mapping[str, Path] | None = None) -> Iterator[OwnHosts]:
    """Hosts host-0 and so on, with sshd ready; afterwards all of their processes are gone. mounts: as in `PodPlan`."""
    shared = folder / "shared"
    shared.mkdir()
    for name in ("host_key", "user_key"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(shared / name)], check=True, timeout=600
        )
    shutil.copy(Path(__file__).with_name("allreduce.py"), shared)
    names = [f"host-{number}" for number in range(count)]
    with pod_network(names) as network, ExitStack() as stack:
        (shared / "ssh_config").write_text(_ssh_config(network, shared, names[0]))
        for file in (shared, *shared.iterdir()):
            shutil.chown(file, UID, UID)
        pods = {}
        for name in names:
            plan = PodPlan(
                name=name,
                command=sshd_with_keys(f"{shared}/host_key", f"{shared}/user_key.pub"),
                environment={"PATH": IMAGE_PATH},
                mounts={str(shared): shared, **(mounts or {})},
                uid=UID,
                gid=UID,
                directory="/tmp",
                hosts=network.addresses,
                server=True,
            )
            pods[name] = stack.enter_context(running_pod(plan, network, folder / name))
        for pod in pods.values():
            pod.wait_for("Server listening on", 20)
        yield OwnHosts(network, pods, shared)


def _ssh_config(network: PodNetwork, shared: Path, head: str) -> str:
    """Hosts reach each other as they are; this machine reaches one from outside of its network."""
    # ssh hangs up on it before all is passed on, and waits for what still holds its standard error.
    connect = f"exec 2>/dev/null 3<>/dev/tcp/{network.addresses[head]}/{SSH_PORT}"
    relay = f'trap "" HUP; {connect}; cat <&3 & cat >&3; kill $!'
    return f"""Host head
    ProxyCommand nsenter --net={network.namespace(head)} /bin/bash -c '{relay}'
    User trainer
Host *
    Port {SSH_PORT}
    IdentityFile {shared}/user_key
    StrictHostKeyChecking no
    UserKnownHostsFile /dev/null
    LogLevel ERROR
"""
