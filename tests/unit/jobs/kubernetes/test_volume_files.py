"""Copying to and from the shared volume: the pod's commands, run by this machine's sh, over connections that break."""

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpufleet.errors import UserError
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.file_transfer import PART_SUFFIX, TransferredFile
from gpufleet.jobs.kubernetes.api import KubernetesUnreachable
from gpufleet.jobs.kubernetes.pod_exec import CommandError
from gpufleet.jobs.kubernetes.volume_files import VolumeFiles

BYTES = bytes(range(256)) * 4096  # 1 MiB


@dataclass
class Here:
    """Runs commands here as a pod would. cuts: after so many bytes in or out a connection breaks, each once."""

    cuts: list[int] = field(default_factory=list)

    def __call__(self, command: Sequence[str], given: Iterable[bytes]) -> Iterator[bytes]:
        sent, cut = b"", False
        for piece in given:
            sent += piece
            if self.cuts and len(sent) >= self.cuts[0]:
                sent, cut = sent[: self.cuts.pop(0)], True
                break
        done = subprocess.run(command, input=sent, capture_output=True, check=False)
        if cut:
            raise KubernetesUnreachable("dev: the connection broke")
        if done.returncode:
            raise CommandError(f"in the pod: {done.stderr.decode().strip()}", done.returncode)
        if self.cuts and len(done.stdout) >= self.cuts[0]:
            yield done.stdout[: self.cuts.pop(0)]
            raise KubernetesUnreachable("dev: the connection broke")
        yield done.stdout


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    (tmp_path / "volume").mkdir()
    return tmp_path / "volume"


def files(volume: Path, *cuts: int) -> VolumeFiles:
    return VolumeFiles(Here(list(cuts)), str(volume), backoff=Backoff(first=0.001, longest=0.001, limit=5))


def test_directory_arrives_and_what_is_there_is_not_sent_again(volume: Path, tmp_path: Path) -> None:
    source = tmp_path / "my data"
    (source / "a b").mkdir(parents=True)
    (source / "a b" / "it's.bin").write_bytes(BYTES)
    (source / "empty").write_bytes(b"")
    assert list(files(volume).put(source, "/data/x")) == [
        TransferredFile("data/x/a b/it's.bin", len(BYTES), len(BYTES)),
        TransferredFile("data/x/empty", 0, 0),
    ]
    assert (volume / "data/x/a b/it's.bin").read_bytes() == BYTES
    assert [each.transferred_bytes for each in files(volume).put(source, "data/x")] == [0, 0]
    assert [(each.path, each.size) for each in files(volume).list_files("data")] == [
        ("data/x/a b/it's.bin", len(BYTES)),
        ("data/x/empty", 0),
    ]
    got = tmp_path / "got"
    assert [each.transferred_bytes for each in files(volume).get("data/x", got)] == [len(BYTES), 0]
    assert (got / "a b" / "it's.bin").read_bytes() == BYTES
    assert [each.transferred_bytes for each in files(volume).get("data/x", got)] == [0, 0]


def test_put_that_breaks_goes_on_where_it_was(volume: Path, tmp_path: Path) -> None:
    source = tmp_path / "big"
    source.write_bytes(BYTES)
    [sent] = files(volume, 300_000, 400_000).put(source, "big")
    assert (volume / "big").read_bytes() == BYTES
    assert len(BYTES) <= sent.transferred_bytes < len(BYTES) + 2 * 65536
    assert [each.name for each in volume.iterdir()] == ["big"]


def test_get_that_breaks_goes_on_where_it_was(volume: Path, tmp_path: Path) -> None:
    (volume / "big").write_bytes(BYTES)
    [sent] = files(volume, 300_000, 400_000).get("big", tmp_path / "big")
    assert (tmp_path / "big").read_bytes() == BYTES
    assert sent.transferred_bytes == len(BYTES)


def test_beginning_of_another_file_is_not_gone_on_with(volume: Path, tmp_path: Path) -> None:
    (volume / f"big{PART_SUFFIX}").write_bytes(b"other" * 1000)
    (tmp_path / f"back{PART_SUFFIX}").write_bytes(b"other" * 1000)
    (tmp_path / "big").write_bytes(BYTES)
    [sent] = files(volume).put(tmp_path / "big", "big")
    assert (sent.transferred_bytes, (volume / "big").read_bytes()) == (len(BYTES), BYTES)
    list(files(volume).get("big", tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == BYTES


def test_file_takes_its_name_only_when_it_is_whole(volume: Path, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(BYTES)
    broken = files(volume, *[1] * 100_000)
    broken.backoff = Backoff(first=0.001, longest=0.001, limit=0.2)
    with pytest.raises(UserError, match=r"^dev: the connection broke; put it again: what has arrived of big is kept$"):
        list(broken.put(tmp_path / "big", "big"))
    assert not (volume / "big").exists()


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/../x"])
def test_path_that_leaves_the_volume_is_refused(volume: Path, path: str) -> None:
    with pytest.raises(UserError, match="leaves the volume"):
        files(volume).list_files(path)


def test_what_is_not_there_is_one_line(volume: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^in the pod: no: file not found on the volume$"):
        list(files(volume).get("no", tmp_path))
    with pytest.raises(UserError, match=r"file or directory not found$"):
        list(files(volume).put(tmp_path / "no", "x"))


@pytest.mark.parametrize("name", ["-delete", "-exec", "(", "!", "-files0-from"])
def test_a_files_name_is_no_option_of_find(tmp_path: Path, name: str) -> None:
    """`find -delete` removes all that is there."""
    for each in (name, "kept", "a/b"):
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).write_text("x")
    assert [each.path for each in files(tmp_path).list_files(name)] == [name]
    assert {each.path for each in files(tmp_path).list_files()} == {name, "kept", "a/b"}
    assert (tmp_path / "kept").exists()


def test_a_file_under_a_name_like_an_option_comes_and_goes(tmp_path: Path) -> None:
    volume, here = tmp_path / "volume", tmp_path / "here"
    volume.mkdir()
    here.write_text("content")
    assert [each.path for each in files(volume).put(here, "-x/-rf")] == ["-x/-rf"]
    assert [each.path for each in files(volume).get("-x/-rf", tmp_path / "back")] == ["-x/-rf"]
    assert (tmp_path / "back").read_text() == "content"


def test_a_line_end_in_a_name_is_no_second_file(tmp_path: Path) -> None:
    (tmp_path / "a\n12 3 b").write_text("x")
    (tmp_path / "c").write_text("xy")
    assert [(each.path, each.size) for each in files(tmp_path).list_files()] == [("a\n12 3 b", 1), ("c", 2)]
