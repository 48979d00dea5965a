"""The programs of the control plane: what programs.toml says of them, and where in the user's cache they lie."""

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tools.cache_entry import cache_directory
from tools.go_build import required

HERE = Path(__file__).resolve().parent
TABLE = HERE / "programs.toml"


class ProgramMissing(Exception):
    """A program is not there, or cannot be built; the text says which, why and what to do."""


@dataclass(frozen=True)
class Change:
    """One place of a module's source that is compiled otherwise than it was published."""

    file: str
    before: str
    after: str


@dataclass(frozen=True)
class Program:
    """One row of programs.toml."""

    name: str
    module: Path
    """The directory whose go.mod and go.sum pin it."""
    pinned: str
    """The Go module whose version is the program's."""
    package: str
    tags: tuple[str, ...]
    variables: tuple[str, ...]
    """What the linker sets, as `import/path.Name=value`."""
    files: tuple[str, ...]
    """Files of the module that are kept beside the program."""
    changes: tuple[Change, ...]

    @property
    def version(self) -> str:
        """For instance 1.34.4."""
        return required(self.module, rf"^(?:require)?\s*{self.pinned} v(\S+)")

    @property
    def directory(self) -> Path:
        """Its entry in the cache, `kubernetes/<program>-v<version>-<digest>`: other pins or flags, another entry."""
        pins = [(self.module / name).read_text(encoding="utf-8") for name in ("go.mod", "go.sum")]
        recipe = repr((pins, self.tags, self.variables, self.files, self.changes))
        digest = hashlib.sha256(recipe.encode()).hexdigest()[:8]
        return cache_directory("kubernetes", f"{self.name}-v{self.version}-{digest}")

    @property
    def executable(self) -> Path:
        """The program itself. Raises ProgramMissing where it was not built."""
        return self.file(self.name)

    @property
    def built(self) -> bool:
        return (self.directory / self.name).exists()

    def file(self, name: str) -> Path:
        """A kept file, by the last part of its path. Raises ProgramMissing where the program was not built."""
        path = self.directory / name
        if not path.exists():
            raise ProgramMissing(f"{path}: not there; run `make kubernetes`, which builds it")
        return path


@cache
def programs() -> dict[str, Program]:
    """The programs by name, in the order in which they are built."""
    return {name: _program(name, row) for name, row in tomllib.loads(TABLE.read_text(encoding="utf-8")).items()}


def _program(name: str, row: dict[str, Any]) -> Program:
    module, pinned = HERE / row["module"], row["pinned"]
    version = required(module, rf"^(?:require)?\s*{pinned} v(\S+)")
    return Program(
        name=name,
        module=module,
        pinned=pinned,
        package=row["package"],
        tags=tuple(row.get("tags", ())),
        variables=tuple(text.replace("{version}", version) for text in row.get("variables", ())),
        files=tuple(row.get("files", ())),
        changes=tuple(Change(each["file"], each["from"], each["to"]) for each in row.get("changes", ())),
    )
