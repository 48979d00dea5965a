"""examples/train/Dockerfile: what it is made of is pinned, and it holds what a job needs."""

import re
from pathlib import Path

import pytest

from gpufleet.rules.kubernetes.mpi_image import image_form, image_pinned

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "train"


@pytest.fixture(scope="module")
def dockerfile() -> str:
    return (EXAMPLE / "Dockerfile").read_text()


def test_base_images_are_pinned(dockerfile: str):
    bases = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    assert bases
    for image in bases:
        assert ":" in image
        assert image_form(image=image).status == image_pinned(image=image).status == "pass"


def test_packages_of_pypi_are_pinned(dockerfile: str):
    (line,) = re.findall(r"pip install (.*)$", dockerfile, re.MULTILINE)
    packages = [word for word in line.split() if not word.startswith("-")]
    assert {package.partition("==")[0] for package in packages} == {"torch", "mpi4py", "numpy"}
    assert all(re.fullmatch(r"[a-z0-9]+==\d+\.\d+\.\d+", package) for package in packages)


@pytest.mark.parametrize("package", ["openmpi-bin", "openssh-server", "openssh-client"])
def test_what_a_job_starts_is_installed(dockerfile: str, package: str):
    assert re.search(rf"\b{package}\b", dockerfile)


def test_no_key_is_baked_in(dockerfile: str):
    """Debian's package of sshd makes host keys when it is installed: the same in every copy of the image."""
    assert "rm -rf /var/lib/apt/lists/* /etc/ssh/ssh_host_*" in dockerfile
