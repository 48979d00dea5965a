"""A control plane starts empty and for its owner alone, and leaves nothing when it ends, however that comes."""

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tools.kubernetes import control_plane
from tools.kubernetes.api_client import ApiClient, ApiRefused, wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.processes import Identity, Processes

ROOT = Path(control_plane.__file__).parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    ControlPlane(tmp_path / "home").stop()


def started(home: Path) -> list[Identity]:
    processes = Processes(home)
    return [identity for name in processes.names() if (identity := processes.find(name))]


def listening(identities: list[Identity]) -> list[tuple[str, int]]:
    """Addresses and ports on which these processes listen, from /proc/<pid>/net/tcp (4) and tcp6 (see proc(5))."""
    found = []
    for identity in identities:
        sockets = set()
        for path in Path(f"/proc/{identity.pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed meanwhile
                sockets.add(str(path.readlink()))
        for table in ("tcp", "tcp6"):
            for line in Path(f"/proc/{identity.pid}/net/{table}").read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                    address, port = words[1].split(":")
                    found.append((address, int(port, 16)))
    return found


def free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def test_everything_listens_on_loopback_the_operator_too(operator: ControlPlane) -> None:
    identities = started(operator.home)
    assert len(identities) == len(ControlPlane.ORDER) + 1
    found = listening(identities)
    assert {address for address, _ in found} == {"0100007F"}
    assert {port for _, port in found} > set(operator.layout.ports)


def test_files_are_for_their_owner_only(operator: ControlPlane) -> None:
    assert stat.S_IMODE(operator.home.stat().st_mode) == 0o700
    secret = [
        operator.kubeconfig,
        operator.layout.tokens,
        operator.layout.signing_key,
        *operator.home.glob("*.kubeconfig"),
    ]
    assert len(secret) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in secret} == {0o600}


def test_only_those_with_a_role_may_do_things(plane: ControlPlane, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    for token, code in (("wrong", 401), (_token(plane, namespace), 403)):
        client = ApiClient(plane.layout.server, token, plane.layout.authority)
        with pytest.raises(ApiRefused) as refused:
            client.get(path)
        assert refused.value.code == code


def test_operator_ends_with_its_deployment_and_comes_again(operator: ControlPlane) -> None:
    name, scale = "hosted-mpi-operator-mpi-operator", "/apis/apps/v1/namespaces/mpi-operator/deployments/mpi-operator"
    processes = Processes(operator.home)
    assert processes.find(name)
    operator.client.merge(scale, {"spec": {"replicas": 0}})
    wait_until("the operator has ended", lambda: processes.find(name) is None)
    operator.client.merge(scale, {"spec": {"replicas": 1}})
    wait_until("the operator runs again", lambda: processes.find(name) is not None)


def test_stop_leaves_no_process_no_port_and_no_secret(home: Path) -> None:
    plane = ControlPlane(home)
    plane.start()
    identities, ports = started(home), plane.layout.ports
    assert len(identities) == len(ControlPlane.ORDER)
    assert not any(free(port) for port in ports)
    assert sorted(plane.stop()) == sorted(ControlPlane.ORDER)
    assert not any(identity.alive for identity in identities)
    assert all(free(port) for port in ports)
    assert [path.name for path in home.iterdir()] == ["logs"]
    assert plane.stop() == []


def test_second_start_finds_the_first(home: Path) -> None:
    ControlPlane(home).start()
    before = started(home)
    ControlPlane(home).start()
    assert started(home) == before


def test_start_after_one_of_its_processes_has_died_begins_anew(home: Path) -> None:
    plane = ControlPlane(home)
    plane.start()
    before = started(home)
    scheduler = Processes(home).find("kube-scheduler")
    assert scheduler
    os.kill(scheduler.pid, signal.SIGKILL)
    wait_until("the scheduler is gone", lambda: not plane.running)
    plane.start()
    assert not any(identity.alive for identity in before)
    assert plane.running


START = """
import os, signal, sys, time
from pathlib import Path
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.processes import Identity
owner = Identity.of(os.getpid()) if sys.argv[2] == "owned" else None
ControlPlane(Path(sys.argv[1])).start(owner=owner)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_with_an_owner_that_is_killed_all_ends_by_itself(home: Path) -> None:
    done = subprocess.run([sys.executable, "-c", START, str(home), "owned"], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    wait_until("all has ended", lambda: not started(home))
    log = (home / "logs" / "supervisor.log").read_text()
    assert "is gone: ending the control plane" in log


def test_without_an_owner_the_command_line_finds_and_ends_it(home: Path) -> None:
    subprocess.run([sys.executable, "-c", START, str(home), "alone"], cwd=ROOT, check=False)
    identities = started(home)
    assert len(identities) == len(ControlPlane.ORDER)
    command = [sys.executable, "-m", "tools.kubernetes.cluster", "down", "--home", str(home)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "cluster: ended supervisor, kwok," in done.stdout
    assert not any(identity.alive for identity in identities)


def _token(plane: ControlPlane, namespace: str) -> str:
    """Of the namespace's own service account, which no role is given."""
    account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
    wait_until("the account is made", lambda: plane.client.find(account) is not None)
    answer = plane.client.request("POST", f"{account}/token", {"spec": {}})
    return str(answer["status"]["token"])
