"""The state that a release left, under the program of now: an upgrade replaces and deletes nothing.

`states/<environment>-<version>.json.xz` is what `pulumi stack export` gave after `gpufleet rehearse <environment>` at
that release; its secrets are made with the rehearsal's passphrase, and of a simulated cloud. See docs/upgrade.md.
"""

import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpufleet_rehearsal.cloud.interpreter import Cloud
from tests.e2e.rehearsed_project import Project

STATES = Path(__file__).with_name("states")
RELEASES = sorted(STATES.glob("*.json.xz"))
PLAYED = ("aws:", "azure-native:")


def told_by_tags(pool: str, *resources: str) -> list[str]:
    """What told the cluster autoscaler of an empty pool, before it read labels and taints from EKS."""
    labels = [
        f"gpufleet.dev/{word}" for word in ("capacity", "gpu", "network", "place", "placement", "pool", "zone-id")
    ]
    return [
        *(f"delete {pool}-label/{key}" for key in (*labels, "nvidia.com/gpu.present")),
        *(f"delete {pool}-resources/{key}" for key in resources),
        f"delete {pool}-taint/nvidia.com/gpu",
    ]


GONE = {
    "aws-dev-0.1.0": told_by_tags("aws-dev-trainers", "nvidia.com/gpu", "vpc.amazonaws.com/efa"),
    # Roles on each container take the place of one on the account.
    "azure-dev-0.1.0": ["delete azure-dev-files-blobs-of-nodes"],
    # The shared files of own servers are NFS, so no pod mounts EFS; CHANGELOG.md says what to do for one that does.
    "hybrid-0.1.0": [
        "delete hybrid-cluster-aws-efs-csi-driver",
        "delete hybrid-cluster-efs-csi-role",
        "delete hybrid-cluster-efs-csi-role-AmazonEFSCSIDriverPolicy",
        *told_by_tags("hybrid-rented", "nvidia.com/gpu"),
        # Systems Manager changes no tags of an activation; servers that have joined stay.
        "replace hybrid-own-servers-activation",
    ],
}
"""What an upgrade deletes all the same, by state: nothing that a job or its data needs."""


def share_of_logs(config: dict[str, Any]) -> None:
    """The configuration of azure-dev as it was, with a share of logs on every node."""
    config["files"] |= {"shares": ["logs"], "shared_keys": True}
    config["batch"]["pools"]["spot"]["mounts"] = ["scripts", "result", "logs"]


def second_phase(config: dict[str, Any]) -> None:
    """The configuration of hybrid as it was, with all that is installed on its cluster."""
    config["phase"] = "cluster"


BEFORE: dict[str, Callable[[dict[str, Any]], None]] = {
    "azure-dev-0.1.0": share_of_logs,
    "hybrid-0.1.0": second_phase,
}
"""What CHANGELOG.md says to write before an upgrade, by state."""
HARMLESS = {"same", "create", "update", "read", "refresh"}


def previewed(project: Project, environment: str, state: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of a preview with that state; those that leave a resource as it is are not listed."""
    file = project.folder / "state.json"
    file.write_text(json.dumps(state))
    taken = project.rehearse(
        "--", "pulumi", "stack", "import", "-s", environment, "--file", str(file), environment=environment
    )
    assert taken.returncode == 0, taken.stdout + taken.stderr
    fill(project.cloud_of(environment), state)
    preview = project.rehearse("--", "pulumi", "preview", "-s", environment, "--json", environment=environment)
    assert preview.returncode == 0, preview.stdout + preview.stderr
    return json.loads(preview.stdout)["steps"]


def fill(cloud: Cloud, state: dict[str, Any]) -> None:
    """Have the cloud hold what the state knows: programs ask for keys of what is there."""
    for each in state["deployment"]["resources"]:
        if each["type"].startswith(PLAYED):
            name = each["id"].rpartition("/")[2]
            about = {"type_": each["type"], "id_": each["id"], "urn": each["urn"], "name": name}
            # A state has its secrets encrypted, and a cloud has none of that.
            outputs = {key: value for key, value in each["outputs"].items() if not is_secret(value)}
            cloud.store.add(**about, inputs=each["inputs"], outputs=outputs, at=0, ready_at=0)


def is_secret(value: object) -> bool:
    return isinstance(value, dict) and "ciphertext" in value


def lost(steps: list[dict[str, Any]]) -> list[str]:
    """Operation and name of all that would be replaced or deleted."""
    return sorted(f"{step['op']} {step['urn'].split('::')[-1]}" for step in steps if step["op"] not in HARMLESS)


def state_of(file: Path) -> dict[str, Any]:
    return json.loads(lzma.decompress(file.read_bytes()))


@pytest.mark.parametrize("file", RELEASES, ids=lambda file: file.name.removesuffix(".json.xz"))
def test_upgrade_replaces_and_deletes_nothing(project: Project, file: Path) -> None:
    environment = file.name.rpartition("-")[0]
    release = file.name.removesuffix(".json.xz")
    if release in BEFORE:
        project.configure(BEFORE[release], environment)
    state = state_of(file)
    assert len(state["deployment"]["resources"]) > 50
    assert lost(previewed(project, environment, state)) == GONE.get(release, [])


def test_new_name_without_an_alias_is_found(project: Project) -> None:
    """What a renamed resource would cost: shown with an older state in which a network has another name."""
    text = json.dumps(state_of(STATES / "aws-dev-0.1.0.json.xz"))
    assert "::aws-dev-network-vpc" in text
    steps = previewed(project, "aws-dev", json.loads(text.replace("::aws-dev-network-vpc", "::aws-dev-network-cloud")))
    assert "delete aws-dev-network-cloud" in lost(steps)
