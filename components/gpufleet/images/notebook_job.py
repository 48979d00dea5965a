"""The image of a notebook's job, where jobs run in images: in the environment's registry, or a SIF on shared files."""

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet.images.build import build_image, plan_build
from gpufleet.images.builder import run
from gpufleet.images.mirror.apptainer import notebook_recipe
from gpufleet.images.notebook import Notebook, read_notebook
from gpufleet.images.pinned_images import read_pinned_images
from gpufleet.images.repository import repository_named
from gpufleet.jobs.kubernetes.api import KubernetesApi
from gpufleet.jobs.request import default_job_name
from gpufleet.jobs.settings import JobSettings
from gpufleet.jobs.ssh.apptainer import ApptainerContainer, select_container
from gpufleet.jobs.ssh.settings import SshTarget

Say = Callable[[str], None]


@dataclass(frozen=True)
class NotebookJob:
    """A job that runs a notebook. request: with the image as it is going to be called."""

    request: Mapping[str, object]
    _image: Callable[[bool], str]

    def built(self) -> dict[str, object]:
        """The request, with the image, which is built now. Errors: UserError, BuilderFailed."""
        return {**self.request, "image": self._image(True)}


def plan_notebook_job(
    settings: JobSettings, file: Path, request: Mapping[str, object], parameters: Mapping[str, str], say: Say
) -> NotebookJob:
    """The job; nothing is built yet. request: as asked for; its image is what the notebook's is built on.

    Errors: UserError.
    """
    notebook = read_notebook(file)
    if request.get("command"):
        raise UserError(f"{file}: runs by itself; leave out the command {request['command']}")
    for key in ("workers", "nodes"):
        if request.get(key, 1) != 1:
            raise UserError(f"{file}: {key}={request[key]}: a notebook runs on one; submit a program for more")
    for line in notebook.advice(parameters):
        say(f"note: {line}")
    name = str(request.get("name") or default_job_name([file.stem], datetime.now(UTC)))
    wanted = request.get("image")
    base = wanted if isinstance(wanted, str) else None
    asked = {**request, "name": name, "command": notebook.command(name, parameters)}
    own = settings.slurm or settings.hosts

    def image(build: bool) -> str:
        if own is None:
            return _pushed(settings, notebook, base, say, build=build)
        return _sif(own.target, notebook, base, name, say, build=build)

    if settings.on == "kubernetes":
        asked["workers"] = 1
    elif own is None:
        raise UserError(f"{file}: notebooks become jobs on Kubernetes, Slurm and hosts, not on {settings.on}")
    return NotebookJob({**asked, "image": image(False)}, image)


def _pushed(settings: JobSettings, notebook: Notebook, wanted: str | None, say: Say, *, build: bool) -> str:
    """The image, pushed to the environment's registry; not what other jobs run by default."""

    def recorded() -> dict[str, str]:
        api = KubernetesApi.of(settings.kubeconfig, settings.environment)
        return {name: image.pinned for name, image in read_pinned_images(api, settings.namespace).items()}

    base = settings.image(wanted, recorded)
    name = (wanted or "").partition("@")[0].partition(":")[0]
    repository = name if repository_named(settings.repositories, name) else None
    with tempfile.TemporaryDirectory(prefix="gpufleet-") as folder:
        context = Path(folder) / "notebook"
        context.mkdir()
        notebook.copy_to(context)
        dockerfile = Path(folder) / "Dockerfile"
        dockerfile.write_text(notebook.dockerfile(base), encoding="utf-8")
        plan = plan_build(settings, context, repository=repository, file=dockerfile)
        if not build:
            return plan.build.image
        for line in plan.advice:
            say(f"note: {line}")
        return build_image(plan, say).pinned


def _sif(target: SshTarget, notebook: Notebook, wanted: str | None, job: str, say: Say, *, build: bool) -> str:
    """The image as a file on the shared files, built once for the same notebook. Errors: UserError, BuilderFailed."""
    base = select_container(target, wanted, job)
    if base is None:
        raise UserError(f"{job}: image: none; give what the notebook's is built on, such as --image train.sif")
    sif = f"images/notebook-{notebook.digest(base.source or base.file)}.sif"
    place = Path(target.directory) / sif
    if not build or place.exists():
        return sif
    if not place.parent.parent.is_dir():
        where = target.machine.host or "a machine that has it"
        raise UserError(f"{job}: {target.directory} is not on this machine; run the same command on {where}")
    program = shutil.which("apptainer") or shutil.which("singularity")
    if program is None:
        raise UserError(f"{job}: neither apptainer nor singularity is on PATH; install one to build the image")
    say(f"{sif}: building")
    _build(program, notebook, base, place)
    return sif


def _build(program: str, notebook: Notebook, base: ApptainerContainer, place: Path) -> None:
    place.parent.mkdir(exist_ok=True)
    # Beside its place: a file that is whole is moved there at once, and two builds do not meet.
    with tempfile.TemporaryDirectory(prefix=".notebook-", dir=place.parent) as name:
        folder = Path(name)
        (folder / "notebook").mkdir()
        notebook.copy_to(folder / "notebook")
        for file, content in notebook_recipe(notebook.dockerfile("base"), base.source or base.file).items():
            (folder / file).write_bytes(content)
        # Root needs it not; others have no other way to be root in the image.
        root = [] if os.geteuid() == 0 else ["--fakeroot"]
        run([program, "build", *root, "notebook.sif", "notebook.def"], "no job is submitted", folder)
        (folder / "notebook.sif").replace(place)
