"""Two projects with one stack name in one account and backend: one is stopped and reaped, the other does not notice."""

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.rehearsed_project import Project, copy_of_ours

MARK = "gpufleet-stack"


def there(project: Project, environment: str, mark: str) -> dict[str, object]:
    """What the cloud holds with a mark, as it is."""
    resources = project.cloud_of(environment).store.resources()
    return {each.id: (each.inputs, each.outputs, each.status) for each in resources if each.tags.get(MARK) == mark}


def state(home: Path, project: str, environment: str) -> str:
    return (home / "backend" / ".pulumi" / "stacks" / project / f"{environment}.json").read_text()


@pytest.mark.parametrize("environment", [pytest.param("aws-dev", marks=pytest.mark.sweep), "azure-dev"])
def test_one_is_stopped_and_reaped_and_the_other_stays(tmp_path: Path, environment: str) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first, second = copy_of_ours(tmp_path / "first"), copy_of_ours(tmp_path / "second")
    second.edit("Pulumi.yaml", "name: gpufleet\n", "name: vision\n")
    home = first.home.root

    def run(project: Project, *arguments: str, code: int = 0) -> str:
        done = project.rehearse("--home", str(home), *arguments, environment=environment)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    for project in (first, second):
        project.configure(lambda config: config.update(expires_at=date.today() - timedelta(days=9)), environment)
    run(first)
    # AWS has one cluster of a name, and one repository: the second one is there as far as it gets.
    on_aws = environment == "aws-dev"
    run(second, code=1 if on_aws else 0)
    ours, theirs = (there(first, environment, f"{name}/{environment}") for name in ("gpufleet", "vision"))
    assert len(ours) > 15
    assert len(theirs) > 2
    kept = state(home, "vision", environment)

    stop = ("--", "gpufleet", "stop", environment)
    told = run(first, *stop, "--yes")
    assert "\nstopped: " in told
    assert there(first, environment, f"vision/{environment}") == theirs
    stopped = there(first, environment, f"gpufleet/{environment}")
    assert stopped != ours
    if not on_aws:
        # Its pools are stopped as well, and the first one's are as they were; it is started again to be compared.
        run(second, *stop, "--yes")
        assert there(first, environment, f"gpufleet/{environment}") == stopped
        run(second, *stop, "--undo")
        theirs, kept = there(first, environment, f"vision/{environment}"), state(home, "vision", environment)

    def reaped(project: Project, *arguments: str) -> dict[str, Any]:
        told = run(project, "--", "gpufleet", "reap", "--json", *arguments)
        return {f"{each['project']}/{each['stack']}": each for each in json.loads(told)["environments"]}

    found = reaped(first, "--yes", "--keep", f"vision/{environment}")
    assert {name: each["verdict"] for name, each in found.items()} == {
        f"gpufleet/{environment}": "destroyed",
        f"vision/{environment}": "spared",
    }
    assert there(first, environment, f"vision/{environment}") == theirs
    assert state(home, "vision", environment) == kept
    left = there(first, environment, f"gpufleet/{environment}")
    assert 0 < len(left) < 8, left
