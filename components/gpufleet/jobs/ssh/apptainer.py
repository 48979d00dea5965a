"""The image that a job runs in, by Apptainer or SingularityCE: no daemon, no root, and a file that all nodes read.

Both come from Singularity 3.8 and take the same options; Apptainer puts a link `singularity` beside itself
(apptainer/apptainer#81), SingularityCE none called `apptainer`, so that either name is looked for.
Sources: apptainer.org/docs/user/latest/{cli/apptainer_exec,gpu,mpi}.html and
docs.sylabs.io/guides/latest/user-guide/{cli/singularity_exec,gpu,mpi}.html: --nv gives a container the node's driver
and GPUs; with mpirun outside ("hybrid") the image's OpenMPI must be of the same major version as the nodes'.
"""

import hashlib
import shlex
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet.jobs.ssh.settings import SshTarget
from gpufleet.rules.messages import format_value, use_one_of

NO_IMAGE = "none"
"""`--image none`: no container, though the environment has a default image."""

PROGRAM = '"$container"'
"""What a job's script calls the program, whose name it has found out; bash reads it."""


@dataclass(frozen=True)
class ApptainerContainer:
    """file: path of the .sif file. source: the URI that it is made from where it is not there yet, or None."""

    file: str
    source: str | None

    def arguments(self, *, binds: list[str], gpus: bool, start: str) -> list[str]:
        """What stands after the program and before a command, as bash reads it.

        binds: the shared files, at their own path, and other places that both sides see. start: where it starts.
        """
        bound = [word for each in binds for word in ("--bind", each)]
        return ["exec", *(["--nv"] if gpus else []), *bound, "--pwd", shlex.quote(start), shlex.quote(self.file)]

    def script_lines(self) -> list[str]:
        """Bash that finds the program and has the file ready, once for all ranks, or ends with a line that says why."""
        missing = "neither apptainer nor singularity is on $(hostname); install one there, or submit without an image"
        found = [
            "container=$(command -v apptainer || command -v singularity) ||",
            f'    {{ echo "gpufleet: {missing}" >&2; end 127; }}',
            # On other nodes it may be at another place.
            "container=${container##*/}",
        ]
        file = shlex.quote(self.file)
        if self.source is None:
            gone = f"image {self.file} is not there; give another --image"
            return [*found, f"[ -r {file} ] || {{ echo {shlex.quote(f'gpufleet: {gone}')} >&2; end 127; }}"]
        folder = shlex.quote(self.file.rpartition("/")[0])
        refused = shlex.quote(f"gpufleet: {self.source} cannot be pulled, see above")
        # Two jobs may pull the same image at once: each has a file of its own until it is whole.
        return [
            *found,
            f"if [ ! -e {file} ]; then",
            f"    mkdir -p {folder}",
            f'    {PROGRAM} pull {file}."$$" {shlex.quote(self.source)} && mv -f {file}."$$" {file} ||',
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
