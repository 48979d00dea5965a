"""Write the SDKs of our packages in Python, TypeScript and Go into build/sdks/<package>/{python,nodejs,go}.

From the committed schemas, with the engine's own code generators (tools/pulumi/codegen). Where Pulumi's language hosts
are installed, `pulumi package add components/packages/<package>` does the same, and links the SDK to a project.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from tools.cache_entry import cache_directory, make_once
from tools.go_build import BuildFailed, build
from tools.npm import node_modules
from tools.progress import Say, teller

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "components" / "packages"
BUILD = ROOT / "build" / "sdks"
_GENERATOR = ROOT / "tools" / "pulumi" / "codegen"
_TYPESCRIPT = ROOT / "tools" / "typescript"


class NoSdks(Exception):
    """They cannot be made here; the text is one line."""


def packages() -> list[str]:
    """The names of all packages, for instance gpufleet-aws."""
    return sorted(found.parent.name for found in PACKAGES.glob("*/schema.json"))


def generate(say: Say) -> None:
    """Write all SDKs anew. Errors: NoSdks."""
    program = _generator(say)
    shutil.rmtree(BUILD, ignore_errors=True)
    for package in packages():
        command = [str(program), str(PACKAGES / package / "schema.json"), str(BUILD / package)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NoSdks(f"{package}: {done.stderr.strip()}")
        say(f"sdks: {BUILD.relative_to(ROOT) / package}")


def typescript(say: Say) -> Path:
    """A `node_modules` with TypeScript and Pulumi's SDK, in the cache, as its lock file says. Errors: NpmFailed."""
    return node_modules(_TYPESCRIPT, "typescript", 20, say)


def _generator(say: Say) -> Path:
    """The program that writes SDKs, built once for all checkouts. Errors: NoSdks."""
    sources = [_GENERATOR / name for name in ("go.mod", "go.sum", "main.go")]

    def fill(target: Path) -> None:
        say("sdks: building the generator; 1 to 5 minutes, once on this machine")
        build(_GENERATOR, ".", target / "codegen", say, doing="sdks: building")

    try:
        entry = make_once(
            cache_directory("codegen", _digest(*sources)), "codegen", fill, "sdks: another process builds it", say
        )
    except BuildFailed as problem:
        raise NoSdks(f"sdks: {problem}") from None
    return entry / "codegen"


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


if __name__ == "__main__":
    try:
        generate(teller())
    except NoSdks as error:
        sys.exit(str(error))
