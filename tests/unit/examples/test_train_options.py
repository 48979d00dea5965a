"""examples/train/options.py and outputs.py: what train.py takes, also from the lines of the guides. No PyTorch here."""

import importlib.util
import json
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import boto3
import pytest
from moto import mock_aws

from tests.unit.docs.test_command_lines import DOCUMENTS, ROOT

EXAMPLE = ROOT / "examples" / "train"
TEXTS = {
    file.relative_to(ROOT).as_posix(): file.read_text()
    for file in [*DOCUMENTS, ROOT / "components/gpufleet/cli/jobs.py"]
}
OTHERS = {"docs/notebooks.md"}
"""Documents whose train.py is the reader's own."""


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the example, which imports the ones beside it as train.py does."""
    monkeypatch.syspath_prepend(EXAMPLE)
    spec = importlib.util.spec_from_file_location(f"train_example_{name}", EXAMPLE / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for other in ("ranks", "options"):
        sys.modules.pop(other, None)
    return module


def guide_lines() -> list[tuple[str, str]]:
    """What follows train.py on each line of ours that runs it, with a sweep's parameters filled in."""
    found = []
    for name, text in TEXTS.items():
        whole = text.replace("\\\\\n", " ").replace("\\\n", " ")
        for words in re.findall(r"(?:python3|submit[^\n]*--) (?:[\w./]*/)?train\.py((?: [^\s`#'\"|)]+)*)", whole):
            found.append((name, words.replace("{lr}", "0.1").replace("{batch}", "32")))
    return found


@pytest.mark.parametrize(("document", "words"), sorted({*guide_lines()}))
def test_the_guides_lines_are_arguments_of_the_example(
    document: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if document not in OTHERS:
        load("options", monkeypatch).arguments(shlex.split(words))


def test_the_lines_of_a_sweep_are_among_them() -> None:
    assert {name for name, words in guide_lines() if "--learning-rate 0.1" in words} == {
        "components/gpufleet/cli/jobs.py",
        "docs/aws-batch.md",
        "docs/jobs.md",
    }


@pytest.mark.parametrize(
    ("outputs", "folder"),
    [
        (None, "/mnt/checkpoints"),
        ("", "/mnt/checkpoints"),
        ("s3://bucket/jobs/train", "/mnt/checkpoints/jobs/train"),
        ("s3://bucket/jobs/sweep/7", "/mnt/checkpoints/jobs/sweep/7"),
        ("/mnt/result/jobs/train", "/mnt/result/jobs/train/checkpoints"),
    ],
)
def test_each_run_has_checkpoints_of_its_own(monkeypatch: pytest.MonkeyPatch, outputs: str | None, folder: str) -> None:
    options = load("options", monkeypatch)
    monkeypatch.delenv("GPUFLEET_OUTPUTS", raising=False)
    if outputs is not None:
        monkeypatch.setenv("GPUFLEET_OUTPUTS", outputs)
    chosen = options.arguments([])
    assert (chosen.checkpoints, chosen.outputs) == (Path(folder), outputs)
    assert options.arguments(["--checkpoints", "/mnt/a"]).checkpoints == Path("/mnt/a")


@pytest.mark.parametrize("option", ["--steps", "--batch", "--learning-rate", "--checkpoint-every"])
def test_numbers_are_above_zero(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        load("options", monkeypatch).arguments([option, "0"])
    assert f"{option} must be above 0" in capsys.readouterr().err


RESULT = {"steps": 1000, "accuracy": 0.5}


def test_a_result_goes_to_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load("outputs", monkeypatch).publish(str(tmp_path / "jobs" / "train"), RESULT)
    assert json.loads((tmp_path / "jobs/train/result.json").read_text()) == RESULT


@mock_aws
def test_a_result_goes_to_the_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(key, "x")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    boto3.client("s3").create_bucket(Bucket="bucket")
    load("outputs", monkeypatch).publish("s3://bucket/jobs/sweep/7", RESULT)
    found = boto3.client("s3").get_object(Bucket="bucket", Key="jobs/sweep/7/result.json")["Body"].read()
    assert json.loads(found) == RESULT


def test_a_result_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match=r"result\.json: cannot be written: .*; give --outputs$"):
        load("outputs", monkeypatch).publish(str(tmp_path / "file"), RESULT)
