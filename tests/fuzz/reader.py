"""A reader of something from outside: what it takes, and how it is called."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import click
from click.testing import CliRunner
from hypothesis import strategies as st

from gpufleet.cli import main
from gpufleet.config.reader import ConfigError
from gpufleet.errors import UserError
from tests.fuzz.broken_input import as_json, broken_inputs

SECONDS = 20
"""Processor time of one case. The slowest takes a tenth of a second; how busy the machine is does not count."""
ROOT = Path(__file__).parents[2]
TODAY = date(2026, 11, 21)
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Reader:
    """call: reads a file. values: samples as values, written as JSON or YAML (form). texts: samples as bytes. name: of
    the file. modules: what it covers, as paths below components/gpufleet."""

    call: Callable[[Path], object]
    modules: Sequence[str]
    values: Callable[[], Sequence[Any]] = tuple
    texts: Callable[[], Sequence[bytes]] = tuple
    form: Callable[[Any], str] = as_json
    name: str = "input.json"
    variables: Callable[[Path], Mapping[str, str]] = lambda file: {}

    def inputs(self) -> st.SearchStrategy[bytes]:
        return broken_inputs([*self.values()], self.form, self.samples())

    def samples(self) -> list[bytes]:
        return [*self.texts(), *(self.form(each).encode() for each in self.values())]

    def read(self, content: bytes, folder: Path) -> object:
        """Call it with these bytes in a file."""
        file = folder / self.name
        file.write_bytes(content)
        with _variables(self.variables(file)), _time_limit():
            return self.call(file)


class TooSlow(BaseException):
    """A case took more than SECONDS of processor time; not an Exception, which readers may catch."""


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {SECONDS} s of processor time")

    handler = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)


@contextmanager
def _variables(given: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def run_command(*words: str) -> None:
    """Run the command line; what it raises besides its exit is raised."""
    done = CliRunner().invoke(main, [*words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code:
        raise UserError(done.output)


def try_all(*calls: Callable[[], object]) -> list[object]:
    """Call each, also after an error of ours; other errors are raised."""
    ends: list[object] = []
    for call in calls:
        try:
            ends.append(call())
        except Exception as error:
            if not is_own(error):
                raise
            ends.append(error)
    return ends


def is_own(error: BaseException) -> bool:
    """Whether an exception is an answer to the user, and no traceback."""
    return isinstance(error, UserError | ConfigError | click.ClickException)
