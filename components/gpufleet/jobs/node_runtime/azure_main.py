# The first process on Azure Batch: python3 -I -c TEXT; TEXT ends with a call of main with the plan of entrypoint.py.
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

from gpufleet.jobs.node_runtime.azure_context import batch_number, variable
from gpufleet.jobs.node_runtime.log_copies import follow_log
from gpufleet.jobs.node_runtime.main_node import run_main_node
from gpufleet.jobs.node_runtime.process import HERE, NodeExit, find_program, say
from gpufleet.jobs.node_runtime.process_tree import kill_tree
from gpufleet.jobs.node_runtime.termination import signals_received
from gpufleet.jobs.node_runtime.worker_node import run_worker_node

# A file that is locked as long as its node follows a task, with the process that does so.
LOCK = f"/dev/shm/gpufleet-{os.getuid()}.lock"


def main(given: str) -> int:
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda number, frame: signals_received.append(number))
    plan = json.loads(given)
    return run_role(coordinate if plan["role"] == "coordinate" else apply, plan)


def run_role(part: Any, plan: dict[str, Any]) -> int:  # noqa: ANN401
    try:
        return int(part(plan))
    except NodeExit as end:
        say(str(end))
        return end.code
    except (OSError, ValueError) as error:
        say(f"{type(error).__name__}: {error}")
        return 1


# The coordination command, on every node. It has to return, so that of all but the main node a process stays behind.
def coordinate(plan: dict[str, Any]) -> int:
    is_main = batch_number("NODE_INDEX") == batch_number("MAIN_NODE_INDEX")
    for program, package in plan["programs"][is_main]:
        find_program(program, package)
    if is_main:
        return 0
    lock = acquire_lock()
    command = prepare(plan) if "command" in plan else []
    if os.fork():
        return 0
    # From here on it belongs to no command, and no command's output waits for its end.
    os.setsid()
    log = os.open(f"{variable('TASK_WORKING_DIR') or '/tmp'}/node.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    code = run_role(lambda told: run_worker_node(told, command), plan)
    remove_keys()
    os._exit(code)


# The lock; who stayed behind from an earlier try of the task, and still waits for its main node, is ended.
def acquire_lock() -> int:
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    for attempt in range(100):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        earlier = os.pread(lock, 20, 0)
        if earlier.isdigit():
            with contextlib.suppress(ProcessLookupError):
                if attempt:
                    kill_tree(int(earlier))
                os.killpg(int(earlier), signal.SIGKILL if attempt else signal.SIGTERM)
        time.sleep(0.1)
    raise NodeExit("an earlier task's process does not end on this node; reboot the node")


# The words of the user's command, as they are on this node, and what they need there.
def prepare(plan: dict[str, Any]) -> list[str]:
    for name, folder in plan["folders"].items():
        os.environ[name] = expand(folder)
        Path(os.environ[name]).mkdir(parents=True, exist_ok=True)
    command = [expand(word) for word in plan["command"]]
    if plan["directory"]:
        os.chdir(expand(plan["directory"]))
    return command


# The application command, on the main node alone.
def apply(plan: dict[str, Any]) -> int:
    command = prepare(plan)
    if batch_number("NUM_NODES") < 2 and plan["slots"] == 1:
        plan["mpirun"] = []
    for folder, seconds in plan["logs"]:
        threading.Thread(target=follow_log, args=(expand(folder), seconds), daemon=True).start()
    try:
        return run_main_node(plan, command)
    finally:
        remove_keys()


# Without a shell nothing else would: the paths of mounts and of the task's folders are known on the node only.
def expand(word: str) -> str:
    def value(found: re.Match[str]) -> str:
        if found[2] not in os.environ:
            raise NodeExit(f"{word}: Azure Batch sets no {found[2]} here; see its list of variables")
        return os.environ[found[2]]

    return re.sub(r"\$(\{)?((?:AZ_BATCH|GPUFLEET)_\w+)(?(1)\})", value, word)


# Nodes serve one task after the other, under the same user.
def remove_keys() -> None:
    shutil.rmtree(HERE, ignore_errors=True)
