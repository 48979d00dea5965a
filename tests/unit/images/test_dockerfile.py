"""What is known of a Dockerfile before it is built."""

from pathlib import Path

import pytest

from gpufleet.errors import UserError
from gpufleet.images.dockerfile import advice, base_images, build_arguments, find_dockerfile

UNPINNED = "is another image after its next release; write a tag of one release, {}:..., or a digest"
NO_HOST = "names no registry, and builders without a Docker daemon have none by default; write docker.io/{}"
DIGEST = "sha256:" + 64 * "0"


@pytest.mark.parametrize(
    ("text", "given", "images"),
    [
        ("FROM scratch\nCOPY a /a\n", {}, []),
        ("# FROM no\n\nfrom quay.io/a/b:1\n", {}, [(3, "quay.io/a/b:1")]),
        (
            "FROM --platform=linux/amd64 quay.io/a:1 AS one\nFROM ONE\nFROM b.io/c:2\n",
            {},
            [(1, "quay.io/a:1"), (3, "b.io/c:2")],
        ),
        ("ARG TAG=1\nFROM a.io/b:${TAG}\n", {}, [(2, "a.io/b:1")]),
        ("ARG TAG=1\nFROM a.io/b:$TAG\n", {"TAG": "2"}, [(2, "a.io/b:2")]),
        ("ARG TAG\nFROM a.io/b:${TAG:-3}\n", {}, [(2, "a.io/b:3")]),
        ("ARG TAG\nFROM a.io/b:${TAG}\n", {}, []),
        ("FROM a.io/b:1\nARG TAG=2\nFROM a.io/c:$TAG\n", {}, [(1, "a.io/b:1")]),
        ("ARG A=1 \\\n  B=2\n# between\nFROM \\\n a.io/b:$A.$B\n", {}, [(4, "a.io/b:1.2")]),
        ("FROM\n", {}, []),
    ],
    ids=["scratch", "comment", "stages", "default", "given", "inner", "open", "stage's", "lines", "empty"],
)
def test_base_images_are_found_with_their_lines(
    text: str, given: dict[str, str], images: list[tuple[int, str]]
) -> None:
    assert list(base_images(text, given)) == images


@pytest.mark.parametrize(
    ("image", "faults"),
    [
        ("docker.io/library/ubuntu:24.04", []),
        (f"localhost/base@{DIGEST}", []),
        ("127.0.0.1:5000/base:1", []),
        ("127.0.0.1:5000/base", [UNPINNED.format("127.0.0.1:5000/base")]),
        ("nvcr.io/nvidia/pytorch:latest", [UNPINNED.format("nvcr.io/nvidia/pytorch")]),
        ("ubuntu", [UNPINNED.format("ubuntu"), NO_HOST.format("library/ubuntu")]),
        ("nvidia/cuda:12.8.1-base", [NO_HOST.format("nvidia/cuda:12.8.1-base")]),
    ],
)
def test_base_images_that_change_or_cannot_be_found_are_advised_against(
    tmp_path: Path, image: str, faults: list[str]
) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text(f"FROM {image}\n")
    assert advice(file, {}) == [f"Dockerfile:1: FROM {image}: {fault}" for fault in faults]


def test_dockerfile_comes_before_containerfile_and_another_name_is_looked_for_here_and_there(tmp_path: Path) -> None:
    (tmp_path / "Containerfile").touch()
    assert find_dockerfile(tmp_path, None).name == "Containerfile"
    (tmp_path / "Dockerfile").touch()
    (tmp_path / "cpu.Dockerfile").touch()
    assert find_dockerfile(tmp_path, None).name == "Dockerfile"
    assert find_dockerfile(tmp_path, Path("cpu.Dockerfile")) == tmp_path / "cpu.Dockerfile"
    assert find_dockerfile(tmp_path, tmp_path / "cpu.Dockerfile") == tmp_path / "cpu.Dockerfile"


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    for directory, file, line in (
        (tmp_path / "no", None, f"{tmp_path}/no: directory not found; give the one with the Dockerfile"),
        (tmp_path, None, f"{tmp_path}: has no Dockerfile or Containerfile; write one, or name another with --file"),
        (tmp_path, Path("x"), f"file=x: file not found, neither here nor in {tmp_path}"),
    ):
        with pytest.raises(UserError) as error:
            find_dockerfile(directory, file)
        assert str(error.value) == line
    (tmp_path / "Dockerfile").write_bytes(b"\xff")
    with pytest.raises(UserError) as error:
        find_dockerfile(tmp_path / "Dockerfile", None)
    assert str(error.value).endswith(f"is a file; give its directory: {tmp_path} --file {tmp_path}/Dockerfile")
    with pytest.raises(UserError, match="Dockerfile: cannot be read: 'utf-8' codec"):
        advice(tmp_path / "Dockerfile", {})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("FROM a.io/b:1\n", set()),
        ("ARG NETWORK\nFROM a.io/b:1\n", {"NETWORK"}),
        ("arg A=1 B\nFROM a.io/b:1\nARG C=2\n# ARG D\nRUN echo ARG E\n", {"A", "B", "C"}),
    ],
    ids=["none", "without a default", "everywhere"],
)
def test_build_arguments_are_those_that_the_file_declares(tmp_path: Path, text: str, names: set[str]) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text(text)
    assert build_arguments(file) == names
