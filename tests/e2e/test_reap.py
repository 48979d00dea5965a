"""A temporary environment ends by itself, on the real engine: its data stays, and so does a fresh one."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.e2e.rehearsed_project import Project, held, names_of


def reaped(project: Project, *arguments: str, code: int = 0) -> dict[str, str]:
    """Verdicts of `gpufleet reap`, by stack."""
    found = project.rehearse("--", "gpufleet", "reap", "--grace", "3d", "--json", *arguments)
    assert found.returncode == code, found.stdout + found.stderr
    assert "ciphertext" not in found.stdout
    return {each["stack"]: each["verdict"] for each in json.loads(found.stdout)["environments"]}


def age(project: Project, stack: str, hours: float) -> None:
    """Make a stack look as if it had been made so many hours ago: in the engine's own state."""
    file = project.home.root / "backend" / ".pulumi" / "stacks" / "gpufleet" / f"{stack}.json"
    content = json.loads(file.read_text())
    for resource in content["checkpoint"]["latest"]["resources"]:
        born = datetime.fromisoformat(resource["created"]) - timedelta(hours=hours)
        resource["created"] = born.astimezone(UTC).isoformat().replace("+00:00", "Z")
    file.write_text(json.dumps(content))


def test_what_has_had_its_time_goes_and_its_data_stays(project: Project) -> None:
    def temporary(config: dict[str, Any]) -> None:
        config.update(expires_at="6d", purpose="a paper")

    for stack in ("aws-batch-dev", "aws-dev"):
        project.configure(temporary, stack)
        up = project.rehearse(environment=stack)
        assert up.returncode == 0, up.stdout + up.stderr
    purposes = {each.tags["purpose"] for each in project.cloud.store.resources() if "owner" in each.tags}
    assert purposes == {"a paper"}
    fresh = project.state("aws-batch-dev")

    # 5 hours: nobody touches it. 150 hours: it is warned of. 240 hours: it is due, and a dry run changes nothing.
    age(project, "aws-batch-dev", 5)
    age(project, "aws-dev", 150)
    before = held(project.cloud)
    assert reaped(project, "--yes") == {"aws-batch-dev": "stays", "aws-dev": "in-grace"}
    age(project, "aws-dev", 90)
    assert reaped(project) == {"aws-batch-dev": "stays", "aws-dev": "due"}
    assert reaped(project, "--yes", "--keep", "gpufleet/aws-d*") == {"aws-batch-dev": "stays", "aws-dev": "spared"}
    assert held(project.cloud) == before

    # Now for real: compute is gone from the cloud, the data is there, and the other is as it was.
    assert reaped(project, "--yes") == {"aws-batch-dev": "stays", "aws-dev": "destroyed"}
    left = [each for each in held(project.cloud) if each.startswith("aws-dev-")]
    assert {each.split(" ")[0] for each in left} == {
        "aws-dev-files-files", "aws-dev-files-access", "aws-dev-files-backup", "aws-dev-files-policy",
        "aws-dev-registry-aws-dev/training", "aws-dev-registry-aws-dev/training-lifecycle",
    }  # fmt: skip
    assert [each for each in held(project.cloud) if not each.startswith("aws-dev-")] == [
        each for each in before if not each.startswith("aws-dev-")
    ]
    assert names_of(project.state("aws-batch-dev")) == names_of(fresh)
    listed = project.rehearse("--", "gpufleet", "ps", "--json")
    old = next(each for each in json.loads(listed.stdout)["environments"] if each["stack"] == "aws-dev")
    assert (old["only_data"], old["expired"], old["purpose"]) == (True, False, "a paper")

    # What only keeps data is not destroyed again and again; a new life begins with the next `up`, older files or not.
    assert reaped(project, "--yes") == {"aws-batch-dev": "stays", "aws-dev": "stays"}
    again = project.rehearse(environment="aws-dev")
    assert again.returncode == 0, again.stdout + again.stderr
    assert reaped(project, "--yes") == {"aws-batch-dev": "stays", "aws-dev": "stays"}


def test_environment_that_says_so_takes_its_data_along(erasing: Project) -> None:
    erasing.configure(lambda config: config.update(expires_at="1h"))
    assert erasing.rehearse().returncode == 0
    age(erasing, "aws-dev", 240)
    assert reaped(erasing, "--yes") == {"aws-dev": "destroyed"}
    assert held(erasing.cloud) == []
