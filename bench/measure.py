"""Run the engine and measure it: wall clock, processor time, and the peak memory of each process (Linux only)."""

import os
import resource
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpufleet.pulumi_cli import PulumiCli, PulumiCliError

PROCESSES: Mapping[str, str] = {
    "pulumi": "engine",
    "pulumi-language-python-exec": "program",
    "pulumi-resource-aws": "plugin",
    "pulumi.policy": "pack",
}
"""What a process is, by the name of its program or script."""
LOOK_EVERY = 0.1
"""Seconds between two looks. The kernel keeps each process's peak and sum, so only its last moments may be missed."""


@dataclass(frozen=True)
class Run:
    """One command of the engine.

    seconds: wall clock; cpu: of all its processes, in seconds; peak: MiB by process; cpu_of: seconds by process.
    """

    seconds: float
    cpu: float
    peak: Mapping[str, float] = field(default_factory=dict)
    cpu_of: Mapping[str, float] = field(default_factory=dict)


def run(engine: PulumiCli, *arguments: str, may_fail: bool = False) -> Run:
    """Run a command of the engine and measure it.

    Errors: PulumiCliError with the end of its output when it fails, unless it may.
    """
    with tempfile.TemporaryFile("w+") as output:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        code = replace(engine, output=output).run(*arguments, "--non-interactive", "--suppress-progress")
        seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if code != 0 and not may_fail:
            output.seek(0)
            raise PulumiCliError(f"pulumi {arguments[0]} ended with {code}: {' '.join(output.read()[-600:].split())}")
    return Run(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def run_watched(engine: PulumiCli, *arguments: str, may_fail: bool = False) -> Run:
    """The same, with peak memory and processor time of each of its processes; without them where there is no /proc."""
    peak: dict[str, float] = {}
    cpu: dict[str, float] = {}
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(done, peak, cpu))
    watcher.start()
    try:
        return replace(run(engine, *arguments, may_fail=may_fail), peak=peak, cpu_of=cpu)
    finally:
        done.set()
        watcher.join()


def _watch(done: threading.Event, peak: dict[str, float], cpu: dict[str, float]) -> None:
    while not done.wait(LOOK_EVERY):
        for process in _descendants(os.getpid()):
            # A process may end while it is looked at.
            with suppress(OSError):
                name = _kind(Path(f"/proc/{process}/cmdline").read_bytes())
                if name is not None:
                    peak[name] = max(peak.get(name, 0.0), _peak_mib(Path(f"/proc/{process}/status").read_text()))
                    cpu[name] = max(cpu.get(name, 0.0), _cpu_seconds(Path(f"/proc/{process}/stat").read_text()))


def _descendants(process: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for tasks in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (tasks / "children").read_text().split()):
                found += [child, *_descendants(child)]
    return found


def _kind(command: bytes) -> str | None:
    """engine, program or plugin, by the first word of a command line that is one of theirs."""
    words = (Path(word.decode(errors="replace")).name for word in command.split(b"\0")[:4] if word)
    return next((PROCESSES[word] for word in words if word in PROCESSES), None)


def _peak_mib(status: str) -> float:
    line = next((line for line in status.splitlines() if line.startswith("VmHWM:")), "VmHWM: 0 kB")
    return int(line.split()[1]) / 1024


def _cpu_seconds(stat: str) -> float:
    """User and system time, the 14th and 15th field; the second, the program's name, may hold blanks."""
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine() -> str:
    """What the figures were measured on, in a few words."""
    try:
        release = subprocess.run(["uname", "-srm"], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        release = "unknown system"
    return f"{os.cpu_count()} processors, {release}"
