"""After the provider has died in the middle of azure-prod's `up`: what Azure holds and the state does not is adopted.

Azure's names have random ends: without adoption the next `up` would make a second storage account beside the first, and
be refused a container, a pool or a role that is there.
"""

import pytest

from tests.e2e.rehearsed_project import Project, held

ENVIRONMENT = "azure-prod"
ACCOUNT, CONTAINER, POOL = "azureprodfiles", "azure-prod-files-container-scripts", "azure-prod-trainers-pool"
SWEPT = pytest.mark.sweep


@pytest.fixture
def erasing(project: Project) -> Project:
    project.configure(lambda config: config.update(erase=True), ENVIRONMENT)
    return project


def rehearse(project: Project, *arguments: str) -> str:
    done = project.rehearse(*arguments, environment=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def lost(project: Project) -> dict[str, str]:
    """Logical name to id of what the cloud has and the state has not; the cloud's own things aside."""
    known = {resource.get("id") for resource in project.state(ENVIRONMENT)}
    made = project.cloud_of(ENVIRONMENT).store.resources()
    return {each.name: each.id for each in made if each.owner is None and each.id not in known}


def dead_after(project: Project, name: str) -> dict[str, str]:
    """What is lost when the provider dies once Azure has made the resource of this logical name."""
    assert project.rehearse("--fault", f"die:@{name}", environment=ENVIRONMENT).returncode != 0
    orphans = lost(project)
    assert name.partition(":")[0] in orphans
    return orphans


def adopt(project: Project, *options: str) -> str:
    return rehearse(project, "--", "gpufleet", "adopt", ENVIRONMENT, *options)


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=SWEPT) for name in (ACCOUNT, POOL)), CONTAINER])
def test_what_the_state_has_lost_is_imported(erasing: Project, name: str) -> None:
    orphans = dead_after(erasing, name)
    listed = adopt(erasing, "--dry-run")
    assert f"in the cloud, not in the state: {name} (" in listed
    assert "not in the program" not in listed
    assert lost(erasing) == orphans

    adopted = adopt(erasing, "--unlock", "--yes")
    assert f"{len(orphans)} imported, 0 left; continue with `pulumi up`" in adopted
    for each, id_ in orphans.items():
        assert f"in the cloud, not in the state: {each} (" in adopted
        assert f" {id_})" in adopted
    assert lost(erasing) == {}

    rehearse(erasing)
    store = erasing.cloud_of(ENVIRONMENT).store
    assert orphans.items() <= {each.name: each.id for each in store.resources()}.items()
    names = [(each.type, each.name) for each in store.resources() if each.owner is None]
    assert len(names) == len(set(names)), "something was made twice"
    assert rehearse(erasing).count(" created") == 0
    rehearse(erasing, "--destroy")
    assert held(erasing.cloud_of(ENVIRONMENT)) == []


@SWEPT
def test_of_two_accounts_none_is_guessed(erasing: Project) -> None:
    """Who runs `up` again at once has two, and nobody but them knows which one holds the data."""
    dead_after(erasing, ACCOUNT)
    # Counted by the fault's text: this one has not struck yet.
    dead_after(erasing, f"{ACCOUNT}:1")
    store = erasing.cloud_of(ENVIRONMENT).store
    accounts = [each.id for each in store.resources() if each.name == ACCOUNT]
    assert len(accounts) == 2
    done = erasing.rehearse("--", "gpufleet", "adopt", ENVIRONMENT, "--yes", environment=ENVIRONMENT)
    assert done.returncode == 1
    assert (
        f"{ACCOUNT} (azure-native:storage:StorageAccount): may be any of {', '.join(accounts)}; "
        "delete what is not, or `pulumi import` what is\n" in done.stdout
    )
    known = {resource.get("id") for resource in erasing.state(ENVIRONMENT)}
    assert not known & set(accounts)
    assert {each.id for each in store.resources()} - known == set(accounts)
