"""publish.yml: what builds cannot publish, and what publishes runs nothing of the repository."""

from pathlib import Path
from typing import Any

import yaml

WORKFLOW = Path(__file__).parents[2] / ".github" / "workflows" / "publish.yml"


def workflow() -> dict[str, Any]:
    """All of it as texts: YAML 1.1 would read the key `on` as a truth."""
    return dict(yaml.load(WORKFLOW.read_text(), yaml.BaseLoader))


def test_it_starts_from_a_releases_tag_alone() -> None:
    assert workflow()["on"] == {"push": {"tags": ["v*"]}}


def test_job_that_publishes_has_the_identity_and_runs_no_command() -> None:
    jobs = workflow()["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"] == "pypi"
    assert jobs["publish"]["if"] == "vars.GPUFLEET_PUBLISH == 'on'"
    used = [step["uses"].partition("@")[0] for step in jobs["publish"]["steps"]]
    assert used == ["actions/download-artifact", "pypa/gh-action-pypi-publish"]


def test_job_that_builds_has_no_identity_and_no_secret() -> None:
    assert workflow()["jobs"]["build"]["permissions"] == {"contents": "read"}
    assert "secrets." not in WORKFLOW.read_text()


def test_package_is_built_for_the_repository_that_the_workflow_runs_in() -> None:
    (build,) = [step for step in workflow()["jobs"]["build"]["steps"] if step.get("run") == "make dist"]
    assert build["env"]["GPUFLEET_REPOSITORY"] == "${{ github.server_url }}/${{ github.repository }}"
