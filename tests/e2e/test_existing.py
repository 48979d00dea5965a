"""A team that has everything but GPU nodes: VPC, cluster, files, images, an own machine image and a key pair."""

import shutil
from pathlib import Path

from tests.e2e.rehearsed_project import Project, held

EXISTING = Path(__file__).with_name("existing_environment")


def test_gpu_nodes_beside_what_exists(project: Project) -> None:
    for file in EXISTING.iterdir():
        shutil.copy(file, project.folder / "stacks" / "config")
    up = project.rehearse(environment="theirs")
    assert up.returncode == 0, up.stdout + up.stderr
    cloud = project.cloud
    # Nothing of what exists is made a second time, or changed.
    for type_ in ("ec2/vpc:Vpc", "ec2/subnet:Subnet", "eks/cluster:Cluster", "efs/fileSystem:FileSystem"):
        assert not [r for r in cloud.store.resources(f"aws:{type_}") if ":theirs::" in r.urn], type_
    (template,) = (r for r in cloud.store.resources("aws:ec2/launchTemplate:LaunchTemplate"))
    assert (template.inputs["imageId"], template.inputs["keyName"]) == ("ami-0aaaaaaaaaaaaaaaa", "theirs")
    (nodes,) = cloud.store.resources("aws:eks/nodeGroup:NodeGroup")
    assert (nodes.inputs["clusterName"], nodes.inputs["amiType"]) == ("theirs", "CUSTOM")
    targets = cloud.store.resources("aws:efs/mountTarget:MountTarget")
    assert {target.inputs["fileSystemId"] for target in targets} == {"fs-0aaaaaaaaaaaaaaaa"}
    assert "(ratio 1.0" in up.stdout

    # Destroy takes away the nodes and leaves what was there before, and the access point to the files.
    assert project.rehearse("--destroy", environment="theirs").returncode == 0
    ours = {line.split(" aws:")[0] for line in held(project.cloud) if line.startswith("theirs-")}
    assert ours == {"theirs-files-access"}
