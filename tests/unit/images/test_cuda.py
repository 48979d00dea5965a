"""The CUDA version of an image: from names of libraries, then from its variables and labels."""

import json
from pathlib import Path

import pytest

from gpufleet.images.cuda import cuda_in_configuration, cuda_in_files, cuda_of

PACKAGES = "/opt/python/lib/python3.12/site-packages"
FILES = [
    ([], None),
    (["/usr/lib/libcudart.so.12"], None),
    (["/usr/local/cuda-12.8/lib64/libcudart.so.12.8.90"], "12.8"),
    (["/usr/local/cuda/lib64/libcudart.so.9.2"], "9.2"),
    ([f"{PACKAGES}/nvidia_cuda_runtime_cu12-12.8.90.dist-info"], "12.8"),
    ([f"{PACKAGES}/nvidia_cuda_runtime-13.0.48.dist-info"], "13.0"),
    (["/a/libcudart.so.9.2.148", "/b/libcudart.so.12.10.1", "/c/libcudart.so.12.9.1"], "12.10"),
    (["/a/libcudart.so.12.8.90.old", "/a/libcudart.so.txt"], None),
]
CONFIGURATIONS = [
    ([], {}, None),
    (["PATH=/bin", "CUDA_VERSION=12.8.1"], {}, "12.8"),
    (["CUDA_VERSION=12.8.1", "NVIDIA_REQUIRE_CUDA=cuda>=12.4 brand=tesla"], {}, "12.8"),
    (["NVIDIA_REQUIRE_CUDA=cuda>=11.8 brand=tesla,driver>=470"], {}, "11.8"),
    (["CUDA_VERSION="], {"com.nvidia.cuda.version": "8.0.61"}, "8.0"),
    (["CUDA_VERSION=latest"], {}, None),
]


@pytest.mark.parametrize(("paths", "cuda"), FILES)
def test_libraries(paths: list[str], cuda: str | None) -> None:
    assert cuda_in_files(paths) == cuda


@pytest.mark.parametrize(("env", "labels", "cuda"), CONFIGURATIONS)
def test_configuration(env: list[str], labels: dict[str, str], cuda: str | None) -> None:
    assert cuda_in_configuration(env, labels) == cuda


@pytest.mark.parametrize(
    ("program", "shape"),
    [
        ("buildah", {"OCIv1": {"config": {"Env": ["CUDA_VERSION=12.8.1"]}}}),
        ("podman", [{"Config": {"Env": ["CUDA_VERSION=12.8.1"], "Labels": None}}]),
    ],
)
def test_an_image_without_find_is_known_by_its_variables(program: str, shape: object, tmp_path: Path) -> None:
    """buildah-inspect(1) and podman-inspect(1) print the same facts in two shapes."""
    (tmp_path / "inspected").write_text(json.dumps(shape))
    builder = tmp_path / program
    builder.write_text(f"#!/bin/sh\n[ $1 = inspect ] || exit 127\ncat {tmp_path}/inspected\n")
    builder.chmod(0o755)
    assert cuda_of(str(builder), "r.invalid/t:v1") == "12.8"


def test_a_builder_that_cannot_be_started_tells_nothing() -> None:
    assert cuda_of("/no/such/buildah", "r.invalid/t:v1") is None
