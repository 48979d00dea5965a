"""PulumiCli, on a simulated `pulumi`."""

import json
from pathlib import Path

import pytest

from gpufleet.pulumi_cli import PulumiCli, PulumiCliError


def engine_that(tmp_path: Path, stdout: str, code: int, stderr: str = "") -> PulumiCli:
    """An engine with this output and exit code; its version is recent."""
    (tmp_path / "stdout").write_text(stdout)
    (tmp_path / "stderr").write_text(stderr)
    program = tmp_path / "pulumi"
    lines = [
        "#!/bin/sh",
        '[ "$1" = version ] && echo v3.253.0 && exit 0',
        f"cat {tmp_path}/stdout; cat {tmp_path}/stderr >&2; exit {code}",
    ]
    program.write_text("\n".join(lines))
    program.chmod(0o755)
    return PulumiCli(tmp_path, {"PATH": f"{tmp_path}:/usr/bin:/bin"})


def test_preview_returns_the_steps(tmp_path):
    steps = [{"op": "create", "urn": "u"}]
    assert engine_that(tmp_path, json.dumps({"steps": steps}), 0).preview("dev") == steps


def test_config_keeps_structure_and_omits_secrets(tmp_path):
    output = {
        "aws:region": {"value": "us-east-1", "secret": False},
        "gpufleet:usage": {"value": '{"nat_gb":5}', "objectValue": {"nat_gb": 5}, "secret": False},
        "gpufleet:key": {"secret": True},
    }
    found = engine_that(tmp_path, json.dumps(output), 0).config("dev")
    assert found == {"aws:region": "us-east-1", "gpufleet:usage": {"nat_gb": 5}, "gpufleet:key": None}


def test_a_failed_preview_reports_only_the_errors_of_the_program(tmp_path):
    diagnostics = [
        {"severity": "info", "message": "not this"},
        {"severity": "error", "message": "dev-net: nat=doble: must be one of single, per-zone\n"},
    ]
    engine = engine_that(tmp_path, json.dumps({"steps": [], "diagnostics": diagnostics}), 255)
    with pytest.raises(PulumiCliError, match=r"^pulumi preview: dev-net: nat=doble: must be one of single, per-zone$"):
        engine.preview("dev")


def test_a_preview_that_does_not_start_reports_the_error_of_the_engine(tmp_path):
    engine = engine_that(tmp_path, "", 255, "error: no stack\n")
    with pytest.raises(PulumiCliError, match=r"^pulumi preview: error: no stack$"):
        engine.preview("dev")


def test_the_error_of_a_failed_command_is_one_line(tmp_path):
    engine = engine_that(tmp_path, "", 1, "error: locked\n  by pid 7\n")
    with pytest.raises(PulumiCliError, match=r"^pulumi stack: locked by pid 7$"):
        engine.output_of("stack", "export")
