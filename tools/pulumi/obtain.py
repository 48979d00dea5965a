"""Get a Pulumi engine: from PATH, from the cache, with Pulumi's own installer, or built from its Go module.

`obtain` returns the directory that holds `pulumi`, or None where the one on PATH is good. GPUFLEET_PULUMI lists the
ways that are allowed, by comma: `path` (on PATH, or in the cache whoever put it there), `installer`, `build`. `auto`,
the default, is all three, in this order.

The cache, `$XDG_CACHE_HOME/gpufleet/pulumi/v<version>/{built,installed}`, is shared by all checkouts of a user. An
entry appears by one rename, so it is whole or not there; a file lock keeps two set-ups from making one twice.
"""

import os
import re
import shutil
import subprocess
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

from progress import Say, run_quietly
from turns import turn

ENGINE_MODULE = Path(__file__).with_name("engine")
INSTALLER = "https://get.pulumi.com"
INSTALLER_TIMEOUT_SECONDS = 10
EXECUTOR = "pulumi-language-python-exec"
WAYS = ("path", "installer", "build")


class EngineMissing(Exception):
    """No engine can be had; the text says why, way by way, and what to install."""


class _Unavailable(Exception):
    """One way does not work here, and why."""


def obtain(allowed: str, ours: Path, say: Say) -> Path | None:
    """Find or make an engine of at least the version that tools/pulumi/engine/go.mod names.

    allowed: the value of GPUFLEET_PULUMI. ours: the virtual environment's bin directory, whose `pulumi` is our own copy
    and does not count as one from PATH. Raises EngineMissing.
    """
    ways = WAYS if allowed == "auto" else tuple(allowed.split(","))
    if unknown := sorted(set(ways) - set(WAYS)):
        legal = ", ".join(("auto", *WAYS))
        raise EngineMissing(f"GPUFLEET_PULUMI={allowed}: no way called {', '.join(unknown)}; legal: {legal}")
    version = wanted_version()
    reasons: list[str] = []
    if "path" in ways:
        try:
            _check_path(version, ours, say)
            return None
        except _Unavailable as reason:
            reasons.append(str(reason))
    makers = {"installer": ("installed", _install), "build": ("built", _build)}
    for way, (kind, _) in makers.items():
        entry = cache(version) / kind
        if (way in ways or "path" in ways) and (entry / "pulumi").exists():
            return entry
    for way in ways:
        if way == "path":
            continue
        kind, make = makers[way]
        try:
            return _make_once(cache(version) / kind, make, version, say)
        except _Unavailable as reason:
            reasons.append(str(reason))
    raise EngineMissing(
        f"no Pulumi engine: {'; '.join(reasons)}. Install Pulumi >= {version} (https://www.pulumi.com/docs/install/)"
        f" or Go >= {go_version()} (https://go.dev/dl/), then run `make setup` again"
    )


def wanted_version() -> str:
    """The engine's version, for instance 3.253.0, from the one place that pins it."""
    return _from_go_mod(r"github\.com/pulumi/pulumi/pkg/v3 v([\d.]+)")


def go_version() -> str:
    """The Go release that the engine's module asks for."""
    return _from_go_mod(r"^go ([\d.]+)")


def _from_go_mod(pattern: str) -> str:
    found = re.search(pattern, (ENGINE_MODULE / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise EngineMissing(f"{ENGINE_MODULE / 'go.mod'}: no line matches {pattern}; take the file from git again")
    return found.group(1)


def cache(version: str) -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "gpufleet", "pulumi", f"v{version}")


def _check_path(version: str, ours: Path, say: Say) -> None:
    """Pass where the user's own pulumi, with its Python language host, is on PATH and new enough."""
    path = os.pathsep.join(folder for folder in os.get_exec_path() if Path(folder).resolve() != ours.resolve())
    found = shutil.which("pulumi", path=path)
    if found is None:
        raise _Unavailable("no `pulumi` on PATH")
    env = {**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    answer = subprocess.run([found, "version"], env=env, capture_output=True, text=True, check=False).stdout.strip()
    numbers = re.match(r"v?(\d+)\.(\d+)\.(\d+)", answer)
    if numbers is None:
        raise _Unavailable(f"{found} does not tell its version")
    if tuple(map(int, numbers.groups())) < tuple(map(int, version.split("."))):
        raise _Unavailable(f"{found} is {answer}, older than {version}")
    beside = Path(found).resolve().with_name("pulumi-language-python")
    if not beside.exists() and shutil.which("pulumi-language-python", path=path) is None:
        raise _Unavailable(f"{found} has no pulumi-language-python beside it")
    say(f"engine: {found} {answer} from PATH")


def _make_once(target: Path, make: Callable[[Path, str, Say], None], version: str, say: Say) -> Path:
    """Fill `target` by `make`, in a directory beside it that is renamed at the end; wait if another set-up is at it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with turn(target.parent, "engine: another set-up is at it; waiting for it", say):
        if not (target / "pulumi").exists():
            for stale in target.parent.glob(f".{target.name}-*"):
                shutil.rmtree(stale)
            workplace = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
            try:
                make(workplace, version, say)
                workplace.chmod(0o755)
                workplace.rename(target)
            finally:
                shutil.rmtree(workplace, ignore_errors=True)
    return target


def _install(target: Path, version: str, say: Say) -> None:
    """Pulumi's own installer, told to touch nothing outside of `target`."""
    try:
        with urllib.request.urlopen(INSTALLER, timeout=INSTALLER_TIMEOUT_SECONDS) as answer:
            script = answer.read()
    except OSError as error:
        raise _Unavailable(f"Pulumi's installer cannot be fetched ({getattr(error, 'reason', error)})") from None
    say(f"engine: installing Pulumi {version} with Pulumi's own installer")
    root = target / "root"
    command = ["sh", "-s", "--", "--version", version, "--install-root", str(root), "--no-edit-path"]
    done = subprocess.run(command, input=script, capture_output=True, check=False)
    if done.returncode or not (root / "bin" / "pulumi").exists():
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise _Unavailable(f"Pulumi's installer failed ({last[0]})")
    for program in (root / "bin").iterdir():
        program.rename(target / program.name)
    shutil.rmtree(root)


def _build(target: Path, version: str, say: Say) -> None:
    """Build the engine from its Go module, and take the script that runs Python programs from the SDK's module."""
    go = shutil.which("go")
    if go is None:
        raise _Unavailable("it cannot be built: no `go` on PATH")
    say(f"engine: building Pulumi {version} from its Go module; 3 to 6 minutes, once on this machine")
    env = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    flag = f"-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}"
    command = [go, "build", "-v", "-mod=readonly", "-trimpath", "-tags=osusergo,grpcnotrace", f"-ldflags=-s -w {flag}"]
    command += ["-o", str(target / "pulumi"), "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"]
    status, last = run_quietly(command, "engine: building", "packages", say, cwd=ENGINE_MODULE, env=env)
    if status:
        raise _Unavailable(f"it cannot be built: `go build` said: {last}")
    where = [go, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", "github.com/pulumi/pulumi/sdk/v3"]
    sdk = subprocess.run(where, cwd=ENGINE_MODULE, env=env, capture_output=True, text=True, check=False).stdout.strip()
    script = Path(sdk, "python", "cmd", EXECUTOR)
    if not sdk or not script.exists():
        raise _Unavailable(f"it cannot be built: {EXECUTOR} is not in Pulumi's SDK module")
    (target / EXECUTOR).write_bytes(script.read_bytes())
    (target / EXECUTOR).chmod(0o755)
