"""A simulated provider that notes each of its moments, and stops at one until the harness has killed its victim.

A moment is `<when> <operation> <logical name>`: before the cloud is asked, while it is at work (`during`), after it has
acted and before the engine is answered. Whatever the machine's speed, the crash comes at the same event.
"""

import fcntl
import socket
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.provider import plugin

REPOSITORY = Path(__file__).resolve().parents[2]
Call = Callable[[Any, Any], Awaitable[Any]]


def script(*, notes: str = "", harness: str = "", moment: str = "") -> str:
    """The text of the plugin's program, with places for `python` and `cloud`.

    notes: a file to list all moments in. harness: the socket to report to at `moment`.
    """
    return (
        "#!{python}\n"
        f"import sys; sys.path.insert(0, {str(REPOSITORY)!r})\n"
        f"from tests.crashes.provider import main; main({{cloud!r}}, {notes!r}, {harness!r}, {moment!r})\n"
    )


def main(cloud: str, notes: str, harness: str, moment: str) -> None:
    """Serve as the plugin of `cloud` does, with the arguments of `script`."""
    request: ContextVar[str] = ContextVar("request", default="")
    make, sleep, stopped = plugin._servicer, Clock.until, False

    def reach(when: str, what: str) -> None:
        nonlocal stopped
        if notes:
            with Path(notes).open("a") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.write(f"{when} {what}\n")
        if harness and not stopped and f"{when} {what}" == moment:
            stopped = True
            # All of the provider stands still while the harness looks for its victim and kills it.
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(harness)
                connection.recv(1)

    def observed(operation: str, call: Call) -> Call:
        async def answer(message, context):
            if getattr(message, "preview", False):
                return await call(message, context)
            what = f"{operation} {message.urn.rpartition('::')[2]}"
            request.set(what)
            reach("before", what)
            response = await call(message, context)
            reach("after", what)
            return response

        return answer

    def servicer(cloud: str) -> object:
        made = make(cloud)
        for operation in ("Create", "Update", "Delete"):
            setattr(made, operation, observed(operation.lower(), getattr(made, operation)))
        return made

    async def until(clock: Clock, end: float) -> None:
        if what := request.get():
            reach("during", what)
        await sleep(clock, end)

    plugin._servicer, Clock.until = servicer, until
    plugin.main(cloud)
