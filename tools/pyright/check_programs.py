"""Check with pyright that the arguments of our components have types: in our programs, and in another team's.

tests/typing/faulty_program.py has mistakes, and pyright has to name the argument of each. Its version is pinned in
package-lock.json; npm installs it once, 38 MB in the user's cache. --optional: a machine without Node.js, or without a
registry of npm, is told so, and nothing is checked.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.npm import NpmFailed, node_modules
from tools.progress import Say, teller

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = (*sorted((ROOT / "stacks").glob("*.py")), ROOT / "examples" / "python-import" / "__main__.py")
THEIRS = ROOT / "tests" / "typing" / "faulty_program.py"


class Said(NamedTuple):
    """An error of a type checker."""

    file: Path
    line: int
    message: str


def mistakes(program: Path) -> Mapping[int, str]:
    """Line -> argument, of the mistakes in a program: what stands behind them as `# wrong: argument`."""
    lines = program.read_text(encoding="utf-8").splitlines()
    found = {number: re.search(r"# wrong: (\w+)$", line) for number, line in enumerate(lines, start=1)}
    return {number: match[1] for number, match in found.items() if match}


def faults(said: Sequence[Said], program: Path) -> Iterator[str]:
    """What is wrong with the errors of a type checker: each names a mistake of `program`, and each mistake is named."""
    wanted = mistakes(program)
    named = {each for each in said if each.file == program and f'"{wanted.get(each.line)}"' in each.message}
    yield from (f"{each.file}:{each.line}: {each.message}" for each in said if each not in named)
    yield from (
        f"{program}:{line}: {argument}: no error names it"
        for line, argument in wanted.items()
        if line not in {each.line for each in named}
    )


def pyright(programs: Sequence[Path], say: Say) -> list[Said]:
    """The errors of programs, which run with this Python. Errors: NpmFailed."""
    program = node_modules(Path(__file__).parent, "pyright", 18, say) / "pyright" / "index.js"
    command = ["node", str(program), "--pythonpath", sys.executable, "--outputjson", *map(str, programs)]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as error:
        raise NpmFailed(f"pyright: {error}") from None
    try:
        read = json.loads(done.stdout)
    except ValueError:
        raise NpmFailed(f"pyright: {(done.stderr or done.stdout).strip()}") from None
    assert read["summary"]["filesAnalyzed"] == len(programs), done.stdout
    return [
        Said(Path(each["file"]), each["range"]["start"]["line"] + 1, each["message"].replace("\n", " "))
        for each in read["generalDiagnostics"]
        if each["severity"] == "error"
    ]


def main(*, optional: bool) -> int:
    """Exit code 1 if a program has an error, or a mistake of the other team's program is none."""
    try:
        said = pyright([*PROGRAMS, THEIRS], teller())
    except NpmFailed as error:
        print(f"{error}{'; mypy alone has checked' * optional}", file=sys.stderr)
        return 0 if optional else 1
    lines = list(faults(said, THEIRS))
    print(*lines, sep="\n", end="\n" * bool(lines))
    print(f"pyright: {len(PROGRAMS)} programs, {len(mistakes(THEIRS))} planted mistakes: {len(lines)} faults")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(optional="--optional" in sys.argv[1:]))
