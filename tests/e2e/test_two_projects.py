"""Two projects with one stack name in one account: neither takes, changes or deletes what is the other's."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.rehearsed_project import Project, copy_of_ours

Resource = tuple[str, str]


def another_owner(project: Project, environment: str) -> str:
    """The same program and Pulumi project, of another team, with a state of its own; how its tags differ."""
    project.configure(lambda config: config.update(owner="vision"), environment)
    return "owner=vision"


def another_pulumi_project(project: Project, environment: str) -> str:
    """The same team's other Pulumi project; how its tags differ."""
    file = project.folder / "Pulumi.yaml"
    assert "name: gpufleet\n" in file.read_text()
    file.write_text(file.read_text().replace("name: gpufleet\n", "name: vision\n"))
    return f"gpufleet-stack=vision/{environment}"


def in_one_account(tmp_path: Path) -> tuple[Project, Project]:
    """Two projects whose rehearsals have states of their own, and one simulated cloud."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    first, second = copy_of_ours(tmp_path / "first"), copy_of_ours(tmp_path / "second")
    second.home.root.mkdir()
    second.home.database.symlink_to(first.home.database)
    return first, second


def there(project: Project, environment: str) -> dict[Resource, object]:
    """All that a cloud holds, as it is."""
    store = project.cloud_of(environment).store
    return {(each.type, each.id): (each.inputs, each.outputs, each.status) for each in store.resources()}


def adopt(project: Project, environment: str, *options: str) -> str:
    done = project.rehearse("--", "gpufleet", "adopt", environment, *options, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("environment", "differ", "dies_at"),
    [
        ("aws-dev", another_owner, "aws-dev-network-vpc"),
        pytest.param("azure-dev", another_pulumi_project, "azure-dev-network-vnet", marks=pytest.mark.sweep),
    ],
)
def test_neither_touches_the_others(
    tmp_path: Path, environment: str, differ: Callable[[Project, str], str], dies_at: str
) -> None:
    first, second = in_one_account(tmp_path)
    difference = differ(second, environment)
    up = first.rehearse(environment=environment)
    assert up.returncode == 0, up.stdout + up.stderr
    firsts, state = there(first, environment), first.state(environment)

    # Without the option the engine may cancel before it comes there, since names are taken.
    up_all = ("--", "pulumi", "up", "--yes", "--skip-preview", "--continue-on-error", "--stack", environment)
    died = second.rehearse("--fault", f"die:@{dies_at}", *up_all, environment=environment)
    assert died.returncode != 0
    known = {(each["type"], each.get("id")) for each in second.state(environment)}
    lost = {each for each in there(second, environment) if each not in firsts and each not in known}
    assert dies_at in {
        each.name for each in second.cloud_of(environment).store.resources() if (each.type, each.id) in lost
    }, died.stdout + died.stderr

    shown = adopt(second, environment, "--dry-run")
    assert shown.count("in the cloud, not certainly this stack's: ") > 20
    assert f"in the cloud, not in the state: {dies_at} (" in shown
    for type_, id_ in firsts:
        for line in shown.splitlines():
            assert not (f"({type_} {id_})" in line and line.startswith("in the cloud, not in the state")), line
    assert "imported, 0 left, " in adopt(second, environment, "--unlock", "--yes")
    assert adopt(second, environment, "--delete", "--yes").startswith("in the cloud, not certainly this stack's: ")
    # What the first sees is the reverse: what the second one has is none of its business.
    seen = adopt(first, environment, "--yes")
    assert f": {difference}; left alone\n" in seen
    assert f"{environment}: 0 imported, 0 left, " in seen

    again = second.rehearse(environment=environment)
    if environment == "aws-dev":
        # AWS has one cluster of a name, and says so; nothing of that sort is adopted.
        assert again.returncode != 0
        assert "already exists" in again.stdout
        assert "0 imported, 0 left, " in adopt(second, environment, "--yes")
    else:
        assert again.returncode == 0, again.stdout + again.stderr

    now = there(first, environment)
    assert {each: now.get(each) for each in firsts} == firsts
    assert first.state(environment) == state
    gone = second.rehearse(
        "--", "pulumi", "destroy", "--yes", "--exclude-protected", "--stack", environment, environment=environment
    )
    assert gone.returncode == 0, gone.stdout + gone.stderr
    same = ("pulumi", "preview", "--refresh", "--expect-no-changes", "--stack", environment)
    preview = first.rehearse("--", *same, environment=environment)
    assert preview.returncode == 0, preview.stdout + preview.stderr
