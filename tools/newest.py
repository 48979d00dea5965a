"""Rehearse an example from our wheel in new environments, with the oldest Pulumi SDK that it allows and the newest.

Arguments: interpreters, for instance python3.13; default: the one of .venv. The newest SDK is that of your package
index. The engine is the one of .venv.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.environment import PYTHON, ROOT, UV, VENV, installer_environment
from tools.progress import teller

EXAMPLE = ROOT / "examples" / "python-import"


class TrialFailed(Exception):
    """A command that must end well did not; the text is what it said."""


def oldest() -> str:
    """The lower end of the range of pulumi in pyproject.toml, as a requirement: pulumi==3.231.*."""
    (version,) = re.findall(r'^  "pulumi>=(\d+\.\d+),<4",$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    return f"pulumi=={version}.*"


def trial(folder: Path, wheel: Path, python: str, requirement: str) -> str:
    """Make an environment, and rehearse the example in it. What it ran on, for instance 3.13.0, pulumi 3.272.0."""
    environment, project = folder / "venv", folder / "project"
    env = installer_environment()
    _run([str(UV), "venv", "--quiet", "--python", python, str(environment)], folder, env)
    install = [str(UV), "pip", "install", "--quiet", "--python", str(environment / "bin" / "python")]
    _run([*install, f"gpufleet[aws,rehearsal] @ {wheel.as_uri()}", requirement], folder, env)
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("venv", ".rehearsal"))
    (project / "venv").symlink_to(environment)
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    env["PATH"] = os.pathsep.join([str(environment / "bin"), str(VENV / "bin"), env["PATH"]])
    rehearse = [str(environment / "bin" / "gpufleet"), "rehearse", "dev", "--latency-scale", "0", "--no-control-plane"]
    _run(rehearse, project, env)
    _run([*rehearse, "--destroy"], project, env)
    asked = (
        "import platform, importlib.metadata as m; print(platform.python_version() + ', pulumi', m.version('pulumi'))"
    )
    return _run([str(environment / "bin" / "python"), "-c", asked], folder, env).strip()


def _run(command: list[str], folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TrialFailed(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> int:
    say = teller()
    with tempfile.TemporaryDirectory() as place:
        _run([str(PYTHON), "-m", "hatchling", "build", "-t", "wheel", "-d", place], ROOT, dict(os.environ))
        (wheel,) = Path(place).glob("*.whl")
        for number, python in enumerate(sys.argv[1:] or [str(PYTHON)]):
            for name, requirement in (("oldest", oldest()), ("newest", "pulumi<4")):
                folder = Path(place) / f"{name}-{number}"
                folder.mkdir()
                say(f"{name}: up and destroy on Python {trial(folder, wheel, python, requirement)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except TrialFailed as failure:
        sys.exit(f"newest: {failure}")
