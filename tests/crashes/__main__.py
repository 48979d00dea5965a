"""`make crashes`: kill an engine, a provider, a program, a command or all of them at one moment, and recover.

make crashes                        # 200 crashes, and a table of how each ended
make crashes ARGS="--seed 17"       # one of them again; what it ran in stays, with its log
"""

import argparse
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from multiprocessing.connection import wait
from pathlib import Path

# What each case needs is read once, and forked.
import gpufleet_rehearsal.inventory
import gpufleet_rehearsal.rehearse  # noqa: F401
from tests.crashes.case import ADOPTED, ALONE, FAILED, Case, Outcome, play
from tests.crashes.scene import DESTROY, KEEP, UP, prepare, scene

Job = Callable[[], object]


def in_parallel(jobs: Mapping[Path, Job], workers: int) -> Iterator[tuple[Path, float, object]]:
    """Run jobs, each in a process forked from this one whose output is in `log` of the job's folder.

    Yields folder, seconds and result as they end; the result of one that fails is its traceback, in a list. After
    Ctrl-C no other begins.
    """
    fork = multiprocessing.get_context("fork")
    waiting = list(jobs.items())
    signal.signal(signal.SIGINT, lambda *_: waiting.clear())
    running: dict[int, tuple[multiprocessing.process.BaseProcess, Path, float]] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            folder, job = waiting.pop(0)
            folder.mkdir(parents=True, exist_ok=True)
            process = fork.Process(target=_run, args=(folder, job))
            process.start()
            running[process.sentinel] = (process, folder, time.monotonic())
        for sentinel in wait(list(running)):
            process, folder, began = running.pop(int(sentinel))  # type: ignore[arg-type]
            process.join()
            yield folder, time.monotonic() - began, json.loads((folder / "result.json").read_text())


def _run(folder: Path, job: Job) -> None:
    os.setpgrp()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    log = os.open(folder / "log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        result = job()
    except BaseException:  # noqa: BLE001  (whatever it is, the other cases go on)
        result = [traceback.format_exc()]
    (folder / "result.json").write_text(json.dumps(result))


def prepared(folder: Path, cases: Sequence[Case], workers: int) -> None:
    """Play what the cases need, undisturbed. Errors: SystemExit when something of it fails."""
    wanted: dict[tuple[str, bool], set[str]] = {}
    for case in cases:
        needs = {case.operation} - {UP} if case.operation == KEEP else {case.operation, DESTROY} - {UP}
        wanted.setdefault((case.environment, case.operation != KEEP), set()).update(needs)
    jobs = {
        folder / f"{environment} {erase}": lambda e=environment, erase=erase, o=operations: prepare(
            folder / "scenes", e, erase=erase, operations=sorted(o)
        )
        for (environment, erase), operations in wanted.items()
    }
    for where, _, result in in_parallel(jobs, workers):
        if result is not None:
            sys.exit(f"{where}/log: {result}")


def run(case: Case, folder: Path, scenes: Path) -> dict[str, object]:
    """One case in its folder."""
    erase = case.operation != KEEP
    here = scene(scenes, case.environment, case.operation, erase=erase)
    end = scene(scenes, case.environment, DESTROY if erase else KEEP, erase=erase).result
    return asdict(play(case, here, end, folder))


def outcomes(cases: Sequence[Case], folder: Path, workers: int) -> Iterator[tuple[Case, float, Outcome]]:
    """Play cases in `folder`, in which what failed stays. Yields seconds and outcome of each as it ends."""
    prepared(folder, cases, workers)
    by_folder = {folder / f"seed-{case.seed}": case for case in cases}
    jobs = {where: lambda c=case, w=where: run(c, w, folder / "scenes") for where, case in by_folder.items()}
    for where, seconds, result in in_parallel(jobs, workers):
        outcome = Outcome(**result) if isinstance(result, dict) else Outcome(FAILED, "?", tuple(result))
        if outcome.how != FAILED and len(cases) > 1:
            shutil.rmtree(where)
        yield by_folder[where], seconds, outcome


def table(counts: Counter[tuple[str, str, str, str]]) -> list[str]:
    """Rows of Markdown: how many crashes of an operation by victim ended how."""
    lines = [f"| environment | operation | killed | crashes | {ALONE} | {ADOPTED} | {FAILED} |"]
    lines.append("|---|---|---|--:|--:|--:|--:|")
    for environment, operation, victim in sorted({key[:3] for key in counts}):
        row = [counts[environment, operation, victim, how] for how in (ALONE, ADOPTED, FAILED)]
        lines.append(f"| {environment} | {operation} | {victim} | {sum(row)} | {' | '.join(map(str, row))} |")
    whole = [sum(count for key, count in counts.items() if key[3] == how) for how in (ALONE, ADOPTED, FAILED)]
    return [*lines, f"| all | | | {sum(whole)} | {' | '.join(map(str, whole))} |"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make crashes", description="Crash environments, and recover them.")
    parser.add_argument("--count", type=int, default=200, help="how many seeds; default: 200")
    parser.add_argument("--first", type=int, default=1, help="the first of them; default: 1")
    parser.add_argument("--seed", type=int, action="append", help="this seed alone; may be repeated")
    parser.add_argument("--workers", type=int, default=2, help="cases at a time; default: 2")
    options = parser.parse_args()
    cases = [Case(seed) for seed in options.seed or range(options.first, options.first + options.count)]
    folder = Path(tempfile.mkdtemp(prefix="crashes-"))
    counts: Counter[tuple[str, str, str, str]] = Counter()
    began = time.monotonic()
    for case, seconds, outcome in outcomes(cases, folder, options.workers):
        counts[case.environment, case.operation, outcome.crash.partition(",")[0], outcome.how] += 1
        print(f"seed {case.seed}: {case.environment} {case.operation}: {outcome.crash}: {outcome.how}, {seconds:.0f} s")
        for line in outcome.wrong:
            print(f"    {line}")
        sys.stdout.flush()
    print("\n".join(table(counts)))
    print(f"{sum(counts.values())} crashes in {(time.monotonic() - began) / 60:.0f} minutes")
    failed = any(key[3] == FAILED for key in counts)
    if failed or options.seed:
        print(f"logs: {folder}/seed-*/log")
    else:
        shutil.rmtree(folder)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
