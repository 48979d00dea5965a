"""A notebook as a job: an image with the notebook and what it imports, in which papermill runs it.

A file beside it lists what it imports, environment.yml or requirements.txt, as Binder takes them
(repo2docker.readthedocs.io/en/stable/configuration/); the base image's own packages are there besides.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TypedDict

from gpufleet.documents.json import read_json
from gpufleet.errors import UserError

PLACE = "/notebook"
"""Where it is in the image."""
_PAPERMILL = "papermill==2.7.0 ipykernel"
_PIP = "PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --no-cache-dir"
_CONDA = (
    'conda=$(command -v mamba || command -v conda) || { echo "gpufleet: environment.yml needs mamba or conda in the '
    'base image; write requirements.txt for pip" >&2; exit 1; }; "$conda" env update --name base --file'
)
_RUN = """[ "${OMPI_COMM_WORLD_RANK:-0}" = 0 ] || exit 0
name=$0 job=$1
shift
[ -w "${HOME:-/}" ] || { HOME=$(mktemp -d) && export HOME; }
user=$(id -un 2>/dev/null)
for shared in "${user:+/mnt/home/$user}" /mnt "$PWD"; do
    [ -d "$shared" ] && [ -w "$shared" ] && break
done
out=${GPUFLEET_OUTPUTS:-$shared/notebooks/$job}
mkdir -p "$out" && cd "$out" || exit 1
export PYTHONPATH="/notebook${PYTHONPATH:+:$PYTHONPATH}"
echo "gpufleet: $out/$name"
exec python3 -m papermill "/notebook/$name" "$out/$name" --cwd "$out" --log-output --kernel python3 "$@"
"""
"""One of the ranks runs the notebook, with all GPUs of its worker, in a directory of the job's on the shared files.

A uid without an entry in /etc/passwd has no home to write in, which Jupyter needs.
"""


class _Kernel(TypedDict, total=False):
    language: str


class _Metadata(TypedDict, total=False):
    kernelspec: _Kernel
    tags: list[str]


class _Cell(TypedDict, total=False):
    metadata: _Metadata


class _NotebookJson(TypedDict, total=False):
    """What is read of a notebook. Source: nbformat.readthedocs.io/en/latest/format_description.html."""

    metadata: _Metadata
    cells: list[_Cell]


@dataclass(frozen=True)
class Notebook:
    """file: the notebook. dependencies: environment.yml or requirements.txt beside it, if there is one. modules: the
    Python files beside it. parameters: whether a cell has the tag `parameters`."""

    file: Path
    dependencies: Path | None
    modules: tuple[Path, ...]
    parameters: bool

    def advice(self, given: Mapping[str, str]) -> list[str]:
        """What may be a mistake, a line each. given: values of parameters."""
        lines = []
        if self.dependencies is None:
            lines.append(
                f"{self.file.name}: neither environment.yml nor requirements.txt is beside it; it has the packages of "
                "the base image only"
            )
        if given and not self.parameters:
            lines.append(
                f"{self.file.name}: no cell has the tag `parameters`, so that its own values come after the given ones"
            )
        return lines

    def dockerfile(self, base: str) -> str:
        """The image on top of `base`, which has Python 3 with pip."""
        folder = resources.files("gpufleet.images") / "data"
        lines = ["FROM " + base, (folder / "notebook.dockerfile").read_text(encoding="utf-8").rstrip("\n")]
        wanted = self.dependencies.name if self.dependencies else ""
        if wanted.endswith((".yml", ".yaml")):
            lines.append(f"RUN {_CONDA} {PLACE}/{wanted}")
            wanted = ""
        lines.append(f"RUN {_PIP}{f' -r {PLACE}/{wanted}' if wanted else ''} {_PAPERMILL}")
        return "\n".join([*lines, "USER 1000"]) + "\n"

    def copy_to(self, folder: Path) -> None:
        """Put into `folder` what the image has in PLACE. Errors: UserError."""
        for each in self._files:
            try:
                shutil.copyfile(each, folder / each.name)
            except OSError as error:
                raise UserError(f"{each}: cannot be copied: {error.strerror}") from error

    def digest(self, base: str) -> str:
        """16 hexadecimal digits of all that decides what the image holds."""
        parts = [self.dockerfile(base), *(f"{each.name} {each.read_bytes().hex()}" for each in self._files)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def command(self, job: str, parameters: Mapping[str, str]) -> list[str]:
        """What each rank of the job runs."""
        given = [word for name, value in parameters.items() for word in ("-p", name, value)]
        return ["sh", "-c", _RUN, self.file.name, job, *given]

    @property
    def _files(self) -> list[Path]:
        return [self.file, *([self.dependencies] if self.dependencies else []), *self.modules]


def read_notebook(file: Path) -> Notebook:
    """A notebook of Python, with what is beside it. Errors: UserError."""
    content = read_json(file, "give a notebook, such as train.ipynb", shape=_NotebookJson)
    if "cells" not in content:
        raise UserError(f"{file}: is not a notebook of format 4: it has no cells; save it with a current Jupyter")
    kernel = content.get("metadata", {}).get("kernelspec", {})
    language = kernel.get("language", "python").lower()
    if language != "python":
        raise UserError(f"{file}: is written in {language}; only notebooks in Python become jobs")
    beside = file.absolute().parent
    wanted = [beside / name for name in ("environment.yml", "environment.yaml", "requirements.txt")]
    return Notebook(
        file,
        next((each for each in wanted if each.is_file()), None),
        tuple(sorted(beside.glob("*.py"))),
        any("parameters" in cell.get("metadata", {}).get("tags", []) for cell in content["cells"]),
    )
