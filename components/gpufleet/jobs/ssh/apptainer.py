"""The image that a job runs in, by Apptainer: no daemon, no root, and a file that all nodes read.

Sources: apptainer.org/docs/user/latest/{cli/apptainer_exec,gpu,mpi}.html: --nv gives a container the node's driver and
GPUs; mpirun stays outside ("hybrid"), so that the image's OpenMPI must be of the same major version as the nodes'.
"""

import hashlib
import shlex
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet.jobs.ssh.settings import SshTarget
from gpufleet.rules.messages import format_value, use_one_of

NO_IMAGE = "none"
"""`--image none`: no container, though the environment has a default image."""


@dataclass(frozen=True)
class ApptainerContainer:
    """file: path of the .sif file. source: the URI that it is made from where it is not there yet, or None."""

    file: str
    source: str | None

    def arguments(self, *, bind: str, gpus: bool, start: str) -> list[str]:
        """What stands before a command. bind: the shared files, at their own path. start: where the command starts."""
        return ["apptainer", "exec", *(["--nv"] if gpus else []), "--bind", bind, "--pwd", start, self.file]

    def script_lines(self) -> list[str]:
        """Bash that has the file ready, once for all ranks, or ends with one line that says why not."""
        missing = "apptainer is not on $(hostname); install it there, or submit without an image"
        found = f'command -v apptainer >/dev/null || {{ echo "gpufleet: {missing}" >&2; end 127; }}'
        file = shlex.quote(self.file)
        if self.source is None:
            gone = f"image {self.file} is not there; give another --image"
            return [found, f"[ -r {file} ] || {{ echo {shlex.quote(f'gpufleet: {gone}')} >&2; end 127; }}"]
        folder = shlex.quote(self.file.rpartition("/")[0])
        refused = shlex.quote(f"gpufleet: {self.source} cannot be pulled, see above")
        # Two jobs may pull the same image at once: each has a file of its own until it is whole.
        return [
            found,
            f"if [ ! -e {file} ]; then",
            f"    mkdir -p {folder}",
            f'    apptainer pull {file}."$$" {shlex.quote(self.source)} && mv -f {file}."$$" {file} ||',
            f"        {{ echo {refused} >&2; end 126; }}",
            "fi",
        ]


def select_container(target: SshTarget, wanted: str | None, name: str) -> ApptainerContainer | None:
    """The image of a job. wanted: what it asks for, None for the environment's default. Errors: UserError."""
    asked = wanted or target.image
    if asked is None or asked == NO_IMAGE:
        return None
    image = target.images.get(asked, asked)
    if "://" in image:
        stem = hashlib.sha256(image.encode()).hexdigest()[:16]
        return ApptainerContainer(f"{target.directory}/images/{stem}.sif", image)
    if image.startswith("/"):
        return ApptainerContainer(image, None)
    if image.endswith(".sif"):
        return ApptainerContainer(f"{target.directory}/{image}", None)
    known = [*target.images, NO_IMAGE]
    raise UserError(
        f"{name}: image={format_value(asked)}: no such image; {use_one_of(asked, known)}, a path that ends with "
        ".sif, or a URI such as docker://nvcr.io/nvidia/pytorch:24.10-py3"
    )
