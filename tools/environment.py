"""The checkout's virtual environment: made once, filled from the lock files, with uv where it works, else with pip."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tools.progress import Say

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
PIP = [str(PYTHON), "-m", "pip"]
LOCK = ROOT / "requirements.lock"
UV_LOCK = ROOT / "requirements-uv.lock"

# What the lock covers: everything that the rehearsal and the tests of this checkout need.
LOCKED_EXTRAS = ("aws", "azure", "kubernetes", "rehearsal")
LOCKED_GROUP = "dev"


class SetupFailed(Exception):
    """Set-up cannot go on; the text is what the user reads."""


def make_environment(say: Say) -> None:
    """Create .venv, unless its interpreter still runs."""
    if PYTHON.exists():
        return
    if VENV.is_symlink() or VENV.exists():
        say("environment: the interpreter of .venv is gone; making .venv anew")
        shutil.rmtree(VENV)
    say(f"environment: making .venv with Python {sys.version.split()[0]}")
    _run([sys.executable, "-m", "venv", str(VENV)], "making .venv", os.environ)


def install_lock(say: Say) -> None:
    """Install exactly what the lock names, hashes checked, and compile it: imports are four times slower otherwise."""
    stamp, wanted = VENV / ".gpufleet-lock", _digest(LOCK, UV_LOCK)
    if _read(stamp) == wanted:
        return
    stamp.unlink(missing_ok=True)
    env = installer_environment()
    if not (install_uv(say, env) and _install_with_uv(say, env)):
        say("packages: installing the lock with pip")
        _run([*PIP, "install", "--quiet", "--require-hashes", "-r", str(LOCK)], "installing the lock", env)
    say("packages: installed")
    stamp.write_text(wanted, encoding="utf-8")


def install_project(say: Say) -> None:
    """Install this checkout editable, without isolation: the build back end is in the lock."""
    stamp, wanted = VENV / ".gpufleet-project", f"{ROOT} {_digest(ROOT / 'pyproject.toml')}"
    if _read(stamp) == wanted:
        return
    command = [*PIP, "install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT)]
    _run(command, "installing gpufleet itself", installer_environment())
    say("project: installed editable, with the command .venv/bin/gpufleet")
    stamp.write_text(wanted, encoding="utf-8")


def compile_sources() -> None:
    """Compile our own modules where Python itself is told not to: each command would else do it anew."""
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        folders = [str(ROOT / folder) for folder in ("components", "rehearsal")]
        _run([str(PYTHON), "-m", "compileall", "-q", *folders], "compiling our modules", os.environ)


def _install_with_uv(say: Say, env: Mapping[str, str]) -> bool:
    say("packages: installing the lock with uv")
    command = [str(UV), "pip", "install", "--quiet", "--python", str(PYTHON), "--compile-bytecode"]
    try:
        _run([*command, "--require-hashes", "-r", str(LOCK)], "installing the lock", env)
    except SetupFailed as failure:
        # pip may reach the package index where uv does not: a keyring, a proxy, certificates of its own.
        say(f"packages: uv: {failure}")
        return False
    return True


def install_uv(say: Say, env: Mapping[str, str]) -> bool:
    """Have pip install the pinned uv into .venv. False where this machine cannot have it."""
    done = subprocess.run(
        [*PIP, "install", "--quiet", "--require-hashes", "--only-binary=:all:", "-r", str(UV_LOCK)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0 and subprocess.run([UV, "--version"], capture_output=True, check=False).returncode == 0:
        return True
    say(f"packages: no uv here ({_last_line(done.stderr)})")
    return False


def installer_environment() -> dict[str, str]:
    """The process's environment, with what pip is told about the package index told to uv as well.

    uv reads neither pip's variables nor its configuration files. Certificates: pip's bundle is handed on where the
    machine names no other. What the user has set for uv wins.
    """
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONDONTWRITEBYTECODE", "PYTHONHOME")}
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    listing = subprocess.run([*PIP, "config", "list"], env=env, capture_output=True, text=True, check=False).stdout
    # Lines such as global.index-url='...', install.find-links='...', :env:.cert='...'.
    settings = re.findall(r"^(global|install|:env:)\.([\w-]+)='(.*)'$", listing, re.MULTILINE)
    weakest_first = sorted(settings, key=lambda setting: ("global", "install", ":env:").index(setting[0]))
    pip = {key: value for _, key, value in weakest_first}
    find_links = [place for place in pip.get("find-links", "").split() if "://" in place or Path(place).is_dir()]
    handed_on = {
        "UV_DEFAULT_INDEX": pip.get("index-url"),
        "UV_INDEX": pip.get("extra-index-url"),
        "UV_FIND_LINKS": ",".join(find_links),
        "UV_INSECURE_HOST": pip.get("trusted-host"),
        "SSL_CERT_FILE": pip.get("cert"),
    }
    for name, value in handed_on.items():
        if value and name not in env:
            env[name] = value
    # The cache may lie on another file system than the checkout; uv warns about that otherwise.
    env.setdefault("UV_LINK_MODE", "hardlink" if _same_device(uv_cache(env), ROOT) else "copy")
    return env


def uv_cache(env: Mapping[str, str]) -> Path:
    """Where uv keeps its cache."""
    return Path(env.get("UV_CACHE_DIR") or Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache", "uv"))


def _same_device(cache: Path, checkout: Path) -> bool:
    there = next(place for place in (cache, *cache.parents) if place.exists())
    return there.stat().st_dev == checkout.stat().st_dev


def _run(command: list[str], doing: str, env: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupFailed(f"{doing} failed: {_last_line(done.stderr or done.stdout)}\n  command: {' '.join(command)}")


def _last_line(text: str) -> str:
    """The line of a tool's output that says most: its last error, else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it said nothing"])[-1]


def _digest(*files: Path) -> str:
    content = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(content + sys.version.encode()).hexdigest()


def _read(stamp: Path) -> str | None:
    return stamp.read_text(encoding="utf-8") if stamp.exists() else None
