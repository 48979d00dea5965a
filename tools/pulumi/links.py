"""Put what Pulumi needs where it looks: the engine into .venv/bin, an environment into each of our plugins."""

import os
import shutil
import subprocess
from pathlib import Path

from tools.progress import Say

HOST = "pulumi-language-python"
CHECKOUT = "gpufleet-checkout.pth"
"""In a plugin's environment: the file that adds the packages of the checkout's own."""


def link_engine(engine: Path | None, bin_directory: Path, python: Path, say: Say) -> None:
    """Link every program of the directory `engine` into `bin_directory`, and our language host where it has none.

    The language host runs in `python`, whatever is on PATH.

    With None (the user's own Pulumi on PATH is used) what an earlier set-up linked is taken away again.

    The links are hard ones, or copies across file systems: the engine looks for language hosts beside its own
    executable *after* following symbolic links, and warns about one that it finds on PATH only.
    """
    ours = [bin_directory / name for name in ("pulumi", HOST, f"{HOST}-exec")]
    if engine is None:
        for program in ours:
            program.unlink(missing_ok=True)
        return
    programs = [program for program in engine.iterdir() if program.name.startswith("pulumi")]
    changed = [_link(program, bin_directory / program.name) for program in programs]
    if not (engine / HOST).exists():
        changed.append(_write_host(bin_directory, python))
    if any(changed):
        say(f"engine: {engine} linked as {bin_directory / 'pulumi'}")


def link_plugins(folder: Path, environment: Path, say: Say) -> None:
    """Give every plugin in `folder` an environment with the packages of the checkout's: its components are then ours.

    A directory and not a link to the checkout's environment, because `pulumi package add` runs `python -m venv` on it,
    which refuses a link, and then pip, which would change the checkout's packages. What a user made there stays.
    """
    (packages,) = environment.glob("lib/python3*/site-packages")
    line = f"import site; site.addsitedir({str(packages)!r})\n"
    for plugin in sorted(found.parent for found in folder.glob("*/PulumiPlugin.yaml")):
        own = plugin / "venv"
        if own.is_symlink():
            own.unlink()
        texts = [file.read_text(encoding="utf-8") for file in own.glob(f"lib/python3*/site-packages/{CHECKOUT}")]
        if (line in texts and (own / "bin" / "python").exists()) or (own.exists() and not texts):
            continue
        shutil.rmtree(own, ignore_errors=True)
        command = [str(environment / "bin" / "python"), "-m", "venv", "--without-pip", str(own)]
        subprocess.run(command, check=True, capture_output=True)
        (site,) = own.glob("lib/python3*/site-packages")
        (site / CHECKOUT).write_text(line, encoding="utf-8")
        say(f"plugin: {plugin.name} has the packages of {environment}")


def _link(source: Path, target: Path) -> bool:
    """Whether the target had to be changed."""
    if target.exists():
        here, there = target.stat(), source.stat()
        if target.samefile(source) or (here.st_size, here.st_mtime_ns) == (there.st_size, there.st_mtime_ns):
            return False
    fresh = target.with_name(f".{target.name}.new")
    fresh.unlink(missing_ok=True)
    try:
        os.link(source, fresh)
    except OSError:
        shutil.copy2(source, fresh)
    fresh.replace(target)
    return True


def _write_host(bin_directory: Path, python: Path) -> bool:
    """A start script for the language host of this checkout; whether it had to be changed."""
    host = Path(__file__).resolve().parent / "language_host" / HOST
    script = f'#!/bin/sh\nexec "{python}" "{host}" "$@"\n'
    target = bin_directory / HOST
    if target.exists() and target.read_bytes() == script.encode():
        return False
    fresh = target.with_name(f".{HOST}.new")
    fresh.write_text(script, encoding="utf-8")
    fresh.chmod(0o755)
    fresh.replace(target)
    return True
