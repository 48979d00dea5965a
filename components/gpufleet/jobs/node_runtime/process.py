# Processes of a node: programs that are found, started and ended, and their exit codes.
from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from pathlib import Path

# Where a node keeps keys and the like, in memory.
HERE = Path("/dev/shm/gpufleet")


# Ends this node: a line for the user, and the exit code.
class NodeExit(Exception):
    def __init__(self, line: str, code: int = 1) -> None:
        super().__init__(line)
        self.code = code


def say(line: str) -> None:
    print("gpufleet: " + line, file=sys.stderr, flush=True)


def find_program(program: str, package: str) -> str:
    found = shutil.which(program) or shutil.which(program, path="/usr/sbin")
    if not found:
        raise NodeExit(f"the image has no {program}; install {package} in it", 127)
    return found


# Python ignores SIGPIPE, and what it starts would do so too.
def start_process(words: list[str]) -> int:
    return os.posix_spawnp(words[0], words, os.environ, setsigdef=[signal.SIGPIPE])


# The exit code of the process, None while it runs. As the first process this one has also to bury orphans.
def exit_code(process: int) -> int | None:
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == process:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if not ended:
            return None


def send_signal(process: int, sign: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, sign)
