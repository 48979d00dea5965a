"""Shared files of pods on Lustre, from the configuration of an environment."""

from tests.unit.stacks.aws_environment import program
from tests.unit.stacks.test_own_servers import changed

FILES, VOLUME = "aws:fsx/lustreFileSystem:LustreFileSystem", "kubernetes:core/v1:PersistentVolume"
LUSTRE = {"zone": "use1-az1", "gib": 2400, "throughput": 250}


def test_pods_mount_lustre_in_place_of_efs():
    made = program(lustre=LUSTRE)
    assert made.of("aws:efs/fileSystem:FileSystem") == []
    files = made.one(FILES)
    assert (files.inputs["storageCapacity"], files.inputs["perUnitStorageThroughput"]) == (2400, 250)
    assert files.protect is True
    volume = made.one(VOLUME, "dev-volume-volume")
    assert volume.inputs["spec"]["csi"]["driver"] == "fsx.csi.aws.com"
    assert volume.inputs["spec"]["mountOptions"] == ["flock", "noatime"]
    addons = {each.inputs["addonName"] for each in made.of("aws:eks/addon:Addon")}
    assert "aws-fsx-csi-driver" in addons
    assert "aws-efs-csi-driver" not in addons
    # Jobs mount the claim that they mounted before.
    assert made.result["jobs"]["volume_claim"] == "shared"


def test_files_are_in_one_place():
    [line] = program.refusal(lustre=LUSTRE, files={"uid": 1001})
    assert line.startswith("dev-lustre: keys=[files]: would be second places of the shared files")
    lines = program.refusal(**changed(), lustre=LUSTRE)
    assert [line for line in lines if "keys=[own_servers]" in line] != []


def test_lustre_is_no_place_of_a_copy_to_efs():
    agent = "arn:aws:datasync:us-east-1:123456789012:agent/agent-0123456789abcdef0"
    sync = {"nfs_server": "192.168.10.5", "nfs_path": "/export/data", "agent_arns": [agent], "every_hours": 6}
    [line] = program.refusal(lustre=LUSTRE, data_sync=sync)
    assert line.endswith("[aws-sync-files-made]")


def test_efa_that_no_pool_uses_is_a_warning(caplog):
    pool = {"types": ["g5.8xlarge"], "max": 2, "zones": ["use1-az1"]}
    caplog.set_level("INFO")
    program.run(lustre=LUSTRE | {"efa": True, "gib": 4800, "throughput": 1000}, pools={"trainers": pool})
    lines = [each.message for each in caplog.records if "aws-lustre-efa" in each.message]
    assert len(lines) == 1
    assert lines[0].startswith("dev-lustre: efa=true: is used by no node: no pool has network=efa")
