"""What can go wrong around a rehearsal: one clear line, exit code 1, and cloud and state as they were."""

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.rehearsed_project import GPUFLEET, Project
from tests.e2e.tiny_program import ids, made, set_config, tiny

SLOW = ("rehearse", "dev", "--latency-scale", "2")


def error_of(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a command that failed before the engine began."""
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("Error: ").rstrip("\n")


@pytest.fixture
def program(tmp_path: Path) -> Project:
    return tiny(tmp_path / "billing", subnets=1)


@pytest.fixture
def up(program: Project) -> Project:
    """A program that has come up."""
    done = program.rehearse(environment="dev")
    assert done.returncode == 0, done.stdout + done.stderr
    return program


def broken(file: str, content: bytes) -> Callable[[Project], object]:
    return lambda project: (project.folder / file).write_bytes(content)


FILES = [
    (broken("Pulumi.dev.yaml", b"config: ["), "Pulumi.dev.yaml: line 1: is not YAML: did not find expected node "
     "content"),
    (broken("Pulumi.dev.yaml", b"config:\n  gpufleet:expires_at: 2027-02-30\n"), "Pulumi.dev.yaml: line 2: "
     "2027-02-30 is not a day that the calendar has"),
    (broken("Pulumi.dev.yaml", b"hello"), "Pulumi.dev.yaml: a stack configuration is a mapping with the key `config`"),
    (broken("Pulumi.dev.yaml", b"\xff\xfe\0"), "Pulumi.dev.yaml: line 1: is not UTF-8"),
    (broken("Pulumi.yaml", b"name: [x"), "Pulumi.yaml: line 1: is not YAML: did not find expected "
     "',' or ']'"),
    (broken("Pulumi.yaml", b"name: x\n"), "Pulumi.yaml: not a Pulumi project; it needs `name` and `runtime`"),
    (broken("rehearsal.dev.yaml", b"- type: x\n"), "rehearsal.dev.yaml: 0.id: Field required"),
    (broken("rehearsal.dev.yaml", b"a: b\n"), "rehearsal.dev.yaml: a: unknown key; must be one of holds, "
     "quotas, resource_quotas, restricted_zones, nodes, storage_classes, router_configured"),
    (broken("rehearsal.dev.yaml", b"- {type: aws:foo/bar:Baz, id: a, name: b}\n"), "rehearsal.dev.yaml: 0.type: "
     "aws:foo/bar:Baz is not in the rehearsal's table; add a row to aws/types/foo.yaml: see docs/rehearsal.md"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "line"), FILES, ids=[line[:40] for _, line in FILES])
def test_broken_file_is_one_line(program: Project, spoil: Callable[[Project], object], line: str) -> None:
    spoil(program)
    assert error_of(program.rehearse(environment="dev")) == f"{program.folder}/{line}"
    assert not program.home.database.exists() or ids(program) == {}


ARGUMENTS = [
    (("rehearse", "prod"), "prod: environment not found; the project has: dev"),
    (("rehearse", "dev", "--program", "/no/such"), "/no/such: no Pulumi.yaml here or above; give a Pulumi project with "
     "--program DIR"),
    (("rehearse", "dev", "--home", "__main__.py"), "__main__.py: Not a directory; give another place with --home DIR"),
    (("rehearse", "dev", "--put", "x"), "dev: no file system to write to yet; bring it up first: gpufleet rehearse "
     "dev"),
    (("rehearse", "dev", "--fault", "create:it"), "fault 'create:it': cannot be read; write create:<type>[:<n>], "
     "create:@<name>, create:#<n> (also update, delete and die), share:<0..1>, slow:<type>:<factor> or "
     "capacity:<instance type>:<zone id>"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "line"), ARGUMENTS, ids=[" ".join(a[-2:]) for a, _ in ARGUMENTS])
def test_wrong_argument_is_one_line(program: Project, arguments: tuple[str, ...], line: str) -> None:
    assert error_of(program.run(*arguments)).removeprefix(f"{program.folder}/") == line


def test_missing_and_wrong_passphrase(program: Project, tmp_path: Path) -> None:
    (tmp_path / "backend").mkdir()
    pulumi = Path(sys.executable).with_name("pulumi")
    own = {"PULUMI_BACKEND_URL": f"file://{tmp_path}/backend", "PULUMI_HOME": str(tmp_path), "PULUMI_STACK": "dev"}
    for arguments in (["stack", "init", "dev"], ["config", "set", "--secret", "token", "hidden"]):
        env = os.environ | own | {"PULUMI_CONFIG_PASSPHRASE": "their own"}
        subprocess.run([pulumi, *arguments], cwd=program.folder, env=env, check=True, capture_output=True)
    file = program.folder / "Pulumi.dev.yaml"
    assert "secure:" in file.read_text()

    missing = error_of(program.rehearse(environment="dev"))
    assert missing == (
        f"{file}: it holds secrets, and PULUMI_CONFIG_PASSPHRASE is not set; set it, or PULUMI_CONFIG_PASSPHRASE_FILE, "
        "to the passphrase that they were made with"
    )
    wrong = program.run("rehearse", "dev", env={"PULUMI_CONFIG_PASSPHRASE": "wrong"})
    assert error_of(wrong) == f"{file}: PULUMI_CONFIG_PASSPHRASE is not the passphrase that its secrets were made with"
    right = ("rehearse", "dev", "--latency-scale", "0")
    done = program.run(*right, env={"PULUMI_CONFIG_PASSPHRASE": "their own"})
    assert done.returncode == 0, done.stdout + done.stderr

    # Where no secret stands in the configuration nobody's passphrase is needed, and another project's does no harm.
    program.home.clear()
    set_config(program)
    assert program.run(*right, env={"PULUMI_CONFIG_PASSPHRASE": "of another project"}).returncode == 0
    assert program.run(*right).returncode == 0


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A Python environment with gpufleet and without an engine: its interpreter."""
    (tmp_path / "bare" / "bin").mkdir(parents=True)
    (tmp_path / "bare" / "lib").symlink_to(Path(sys.prefix) / "lib")
    (tmp_path / "bare" / "pyvenv.cfg").write_text((Path(sys.prefix) / "pyvenv.cfg").read_text())
    python = tmp_path / "bare" / "bin" / "python"
    python.symlink_to(Path(sys.executable).resolve())
    return python


ENGINES = [
    (None, "pulumi: not found on PATH; run `make setup`, or install Pulumi 3.253 or newer"),
    ("#!/bin/sh\necho v3.252.9\n", "{pulumi}: is Pulumi v3.252.9; install 3.253 or newer"),
    ("#!/bin/sh\nexit 1\n", "{pulumi}: `pulumi version` printed no version; install Pulumi 3.253 or newer"),
    ("#!/no/such/interpreter\n", "{pulumi}: cannot be run: No such file or directory; install Pulumi 3.253 or newer"),
]


@pytest.mark.parametrize(("engine", "line"), ENGINES, ids=["none", "old", "silent", "broken"])
def test_unusable_engine(program: Project, bare: Path, engine: str | None, line: str) -> None:
    pulumi = bare.with_name("pulumi")
    if engine is not None:
        pulumi.write_text(engine)
        pulumi.chmod(0o755)
    done = subprocess.run(
        [bare, "-c", "from gpufleet.cli import main; main()", "rehearse", "dev"],
        cwd=program.folder, env=os.environ | {"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert error_of(done) == line.format(pulumi=pulumi)


def test_no_free_port(up: Project, tmp_path: Path) -> None:
    # The engine and its language host have had their ports by now; the stand-in is the one that finds none.
    (tmp_path / "sitecustomize.py").write_text(
        "import grpc.aio._server as aio\n"
        "def bind(self, address):\n"
        "    raise RuntimeError(f'Failed to bind to address {address}')\n"
        "aio.Server.add_insecure_port = bind\n"
    )
    before = ids(up)
    done = up.run("rehearse", "dev", "--latency-scale", "0", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert "the simulated aws provider: no port of 127.0.0.1 is free" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert ids(up) == made(up) == before


def test_full_disk_in_the_middle(tmp_path: Path) -> None:
    """A file that may not grow any more, as on a full disk; a disk that fills up slowly is told before: test_home."""
    program = tiny(tmp_path / "billing", subnets=24)
    limit = 160 * 1024
    done = subprocess.run(
        [GPUFLEET, "rehearse", "dev", "--latency-scale", "0"],
        cwd=program.folder, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 1
    assert f"{program.home.database}: disk I/O error; free some space, then run the command again" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr

    held, known = ids(program), made(program)
    assert set(held) == set(known)
    assert 0 < len(held) < 25
    with sqlite3.connect(program.home.database) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    again = program.rehearse(environment="dev")
    assert again.returncode == 0, again.stdout + again.stderr
    assert len(ids(program)) == 25
    assert ids(program) == made(program)


def test_damaged_cloud_and_state_are_one_line(up: Project) -> None:
    anew = f"remove {up.home.root} to begin the rehearsal again"
    state = next((up.home.root / "backend" / ".pulumi" / "stacks").rglob("dev.json"))
    sound = state.read_bytes()
    state.write_bytes(sound[: len(sound) // 2])
    assert error_of(up.rehearse(environment="dev")) == f"{state}: the engine's state is damaged; {anew}"
    state.write_bytes(sound)

    for leftover in ("cloud.db-wal", "cloud.db-shm"):
        (up.home.root / leftover).unlink(missing_ok=True)
    up.home.database.write_bytes(b"no database" * 1000)
    line = f"{up.home.database}: file is not a database; the file is damaged; {anew}"
    assert error_of(up.rehearse(environment="dev")) == line


def start(program: Project, output: Path) -> subprocess.Popen[bytes]:
    """A slow `up` in a process group of its own, as in a terminal, in the middle of its work."""
    with output.open("wb") as stream:
        process = subprocess.Popen(
            [GPUFLEET, *SLOW], cwd=program.folder, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
            start_new_session=True,
        )  # fmt: skip
    end = time.monotonic() + 60
    while not (program.home.exists and "net" in ids(program)):
        assert time.monotonic() < end, output.read_text()
        assert process.poll() is None, output.read_text()
        time.sleep(0.05)
    return process


def test_two_rehearsals_at_once(program: Project, tmp_path: Path) -> None:
    first = start(program, tmp_path / "first")
    second = program.run(*SLOW)
    assert second.returncode == 1
    assert "the stack is currently locked by 1 lock(s)" in second.stdout + second.stderr
    assert "Traceback" not in second.stdout + second.stderr
    assert first.wait(60) == 0, (tmp_path / "first").read_text()
    assert set(ids(program)) == {"net", "subnet-0"}
    assert ids(program) == made(program)


def running(program: Project, session: int) -> list[str]:
    """Processes of a rehearsal: those of its session, and those that name its folder."""
    listed = subprocess.run(["ps", "-eo", "pid=,sess=,args="], capture_output=True, text=True, check=False)
    lines = [line.split(None, 2) for line in listed.stdout.splitlines()]
    return [args for _, of, args in lines if int(of) == session or str(program.folder) in args]


def test_ctrl_c_in_the_middle(program: Project, tmp_path: Path) -> None:
    process = start(program, tmp_path / "first")
    assert len(running(program, process.pid)) > 3
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(30) == 1
    output = (tmp_path / "first").read_text()
    assert "Traceback" not in output
    assert "interrupted while the cloud was at work on it; the next `pulumi up` continues with it" in output
    assert output.splitlines()[-1].startswith("dev: the engine exited with ")
    # What the cloud had begun is in the state.
    assert set(ids(program)) == {"net"}
    assert ids(program) == made(program)
    end = time.monotonic() + 60
    while left := running(program, process.pid):
        assert time.monotonic() < end, left
        time.sleep(0.1)

    again = program.rehearse(environment="dev")
    assert again.returncode == 0, again.stdout + again.stderr
    assert set(ids(program)) == {"net", "subnet-0"}
    assert ids(program) == made(program)
    assert json.loads(program.home.settings.read_text())["latency_scale"] == 0
