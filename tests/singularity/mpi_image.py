"""An image of Debian with OpenMPI, mpi4py and ssh: made by buildah from packages of this machine, then a SIF of it.

The files are those of installed packages and of all that they depend on, so that nothing is fetched. The SIF is made
once for these packages and this program, as an ordinary user makes it.
"""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tools.cache_entry import cache_directory, make_once
from tools.singularity.build import version

PACKAGES = ("bash", "coreutils", "dash", "hostname", "openmpi-bin", "openssh-client", "python3-mpi4py", "python3-numpy")
UID = 1000
SECONDS = 1200
_LEFT_OUT = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/locale/", "/usr/share/info/", "/usr/lib/firmware/")
_LINKS = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
_DOCKERFILE = """FROM scratch
COPY . /
ENV IMAGE_VARIABLE="of the image"
"""


def mpi_sif(program: Path) -> Path:
    """The file; the first call makes it, in a minute or two. program: SingularityCE's directory."""
    versions = _closure()
    recipe = repr((sorted(versions.items()), Path(__file__).read_bytes(), version()))
    place = cache_directory("singularity", f"mpi-image-{hashlib.sha256(recipe.encode()).hexdigest()[:8]}")
    return (
        make_once(place, "mpi.sif", lambda folder: _make(folder, versions, program), "waiting for mpi.sif", print)
        / "mpi.sif"
    )


def _make(folder: Path, packages: Iterable[str], program: Path) -> None:
    tree = folder / "tree"
    _copy(packages, tree)
    archive = folder / "mpi.tar"
    image_archive(tree, _DOCKERFILE, archive, folder / "storage")
    shutil.rmtree(tree)
    shutil.rmtree(folder / "storage")
    # As the user who will run it: no root, no daemon.
    (folder / "home").mkdir()
    for each in (folder, folder / "home"):
        os.chown(each, UID, UID)
    _as_user(["singularity", "build", "mpi.sif", f"oci-archive:{archive.name}"], folder, program)
    archive.unlink()
    shutil.rmtree(folder / "home")


def image_archive(tree: Path, dockerfile: str, archive: Path, storage: Path) -> None:
    """Build an image from the files below `tree` into an OCI archive, by buildah, with its layers in `storage`."""
    file = archive.with_suffix(".dockerfile")
    file.write_text(dockerfile)
    place = ["buildah", "--storage-driver=vfs", f"--root={storage}/root", f"--runroot={storage}/run"]
    build = [*place, "build", "--isolation=chroot", "--layers=false", "--format=oci", f"--file={file}"]
    _run([*build, "--tag=localhost/made:1", str(tree)])
    _run([*place, "push", "--disable-compression", "localhost/made:1", f"oci-archive:{archive}"])


def _as_user(command: list[str], folder: Path, program: Path) -> None:
    """Run a command in `folder` as an ordinary user who has no rights beyond; fails when it does.

    The program is bound to a place that the user can reach, in a mount namespace of its own; so is `folder`.
    """
    script = (
        f"mount --bind {program} /opt && mount --bind {folder} /mnt && cd /mnt && "
        f'exec setpriv --reuid {UID} --regid {UID} --clear-groups --bounding-set=-all "$@"'
    )
    path = "/opt/bin:/usr/local/bin:/usr/bin:/bin"
    environment = {"PATH": path, "HOME": "/mnt/home", "TMPDIR": "/mnt", "SINGULARITY_DISABLE_CACHE": "1"}
    _run(["unshare", "--mount", "sh", "-ec", script, "sh", *command], environment)


def _run(command: list[str], environment: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done


def _closure() -> dict[str, str]:
    """The packages with all that they depend on, and their versions."""
    fields = ("Package", "Version", "Pre-Depends", "Depends", "Provides", "db:Status-Status")
    shown = "\\t".join(f"${{{field}}}" for field in fields) + "\\n"
    rows = [line.split("\t") for line in _run(["dpkg-query", "--show", f"--showformat={shown}"]).stdout.splitlines()]
    there = {row[0]: row for row in rows if row[5] == "installed"}
    names = {provided: name for name, row in there.items() for provided in _names(row[4])}
    names |= {name: name for name in there}
    found: dict[str, str] = {}
    waiting = list(PACKAGES)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        assert name in there, f"{name} is not installed; run: python -m tools.openmpi.install"
        found[name] = there[name][1]
        for group in f"{there[name][2]}, {there[name][3]}".split(","):
            waiting += [names[each] for each in _names(group.replace("|", ",")) if each in names][:1]
    return found


def _names(text: str) -> list[str]:
    return [match[1] for each in text.split(",") if (match := re.match(r"\s*([a-z0-9][a-z0-9+.-]+)", each))]


def _copy(packages: Iterable[str], tree: Path) -> None:
    """The packages' files, with the links that Debian makes when it installs them."""
    listed = _run(["dpkg-query", "--listfiles", *packages]).stdout.splitlines()
    files = {Path(each).parent.resolve() / Path(each).name for each in listed}
    for target in _LINKS.values():
        (tree / target).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "proc", "sys", "dev", "var/tmp", "root", "home", "run", "mnt"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    for link, target in _LINKS.items():
        (tree / link).symlink_to(target)
    # An alternative's own name, such as /usr/bin/mpirun, belongs to no package.
    alternatives = Path("/etc/alternatives")
    places = [each for place in ("/usr/bin", "/usr/lib/x86_64-linux-gnu") for each in Path(place).iterdir()]
    files |= {each for each in places if each.is_symlink() and each.readlink().parent == alternatives}
    for file in sorted({*files, *alternatives.iterdir()}):
        if not str(file).startswith(_LEFT_OUT) and (file.is_symlink() or file.is_file()):
            place = tree / str(file).lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.is_symlink() and not place.exists():
                shutil.copy2(file, place, follow_symlinks=False)
    # As the packages' own scripts do: without a user ssh does not start, and without nsswitch.conf it asks DNS first.
    for name in ("passwd", "group"):
        shutil.copyfile(f"/usr/share/base-passwd/{name}.master", tree / "etc" / name)
    (tree / "etc" / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files dns\n")
    _run(["ldconfig", "-r", str(tree)])
    (tree / "tmp").chmod(0o1777)
