"""A Slurm cluster on this machine, of Debian's programs: controller, accounting with its database, three nodes.

All of it listens on loopback only, at free ports, with files in one folder; what has no hardware here is said so: each
node has two GPUs of which Slurm only counts, and shares this machine's cores.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.ports import free_ports

NODES = 3
GPUS = 2
_SECONDS = 600
_PATIENCE_SECONDS = 240
_COMPLETING_SECONDS = 30
"""A job that is cancelled while a node is about to start it ends when the controller asks again: after a minute."""
_MARIADB = (
    "mariadbd",
    "--no-defaults",
    "--user=root",
    "--innodb-buffer-pool-size=32M",
    "--innodb-lock-wait-timeout=900",
)
NEEDED = ("mariadbd", "mpirun", "sbatch", "scontrol", "slurmctld", "slurmd", "slurmdbd", "sshd")


PROFILES = (".bash_profile", ".bash_login", ".profile")


@dataclass
class SlurmCluster:
    """folder: all of its files. shared: the directory that jobs are in, the same on all nodes, as they are here."""

    folder: Path
    ports: dict[str, int]
    daemons: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    mounts: Mapping[str, Path] = field(default_factory=dict)
    """What daemons, and so jobs, see in place of this machine's files: what is there by the place."""
    spool: Path | None = None
    """Where slurmd keeps its files, among them those of its PMIx server. Default: in folder."""

    @property
    def inside(self) -> list[str]:
        """What a command begins with that sees the mounts too."""
        if not self.mounts:
            return []
        bound = "".join(f"mount --bind {source} {place} && " for place, source in self.mounts.items())
        return ["unshare", "--mount", "sh", "-c", f'{bound}exec "$@"', "sh"]

    @property
    def shared(self) -> Path:
        return self.folder / "shared"

    @property
    def environment(self) -> dict[str, str]:
        """How Slurm's programs find the cluster."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def ask(self, *words: str) -> str:
        """What a program of Slurm's says; fails when it does."""
        done = subprocess.run(
            words, env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
        return done.stdout

    def start(self, name: str, *words: str, **environment: str) -> None:
        """Start a daemon in the foreground; it ends with the tests, also when these are killed."""
        output = (self.folder / f"{name}.out").open("ab")
        self.daemons[name] = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *self.inside, *words],
            env={**os.environ, **self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def end(self, name: str) -> None:
        daemon = self.daemons.pop(name)
        daemon.terminate()
        try:
            daemon.wait(timeout=20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait(timeout=600)

    def start_controller(self) -> None:
        self.start("slurmctld", "slurmctld", "-D")

    def until(self, wanted: Callable[[], bool], what: str, states: Sequence[object] = ()) -> None:
        """Wait for something; fails with the states that there were before, and the daemons' last words."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while not wanted():
            assert time.monotonic() < end, f"no {what} within {_PATIENCE_SECONDS} s: {states}\n{self._last_words()}"
            time.sleep(0.2)

    def end_jobs(self) -> None:
        """Cancel all jobs, those that wait first: none then starts on nodes that another one leaves, to be cancelled
        while it is starting."""
        self.ask("scancel", "--user=root", "--state=PENDING")
        self.ask("scancel", "--user=root")
        self.until(lambda: not self.ask("squeue", "--noheader").strip(), "empty queue")

    def free(self) -> None:
        """End all jobs, and have all nodes take jobs again."""
        self.end_jobs()
        for node, state in self._states().items():
            if state.startswith(("down", "drain")):
                self.ask("scontrol", "update", f"nodename={node}", "state=resume")
        history: list[dict[str, str]] = []
        late = time.monotonic() + _COMPLETING_SECONDS

        def idle() -> bool:
            nonlocal late
            states = self._states()
            if time.monotonic() > late:
                self._end_completing(states)
                late += _COMPLETING_SECONDS
            if states not in history[-1:]:
                history.append(states)
            return self._idle(states)

        self.until(idle, "idle nodes", history)

    def _end_completing(self, states: Mapping[str, str]) -> None:
        """What administrators do with a node that stays COMPLETING, as its job was cancelled while it was starting: the
        controller waits many minutes for the node's word on it. Source: slurm.schedmd.com/troubleshoot.html#completing
        """
        for node, state in states.items():
            if state.startswith("completing"):
                self.ask("scontrol", "update", f"nodename={node}", "state=down", "reason=completing")
                self.ask("scontrol", "update", f"nodename={node}", "state=resume")

    def _idle(self, states: Mapping[str, str]) -> bool:
        """Slurm calls an idle node planned until its next look after the job that it was planned for was cancelled."""
        return set(states.values()) <= {"idle", "planned"}

    def _states(self) -> dict[str, str]:
        """Each node's state, of all nodes in one question: about a single node the controller answers what it last
        computed, which stays `mixed` for many minutes after the job has gone.
        Source: SchedMD/slurm, src/slurmctld/proc_req.c, _slurm_rpc_dump_node_single: "too slow for our use here"."""
        rows = self.ask("sinfo", "--noheader", "--Node", "--format=%N %T").splitlines()
        return dict(row.split() for row in rows)

    def _last_words(self) -> str:
        outputs = (f"{each.name}: {each.read_text(errors='replace')[-600:]}" for each in self.folder.glob("*.out"))
        return "\n".join([self.ask("sinfo", "--Node", "--long"), *outputs])


def missing() -> list[str]:
    """Programs that the cluster needs and this machine lacks."""
    places = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    return [each for each in NEEDED if not shutil.which(each, path=places)]


@contextmanager
def slurm_cluster(
    folder: Path, mounts: Mapping[str, Path] | None = None, spool: Path | None = None
) -> Iterator[SlurmCluster]:
    """The cluster, ready for jobs; afterwards none of its processes is left. mounts, spool: as in `SlurmCluster`."""
    names = ["ctld", "dbd", *(f"node{node}" for node in range(NODES))]
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    cluster = SlurmCluster(
        folder, ports, mounts=_without_profile(folder) | dict(mounts or {}), spool=spool or folder / "spool"
    )
    for name in (
        "state",
        "database",
        "shared",
        *(f"{of}/node{node}" for node in range(NODES) for of in (cluster.spool, "tmp")),
    ):
        (folder / name).mkdir(parents=True)
    for gpu in range(GPUS):
        # In place of /dev/nvidia0 and so on: Slurm counts files.
        (folder / f"gpu{gpu}").touch()
    cluster.shared.chmod(0o755)
    _write_settings(cluster)
    socket_file = folder / "db.sock"
    with ExitStack() as stack:
        stack.callback(lambda: [cluster.end(name) for name in list(cluster.daemons)[::-1]])
        _make_database(folder / "database")
        # Its only client is slurmdbd, by a socket in a folder of the tests' own: no user, no password, no port.
        cluster.start(
            "mariadbd",
            *(*_MARIADB, f"--datadir={folder}/database", "--skip-grant-tables", "--skip-networking"),
            *(f"--socket={socket_file}", f"--pid-file={folder}/db.pid"),
        )
        cluster.until(socket_file.exists, "database")
        cluster.start("slurmdbd", "slurmdbd", "-D", MYSQL_UNIX_PORT=str(socket_file))
        cluster.until(lambda: listens(cluster.ports["dbd"]), "accounting")
        for words in (("cluster", "rig"), ("account", "lab"), ("user", "root", "account=lab")):
            cluster.ask("sacctmgr", "--immediate", "add", *words)
        cluster.start_controller()
        cluster.until(lambda: listens(cluster.ports["ctld"]), "controller")
        # The controller has told the accounting that there are GPUs to count.
        cluster.until(lambda: "gres" in cluster.ask("sacctmgr", "--noheader", "list", "tres"), "GPUs in the accounting")
        cluster.ask("sacctmgr", "--immediate", "add", "qos", "one-node", f"GrpTRES=gres/gpu={GPUS}")
        cluster.ask("sacctmgr", "--immediate", "modify", "user", "root", "set", "qos+=one-node")
        for node in range(NODES):
            cluster.start(f"node{node}", "slurmd", "-D", "-N", f"node{node}")
        cluster.until(lambda: cluster._idle(cluster._states()), "idle nodes")
        try:
            yield cluster
        finally:
            if "slurmctld" in cluster.daemons:
                cluster.end_jobs()


def _without_profile(folder: Path) -> dict[str, Path]:
    """An empty file in place of what root's login shell reads: slurmd starts one for each job's environment, and what
    this machine has there may wait. pyenv's lock, left by a shell that a cancelled job took along, did for a minute.
    """
    empty = folder / "profile"
    empty.touch()
    return {str(file): empty for name in PROFILES if (file := Path.home() / name).exists()}


def _make_database(folder: Path) -> None:
    """MariaDB's own tables, without which it keeps no procedures, of which Slurm's accounting has some."""
    tables = Path("/usr/share/mysql/mysql_system_tables.sql").read_bytes()
    subprocess.run(
        [*_MARIADB, f"--datadir={folder}", "--bootstrap"],
        input=b"create database mysql;\nuse mysql;\n" + tables,
        capture_output=True,
        timeout=_SECONDS,
        check=True,
    )


def _write_settings(cluster: SlurmCluster) -> None:
    folder, ports, host = cluster.folder, cluster.ports, socket.gethostname().partition(".")[0]
    nodes = [
        f"NodeName=node{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[f'node{node}']} CPUs=4 "
        f"RealMemory=1000 Gres=gpu:v100:{GPUS}"
        for node in range(NODES)
    ]
    lines = f"""ClusterName=rig
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports["ctld"]}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={cluster.spool}/%n
SlurmctldPidFile={folder}/ctld.pid
TmpFS={folder}/tmp/%n
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort={ports["dbd"]}
AccountingStorageEnforce=limits,qos
AccountingStorageTRES=gres/gpu
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
GresTypes=gpu
MinJobAge=3
KillWait=2
MessageTimeout=20
SlurmctldTimeout=300
SlurmdTimeout=15
SchedulerParameters=sched_interval=1,bf_interval=1
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
PartitionName=train Nodes=node[0-{NODES - 1}] Default=YES MaxTime=INFINITE State=UP
"""
    (folder / "slurm.conf").write_text(lines + "\n".join(nodes) + "\n")
    (folder / "gres.conf").write_text(
        f"NodeName=node[0-{NODES - 1}] Name=gpu Type=v100 File={folder}/gpu[0-{GPUS - 1}]\n"
    )
    accounting = folder / "slurmdbd.conf"
    accounting.write_text(
        f"AuthType=auth/none\nDbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort={ports['dbd']}\nSlurmUser=root\n"
        "StorageType=accounting_storage/mysql\nStorageHost=localhost\nStorageUser=root\nStorageLoc=accounting\n"
        f"PidFile={folder}/dbd.pid\nCommunicationParameters=NoInAddrAny\n"
    )
    accounting.chmod(0o600)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
