"""Draw the picture in docs/rehearsal.md from the engine's own state of aws-dev; a test draws it anew."""

import sys
import tempfile
from pathlib import Path

from gpufleet_rehearsal.picture import mermaid
from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare
from gpufleet_rehearsal.workspace import Home
from tools.generated_tables import ROOT, between


def picture(state: list[dict[str, object]]) -> str:
    """The text between the page's marks."""
    return f"```mermaid\n{mermaid(state)}```\n"


def main() -> int:
    """Rehearse aws-dev in a directory of its own. Exit code: the engine's."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w") as log:
        home = Home.of(ROOT, Path(folder) / "rehearsal")
        prepare(home, RehearsalPlan("aws-dev", latency_scale=0, control_plane=False))
        engine = home.engine("aws-dev", log)
        if code := engine.up("aws-dev"):
            print(f"aws-dev did not come up: {(Path(folder) / 'log').read_text()}", file=sys.stderr)
            return code
        drawn = picture(engine.state("aws-dev"))
    page = ROOT / "docs" / "rehearsal.md"
    page.write_text(between(page.read_text(encoding="utf-8"), "picture", drawn), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
