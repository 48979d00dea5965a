"""Build the programs of a Kubernetes control plane from their Go modules, once, into the user's cache.

`python -m tools.kubernetes.build` builds what is missing and says where it lies. Interrupted, it goes on with the
program that was not ready, from what Go has compiled of it. It needs Go and Python's standard library.
"""

import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

from tools.cache_entry import make_once
from tools.go_build import BuildFailed, build, go_program, go_version, source
from tools.kubernetes.programs import Program, ProgramMissing, programs
from tools.progress import Say, teller


def build_all(say: Say) -> dict[str, Program]:
    """Build every program that the cache lacks. Raises ProgramMissing."""
    table = programs()
    missing = [program for program in table.values() if not program.built]
    for number, program in enumerate(missing, 1):
        say(f"kubernetes: building {program.name} {program.version}, {number} of {len(missing)}")
        waiting = f"kubernetes: another set-up is building {program.name}; waiting for it"
        try:
            go_program()
            make_once(program.directory, program.name, partial(_make, program, say), waiting, say)
        except BuildFailed as problem:
            raise ProgramMissing(
                f"{program.name} {program.version}: {problem}. Install Go >= {go_version(program.module)}"
                " (https://go.dev/dl/) and see that it reaches a module proxy, then run `make kubernetes` again"
            ) from None
    return table


def _make(program: Program, say: Say, target: Path) -> None:
    """Build into the directory `target`."""
    where = source(program.module, program.pinned)
    with tempfile.TemporaryDirectory(prefix="gpufleet-source-") as changed:
        build(
            program.module,
            program.package,
            target / program.name,
            say,
            doing=f"kubernetes: building {program.name}",
            tags=program.tags,
            variables=program.variables,
            go_mod=_changed(program, where, Path(changed)) if program.changes else None,
        )
    for name in program.files:
        (target / Path(name).name).write_bytes((where / name).read_bytes())


def _changed(program: Program, published: Path, folder: Path) -> Path:
    """Copy a module's source into `folder` and change it there; returns a go.mod that reads it from there."""
    copy = folder / "source"
    # Go's module cache is read-only, and so would be a copy with its modes.
    shutil.copytree(published, copy, copy_function=shutil.copyfile)
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for change in program.changes:
        file = copy / change.file
        text = file.read_text(encoding="utf-8")
        if text.count(change.before) != 1:
            raise BuildFailed(
                f"it cannot be built: {change.file} has not exactly one place {change.before.strip()!r};"
                " move programs.toml along"
            )
        file.write_text(text.replace(change.before, change.after), encoding="utf-8")
    for name in ("go.mod", "go.sum"):
        shutil.copyfile(program.module / name, folder / name)
    with (folder / "go.mod").open("a", encoding="utf-8") as go_mod:
        go_mod.write(f"\nreplace {program.pinned} => {copy}\n")
    return folder / "go.mod"


def main() -> int:
    """Exit code 0 when all are there, 1 with one line on standard error when one cannot be."""
    say = teller()
    try:
        table = build_all(say)
    except ProgramMissing as problem:
        print(f"kubernetes: {problem}", file=sys.stderr)
        return 1
    except OSError as failure:
        print(f"kubernetes: {failure.filename}: {failure.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("kubernetes: interrupted; run it again to continue", file=sys.stderr)
        return 130
    megabytes = sum(file.stat().st_size for program in table.values() for file in program.directory.iterdir()) / 1e6
    say(f"kubernetes: {len(table)} programs, {megabytes:.0f} MB, under {next(iter(table.values())).directory.parent}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
