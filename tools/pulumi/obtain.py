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
import urllib.request
from functools import partial
from pathlib import Path

from tools.cache_entry import cache_directory, make_once
from tools.go_build import BuildFailed, build, go_program, go_version, required, source
from tools.progress import Say

ENGINE_MODULE = Path(__file__).with_name("engine")
INSTALLER = "https://get.pulumi.com"
INSTALLER_TIMEOUT_SECONDS = 10
EXECUTOR = "pulumi-language-python-exec"
WAYS = ("path", "installer", "build")
WAITING = "engine: another set-up is at it; waiting for it"


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
            filling = partial(make, version=version, say=say)
            return make_once(cache(version) / kind, "pulumi", filling, WAITING, say)
        except _Unavailable as reason:
            reasons.append(str(reason))
    raise EngineMissing(
        f"no Pulumi engine: {'; '.join(reasons)}. Install Pulumi >= {version} (https://www.pulumi.com/docs/install/)"
        f" or Go >= {go_version(ENGINE_MODULE)} (https://go.dev/dl/), then run `make setup` again"
    )


def wanted_version() -> str:
    """The engine's version, for instance 3.253.0, from the one place that pins it."""
    try:
        return required(ENGINE_MODULE, r"github\.com/pulumi/pulumi/pkg/v3 v([\d.]+)")
    except BuildFailed as problem:
        raise EngineMissing(str(problem)) from None


def cache(version: str) -> Path:
    return cache_directory("pulumi", f"v{version}")


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
    try:
        go_program()
        say(f"engine: building Pulumi {version} from its Go module; 3 to 6 minutes, once on this machine")
        build(
            ENGINE_MODULE,
            "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
            target / "pulumi",
            say,
            doing="engine: building",
            tags=("osusergo", "grpcnotrace"),
            variables=(f"github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v{version}",),
        )
        script = source(ENGINE_MODULE, "github.com/pulumi/pulumi/sdk/v3") / "python" / "cmd" / EXECUTOR
    except BuildFailed as problem:
        raise _Unavailable(str(problem)) from None
    if not script.exists():
        raise _Unavailable(f"it cannot be built: {EXECUTOR} is not in Pulumi's SDK module")
    (target / EXECUTOR).write_bytes(script.read_bytes())
    (target / EXECUTOR).chmod(0o755)
