"""The program in docs/packages.md: it makes what the page says, and type checkers have nothing against it."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.components.recorder import construct, event_loop_of_its_own

__all__ = ["event_loop_of_its_own"]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    page = (ROOT / "docs" / "packages.md").read_text()
    (text,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    file = tmp_path / "example.py"
    file.write_text(text)
    return file


@pytest.mark.parametrize("preview", [True, False])
def test_its_components_are_made(program: Path, preview: bool) -> None:
    recording = construct(lambda: runpy.run_path(str(program)), preview)
    ours = {each.name: each.type.split(":")[-1] for each in recording.resources if each.type.startswith("gpufleet-")}
    assert {name: kind for name, kind in ours.items() if not name.startswith("research-")} == {
        "net": "Network",
        "fleet": "Cluster",
        "trainers": "GpuNodeGroup",
        "files": "SharedFiles",
        "research": "TrainingPlatform",
    }
    teams = [each for each in recording.of("kubernetes:core/v1:Namespace") if each.parent.startswith("research-team-")]
    assert [each.inputs["metadata"]["name"] for each in teams] == ["speech", "vision"]
    assert recording.names("kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue") == [
        "research-queue-queue-speech",
        "research-queue-queue-vision",
    ]


@pytest.mark.slow
def test_its_types_are_right(program: Path) -> None:
    command = [sys.executable, "-m", "mypy", str(program)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "Success: no issues found in 1 source file\n", done.stdout
