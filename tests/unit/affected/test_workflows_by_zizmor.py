"""What a linter that is not ours says of the workflows: https://docs.zizmor.sh/audits/."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
ZIZMOR = Path(sys.executable).parent / "zizmor"


def findings(folder: Path) -> list[str]:
    """Audit and file of each finding, whatever its severity."""
    command = [str(ZIZMOR), "--offline", "--no-progress", "--format=json", "--no-exit-codes", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [f"{each['ident']}: {each['desc']}" for each in json.loads(done.stdout)]


def test_zizmor_finds_nothing() -> None:
    assert findings(ROOT / ".github") == []


def test_zizmor_sees_what_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    text = (ROOT / ".github" / "workflows" / "preview.yml").read_text()
    worse = text.replace("  pull_request:\n", "  pull_request_target:\n").replace(
        "@11bd71901bbe5b1630ceea73d27597364c9af683", "@v4"
    )
    assert worse.count("@v4\n") + worse.count("@v4 ") >= 4
    (folder / "preview.yml").write_text(worse)
    found = " ".join(findings(tmp_path / ".github"))
    assert "dangerous-triggers" in found
    assert "unpinned-uses" in found
