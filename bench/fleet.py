"""What `gpufleet ps` takes on a file backend of many stacks: whole runs of the command, as a user waits for them."""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from gpufleet.pulumi_cli import PulumiCliError

MANY = 30
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
RUNS = 5


@dataclass(frozen=True)
class PsCost:
    """Median processor seconds of `gpufleet ps --json` on one stack and on MANY. resources: of each stack.

    Processor time, which other work on the machine does not stretch: it is one process that waits for nothing, so that
    on an idle machine it is the wall clock. wall: that of MANY, as it was.
    """

    resources: int
    one: float
    many: float
    wall: float

    @property
    def ratio(self) -> float:
        """How much longer MANY stacks take than one; MANY if each cost as much as the first."""
        return self.many / self.one


def ps_cost(state: Path, folder: Path) -> PsCost:
    """The cost on copies of a stack's state. folder: where the backends go. Errors: PulumiCliError: a wrong answer."""
    text = state.read_text()
    (one, _), (many, wall) = (_seconds(_backend(text, folder / f"stacks-{count}", count), count) for count in (1, MANY))
    return PsCost(len(_resources(text)), one, many, wall)


def _backend(text: str, folder: Path, count: int) -> Path:
    """A backend of copies under names of their own, of which every third is past its end."""
    stacks = folder / ".pulumi" / "stacks" / "gpufleet"
    stacks.mkdir(parents=True)
    (end,) = {each["inputs"]["tags"]["expires-at"] for each in _resources(text) if each["type"] == NODE_GROUP}
    for number in range(count):
        name = f"team-{number:02}"
        day = date.today() + timedelta(days=number if number % 3 else -1 - number)
        (stacks / f"{name}.json").write_text(text.replace("aws-dev", name).replace(end, day.isoformat()))
    return folder


def _resources(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["checkpoint"]["latest"]["resources"]
    return found


def _seconds(folder: Path, count: int) -> tuple[float, float]:
    """Medians of processor time and wall clock."""
    cpu, wall = [], []
    for _ in range(RUNS + 1):
        command = (str(Path(sys.executable).parent / "gpufleet"), "ps", "--json", "--backend", f"file://{folder}")
        before, began = _used(), time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=60, check=False)
        wall.append(time.perf_counter() - began)
        cpu.append(_used() - before)
        _check(done, count)
    # The first one does not count: it compiles.
    return statistics.median(cpu[1:]), statistics.median(wall[1:])


def _used() -> float:
    """Processor seconds of all commands that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _check(done: subprocess.CompletedProcess[str], count: int) -> None:
    """A quick answer counts only if it is right: all stacks, each with its GPUs and price, the expired ones first."""
    if done.returncode != 0:
        raise PulumiCliError(f"gpufleet ps ended with {done.returncode}: {done.stderr.strip()}")
    listed = json.loads(done.stdout)["environments"]
    expired = [each["expired"] for each in listed]
    priced = all(each["gpus"]["at_most"] and each["usd_per_hour"]["floor"]["usd"] > 0 for each in listed)
    if len(listed) != count or expired != sorted(expired, reverse=True) or not expired[0] or not priced:
        raise PulumiCliError("gpufleet ps did not list the bench's stacks as they are")
