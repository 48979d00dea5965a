"""A program of ours as a container's command: python3 with the text of some modules, small enough for Batch."""

import base64
import zlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files


@cache
def program(package: str, modules: Sequence[str]) -> str:
    """Modules of a package, in the order in which they build on each other, as one text.

    Imports once and those of gpufleet left out, without comments, a space for each level.
    """
    imports: dict[str, None] = {}
    lines = []
    for module in modules:
        for line in files(package).joinpath(f"{module}.py").read_text(encoding="utf-8").splitlines():
            words = line.strip()
            if line.startswith(("import ", "from ")):
                if not line.startswith("from gpufleet."):
                    imports[line] = None
            elif words and not words.startswith("#"):
                lines.append(" " * ((len(line) - len(words)) // 4) + words)
    return "\n".join([*imports, *lines])


def sent(text: str, command: Sequence[str]) -> list[str]:
    """The command that runs a text with a command's words as arguments: of characters that neither JSON nor Batch
    (``Ref::``) give a meaning."""
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    unpack = f"import base64,zlib;exec(zlib.decompress(base64.b64decode('{packed}')))"
    return ["python3", "-I", "-c", unpack, *command]
