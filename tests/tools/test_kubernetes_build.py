"""Programs are built once, from where an interrupted build was, with a stand-in for `go`."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.go_build import BuildFailed
from tools.kubernetes import build, programs
from tools.kubernetes.programs import Change, Program, ProgramMissing

ROOT = Path(__file__).parents[2]

# A `go` that writes down what it was asked, "builds" the flags it was given, and fails for one package if told to.
GO = """#!/bin/sh
echo "$@" >> "$GO_LOG"
if [ "$1" = list ]; then echo "$GO_SOURCE"; exit; fi
target=; modfile=
while [ $# -gt 0 ]; do
  case $1 in
    -o) target=$2; shift;;
    -modfile=*) modfile=${1#-modfile=};;
  esac
  package=$1; shift
done
case $package in *"${GO_FAILS:-none}"*) echo "no such module"; exit 1;; esac
echo "$package" > "$target"
if [ -n "$modfile" ]; then cat "$(dirname "$modfile")/source/main.go" >> "$target"; fi
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty cache, a `go`, and two programs to build, `one` and `two`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "go").write_text(GO)
    (tmp_path / "bin" / "go").chmod(0o755)
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "main.go").write_text("listen(0)\n")
    (tmp_path / "source" / "stage.yaml").write_text("kind: Stage\n")
    (tmp_path / "module").mkdir()
    (tmp_path / "module" / "go.mod").write_text("module m\n\ngo 1.24.0\n\nrequire example.org/x v1.2.3\n")
    (tmp_path / "module" / "go.sum").write_text("")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GO_LOG", str(tmp_path / "go.log"))
    monkeypatch.setenv("GO_SOURCE", str(tmp_path / "source"))
    one = Program("one", tmp_path / "module", "example.org/x", "example.org/x/one", ("t",), ("v=1",), (), ())
    change = Change("main.go", "listen(0)", "listen(127)")
    two = dataclasses.replace(one, name="two", package="example.org/x/two", files=("stage.yaml",), changes=(change,))
    monkeypatch.setattr(build, "programs", lambda: {"one": one, "two": two})
    return tmp_path


def built(machine: Path) -> list[str]:
    """The packages that go was asked to build."""
    log = machine / "go.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [line.split()[-1] for line in lines if line.startswith("build")]


def test_each_program_is_built_once(machine: Path) -> None:
    said: list[str] = []
    for _ in range(2):
        table = build.build_all(said.append)
    assert built(machine) == ["example.org/x/one", "example.org/x/two"]
    assert said == ["kubernetes: building one 1.2.3, 1 of 2", "kubernetes: building two 1.2.3, 2 of 2"]
    assert table["two"].file("stage.yaml").read_text() == "kind: Stage\n"
    assert table["one"].executable.read_text() == "example.org/x/one\n"


def test_a_change_is_compiled_and_the_published_source_stays(machine: Path) -> None:
    table = build.build_all(lambda line: None)
    assert table["two"].executable.read_text() == "example.org/x/two\nlisten(127)\n"
    assert (machine / "source" / "main.go").read_text() == "listen(0)\n"


def test_a_change_that_does_not_fit_the_source_any_more_is_refused(machine: Path) -> None:
    (machine / "source" / "main.go").write_text("listen(1)\n")
    with pytest.raises(ProgramMissing, match=r"main\.go has not exactly one place 'listen\(0\)'"):
        build.build_all(lambda line: None)


def test_an_interrupted_build_goes_on_with_the_program_that_failed(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GO_FAILS", "x/two")
    with pytest.raises(ProgramMissing) as refused:
        build.build_all(lambda line: None)
    assert str(refused.value) == (
        "two 1.2.3: it cannot be built: `go build` said: no such module. Install Go >= 1.24.0 (https://go.dev/dl/) and"
        " see that it reaches a module proxy, then run `make kubernetes` again"
    )
    monkeypatch.delenv("GO_FAILS")
    build.build_all(lambda line: None)
    assert built(machine) == ["example.org/x/one", "example.org/x/two", "example.org/x/two"]


def test_without_go_is_one_line(machine: Path) -> None:
    (machine / "bin" / "go").unlink()
    with pytest.raises(ProgramMissing, match=r"^one 1\.2\.3: it cannot be built: no `go` on PATH\. Install Go"):
        build.build_all(lambda line: None)


def test_other_pins_or_flags_are_another_entry_of_the_cache(machine: Path) -> None:
    one = build.programs()["one"]
    others = [dataclasses.replace(one, tags=()), dataclasses.replace(one, files=("f",))]
    entries = {each.directory for each in (one, *others)}
    (machine / "module" / "go.sum").write_text("another\n")
    assert len({*entries, one.directory}) == 4


def test_what_was_not_built_is_told_with_the_command(machine: Path) -> None:
    with pytest.raises(ProgramMissing, match="one: not there; run `make kubernetes`, which builds it"):
        _ = build.programs()["one"].executable


def test_every_row_of_the_table_is_pinned_and_a_tool_of_its_module() -> None:
    table = programs.programs()
    assert set(table) >= {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "mpi-operator"}
    for program in table.values():
        assert (program.module / "go.sum").exists()
        assert program.package in (program.module / "go.mod").read_text().split()
    server = table["kube-apiserver"]
    assert f"k8s.io/component-base/version.gitMinor={server.version.split('.')[1]}" in server.variables
    assert f"k8s.io/component-base/version.gitVersion=v{server.version}" in server.variables


def test_staging_modules_are_those_of_the_release() -> None:
    kubernetes = programs.programs()["kube-apiserver"]
    text = (kubernetes.module / "go.mod").read_text()
    replaced = [line.split() for line in text.splitlines() if "=>" in line]
    assert len(replaced) >= 30
    assert {(words[0] == words[2], words[3]) for words in replaced} == {(True, f"v0.{kubernetes.version[2:]}")}


def test_missing_source_is_told(monkeypatch: pytest.MonkeyPatch, machine: Path) -> None:
    monkeypatch.setenv("GO_SOURCE", "")
    with pytest.raises(BuildFailed, match=r"Go does not get the source of example\.org/y"):
        build.source(machine / "module", "example.org/y")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["up", "--nodes", "/nonexistent/nodes.yaml"], "cluster: /nonexistent/nodes.yaml: No such file or directory\n"),
        (["up"], "cluster: kube-apiserver {version}: it cannot be built: no `go` on PATH. Install Go"),
    ],
)
def test_command_line_tells_in_one_line_what_is_missing(tmp_path: Path, words: list[str], line: str) -> None:
    command = [sys.executable, "-m", "tools.kubernetes.cluster", *words, "--home", str(tmp_path / "home")]
    env = {**os.environ, "PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(line.format(version=programs.programs()["kube-apiserver"].version))
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("action", "code", "end"), [("down", 0, "cluster: nothing ran\n"), ("status", 3, "not ready\n")]
)
def test_command_line_where_nothing_runs(tmp_path: Path, action: str, code: int, end: str) -> None:
    command = [sys.executable, "-m", "tools.kubernetes.cluster", action, "--home", str(tmp_path / "home")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout.endswith(end), done.stderr) == (code, True, "")
