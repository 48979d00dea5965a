"""A canary in every kind of secret, and a search for them in all that is printed, written, started and stored.

Kubernetes, AWS Batch and the clouds are the rehearsal's; on Slurm and plain hosts the real script runs here, with
stand-ins for sbatch, mpirun and OpenMPI's daemon. Azure Batch's part is tests/unit/jobs/azure_batch/test_secrets.py: a
rehearsal plays no key vault.
"""

import base64
import hashlib
import json
import os
import re
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.e2e.rehearsed_project import Project

PASSPHRASE = "c4nary-passphrase-1f0c"
CONFIGURED = {
    "gpufleet:team.ngc_key": "c4nary-ngc-2a9d",
    "gpufleet:team.docker_config": json.dumps(
        {"auths": {"registry.example.com": {"username": "lab", "password": "c4nary-registry-3b1e"}}}
    ),
    "gpufleet:notebooks.oidc.client_secret": "c4nary-oidc-4c6f",
    "gpufleet:notebooks.proxy_token": "c4nary-proxy-" + "5d" * 24,
    "gpufleet:notebooks.cookie_secret": "c4nary-cookie-" + "6e" * 24,
}
JOB, WEBHOOK = "c4nary-job-7f2b", "c4nary-webhook-8a0c"
CANARIES = {
    "passphrase": PASSPHRASE, "NGC key": "c4nary-ngc-2a9d", "registry password": "c4nary-registry-3b1e",
    "OIDC client secret": "c4nary-oidc-4c6f", "proxy token": "c4nary-proxy-5d5d", "cookie secret": "c4nary-cookie-6e6e",
    "job secret": JOB, "webhook": WEBHOOK,
}  # fmt: skip
NOTEBOOKS = {
    "host": "hub.example.com",
    "images": ["registry.example.com/notebook:1"],
    "tls": {"secret": "hub-tls"},
    "oidc": {
        "client_id": "hub",
        **{f"{what}_url": f"https://login.example.com/{what}" for what in ("authorize", "token", "userdata")},
    },
}
ALLOWED = (
    # The simulated providers store what the engine gives them: nobody else can enter the folder.
    (r"project/\.rehearsal/(cloud|kubernetes)\.db(-wal|-shm)?", 0o600),
    (r"home/\.gpufleet/secrets/lab/wandb", 0o600),
    # The user's own, from which the test stores it.
    (r"wandb\.key", 0o600),
)
"""Files that may hold a secret in plain text, by their path below the test's folder, with their mode."""

CLUSTER = """
set -ex
pulumi preview -s aws-dev --json >preview.json
gpufleet report --preview aws-dev=preview.json --to report --fail-on never
gpufleet cost aws-dev
gpufleet jobs submit aws-dev --workers 2 --image training:1 --user ana --secret WANDB_API_KEY=wandb --dry-run -- x
pulumi stack -s aws-dev output
pulumi config -s aws-dev
pulumi stack export -s aws-dev >state.json
gpufleet ps || test $? = 1
"""
BATCH = """
set -ex
gpufleet secrets put aws-batch-dev wandb <{key}
gpufleet jobs submit aws-batch-dev --name one --image training:1 --secret WANDB_API_KEY=wandb --follow -- x
gpufleet jobs submit aws-batch-dev --name two --image training:1 --nodes 2 --secret WANDB_API_KEY=wandb --follow -- x
gpufleet jobs status aws-batch-dev one
gpufleet jobs list aws-batch-dev --json
gpufleet jobs logs aws-batch-dev one
gpufleet jobs outputs get aws-batch-dev one there
"""
STANDS_IN = {
    # Of its words those that are not mpirun's own begin with the program.
    "mpirun": 'echo "mpirun $*" >>"$ARGUMENTS"; while [ "$1" != python3 ]; do shift; done; exec "$@"',
    "orted": "exit 0",
    "sbatch": 'echo "sbatch $*" >>"$ARGUMENTS"; SLURM_JOB_ID=7 bash "${!#}" >>"$ARGUMENTS" 2>&1; echo 7',
}
PROGRAM = (
    "import hashlib, os, time; print('has', hashlib.sha256(os.environ['KEY'].encode()).hexdigest()); time.sleep(0.3)"
)


def forms(secret: str) -> set[bytes]:
    """A text, and its base64 at each of the three places where it can begin in what is encoded."""
    found = {secret.encode()}
    for at in range(3):
        encoded = base64.b64encode(b"\0" * at + secret.encode()).decode()
        found.add(encoded[(0, 2, 3)[at] : len(encoded) - len(encoded) % 4 - 4].encode())
    return found


FORMS = {name: forms(secret) for name, secret in CANARIES.items()}


def canaries_in(content: bytes) -> list[str]:
    return [name for name, words in FORMS.items() if any(word in content for word in words)]


@dataclass
class Search:
    """Where is looked: the place, how much of it, and what it has."""

    places: list[tuple[str, str, tuple[bytes, ...]]] = field(default_factory=list)

    def look(self, place: str, size: str, *contents: bytes) -> None:
        self.places.append((place, size, contents))

    @property
    def rows(self) -> list[tuple[str, str, list[str]]]:
        """Each with the canaries that are there; some, such as keys that a cloud makes, are known in the end only."""
        return [
            (place, size, sorted({name for each in contents for name in canaries_in(each)}))
            for place, size, contents in self.places
        ]

    def print(self) -> None:
        width = max(len(place) for place, _, _ in self.rows)
        for place, size, found in self.rows:
            print(f"{place:<{width}}  {size:>16}  {', '.join(found) or 'none'}")

    @property
    def found(self) -> list[str]:
        return [f"{place}: {', '.join(found)}" for place, _, found in self.rows if found]


@contextmanager
def watched_processes() -> Iterator[set[bytes]]:
    """The arguments of all processes that run meanwhile, looked at every few milliseconds."""
    seen, over = set[bytes](), threading.Event()

    def watch() -> None:
        while not over.is_set():
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    seen.add((process / "cmdline").read_bytes())
                except OSError:
                    continue
            time.sleep(0.005)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def configure(project: Project, tmp_path: Path) -> None:
    """The canaries in the configuration, as the documentation says: by the engine, from standard input."""

    def change(config: dict[str, object]) -> None:
        config["team"] = {"users": {"ana": {"uid": 1501, "gid": 1501}}}
        config["notebooks"] = NOTEBOOKS
        config["files"] = {"access_point": False}

    project.configure(change)
    own = tmp_path / "own-state"
    own.mkdir()
    project.store_secrets(CONFIGURED, PASSPHRASE, own)


def run(project: Project, search: Search, name: str, environment: str, *words: str, **more: dict[str, str]) -> None:
    """A rehearsal, in whose output is looked."""
    done = project.run("rehearse", environment, "--latency-scale", "0", "--no-control-plane", *words, **more)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-6000:]
    search.look(f"output of {name}", f"{len(said):,} B", said.encode())


def pre_shared_keys(project: Project) -> list[str]:
    """What the simulated AWS has made for the tunnels."""
    [line] = project.cloud_of("hybrid").store.resources("aws:ec2/vpnConnection:VpnConnection")
    return [str(line.view[f"tunnel{number}PresharedKey"]) for number in (1, 2)]


def submit_here(project: Project, tmp_path: Path, key: Path, on: str, env: dict[str, str]) -> list[str]:
    """A job on this machine alone, by the real script of Slurm or of plain hosts. Returns what was printed."""
    shared = tmp_path / "shared"
    shared.mkdir(exist_ok=True)
    (shared / "check.py").write_text(PROGRAM)
    told = {
        "slurm": {"directory": str(shared), "pools": {"cpu": {"gpus": 0}}},
        "hosts": {"directory": str(shared), "hosts": [{"name": "localhost", "slots": 1}]},
    }
    outputs = tmp_path / f"{on}.yaml"
    outputs.write_text(yaml.safe_dump({"jobs": {"on": on, on: told[on]}}))
    where = ("lab", "--outputs", str(outputs))
    put = subprocess.run(
        [str(Path(sys.executable).with_name("gpufleet")), "secrets", "put", "lab", "wandb", "--outputs", str(outputs)],
        input=key.read_text(), capture_output=True, text=True, check=False, cwd=project.folder, env=os.environ | env,
    )  # fmt: skip
    assert put.returncode == 0, put.stderr
    words = ("--name", on, "--secret", "KEY=wandb", "--follow" if on == "hosts" else "--json")
    done = project.run("jobs", "submit", *where, *words, "--", "python3", "check.py", env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return [put.stdout, put.stderr, done.stdout, done.stderr]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A home, a folder of temporary files, and stand-ins on PATH."""
    for name in ("home", "tmp", "bin"):
        (tmp_path / name).mkdir()
    for name, script in STANDS_IN.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/bash\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    return {
        "HOME": str(tmp_path / "home"),
        "PATH": path,
        "ARGUMENTS": str(tmp_path / "arguments.txt"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
    }


def test_canaries_are_nowhere(project: Project, tmp_path: Path, here: dict[str, str]) -> None:
    configure(project, tmp_path)
    key = tmp_path / "wandb.key"
    key.write_text(f"{JOB}\n")
    key.chmod(0o600)
    search, passphrase = Search(), {"PULUMI_CONFIG_PASSPHRASE": PASSPHRASE}
    with watched_processes() as processes:
        script = tmp_path / "tmp" / "script.sh"
        script.write_text(CLUSTER)
        webhook = {"GPUFLEET_NOTIFY_URL": f"http://127.0.0.1:9/{WEBHOOK}"}
        run(project, search, "up of EKS", "aws-dev", env=passphrase)
        run(project, search, "commands on EKS", "aws-dev", "--", "bash", str(script), env=passphrase | webhook)
        run(project, search, "up of a VPN", "hybrid")
        run(project, search, "up of AWS Batch", "aws-batch-dev")
        script.write_text(BATCH.format(key=key))
        run(project, search, "commands on AWS Batch", "aws-batch-dev", "--", "bash", str(script))
        script.unlink()
        for on in ("hosts", "slurm"):
            said = "".join(submit_here(project, tmp_path, key, on, here))
            search.look(f"output of {on}", f"{len(said):,} B", said.encode())
    digest = hashlib.sha256(JOB.encode()).hexdigest()
    told = Path(here["ARGUMENTS"]).read_text()
    # The program has the secret: a search that finds nothing because nothing was there would prove nothing.
    assert f"has {digest}" in told
    assert f"has {digest}" in (tmp_path / "shared" / "jobs" / "hosts" / "log.txt").read_text()
    assert re.search(r"^mpirun .*-x KEY ", told, re.MULTILINE)
    for number, secret in enumerate(pre_shared_keys(project), 1):
        assert len(secret) > 8
        FORMS[f"pre-shared key {number}"] = forms(secret)
    search.look("arguments of processes", f"{len(processes):,} processes", *processes)
    assert any(b"pulumi" in each for each in processes)
    read, plain = files_with_canaries(tmp_path)
    search.look("files", f"{read:,} files", *plain.values())
    state = (project.folder / "state.json").read_bytes()
    assert b'"ciphertext"' in state
    search.look("exported state", f"{len(state):,} B", state)
    search.print()
    assert search.found == []
    for name in ("cloud.db", "kubernetes.db"):
        stored = b"".join(file.read_bytes() for file in project.home.root.glob(f"{name}*"))
        assert canaries_in(stored), f"{name} has no canary: it proves nothing"


def files_with_canaries(folder: Path) -> tuple[int, dict[str, bytes]]:
    """How many files were read, and the content of those that have a canary and are not allowed to."""
    read, plain = 0, {}
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder).as_posix()
        if file.is_symlink() or not file.is_file() or inside.startswith("project/.venv"):
            continue
        read += 1
        content = file.read_bytes()
        if not canaries_in(content):
            continue
        mode = stat.S_IMODE(file.stat().st_mode)
        if any(re.fullmatch(path, inside) and mode == allowed for path, allowed in ALLOWED):
            print(f"allowed, mode {mode:04o}: {inside}: {', '.join(canaries_in(content))}")
        else:
            print(f"MODE {mode:04o}: {inside}: {', '.join(canaries_in(content))}")
            plain[inside] = content
    return read, plain
