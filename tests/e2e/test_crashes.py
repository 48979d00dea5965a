"""A sample of `make crashes`: everything is killed in the middle of a destroy, the engine in the middle of an `up`."""

import subprocess
import sys

from tests.crashes.case import Case
from tests.crashes.scene import DESTROY, UP
from tests.e2e.rehearsed_project import REPOSITORY

SAMPLE = {39: (DESTROY, "all"), 48: (UP, "engine")}


def test_a_sample_of_crashes() -> None:
    for seed, (operation, victim) in SAMPLE.items():
        case = Case(seed)
        assert (case.environment, case.operation, case.victim) == ("aws-dev", operation, victim)
    # In a process of its own: the harness forks, which gRPC of another test would not survive.
    command = [sys.executable, "-m", "tests.crashes", *(word for seed in SAMPLE for word in ("--seed", str(seed)))]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "| all | | | 2 | 0 | 2 | 0 |" in done.stdout
