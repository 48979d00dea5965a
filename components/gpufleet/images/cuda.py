"""The CUDA version of an image, as its libraries or its configuration say.

Sources: PyTorch's wheels bring CUDA's libraries as packages of PyPI (nvidia-cuda-runtime-cu12, from CUDA 13 on
nvidia-cuda-runtime); NVIDIA's own images set CUDA_VERSION and NVIDIA_REQUIRE_CUDA
(gitlab.com/nvidia/container-images/cuda), as in cuda>=11.8 (smallcloudai/refact#368); the oldest ones set the label
com.nvidia.cuda.version.
"""

import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gpufleet.documents.json import parse_json

_VERSION = r"(\d{1,2})\.(\d{1,2})(?:\.\d+)*"
_LIBRARIES = (
    re.compile(rf"libcudart\.so\.{_VERSION}"),
    re.compile(rf"nvidia_cuda_runtime(?:_cu\d+)?-{_VERSION}\.dist-info"),
)
_FIND = ["/", "-xdev", "(", "-name", "libcudart.so.*", "-o", "-name", "nvidia_cuda_runtime*.dist-info", ")"]
_SECONDS = 300


def cuda_of(builder: str, image: str) -> str | None:
    """The CUDA version (major.minor) of an image that `builder` has built; None: it has none, or does not say.

    Libraries come first: they are what a program loads, whatever the base image is called.
    """
    return cuda_in_files(_library_files(builder, image)) or cuda_in_configuration(*_configuration(builder, image))


def cuda_in_files(paths: Iterable[str]) -> str | None:
    """The newest CUDA runtime among files of an image: the one that asks most of a driver."""
    names = [path.rstrip("/").rpartition("/")[2] for path in paths]
    found = [match for name in names for pattern in _LIBRARIES if (match := pattern.fullmatch(name))]
    return _text(max(((int(each[1]), int(each[2])) for each in found), default=None))


def cuda_in_configuration(env: Sequence[str], labels: Mapping[str, str]) -> str | None:
    """What the image's variables (KEY=VALUE) and labels say."""
    variables = dict(each.partition("=")[::2] for each in env)
    required = re.search(r"cuda>=(\S+)", variables.get("NVIDIA_REQUIRE_CUDA", ""))
    for said in (variables.get("CUDA_VERSION"), labels.get("com.nvidia.cuda.version"), required and required[1]):
        if found := re.fullmatch(_VERSION, said or ""):
            return _text((int(found[1]), int(found[2])))
    return None


def _text(version: tuple[int, int] | None) -> str | None:
    return None if version is None else f"{version[0]}.{version[1]}"


def _library_files(builder: str, image: str) -> list[str]:
    """Paths in the image, listed by its own `find`; none where it has no such program."""
    if Path(builder).name == "podman":
        command = [builder, "run", "--rm", "--network=none", "--entrypoint=find", image, *_FIND]
        return _output(command).splitlines()
    container = _output([builder, "from", image]).strip()
    try:
        return _output([builder, "run", container, "--", "find", *_FIND]).splitlines()
    finally:
        _output([builder, "rm", container])


def _configuration(builder: str, image: str) -> tuple[Sequence[str], Mapping[str, str]]:
    """Variables and labels. buildah and podman print them in different places."""
    try:
        content: Any = parse_json(_output([builder, "inspect", "--type", "image", image]), image)
        content = content[0] if isinstance(content, list) else content
        found = content.get("OCIv1", {}).get("config") or content.get("Config") or {}
    except (ValueError, IndexError, AttributeError):
        return [], {}
    return found.get("Env") or [], found.get("Labels") or {}


def _output(command: Sequence[str]) -> str:
    """What a program prints, also when it fails: `find` does so for a folder that it may not read."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
