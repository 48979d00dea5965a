"""Running the program of an environment: which one, and how it ends when something is wrong."""

import gc
import json
from collections.abc import Iterator
from pathlib import Path

import pulumi
import pytest
from pulumi import RunError

from gpufleet.config.program import EXPLAINED, explained, run_program
from gpufleet.config.reader import ConfigError
from gpufleet.config.stacks import CLOUDS

PROGRAM = "import pathlib\nprint(pathlib.Path(__file__).name, __name__)\n"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What Pulumi shows as errors. The collector works on as before, whatever a program makes of it."""
    lines: list[str] = []
    monkeypatch.setattr(pulumi.log, "error", lines.append)
    monkeypatch.setattr(pulumi, "get_stack", lambda: "dev")
    yield lines
    gc.unfreeze()
    gc.enable()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for cloud in CLOUDS:
        (tmp_path / f"{cloud.replace('-', '_')}.py").write_text(PROGRAM)
    (tmp_path / "__main__.py").write_text("raise RecursionError\n")
    return tmp_path


def config(monkeypatch: pytest.MonkeyPatch, cloud: str) -> None:
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({"gpufleet:cloud": cloud}))


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_cloud_names_the_program(cloud, folder, said, monkeypatch, capsys):
    config(monkeypatch, cloud)
    run_program(folder)
    assert capsys.readouterr().out == f"{cloud.replace('-', '_')}.py <run_path>\n"
    assert said == []


@pytest.mark.parametrize("cloud", ["", "Azure", "aws_batch", "__main__", "../stacks/aws"])
def test_no_program_runs_for_what_is_no_cloud(cloud, folder, said, monkeypatch, capsys):
    config(monkeypatch, cloud)
    with pytest.raises(SystemExit) as end:
        run_program(folder)
    assert end.value.code == EXPLAINED == 32
    assert capsys.readouterr().out == ""
    assert said == [
        f"Pulumi.dev.yaml: gpufleet:cloud={cloud!r}: must be 'aws', 'aws-batch', 'azure' or 'onprem' [config-value]"
    ]


@pytest.mark.parametrize("fault", [ConfigError("one\ntwo"), RunError("one\ntwo")])
def test_a_fault_is_told_once_and_ends_the_program(fault, said):
    with pytest.raises(SystemExit) as end, explained():
        raise fault
    assert end.value.code == EXPLAINED
    assert said == ["one\ntwo"]


def test_a_fault_of_the_program_is_not_explained(said):
    with pytest.raises(KeyError), explained():
        raise KeyError("zones")
    assert said == []


def test_the_collector_rests_while_a_program_runs_and_works_afterwards(said):
    assert gc.isenabled()
    with explained():
        assert not gc.isenabled()
        ours = [[] for _ in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= len(ours)


def test_without_a_configuration_the_cloud_is_missing(folder, said, monkeypatch):
    monkeypatch.delenv("PULUMI_CONFIG", raising=False)
    with pytest.raises(SystemExit):
        run_program(folder)
    assert said == [
        "Pulumi.dev.yaml: gpufleet:cloud: missing; set it with "
        "`pulumi config set --path 'gpufleet:cloud' VALUE` [config-missing-key]"
    ]
