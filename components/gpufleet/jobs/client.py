"""`gpufleet.jobs.submit`: a parallel job from a notebook, on the notebook's own folder and image.

It goes the way of `gpufleet jobs submit`; only where the environment, the folder and the image come from is other.
What takes time to import is imported when a job is submitted: every module below `gpufleet.jobs` imports this one.
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
    """What went wrong, in one line, or one for each fault."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows instead of a traceback: ipython.readthedocs.io/en/stable/config/integrating.html."""
        return [f"JobError: {line}" for line in str(self).splitlines()]


class Job:
    """A job that was submitted. Every method raises JobError."""

    def __init__(self, name: str, backend: "Backend", say: Callable[[str], None]) -> None:
        self.name = name
        self._backend, self._say = backend, say

    def __repr__(self) -> str:
        return f"Job({self.name!r})"

    def status(self) -> dict[str, object]:
        """Its state (Created, Suspended, Running, Succeeded, Failed), what it waits for, and its exit code."""
        with _in_a_line():
            return self._backend.details(self.name)

    def wait(self, *, logs: bool = True) -> int:
        """Wait until it has ended, printing what happens, and its log if wanted. Returns its exit code, 0 for success.

        An interruption (the stop button) leaves the job running; wait again whenever you like.
        """
        code = 0
        with _in_a_line():
            for event in self._backend.follow(self.name, f"Job {self.name}.wait()", logs=logs):
                self._say(event.text)
                code = code if event.code is None else event.code
        return code

    def logs(self) -> str:
        """What it has written until now; notes on what is not there yet are printed."""
        with _in_a_line():
            return "".join(f"{line}\n" for line in self._lines(self._backend.written_so_far(self.name)))

    def end(self) -> None:
        """End it, and free its GPUs. What it has written to the shared volume stays; its log goes."""
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
) -> Job:
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
        from gpufleet.jobs.kubernetes.in_cluster import settings_here
        from gpufleet.jobs.request import checked, name_for

        words = _words(command)
        settings = settings_here()
        where = _on_the_volume(Path.cwd() if folder is None else Path(folder).absolute())
        request: dict[str, object] = {
            "command": started_in(where, words),
            "workers": workers,
            "image": image or _own_image(),
            "name": name_for(words, datetime.now(UTC)),
            **options,
        }
        if settings.users:
            # Who is logged in at the hub: the image may know the uid under another name.
            request.setdefault("user", os.environ.get("GPUFLEET_USER"))
        backend = KubernetesBackend(settings)
        plan = backend.build_submission(
            checked({key: value for key, value in request.items() if value is not None}, "submit")
        )
        for line in plan.advice:
            _say(f"note: {line}")
        # What a notebook may not look at, such as the cluster's volumes, the job itself shows soon enough.
        backend.submit(plan, lambda _: None)
        _say(f"{plan.name}: submitted")
        return Job(plan.name, backend, _say)


def started_in(folder: str, words: Sequence[str]) -> list[str]:
    """The command such that each of its ranks starts in a folder. An mpirun of the user's own is told the same."""
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
        raise UserError('submit: command: there is nothing to run; give what each rank runs, "python3 train.py"')
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
        raise UserError(f"submit: folder={folder}: is no directory; give the one that the command starts in")
    return str(shared / real.relative_to(shared.resolve()))


def _own_image() -> str:
    """The image of this notebook, as KubeSpawner tells it. Errors: UserError."""
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
