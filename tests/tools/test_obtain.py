"""Where the engine comes from, with stand-ins for `pulumi` and `go`."""

import io
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.tools.trial_project import ROOT
from tools.pulumi import obtain

VERSION = obtain.wanted_version()

# A `go` that "builds" in half a second, and writes down that it was asked to.
GO = """#!/bin/sh
echo "$@" >> "$GO_LOG"
if [ "$1" = list ]; then echo "$GO_SDK"; exit; fi
if [ -n "$GO_ERROR" ]; then echo "some/package"; echo "$GO_ERROR"; exit 1; fi
for word in "$@"; do case $word in */pulumi) out=${out:-$word};; esac; done
sleep 0.5
echo engine > "$out"
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty cache and neither pulumi nor go; its programs lie in `<machine>/bin`."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GO_LOG", str(tmp_path / "go.log"))
    monkeypatch.setenv("GO_SDK", str(tmp_path / "sdk"))
    program(tmp_path / "sdk" / "python" / "cmd" / obtain.EXECUTOR, "executor")
    return tmp_path


def find(ways: str, machine: Path) -> tuple[Path | None, list[str]]:
    said: list[str] = []
    return obtain.obtain(ways, machine / "venv" / "bin", said.append), said


def test_path_new_enough_pulumi_is_used(machine: Path) -> None:
    program(machine / "bin" / "pulumi", "#!/bin/sh\necho v3.300.1\n")
    program(machine / "bin" / "pulumi-language-python", "")
    assert find("path", machine) == (None, [f"engine: {machine / 'bin' / 'pulumi'} v3.300.1 from PATH"])


@pytest.mark.parametrize(
    ("answer", "host", "reason"),
    [
        ("v3.100.0", True, f"pulumi is v3.100.0, older than {VERSION}"),
        ("v3.252.9", True, f"pulumi is v3.252.9, older than {VERSION}"),
        (f"v{VERSION}", False, "pulumi has no pulumi-language-python beside it"),
        ("", True, "pulumi does not tell its version"),
    ],
)
def test_path_unfit_pulumi_is_named_with_the_reason(machine: Path, answer: str, host: bool, reason: str) -> None:
    program(machine / "bin" / "pulumi", f"#!/bin/sh\necho {answer}\n")
    if host:
        program(machine / "bin" / "pulumi-language-python", "")
    with pytest.raises(obtain.EngineMissing, match=reason):
        find("path", machine)


def test_path_our_own_copy_does_not_count(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(machine / "venv" / "bin" / "pulumi", "#!/bin/sh\necho v3.300.1\n")
    program(machine / "venv" / "bin" / "pulumi-language-python", "")
    monkeypatch.setenv("PATH", f"{machine / 'venv' / 'bin'}:/usr/bin:/bin")
    with pytest.raises(obtain.EngineMissing, match="no `pulumi` on PATH"):
        find("path", machine)


def test_build_makes_the_engine_once_and_then_takes_it_from_the_cache(machine: Path) -> None:
    program(machine / "bin" / "go", GO)
    entry = machine / "cache" / "gpufleet" / "pulumi" / f"v{VERSION}" / "built"
    assert find("path,build", machine)[0] == entry
    assert sorted(file.name for file in entry.iterdir()) == ["pulumi", obtain.EXECUTOR]
    assert os.access(entry / obtain.EXECUTOR, os.X_OK)
    assert find("build", machine) == (entry, [])
    assert find("path", machine) == (entry, [])
    build, listing = (machine / "go.log").read_text().splitlines()
    assert "-tags=osusergo,grpcnotrace" in build
    assert f"version.Version=v{VERSION}" in build
    assert listing.startswith("list ")


def test_build_two_at_once_build_once(machine: Path) -> None:
    program(machine / "bin" / "go", GO)
    code = "import pathlib; from tools.pulumi import obtain; print(obtain.obtain('build', pathlib.Path('none'), print))"
    path = str(ROOT)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert outputs[0].splitlines()[-1] == outputs[1].splitlines()[-1]
    assert sum("waiting for it" in output for output in outputs) == 1
    assert len((machine / "go.log").read_text().splitlines()) == 2


def test_build_that_fails_leaves_nothing_and_says_the_last_line(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(machine / "bin" / "go", GO)
    monkeypatch.setenv("GO_ERROR", "go: no such module")
    with pytest.raises(obtain.EngineMissing, match="`go build` said: go: no such module"):
        find("build", machine)
    cache = machine / "cache" / "gpufleet" / "pulumi" / f"v{VERSION}"
    assert list(cache.iterdir()) == []


INSTALLER = b"""while [ "$1" != --install-root ]; do shift; done
mkdir -p "$2/bin" && cd "$2/bin" && touch pulumi pulumi-language-python pulumi-language-python-exec
"""


def test_installer_brings_engine_and_language_host_into_the_cache(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(urllib.request, "urlopen", lambda address, timeout: io.BytesIO(INSTALLER))
    entry = find("installer", machine)[0]
    assert entry == machine / "cache" / "gpufleet" / "pulumi" / f"v{VERSION}" / "installed"
    assert sorted(file.name for file in entry.iterdir()) == ["pulumi", "pulumi-language-python", obtain.EXECUTOR]


def test_installer_out_of_reach_makes_way_for_the_build(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(address: str, timeout: float) -> io.BytesIO:
        raise urllib.error.URLError("no route to host")

    monkeypatch.setattr(urllib.request, "urlopen", unreachable)
    with pytest.raises(
        obtain.EngineMissing, match=r"installer cannot be fetched \(no route to host\); it cannot be built"
    ):
        find("auto", machine)
    program(machine / "bin" / "go", GO)
    entry, _ = find("auto", machine)
    assert entry is not None
    assert entry.name == "built"


def test_ways_unknown_one_is_refused_with_the_legal_ones(machine: Path) -> None:
    with pytest.raises(obtain.EngineMissing) as refused:
        find("brew", machine)
    assert str(refused.value) == "GPUFLEET_PULUMI=brew: no way called brew; legal: auto, path, installer, build"


def test_nothing_there_is_one_message_that_says_what_to_install(machine: Path) -> None:
    with pytest.raises(obtain.EngineMissing) as refused:
        find("path,build", machine)
    assert str(refused.value) == (
        "no Pulumi engine: no `pulumi` on PATH; it cannot be built: no `go` on PATH. "
        f"Install Pulumi >= {VERSION} (https://www.pulumi.com/docs/install/) "
        f"or Go >= {obtain.go_version(obtain.ENGINE_MODULE)} (https://go.dev/dl/), then run `make setup` again"
    )
