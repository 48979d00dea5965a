"""Build SingularityCE from its Go module, once, into the user's cache; Debian has neither it nor Apptainer.

`python -m tools.singularity.build` installs what it needs from Debian (as root, a few MB) and builds.
module/go.sum pins the source, and the source's own go.sum all that it needs. It is built without setuid: an ordinary
user runs it in a user namespace. SingularityCE and not Apptainer, because Go's checksum database refuses the latter's
module; both come from one program and take the same options (sylabs/singularity and apptainer/apptainer, at 3.8).
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.cache_entry import cache_directory, make_once
from tools.debian import have
from tools.go_build import BuildFailed, build, go_program, go_version, required, source
from tools.progress import Say, run_quietly, teller

MODULE = Path(__file__).resolve().parent / "module"
PINNED = "github.com/sylabs/singularity/v4"
PACKAGES = ("fuse3", "gcc", "libc6-dev", "squashfs-tools", "squashfuse", "uidmap")
"""For the parts in C; mksquashfs makes images, and squashfuse mounts them, by fusermount3, which is setuid, as is
newuidmap, for --fakeroot."""

_TAGS = ("sylog", "singularity_engine", "fakeroot_engine", "containers_image_openpgp")
_OPTIONS = ("--without-suid", "--without-squashfuse", "--without-libsubid", "--without-seccomp", "--without-network")
"""Of its own configure script: no setuid, and none of the parts for which Debian's -dev packages would be needed."""
_PREFIX = "/opt/singularity"
"""What a program without setuid replaces by the place that it is at."""


class SingularityMissing(Exception):
    """The program is not there, or cannot be built; the text says why and what to do."""


def version() -> str:
    """For instance 4.3.0."""
    return required(MODULE, rf"^require {PINNED} v(\S+)")


def directory() -> Path:
    """Where the program lies in the cache, with bin/, libexec/ and etc/: other pins or options, another entry."""
    pins = [(MODULE / name).read_text(encoding="utf-8") for name in ("go.mod", "go.sum")]
    digest = hashlib.sha256(repr((pins, _TAGS, _OPTIONS, _PREFIX)).encode()).hexdigest()[:8]
    return cache_directory("singularity", f"singularity-v{version()}-{digest}")


def installed() -> Path:
    """The directory, where the program is built. Raises SingularityMissing."""
    if not (directory() / "bin").exists():
        raise SingularityMissing(f"{directory()}: not there; run `make singularity`, which builds it")
    return directory()


def build_program(say: Say) -> Path:
    """Build the program unless the cache has it; returns its directory. Raises SingularityMissing."""
    try:
        go_program()
        waiting = "singularity: another set-up is building; waiting for it"
        return make_once(directory(), "bin", lambda target: _make(target, say), waiting, say)
    except BuildFailed as problem:
        raise SingularityMissing(
            f"singularity {version()}: {problem}. Install Go >= {go_version(MODULE)} (https://go.dev/dl/) and check "
            "that it reaches a module proxy, then run `make singularity` again"
        ) from None


def _make(target: Path, say: Say) -> None:
    with tempfile.TemporaryDirectory(prefix="gpufleet-source-") as folder:
        copy = Path(folder, "source")
        # Go's module cache is read-only, and its files are not executable.
        shutil.copytree(source(MODULE, PINNED), copy, copy_function=shutil.copyfile)
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755)
        (copy / "VERSION").write_text(f"{version()}\n", encoding="utf-8")
        say("singularity: configuring")
        _run(["bash", "./mconfig", *_OPTIONS, "--reproducible", "-p", _PREFIX], copy, say)
        generator = copy / "internal" / "pkg" / "buildcfg"
        _run([go_program(), "run", "confgen/gen.go", str(copy / "builddir" / "config.h")], generator, say)
        # Not by its Makefile, which empties Go's build cache.
        for package, place in (("singularity", "bin/singularity"), ("starter", "libexec/singularity/bin/starter")):
            build(
                copy,
                f"./cmd/{package}",
                target / place,
                say,
                doing=f"singularity: building {package}",
                tags=_TAGS,
                environment={"CGO_ENABLED": "1"},
            )
        settings = target / "etc" / "singularity"
        settings.mkdir(parents=True)
        # All defaults, among them that containers see the node's /etc/hosts: an empty file would mean otherwise.
        _run(
            [go_program(), "run", f"-tags={','.join(_TAGS)}", "etc/conf/gen.go", f"{settings}/singularity.conf"],
            copy,
            say,
        )
        (settings / "capability.json").write_text("{}\n", encoding="utf-8")
        shutil.copyfile(copy / "etc" / "nvliblist.conf", settings / "nvliblist.conf")
        shutil.copyfile(copy / "internal" / "pkg" / "syecl" / "syecl.toml.example", settings / "ecl.toml")
        (target / "var" / "singularity" / "mnt" / "session").mkdir(parents=True)


def _run(command: list[str], folder: Path, say: Say) -> None:
    environment = {**os.environ, "GOWORK": "off", "GO_BUILD_TAGS": " ".join(_TAGS)}
    status, last = run_quietly(command, "singularity: configuring", "lines", say, cwd=folder, env=environment)
    if status:
        raise BuildFailed(f"it cannot be built: `{' '.join(command[:2])}` said: {last}")


def main() -> int:
    """Exit code 0 when the program is there, 1 with one line on standard error when it cannot be built."""
    if have(PACKAGES, "singularity"):
        return 1
    say = teller()
    try:
        place = build_program(say)
        told = subprocess.run([place / "bin/singularity", "version"], capture_output=True, text=True, check=True)
        say(f"singularity: {told.stdout.strip()}, {place}")
    except SingularityMissing as problem:
        print(f"singularity: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("singularity: interrupted; run it again to continue", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
