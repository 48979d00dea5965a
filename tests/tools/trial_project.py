"""A Pulumi project for one test, run by the engine that set-up got."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.pulumi.links import HOST, link_engine

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / ".venv" / "bin"


@dataclass(frozen=True)
class Project:
    """A Pulumi project with one stack on a file backend, run by the engine that set-up got."""

    directory: Path
    env: dict[str, str]

    def command(self, *arguments: str) -> list[str]:
        return [self.env["PULUMI"], *arguments, "--non-interactive"]

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run one command; its two streams come back as one text, as a user sees them."""
        return subprocess.run(
            self.command(*arguments),
            cwd=self.directory,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )

    def write(self, program: str, options: Sequence[str] = ()) -> None:
        """Replace the program, and the runtime's options (lines such as `virtualenv: venv`)."""
        lines = ["name: trial", "runtime:", "  name: python", *(["  options:"] if options else [])]
        lines += [f"    {option}" for option in options]
        (self.directory / "Pulumi.yaml").write_text("\n".join(lines) + "\n")
        (self.directory / "__main__.py").write_text(program)


def engine_with_our_host(directory: Path) -> Path:
    """The `pulumi` that set-up got; one from PATH is linked beside our language host, in `directory`."""
    built = BIN / "pulumi"
    if built.exists():
        return built
    found = shutil.which("pulumi")
    assert found, "no engine: run `make setup`"
    release = directory / "release"
    release.mkdir()
    for name in ("pulumi", f"{HOST}-exec"):
        shutil.copy2(Path(found).resolve().with_name(name), release / name)
    link_engine(release, directory, BIN / "python", lambda line: None)
    return directory / "pulumi"


def clean_environment(pulumi: Path, home: Path) -> dict[str, str]:
    """The environment of a user who has not activated .venv, with Pulumi's own files under `home`."""
    # Without the language host that comes with an engine on PATH: it would be preferred to ours.
    path = [folder for folder in os.get_exec_path() if not Path(folder, HOST).exists()]
    if pulumi.parent != BIN:
        path.append(str(pulumi.parent))
    own = {
        "PATH": os.pathsep.join(path),
        "PULUMI": str(pulumi),
        "PULUMI_HOME": str(home / "pulumi"),
        "PULUMI_BACKEND_URL": f"file://{home / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": "trial",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PULUMI_", "VIRTUAL_ENV", "PYTHON"))}
    return inherited | own
