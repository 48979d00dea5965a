"""Set this checkout up: .venv with the locked packages, gpufleet itself editable, a Pulumi engine, and a manifest.

Idempotent; when nothing has changed it only looks, in well under a second. It needs Python >= 3.11 and nothing else.
See tools/pulumi/obtain.py for where the engine comes from and GPUFLEET_PULUMI for choosing.
"""

import os
import sys

OLDEST_PYTHON = (3, 11)


def newer_python() -> "str | None":
    """The newest python3.x on PATH that will do, for a user whose `python3` is too old."""
    import shutil

    candidates = [shutil.which(f"python3.{minor}") for minor in range(20, OLDEST_PYTHON[1] - 1, -1)]
    return next((found for found in candidates if found), None)


def main() -> int:
    """Exit code 0 when the checkout is ready, 1 with one line on standard error when it cannot be."""
    from pathlib import Path

    from tools.environment import (
        PYTHON,
        ROOT,
        VENV,
        SetupFailed,
        compile_sources,
        install_lock,
        install_project,
        make_environment,
    )
    from tools.file_lock import turn
    from tools.manifests import keep_manifest
    from tools.parallel import run_in_parallel
    from tools.progress import teller
    from tools.pulumi.links import link_engine, link_plugins
    from tools.pulumi.obtain import EngineMissing, obtain

    say = teller()

    def make_engine() -> Path | None:
        return obtain(os.environ.get("GPUFLEET_PULUMI", "auto"), VENV / "bin", say)

    def install_packages() -> None:
        make_environment(say)
        install_lock(say)
        install_project(say)
        compile_sources()

    try:
        with turn(ROOT / "tools", "another set-up of this checkout is running; waiting for it", say):
            # The engine may have to be built, which takes minutes and needs none of the packages.
            engine, _ = run_in_parallel([make_engine, install_packages])
            link_engine(engine, VENV / "bin", PYTHON, say)
            link_plugins(ROOT / "components" / "packages", VENV, say)
            keep_manifest(say)
    except (SetupFailed, EngineMissing) as failure:
        print(f"setup: {failure}", file=sys.stderr)
        return 1
    except OSError as failure:
        print(f"setup: {failure.filename}: {failure.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; run it again to continue", file=sys.stderr)
        return 130
    say("ready")
    return 0


if sys.version_info < OLDEST_PYTHON:
    better = newer_python()
    if better is None:
        sys.exit(f"setup: Python {sys.version.split()[0]} is too old; install Python 3.11 or newer")
    os.execv(better, [better, "-m", "tools.setup", *sys.argv[1:]])

if __name__ == "__main__":
    sys.exit(main())
