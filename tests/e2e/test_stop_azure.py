"""No GPU nodes on Azure for a while: an agent pool and a Batch pool, stopped and started on the real engine."""

import json
from typing import Any

from tests.e2e.rehearsed_project import Project

AZURE = "azure-dev"


def pools(project: Project) -> dict[str, Any]:
    """What decides the number of nodes of each GPU pool, in the cloud."""
    store = project.cloud_of(AZURE).store
    agents = {
        each.name: [each.view.get(key) for key in ("enableAutoScaling", "minCount", "maxCount", "count")]
        for each in store.resources("azure-native:containerservice:AgentPool")
    }
    batch = {each.name: sorted(each.view["scaleSettings"]) for each in store.resources("azure-native:batch:Pool")}
    return agents | batch


def floor(project: Project) -> float:
    listed = project.rehearse("--", "gpufleet", "ps", "--json", environment=AZURE)
    assert listed.returncode == 0, listed.stdout + listed.stderr
    (environment,) = json.loads(listed.stdout)["environments"]
    return float(environment["usd_per_hour"]["floor"]["usd"])


def test_azure_dev_without_gpus_and_back(project: Project) -> None:
    project.configure(lambda config: config["pools"]["trainers"].update(min=1), AZURE)
    up = project.rehearse(environment=AZURE)
    assert up.returncode == 0, up.stdout + up.stderr
    before, dear = pools(project), floor(project)

    stopped = project.rehearse("--", "gpufleet", "stop", AZURE, "--yes", environment=AZURE)
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr
    assert pools(project) == {
        "azure-dev-trainers-nodes": [False, None, None, 0],
        "azure-dev-spot-pool": ["fixedScale"],
    }
    cheap = floor(project)
    # One node of the cluster's pool, which ran at all times.
    assert dear - cheap > 0.5
    assert f"still costs ${cheap:,.3f}/h" in stopped.stdout

    undone = project.rehearse("--", "gpufleet", "stop", AZURE, "--undo", environment=AZURE)
    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert (pools(project), floor(project)) == (before, dear)
