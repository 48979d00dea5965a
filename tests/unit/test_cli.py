"""The command line itself: exit codes, help, and the list of refusals on any terminal."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import gpufleet.cli.error_handling
from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.pulumi_cli import PulumiCli, PulumiCliError, run_until_exit

OK, USER_ERROR, USAGE = 0, 1, 2
"""Frozen: scripts outlive releases."""
BROKEN_INPUT = 2
"""Of `gpufleet report`, where 1 says that the change has findings."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: billing\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


EXITS = [
    (["--help"], OK),
    (["rehearse", "--help"], OK),
    (["adopt", "--help"], OK),
    (["preflight", "--help"], OK),
    (["cost", "--help"], OK),
    (["report", "--help"], OK),
    (["jobs", "--help"], OK),
    *((["jobs", verb, "--help"], OK) for verb in ("submit", "list", "status", "logs", "cancel")),
    *((["jobs", "outputs", verb, "--help"], OK) for verb in ("list", "get")),
    *(([verb, "--help"], OK) for verb in ("ps", "stop", "extend", "reap", "choose")),
    (["check", "--help"], OK),
    (["init", "--help"], OK),
    (["init", "new", "--yes"], USER_ERROR),
    (["init", "--max-nodes", "two"], USAGE),
    *((["nodes", verb, "--help"], OK) for verb in ("list", "script")),
    (["nodes", "list", "dev", "--outputs", "/no/such"], USER_ERROR),
    (["nodes", "script", "dev"], USAGE),
    *((["data", verb, "--help"], OK) for verb in ("put", "get", "list")),
    (["--version"], OK),
    (["rehearse", "--refusals"], OK),
    (["catalog", "--help"], OK),
    (["catalog", "show", "p5.48xlarge"], OK),
    (["catalog", "find", "--gpu", "H100"], OK),
    (["rehearse", "prod"], USER_ERROR),
    (["catalog", "show", "p5.48xlarg"], USER_ERROR),
    (["catalog", "refresh"], USER_ERROR),
    (["rehearse", "dev", "--program", "/no/such"], USER_ERROR),
    ([], USAGE),
    (["rehearse"], USAGE),
    (["adopt"], USAGE),
    (["preflight"], USAGE),
    (["cost"], USAGE),
    (["report"], USAGE),
    (["report", "dev", "--preview", "preview.json"], USAGE),
    (["report", "--preview", "/no/such"], BROKEN_INPUT),
    (["report", "prod"], BROKEN_INPUT),
    (["cost", "dev", "--preview", "preview.json"], USAGE),
    (["preflight", "dev", "--preview", "/no/such"], USER_ERROR),
    (["preflight", "prod"], USER_ERROR),
    (["cost", "prod"], USER_ERROR),
    (["cost", "--preview", "/no/such"], USER_ERROR),
    (["jobs", "submit", "dev", "--outputs", "/no/such", "--workers", "2", "--", "true"], USER_ERROR),
    (["jobs", "submit", "dev", "--workers", "2"], USER_ERROR),
    (["jobs", "list", "dev", "--outputs", "/no/such"], USER_ERROR),
    (["check", "dev", "--nodes", "2", "--outputs", "/no/such"], USER_ERROR),
    (["data", "list", "dev", "--outputs", "/no/such"], USER_ERROR),
    (["ps", "--backend", "file:///no/such"], USER_ERROR),
    (["reap", "--backend", "file:///no/such"], USER_ERROR),
    (["stop", "dev", "--program", "/no/such"], USER_ERROR),
    (["extend", "prod", "7d"], USER_ERROR),
    (["extend", "dev", "soon"], USER_ERROR),
    (["choose", "--gpus", "8", "--hours", "1", "--gpu", "H10"], USER_ERROR),
    (["ps", "dev"], USAGE),
    (["reap", "--grace", "soon"], USAGE),
    (["stop"], USAGE),
    (["stop", "dev", "--undo", "--dry-run"], USAGE),
    (["extend", "dev"], USAGE),
    (["choose"], USAGE),
    (["jobs"], USAGE),
    (["jobs", "submit"], USAGE),
    (["jobs", "submit", "dev", "--workers", "two", "--", "true"], USAGE),
    (["jobs", "status", "dev"], USAGE),
    (["check", "dev"], USAGE),
    (["data", "put", "dev"], USAGE),
    (["check", "dev", "--nodes", "0"], USAGE),
    (["reherse"], USAGE),
    (["catalog", "show"], USAGE),
    (["catalog", "refresh", "gcp"], USAGE),
    (["rehearse", "dev", "--no-such"], USAGE),
    (["rehearse", "dev", "--latency-scale", "-1"], USAGE),
    (["rehearse", "dev", "--seed", "one"], USAGE),
]


@pytest.mark.parametrize(("arguments", "code"), EXITS, ids=[" ".join(a) or "nothing" for a, _ in EXITS])
def test_exit_codes(project: Path, arguments: list[str], code: int) -> None:
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    assert isinstance(done.exception, SystemExit | None)


def test_users_error_is_one_line(project: Path) -> None:
    done = CliRunner().invoke(main, ["rehearse", "prod"])
    assert done.stderr == "Error: prod: environment not found; the project has: dev\n"
    assert done.stdout == ""


def command_that_raises(error: Exception) -> click.Command:
    def command() -> int:
        raise error

    return click.command()(gpufleet.cli.error_handling.exit_with_errors(command))


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (UserError("disk: full"), "Error: disk: full\n"),
        (
            ModuleNotFoundError("No module named 'moto'", name="moto"),
            "Error: moto is not installed; run `pip install '.[accounts,aws,policies,rehearsal]'` in your checkout of "
            "gpufleet\n",
        ),
        (
            ModuleNotFoundError("No module named 'boto3'", name="boto3"),
            "Error: boto3 is not installed; run `pip install '.[accounts]'` in your checkout of gpufleet\n",
        ),
        (
            ModuleNotFoundError("No module named 'azure.identity'", name="azure.identity"),
            "Error: azure.identity is not installed; run `pip install '.[accounts]'` in your checkout of gpufleet\n",
        ),
    ],
)
def test_what_is_raised_for_the_user_is_shown_without_a_traceback(error: Exception, line: str) -> None:
    done = CliRunner().invoke(command_that_raises(error), [])
    assert (done.exit_code, done.stderr) == (USER_ERROR, line)


@pytest.mark.parametrize("missing", ["urllib3", "kubernetes_validate"])
def test_what_the_rehearsal_imports_comes_with_the_rehearsal(missing: str) -> None:
    """Also what other extras bring for commands of their own."""
    namespace = {"__name__": "gpufleet_rehearsal.kubernetes.api", "missing": missing}
    exec("def load():\n    raise ModuleNotFoundError(f'No module named {missing!r}', name=missing)\n", namespace)
    command = click.command()(gpufleet.cli.error_handling.exit_with_errors(namespace["load"]))
    hint = f"Error: {missing} is not installed; run `pip install '.[rehearsal]'` in your checkout of gpufleet\n"
    assert CliRunner().invoke(command, []).stderr == hint


@pytest.mark.parametrize("columns", ["20", "80", "500"])
def test_refusals_are_whole_on_any_terminal(columns: str) -> None:
    done = CliRunner().invoke(main, ["rehearse", "--refusals"], env={"COLUMNS": columns})
    assert "…" not in done.output
    blocks = done.output.rstrip().split("\n\n")
    aws, azure = (n for n, block in enumerate(blocks) if "requests that the simulated" in block)
    assert blocks[aws] == f"{azure - 1} requests that the simulated aws rejects"
    assert blocks[azure] == f"{len(blocks) - azure - 1} requests that the simulated azure-native rejects"
    assert min(azure, len(blocks) - azure) > 100
    assert all(block.count("\n") == 2 for n, block in enumerate(blocks) if n not in (aws, azure))


def test_help_imports_no_reader_neither_pulumi_nor_kubernetes_nor_the_rehearsal() -> None:
    script = (
        "import sys; from gpufleet.cli import main; main(['--help'], standalone_mode=False);"
        "heavy = {'kubernetes', 'msgspec', 'pulumi', 'yaml', 'gpufleet_rehearsal'};"
        "sys.exit(any(name.partition('.')[0] in heavy for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False, capture_output=True).returncode == 0


def test_status_of_a_command_is_its_exit_code() -> None:
    assert run_until_exit(["sh", "-c", "exit 7"], {"PATH": "/usr/bin:/bin"}) == 7
    assert run_until_exit(["sh", "-c", "kill -TERM $$"], {"PATH": "/usr/bin:/bin"}) == 128 + 15


def engine(folder: Path, script: str) -> PulumiCli:
    (folder / "pulumi").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "pulumi").chmod(0o755)
    return PulumiCli(folder, {"PATH": f"{folder}:/usr/bin:/bin"})


@pytest.mark.parametrize("version", ["v3.253.0", "3.253.1", "v3.300.0", "v4.0.0", "v3.253.0-alpha.1+dirty"])
def test_engine_that_runs_any_sdk_is_taken(tmp_path: Path, version: str) -> None:
    assert engine(tmp_path, f"echo {version}").program == str(tmp_path / "pulumi")


@pytest.mark.parametrize(
    ("sdk", "engines", "taken"),
    [
        ("3.272.0", "3.253.0", True),
        ("3.272.0", "3.252.9", False),
        ("3.231.0", "3.231.2", True),
        ("3.231.0", "3.230.0", False),
    ],
)
def test_how_old_an_engine_may_be_depends_on_the_sdk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sdk: str, engines: str, taken: bool
) -> None:
    monkeypatch.setattr("gpufleet.pulumi_cli.version", lambda _: sdk)
    cli = engine(tmp_path, f"echo v{engines}")
    if taken:
        assert cli.program == str(tmp_path / "pulumi")
    else:
        with pytest.raises(PulumiCliError, match=r"install 3\.\d+ or newer$"):
            cli.program.title()


@pytest.mark.parametrize("version", ["v3.252.9", "v2.999.0", "", "no version"])
def test_engine_that_is_older_or_unknown_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(PulumiCliError, match=r"install (Pulumi )?3\.253 or newer$"):
        engine(tmp_path, f"echo {version}").program.title()


def test_engines_own_words_are_one_line(tmp_path: Path) -> None:
    script = 'if [ "$1" = version ]; then echo v3.253.0; else printf "error: no\\nsuch stack\\n" >&2; exit 6; fi'
    with pytest.raises(PulumiCliError, match=r"^pulumi stack: no such stack$"):
        engine(tmp_path, script).output_of("stack", "ls")


def test_help_lists_every_verb_in_one_line_of_80_columns() -> None:
    lines = (
        CliRunner()
        .invoke(main, ["--help"], env={"COLUMNS": "80"})
        .output.partition("Choose and plan:\n")[2]
        .splitlines()
    )
    verbs = [line for line in lines if line.startswith("  ")]
    assert sorted(line.split()[0] for line in verbs) == sorted(main.commands)
    assert [line for line in verbs if not line.endswith(".")] == []
    assert [line for line in lines if len(line) > 80 or line.endswith("...")] == []


def test_a_shell_completes_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: p\nruntime: python\nstackConfigDir: config\n")
    (tmp_path / "config").mkdir()
    for name in ("aws-dev", "aws-prod", "azure-dev"):
        (tmp_path / "config" / f"Pulumi.{name}.yaml").write_text("config: {}\n")

    def completed(words: str, word: str) -> list[str]:
        env = {"_GPUFLEET_COMPLETE": "bash_complete"}
        env |= {"COMP_WORDS": f"{words} {word}", "COMP_CWORD": str(len(words.split()))}
        lines = CliRunner().invoke(main, prog_name="gpufleet", env=env).output.split()
        return [line.removeprefix("plain,") for line in lines]

    monkeypatch.chdir(tmp_path)
    assert completed("gpufleet rehearse", "aws") == ["aws-dev", "aws-prod"]
    assert completed("gpufleet jobs list", "az") == ["azure-dev"]
    monkeypatch.chdir("/")
    assert completed("gpufleet rehearse", "a") == []
    assert completed(f"gpufleet stop --program {tmp_path}", "az") == ["azure-dev"]


def test_a_project_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    """Before the engine is looked for: its process cannot begin in such a folder."""
    with pytest.raises(PulumiCliError) as caught:
        PulumiCli(tmp_path / "none").output_of("stack", "ls")
    assert str(caught.value) == f"{tmp_path}/none: is not a directory; give that of a Pulumi project with --program"
