"""examples/train/Dockerfile: what it is made of is pinned, and it holds what a job needs."""

import re
from pathlib import Path

import pytest

from gpufleet.images.dockerfile import base_images, build_arguments
from gpufleet.rules.kubernetes.mpi_image import image_form, image_pinned

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "train"


@pytest.fixture(scope="module")
def dockerfile() -> str:
    return (EXAMPLE / "Dockerfile").read_text()


NETWORKS = ("plain", "efa", "infiniband")


def stage(dockerfile: str, name: str) -> str:
    """The instructions of a stage."""
    (text,) = re.findall(rf"^FROM \S+ AS {name}$(.*?)^FROM ", dockerfile, re.MULTILINE | re.DOTALL)
    return text


@pytest.mark.parametrize("network", NETWORKS)
def test_base_images_are_pinned(dockerfile: str, network: str):
    bases = [image for _, image in base_images(dockerfile, {"NETWORK": network})]
    assert bases
    for image in bases:
        assert ":" in image
        assert image_form(image=image).status == image_pinned(image=image).status == "pass"


def test_each_network_is_a_stage_and_the_last_one_takes_the_chosen(dockerfile: str):
    froms = re.findall(r"^FROM (\S+)(?: AS (\S+))?$", dockerfile, re.MULTILINE)
    assert [name for _, name in froms] == [*NETWORKS, ""]
    assert [image for image, _ in froms[1:]] == ["plain", "plain", "$NETWORK"]
    assert build_arguments(EXAMPLE / "Dockerfile") >= {"NETWORK"}
    assert re.search("^ARG NETWORK=plain$", dockerfile, re.MULTILINE)


def test_efa_comes_from_aws_installer_whose_checksum_is_known(dockerfile: str):
    efa = stage(dockerfile, "efa")
    assert re.search(r"^ARG EFA_INSTALLER=\d+\.\d+\.\d+$", efa, re.MULTILINE)
    assert re.search(r"^ARG EFA_INSTALLER_SHA256=[0-9a-f]{64}$", efa, re.MULTILINE)
    assert efa.index("sha256sum -c -") < efa.index("tar -xf") < efa.index("./efa_installer.sh")
    # The kernel module is the node's, and another OpenMPI on PATH would be run in its place.
    assert re.search(r"efa_installer\.sh -y --skip-kmod --skip-mpi --skip-limit-conf --no-verify ", efa)
    assert "ldconfig -p | grep -q libnccl-net" in efa


@pytest.mark.parametrize("package", ["libibverbs1", "ibverbs-providers"])
def test_infiniband_has_the_libraries_that_nccl_opens(dockerfile: str, package: str):
    assert re.search(rf"\b{package}\b", stage(dockerfile, "infiniband"))


def test_packages_of_pypi_are_pinned(dockerfile: str):
    (line,) = re.findall(r"pip install (.*)$", dockerfile, re.MULTILINE)
    packages = [word for word in line.split() if not word.startswith("-")]
    assert {package.partition("==")[0] for package in packages} == {"torch", "mpi4py", "numpy", "boto3"}
    assert all(re.fullmatch(r"[a-z0-9]+==\d+\.\d+\.\d+", package) for package in packages)


@pytest.mark.parametrize("package", ["openmpi-bin", "openssh-server", "openssh-client"])
def test_what_a_job_starts_is_installed(dockerfile: str, package: str):
    assert re.search(rf"\b{package}\b", dockerfile)


def test_no_key_is_baked_in(dockerfile: str):
    """Debian's package of sshd makes host keys when it is installed: the same in every copy of the image."""
    assert "rm -rf /var/lib/apt/lists/* /etc/ssh/ssh_host_*" in dockerfile
