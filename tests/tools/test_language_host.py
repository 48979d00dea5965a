"""The engine that set-up got, with the Python language host, end to end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.trial_project import ROOT, Project

PATIENCE_SECONDS = 120


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"after {PATIENCE_SECONDS} s still not so: {what}"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be collected does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_up_runs_the_program_with_its_configuration(project: Project) -> None:
    project.write(
        "import os, sys, pulumi\n"
        "config = pulumi.Config()\n"
        "print('said by the program')\n"
        "pulumi.export('size', config.require_int('size') + 1)\n"
        "pulumi.export('prefix', sys.prefix)\n"
        "pulumi.export('venv', os.environ['VIRTUAL_ENV'])\n"
        "pulumi.export('secret', config.require_secret('token'))\n"
    )
    assert project.pulumi("config", "set", "size", "2").returncode == 0
    assert project.pulumi("config", "set", "--secret", "token", "hidden").returncode == 0
    up = project.pulumi("up", "--yes", "--skip-preview")
    assert up.returncode == 0, up.stdout
    assert "said by the program" in up.stdout
    assert "warning" not in up.stdout
    outputs = json.loads(project.pulumi("stack", "output", "--json").stdout)
    venv = str(ROOT / ".venv")
    assert outputs == {"size": 3, "prefix": venv, "venv": venv, "secret": "[secret]"}


@pytest.mark.parametrize(
    ("program", "shown", "traceback"),
    [
        ("raise ValueError('disk of -1 GiB')", "ValueError: disk of -1 GiB", True),
        ("import pulumi\nraise pulumi.RunError('pool a: max=-1')", "pool a: max=-1", False),
        ("import sys\nsys.exit(3)", "Program exited with non-zero exit code: 3", False),
    ],
    ids=["exception", "run-error", "exit-code"],
)
def test_failure_of_the_program_reaches_the_user(project: Project, program: str, shown: str, traceback: bool) -> None:
    project.write(program)
    preview = project.pulumi("preview")
    assert preview.returncode != 0
    assert shown in preview.stdout
    assert ("Traceback" in preview.stdout) is traceback
    assert "language_host" not in preview.stdout


def test_policy_pack_judges_the_program(project: Project, tmp_path: Path) -> None:
    pack = tmp_path / "pack"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: python\n")
    (pack / "__main__.py").write_text(
        "from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy\n"
        "def judge(args, report):\n"
        "    report(f'{len(args.resources)} resources are too many')\n"
        "policy = StackValidationPolicy('few', 'Few resources.', judge, EnforcementLevel.MANDATORY)\n"
        "PolicyPack('trial', [policy])\n"
    )
    preview = project.pulumi("preview", "--policy-pack", str(pack))
    assert preview.returncode != 0
    assert "1 resources are too many" in preview.stdout
    assert "Traceback" not in preview.stdout


def test_provider_plugin_in_python_is_served(project: Project, tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    plugin.mkdir()
    (plugin / "PulumiPlugin.yaml").write_text("runtime: python\n")
    (plugin / "__main__.py").write_text(
        "from typing import TypedDict\n"
        "import pulumi\n"
        "from pulumi.provider.experimental import component_provider_host\n"
        "class CrateArgs(TypedDict):\n"
        "    size: pulumi.Input[float]\n"
        "class Crate(pulumi.ComponentResource):\n"
        "    def __init__(self, name: str, args: CrateArgs, opts: pulumi.ResourceOptions | None = None):\n"
        "        super().__init__('trial:index:Crate', name, dict(args), opts)\n"
        "component_provider_host(name='trial', components=[Crate])\n"
    )
    done = project.pulumi("package", "get-schema", str(plugin))
    assert done.returncode == 0, done.stdout
    assert '"trial:index:Crate"' in done.stdout


def test_virtualenv_lies_relative_to_the_project_file(project: Project) -> None:
    (project.directory / "environment").symlink_to(ROOT / ".venv")
    project.write("import sys\nprint('prefix', sys.prefix)\n", ["virtualenv: environment"])
    preview = project.pulumi("preview")
    assert preview.returncode == 0, preview.stdout
    assert f"prefix {project.directory / 'environment'}" in preview.stdout


def test_missing_virtualenv_is_one_line_that_says_what_to_do(project: Project) -> None:
    project.write("import pulumi\n", ["virtualenv: environment"])
    preview = project.pulumi("preview")
    assert preview.returncode != 0
    python = project.directory / "environment" / "bin" / "python"
    assert f"virtualenv=environment: {python} does not exist; run `" in preview.stdout
    assert "Traceback" not in preview.stdout


def test_install_makes_the_virtualenv(project: Project) -> None:
    project.write("import pulumi\n", ["virtualenv: environment"])
    (project.directory / "requirements.txt").write_text("# nothing\n")
    done = project.pulumi("install", "--no-plugins")
    assert done.returncode == 0, done.stdout
    assert (project.directory / "environment" / "bin" / "python").exists()


def test_install_leaves_a_linked_virtualenv_to_whoever_keeps_it(project: Project) -> None:
    """Set-up links our packages' environments to its own; pip would fail here, as there is nothing of that name."""
    project.write("import pulumi\n", ["virtualenv: environment"])
    (project.directory / "environment").symlink_to(sys.prefix)
    (project.directory / "requirements.txt").write_text("./nothing-of-this-name\n")
    done = project.pulumi("install", "--no-plugins")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("victim", "sign"),
    [("engine", signal.SIGINT), ("engine", signal.SIGKILL), ("host", signal.SIGKILL)],
    ids=["engine-interrupted", "engine-killed", "host-killed"],
)
def test_engine_or_host_that_ends_leaves_no_process_and_no_traceback(
    project: Project, victim: str, sign: signal.Signals
) -> None:
    project.write(
        "import os, pathlib, time\n"
        "pathlib.Path('pids.new').write_text(f'{os.getpid()} {os.getppid()}')\n"
        "os.rename('pids.new', 'pids')\n"
        "time.sleep(600)\n"
    )
    output, pids = project.directory.parent / "output", project.directory / "pids"
    with output.open("w") as stream:
        engine = subprocess.Popen(
            project.command("preview"), cwd=project.directory, env=project.env, stdout=stream, stderr=stream
        )
        wait_for(pids.exists, "the program runs")
        program, host = map(int, pids.read_text().split())
        assert alive(program)
        assert alive(host)
        os.kill(engine.pid if victim == "engine" else host, sign)
        assert engine.wait(PATIENCE_SECONDS) != 0
    wait_for(lambda: not alive(program) and not alive(host), "the program and its host are gone")
    assert "Traceback" not in output.read_text()
    assert "KeyboardInterrupt" not in output.read_text()


def test_host_without_the_sdk_says_what_to_install(tmp_path: Path) -> None:
    host = ROOT / "tools" / "pulumi" / "language_host" / "language_host.py"
    blocked = (
        "import importlib.util, runpy, sys\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, package=None: None if name == 'pulumi' else find(name, package)\n"
        f"sys.path.insert(0, {str(ROOT)!r})\n"
        f"runpy.run_path({str(host)!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("has no Pulumi SDK; install the package `pulumi`")
