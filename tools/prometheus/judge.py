"""What Prometheus and Grafana say of the dashboard: Prometheus' own parsers and engine, and Grafana's schema.

`python -m tools.prometheus.judge` builds the program once into the user's cache, with Go alone: its source is in
dashboards/, and its go.mod pins both.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.cache_entry import cache_directory, make_once
from tools.go_build import BuildFailed, build, go_version
from tools.progress import Say, teller

MODULE = Path(__file__).resolve().parent / "dashboards"
NAME = "dashboards"


class JudgeMissing(Exception):
    """The program is not there, or rejects its input; the text says why and what to do."""


def judge(
    dashboard: Mapping[str, Any],
    rules: str,
    scrapes: Sequence[Mapping[str, Any]],
    queries: Sequence[str],
    times: tuple[int, int, int],
) -> dict[str, Any]:
    """What they say: `dashboard` and `rules`, faults as text; `recorded`, series of each rule; `results` by query.

    scrapes: answers of exporters: `at` in seconds, `text`, `target` labels, `honor_labels`. times: first, last and
    step of evaluation. Raises JudgeMissing where the program is not built.
    """
    program = executable()
    if not program.exists():
        raise JudgeMissing(f"{program}: not there; run `make dashboards`, which builds it")
    first, last, step = times
    asked = {"dashboard": dashboard, "rules": rules, "scrapes": list(scrapes), "queries": list(queries)}
    text = json.dumps({**asked, "From": first, "To": last, "Step": step})
    done = subprocess.run([program], input=text, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise JudgeMissing(f"{program.name}: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def executable() -> Path:
    """Where the program lies in the cache: another source or other pins, another entry."""
    recipe = b"".join((MODULE / name).read_bytes() for name in ("main.go", "samples.go", "go.mod", "go.sum"))
    return cache_directory("prometheus", f"{NAME}-{hashlib.sha256(recipe).hexdigest()[:8]}") / NAME


def build_program(say: Say) -> Path:
    """Build the program unless the cache has it; returns its path. Raises JudgeMissing."""
    target = executable()

    def make(folder: Path) -> None:
        build(MODULE, ".", folder / NAME, say, doing="dashboards: building Prometheus' engine")

    try:
        make_once(target.parent, NAME, make, "dashboards: another set-up is building; waiting for it", say)
    except BuildFailed as problem:
        raise JudgeMissing(
            f"{NAME}: {problem}. Install Go >= {go_version(MODULE)} (https://go.dev/dl/) and check that it reaches a "
            "module proxy, then run `make dashboards` again"
        ) from None
    return target


def main() -> int:
    """Exit code 0 when the program is there, 1 with one line on standard error when it cannot be built."""
    say = teller()
    try:
        say(f"dashboards: {build_program(say)}")
    except JudgeMissing as problem:
        print(f"dashboards: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("dashboards: interrupted; run it again to continue", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
