"""Files on the shared volume, through a pod that mounts it: put, get and list, with resume and checksums.

A file arrives beside its name, as NAME.gpufleet-part, and takes its name once its SHA-256 is right. What an interrupted
transfer has left is gone on with, if it is the beginning of the file.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from gpufleet.errors import UserError
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.file_transfer import (
    CHUNK_BYTES,
    PART_SUFFIX,
    ListedFile,
    Progress,
    TransferredFile,
    checksum,
    download_path,
    files_to_upload,
)
from gpufleet.jobs.kubernetes.api import KubernetesUnreachable

# Each gets the volume's root as $1 and a path in it as $2, which begins with ./ so that no program takes a file's name
# for an option: to find, -delete is one. What runs has POSIX sh, head, tail, wc, stat and sha256sum.
_LOOK = """cd "$1" || exit 2
for f in "$2" "$2.gpufleet-part"; do
  if [ -f "$f" ]; then echo "$(wc -c < "$f") $(sha256sum < "$f" | cut -d ' ' -f 1)"; else echo "- -"; fi
done"""
_WRITE = """cd "$1" && mkdir -p "$(dirname "$2")" || exit 2
if [ "$3" = 0 ]; then : > "$2.gpufleet-part" || exit 2; fi
head -c "$4" >> "$2.gpufleet-part" || exit 2
[ "$(sha256sum < "$2.gpufleet-part" | cut -d ' ' -f 1)" = "$5" ] || exit 3
mv "$2.gpufleet-part" "$2" """
_READ = """cd "$1" && tail -c "+$3" "$2" """
_LIST = """cd "$1" || exit 2
if [ ! -e "$2" ]; then echo "${2#./}: file not found on the volume" >&2; exit 4; fi
find "$2" -type f ! -name "*.gpufleet-part" -exec stat -c '%s %Y %n//' {} +"""
# No path of find's has two slashes; a name may have anything else, line ends too.
_ENTRY = re.compile(r"(\d{1,19}) (\d{1,19}) (.+?)//\n", re.DOTALL | re.ASCII)

RunCommand = Callable[[Sequence[str], Iterable[bytes]], Iterator[bytes]]
"""Runs a command where the volume is mounted: words and standard input to standard output."""


@dataclass
class VolumeFiles:
    """The volume, seen through commands in a pod. root: where it is mounted there. progress: told a path and bytes."""

    run: RunCommand
    root: str = "/mnt"
    progress: Progress = lambda path, done, size: None
    backoff: Backoff = field(default_factory=Backoff)

    def list_files(self, path: str = ".") -> list[ListedFile]:
        """Files below a path, by name. Errors: UserError."""
        text = b"".join(self._sh(_LIST, path_on_volume(path))).decode(errors="replace")
        entries = _ENTRY.findall(text)
        if _ENTRY.sub("", text):
            raise UserError(f"{path}: what the pod answers is not a list of files; does its image have stat and find?")
        found = (ListedFile(int(size), int(changed), str(PurePosixPath(name))) for size, changed, name in entries)
        return sorted(found, key=lambda each: each.path)

    def put(self, local: Path, remote: str) -> Iterator[TransferredFile]:
        """Copy a file, or a directory with all in it, to the volume. Errors: UserError."""
        for file, path in files_to_upload(local, remote):
            yield self._put(file, path)

    def get(self, remote: str, local: Path) -> Iterator[TransferredFile]:
        """Copy a file, or all files below a directory, from the volume. Errors: UserError."""
        base = path_on_volume(remote)
        for each in self.list_files(base):
            yield self._get(each.path, download_path(each.path, base, local))

    def _put(self, file: Path, remote: str) -> TransferredFile:
        path, size, moved = path_on_volume(remote), file.stat().st_size, 0
        whole = checksum(file)
        fresh = False
        while True:
            try:
                (_, there), (part, begun) = self._look(path)
                if there == whole:
                    return TransferredFile(path, size, moved)
                start = part if not fresh and 0 < part <= size and begun == checksum(file, part) else 0
                before, counted = start, _Counted(file, start, lambda done: self.progress(path, done, size))
                try:
                    for _ in self._sh(_WRITE, path, str(start), str(size - start), whole, stdin=counted):
                        pass
                finally:
                    moved += counted.at - before
                self.backoff.worked()
                return TransferredFile(path, size, moved)
            except KubernetesUnreachable as error:
                self._again(error, f"put it again: what has arrived of {path} is kept")
            except UserError as error:
                # Not the file's bytes: once more from the start, and then it is the volume or the file that changes.
                if getattr(error, "code", None) != 3 or fresh:
                    raise UserError(f"{path}: {error}") from error
                fresh = True

    def _get(self, path: str, to: Path) -> TransferredFile:
        part, moved, fresh = to.with_name(to.name + PART_SUFFIX), 0, False
        while True:
            try:
                (size, whole), _ = self._look(path)
                if to.is_file() and to.stat().st_size == size and checksum(to) == whole:
                    return TransferredFile(path, size, moved)
                to.parent.mkdir(parents=True, exist_ok=True)
                start = part.stat().st_size if part.is_file() and not fresh else 0
                start = start if start <= size else 0
                with part.open("r+b" if start else "wb") as file:
                    file.seek(start)
                    for piece in self._sh(_READ, path, str(start + 1)):
                        file.write(piece)
                        moved += len(piece)
                        self.progress(path, file.tell(), size)
                self.backoff.worked()
                if checksum(part) == whole:
                    part.replace(to)
                    return TransferredFile(path, size, moved)
                if fresh or not start:
                    raise UserError(f"{path}: what arrived is not what is on the volume; is somebody writing to it?")
                fresh = True
            except KubernetesUnreachable as error:
                self._again(error, f"get it again: what has arrived is in {part}")

    def _look(self, path: str) -> list[tuple[int, str]]:
        """Size and SHA-256 of a file and of its beginning; (-1, "") for what is not there."""
        lines = b"".join(self._sh(_LOOK, path)).decode().splitlines()
        pairs = [line.split() for line in lines]
        return [(-1, "") if size == "-" else (int(size), found) for size, found in pairs]

    def _sh(self, script: str, path: str, *words: str, stdin: Iterable[bytes] = ()) -> Iterator[bytes]:
        return self.run(["sh", "-c", script, "sh", self.root, f"./{path}", *words], stdin)

    def _again(self, error: KubernetesUnreachable, later: str) -> None:
        if not self.backoff.pause():
            raise UserError(f"{error}; {later}") from error


class _Counted:
    """The bytes of a file from a place on, and how far they have been taken."""

    def __init__(self, file: Path, start: int, told: Callable[[int], None]) -> None:
        self._file, self.at, self._told = file, start, told

    def __iter__(self) -> Iterator[bytes]:
        with self._file.open("rb") as file:
            file.seek(self.at)
            while piece := file.read(CHUNK_BYTES):
                # Counted before it is handed over: what breaks then has gone over the network, too.
                self.at += len(piece)
                yield piece
                self._told(self.at)


def path_on_volume(path: str) -> str:
    """A path on the volume, relative to its root. Errors: UserError for one that leaves it."""
    pure = PurePosixPath(path.removeprefix("/"))
    if ".." in pure.parts or "\n" in path:
        raise UserError(f"{path}: leaves the volume; give a path below its root, for instance data/train")
    return str(pure)
