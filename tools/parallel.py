"""Run several steps of set-up at once, each in a process of its own."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any

GRACE_SECONDS = 5.0
"""How long an interrupted step may take to clean up before it is killed."""


def run_in_parallel(steps: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run every step, and return their results in the same order.

    The first step that fails interrupts the others, with every program that they have started, and its exception is
    raised here. The same goes for a Ctrl-C.
    """
    context = multiprocessing.get_context("fork")
    processes: dict[Connection, ForkProcess] = {}
    try:
        for step in steps:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_run, args=(step, sender))
            with _interrupts_blocked():
                process.start()
                sender.close()
                _lead_group(process.pid)
                processes[receiver] = process
        results = _results(list(processes))
        for process in processes.values():
            process.join()
        return results
    finally:
        _interrupt([process for process in processes.values() if process.is_alive()])


def _results(receivers: Sequence[Connection]) -> list[Any]:
    results: dict[Connection, Any] = {}
    while len(results) < len(receivers):
        for receiver in wait([each for each in receivers if each not in results]):
            assert isinstance(receiver, Connection)
            try:
                failure, results[receiver] = receiver.recv()
            except EOFError:
                raise ChildProcessError(0, "a step of set-up was killed", "setup") from None
            if failure is not None:
                raise failure
    return [results[receiver] for receiver in receivers]


def _run(step: Callable[[], Any], sender: Connection) -> None:
    """Run a step in its process, which starts with SIGINT blocked so that no interrupt meets Python's own start."""
    _lead_group(0)
    try:
        # Where SIGINT is ignored (a shell's background job), a step and its programs must end all the same.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        outcome = _outcome(step)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    except KeyboardInterrupt:
        return
    sender.send(outcome)


def _outcome(step: Callable[[], Any]) -> tuple[Exception | None, Any]:
    try:
        return None, step()
    except Exception as failure:  # noqa: BLE001 - raised by the parent
        return failure, None


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _lead_group(pid: int | None) -> None:
    """Give a step (0: this one) a process group, so that a signal to it reaches the programs that it has started.

    Both sides do this, as neither knows which of them runs first.
    """
    with suppress(OSError):
        os.setpgid(pid or 0, pid or 0)


def _interrupt(processes: Sequence[ForkProcess]) -> None:
    for number in (signal.SIGINT, signal.SIGKILL):
        for process in processes:
            if process.is_alive() and process.pid is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
        for process in processes:
            process.join(GRACE_SECONDS)
