"""`make corpus`: every program of the corpus on the real engine, and a table of what happened.

python -m tests.corpus [--parallel N] [words in the names of programs]
"""

import sys
import tempfile
from argparse import ArgumentParser
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.corpus.engine_run import STEPS, Step, run_program
from tests.corpus.programs import Program, programs


def main() -> int:
    parser = ArgumentParser(prog="make corpus")
    parser.add_argument("words", nargs="*", help="only programs with one of these words in the name")
    parser.add_argument("--parallel", type=int, default=2, help="how many at once")
    given = parser.parse_args()
    chosen = [each for each in programs() if not given.words or any(word in each.name for word in given.words)]
    wide = max(len(each.name) for each in chosen) if chosen else 0
    print(f"{'program':{wide}}  resources  {'  '.join(f'{step:>9}' for step in STEPS)}  seconds  source", flush=True)
    failed: list[tuple[Program, dict[str, Step]]] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.parallel) as pool:
        runs = pool.map(lambda each: run_program(each, Path(folder) / each.name), chosen)
        for program, steps in zip(chosen, runs, strict=True):
            print(line(program, steps, wide), flush=True)
            if not all(step.ok for step in steps.values()):
                failed.append((program, steps))
    for program, steps in failed:
        name, step = list(steps.items())[-1]
        print(f"\n{program.name}: {name}\n{step.said}")
    print(f"\n{len(chosen) - len(failed)} of {len(chosen)} programs came up, changed and went")
    return 1 if failed or not chosen else 0


def line(program: Program, steps: dict[str, Step], wide: int) -> str:
    """A program's row."""
    words = [("ok" if steps[name].ok else "FAILED") if name in steps else "-" for name in STEPS]
    seconds = sum(step.seconds for step in steps.values())
    columns = "  ".join(f"{word:>9}" for word in words)
    return f"{program.name:{wide}}  {len(program.resources):9}  {columns}  {seconds:7.0f}  {program.source}"


if __name__ == "__main__":
    sys.exit(main())
