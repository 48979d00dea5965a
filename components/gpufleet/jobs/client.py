"""`gpufleet.jobs.submit`: a parallel job from a notebook, on the notebook's own folder and image.

It works like `gpufleet jobs submit`; only the sources of the environment, the folder and the image differ. Slow imports
happen when a job is submitted, because every module below `gpufleet.jobs` imports this one.
"""

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.jobs.backend import Backend
    from gpufleet.jobs.events import Event


class JobError(UserError):
    """An error in one line, or one line for each fault."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback: ipython.readthedocs.io/en/stable/config/integrating.html."""
        return [f"JobError: {line}" for line in str(self).splitlines()]


class SubmittedJob:
    """A job that was submitted. Every method raises JobError."""

    def __init__(self, name: str, backend: "Backend", say: Callable[[str], None]) -> None:
        self.name = name
        self._backend, self._say = backend, say

    def __repr__(self) -> str:
        return f"SubmittedJob({self.name!r})"

    def status(self) -> dict[str, object]:
        """Its state (Created, Suspended, Running, Succeeded, Failed), its pending reasons and its exit code."""
        with _in_a_line():
            return self._backend.details(self.name)

    def wait(self, *, logs: bool = True) -> int:
        """Wait until it has ended, printing what happens, and its log if wanted. Returns its exit code, 0 for success.

        An interruption (the stop button) leaves the job running; wait again whenever you like.
        """
        code = 0
        with _in_a_line():
            for event in self._backend.follow(self.name, "job.wait()", logs=logs):
                self._say(event.text)
                code = code if event.code is None else event.code
        return code

    def logs(self) -> str:
        """The log so far; notes on what is missing are printed."""
        with _in_a_line():
            return "".join(f"{line}\n" for line in self._lines(self._backend.read_log(self.name)))

    def cancel(self) -> None:
        """Cancel the job and free its GPUs. Its files on the shared volume stay; its log is deleted."""
        with _in_a_line():
            self._say(self._backend.cancel(self.name))

    def _lines(self, events: "Iterator[Event]") -> Iterator[str]:
        for event in events:
            if event.kind.value == "line":
                yield event.text
            else:
                self._say(event.text)


def submit(
    command: str | Sequence[str],
    *,
    workers: int = 1,
    folder: str | os.PathLike[str] | None = None,
    image: str | None = None,
    **options: object,
) -> SubmittedJob:
    """Submit a parallel job from a notebook: `command` runs as one rank on each GPU of each worker.

    command: a line, or a list of words. workers: pods, each with `gpus` GPUs. folder: on the shared volume, where the
    command starts; default: where the notebook is. image: default: the notebook's own. options: the keys of a job's
    YAML file, such as gpus, gpu, place, pool, name, env, queue, time_limit_minutes, retries (docs/jobs.md).
    Errors: JobError.

        from gpufleet.jobs import submit

        job = submit("python3 train.py --epochs 90", workers=2, gpus=4, gpu="A10G", place="cloud")
        job.status()["state"]
        job.wait()
    """
    with _in_a_line():
        from gpufleet.jobs.kubernetes.backend import KubernetesBackend
        from gpufleet.jobs.kubernetes.in_cluster import in_cluster_settings
        from gpufleet.jobs.request import default_job_name, parse_request

        words = _words(command)
        settings = in_cluster_settings()
        where = _on_the_volume(Path.cwd() if folder is None else Path(folder).absolute())
        request: dict[str, object] = {
            "command": command_in_folder(where, words),
            "workers": workers,
            "image": image or _own_image(),
            "name": default_job_name(words, datetime.now(UTC)),
            **options,
        }
        if settings.users:
            # Who is logged in at the hub: the image may know the uid under another name.
            request.setdefault("user", os.environ.get("GPUFLEET_USER"))
        backend = KubernetesBackend(settings)
        plan = backend.build_submission(
            parse_request({key: value for key, value in request.items() if value is not None}, "submit")
        )
        for line in plan.advice:
            _say(f"note: {line}")
        # A notebook may not read, for instance, the cluster's volumes; the job itself reports such errors soon.
        backend.submit(plan, lambda _: None)
        _say(f"{plan.name}: submitted")
        return SubmittedJob(plan.name, backend, _say)


def command_in_folder(folder: str, words: Sequence[str]) -> list[str]:
    """The command with each rank starting in a folder. A user's own mpirun gets -wdir."""
    from gpufleet.jobs.mpi_run import is_mpirun

    if is_mpirun(list(words)):
        return [words[0], "-wdir", folder, *words[1:]]
    return ["sh", "-c", 'cd "$0" && exec "$@"', folder, *words]


def _words(command: str | Sequence[str]) -> list[str]:
    if not isinstance(command, str):
        words = [str(word) for word in command]
    else:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise UserError(f"submit: command={command}: {error}; give a list of words") from error
    if not words:
        raise UserError('submit: command: nothing to run; give what each rank runs, "python3 train.py"')
    return words


def _on_the_volume(folder: Path) -> str:
    """The folder, which the job's pods have at the same path. Errors: UserError."""
    shared = Path(os.environ.get("GPUFLEET_SHARED", "/mnt"))
    real = folder.resolve()
    if not real.is_relative_to(shared.resolve()):
        raise UserError(
            f"submit: folder={folder}: is in this notebook only, and a job would not find it; use one below {shared}, "
            f"such as {os.environ.get('HOME', shared)}"
        )
    if not real.is_dir():
        raise UserError(f"submit: folder={folder}: is not a directory; give the one that the command starts in")
    return str(shared / real.relative_to(shared.resolve()))


def _own_image() -> str:
    """The image of this notebook, which KubeSpawner sets. Errors: UserError."""
    image = os.environ.get("JUPYTER_IMAGE_SPEC")
    if not image:
        raise UserError("submit: image: the notebook's own is not known (JUPYTER_IMAGE_SPEC is not set); give image=")
    return image


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


@contextmanager
def _in_a_line() -> Iterator[None]:
    try:
        yield
    except JobError:
        raise
    except UserError as error:
        raise JobError(str(error)) from error
