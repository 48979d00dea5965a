"""The engine's runner, on a played `pulumi`."""

import json
from pathlib import Path

import pytest

from gpufleet.pulumi_cli import PulumiCli, PulumiCliError


def engine_that(tmp_path: Path, stdout: str, code: int, stderr: str = "") -> PulumiCli:
    """An engine that prints so and ends so; asked for its version it is a new one."""
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


def test_a_preview_gives_its_steps(tmp_path):
    steps = [{"op": "create", "urn": "u"}]
    assert engine_that(tmp_path, json.dumps({"steps": steps}), 0).preview("dev") == steps


def test_configuration_comes_with_its_structure_and_without_secrets(tmp_path):
    told = {
        "aws:region": {"value": "us-east-1", "secret": False},
        "gpufleet:usage": {"value": '{"nat_gb":5}', "objectValue": {"nat_gb": 5}, "secret": False},
        "gpufleet:key": {"secret": True},
    }
    found = engine_that(tmp_path, json.dumps(told), 0).config("dev")
    assert found == {"aws:region": "us-east-1", "gpufleet:usage": {"nat_gb": 5}, "gpufleet:key": None}


def test_a_failed_preview_says_what_the_program_said_and_no_more(tmp_path):
    said = [
        {"severity": "info", "message": "not this"},
        {"severity": "error", "message": "dev-net: nat=doble: is no word\n"},
    ]
    engine = engine_that(tmp_path, json.dumps({"steps": [], "diagnostics": said}), 255)
    with pytest.raises(PulumiCliError, match=r"^pulumi preview: dev-net: nat=doble: is no word$"):
        engine.preview("dev")


def test_a_preview_that_never_began_says_what_the_engine_said(tmp_path):
    engine = engine_that(tmp_path, "", 255, "error: no stack\n")
    with pytest.raises(PulumiCliError, match=r"^pulumi preview: error: no stack$"):
        engine.preview("dev")


def test_an_answer_that_fails_is_one_line(tmp_path):
    engine = engine_that(tmp_path, "", 1, "error: locked\n  by pid 7\n")
    with pytest.raises(PulumiCliError, match=r"^pulumi stack: locked by pid 7$"):
        engine.answer("stack", "export")
