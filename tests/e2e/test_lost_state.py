"""A lost state is brought back from the cloud by import and one `up`, without a replacement or a second resource."""

import pytest

from gpufleet.fleet.retained_data import holds_data
from tests.e2e.rehearsed_project import Project

SWEPT = pytest.mark.sweep


def resources(project: Project, environment: str) -> dict[tuple[str, str], list[str]]:
    """Type and logical name -> ids of what the cloud holds."""
    found: dict[tuple[str, str], list[str]] = {}
    for each in project.cloud_of(environment).store.resources():
        found.setdefault((each.type, each.name), []).append(each.id)
    return found


def lose_state(project: Project, environment: str) -> None:
    for file in (project.home.root / "backend" / ".pulumi" / "stacks" / "gpufleet").glob(f"{environment}.json*"):
        file.unlink()


@pytest.mark.parametrize(
    "environment",
    [
        "azure-dev",
        *(pytest.param(name, marks=SWEPT) for name in ("aws-dev", "aws-batch-dev", "azure-prod", "hybrid")),
    ],
)
def test_everything_comes_back(project: Project, environment: str) -> None:
    up = project.rehearse(environment=environment)
    assert up.returncode == 0, up.stdout + up.stderr
    before = resources(project, environment)
    protected = {each["urn"] for each in project.state(environment) if each.get("protect")}
    lose_state(project, environment)

    adopt = ("--", "gpufleet", "adopt", environment)
    refused = project.rehearse(*adopt, "--yes", environment=environment)
    assert refused.returncode == 1
    assert (
        " resources are in the cloud and not in this state, as if they were kept in another backend" in refused.stderr
    )
    assert not [each for each in project.state(environment) if each.get("custom")]

    adopted = project.rehearse(*adopt, "--lost-state", "--yes", environment=environment)
    assert adopted.returncode == 0, adopted.stdout + adopted.stderr
    assert resources(project, environment) == before
    imported = [each for each in project.state(environment) if each.get("custom") and "providers" not in each["type"]]
    assert any(holds_data(each["type"]) for each in imported)
    assert all(each["protect"] for each in imported)

    up = project.rehearse(environment=environment)
    assert up.returncode == 0, up.stdout + up.stderr
    assert resources(project, environment) == before
    assert {each["urn"] for each in project.state(environment) if each.get("protect")} == protected
    same = ("pulumi", "preview", "--refresh", "--expect-no-changes", "--stack", environment)
    preview = project.rehearse("--", *same, environment=environment)
    assert preview.returncode == 0, preview.stdout + preview.stderr
