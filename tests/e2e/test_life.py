"""The life of aws-dev: up, a file, destroy, up again, erase."""

import re

from tests.e2e.rehearsed_project import Project, held, names_of


def outputs_of(text: str) -> dict[str, str]:
    """The lines `  name: value` that the command prints of the stack's outputs."""
    return dict(re.findall(r"^  (\w+): (.+)$", text, re.MULTILINE))


def untagged(project: Project) -> list[str]:
    """Names of what could carry tags and lacks one that every resource must have."""
    wanted = {"Name", "owner", "project", "environment", "expires-at"}
    cloud = project.cloud
    made = [resource for resource in cloud.store.resources() if not resource.hidden]
    return [r.name for r in made if cloud.row(r.type).taggable and not wanted <= set(r.tags)]


def test_the_whole_life_of_aws_dev(project: Project) -> None:
    up = project.rehearse()
    assert up.returncode == 0, up.stdout + up.stderr
    assert "SIMULATED" in up.stdout
    outputs = outputs_of(up.stdout)
    assert outputs["cluster_name"] == "aws-dev"
    assert outputs["kubeconfig"] == "[secret]"
    assert "aws-dev-trainers GpuNodeGroup" in up.stdout
    assert "(ratio 1.0" in up.stdout
    assert untagged(project) == []
    # Of which the engine writes 13 MB, for half of its time, wherever it finds a place.
    assert not list(project.home.root.rglob("*.log"))

    # From 2 to 450 nodes, EKS's quota of a node group, nothing changes but the number.
    before = {resource["urn"]: resource for resource in project.state()}
    project.configure(lambda config: config["pools"]["trainers"].update(max=450))
    assert project.rehearse().returncode == 0
    # The engine encrypts the provider's kubeconfig anew each time.
    plain = [r for r in project.state() if r["type"] != "pulumi:providers:kubernetes"]
    changed = [r for r in plain if r.get("inputs") != before[r["urn"]].get("inputs")]
    assert names_of(changed) == {"aws-dev-trainers-nodes"}
    old = before[changed[0]["urn"]]["inputs"]
    assert changed[0]["inputs"] == old | {"scalingConfig": old["scalingConfig"] | {"maxSize": 450}}

    # A plain destroy stops at its preview: data is protected, and nothing is deleted.
    everything = held(project.cloud)
    destroy = project.rehearse("--", "pulumi", "destroy", "-s", "aws-dev", "--yes")
    assert destroy.returncode != 0
    assert "protected" in destroy.stdout + destroy.stderr
    assert held(project.cloud) == everything

    # The data outlives the compute.
    (project.folder / "weights.bin").write_bytes(b"learned")
    assert project.rehearse("--put", "weights.bin", "--destroy").returncode == 0
    kept = {
        "aws-dev-files-files", "aws-dev-files-access", "aws-dev-files-backup", "aws-dev-files-policy",
        "aws-dev-registry-aws-dev/training", "aws-dev-registry-aws-dev/training-lifecycle",
    }  # fmt: skip
    assert {line.split(" aws:")[0] for line in held(project.cloud)} == kept

    # The next `up` takes it over: same file system, same file, new mount targets.
    again = project.rehearse()
    assert again.returncode == 0, again.stdout + again.stderr
    assert outputs_of(again.stdout)["file_system_id"] == outputs["file_system_id"]
    assert outputs_of(again.stdout)["registry_urls"] == outputs["registry_urls"]
    assert "weights.bin, 7 bytes" in again.stdout
    mounted = {r["inputs"]["fileSystemId"] for r in project.state() if r["type"] == "aws:efs/mountTarget:MountTarget"}
    assert mounted == {outputs["file_system_id"]}

    # Erasing is said in the configuration, and then nothing at all is left.
    project.configure(lambda config: config.update(erase=True))
    assert project.rehearse().returncode == 0
    erased = project.rehearse("--destroy")
    assert erased.returncode == 0, erased.stdout + erased.stderr
    assert "Nothing is left in the simulated cloud." in erased.stdout
    assert held(project.cloud) == []


def test_a_volume_that_is_replaced_takes_its_claim_along(erasing: Project) -> None:
    """Else the volume waits for a claim that stays (kubernetes.io/pv-protection), and `up` with it."""
    assert erasing.rehearse().returncode == 0

    def ids() -> dict[str, str]:
        kinds = ("kubernetes:core/v1:PersistentVolume", "kubernetes:core/v1:PersistentVolumeClaim")
        uids = {r["type"]: r["outputs"]["metadata"]["uid"] for r in erasing.state() if r["type"] in kinds}
        return {kind.rpartition(":")[2]: uids[kind] for kind in kinds}

    before = ids()
    erasing.configure(lambda config: config.setdefault("files", {}).update(access_point=False))
    up = erasing.rehearse()
    assert up.returncode == 0, up.stdout + up.stderr
    after = ids()
    assert all(after[kind] != before[kind] for kind in before)


def test_aws_prod_comes_up_on_its_reservation(project: Project) -> None:
    up = project.rehearse(environment="aws-prod")
    assert up.returncode == 0, up.stdout + up.stderr
    template = next(r for r in project.state("aws-prod") if r["urn"].endswith("::aws-prod-reserved-template"))
    target = template["inputs"]["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target["capacityReservationId"] == "cr-0123456789abcdef0"
    assert len(template["inputs"]["networkInterfaces"]) == 32


def test_the_rehearsal_changes_no_file_of_the_user(project: Project) -> None:
    def files() -> dict[str, bytes]:
        return {
            str(path.relative_to(project.folder)): path.read_bytes()
            for path in project.folder.rglob("*")
            if path.is_file() and not {".rehearsal", ".venv", "__pycache__"} & set(path.parts)
        }

    before = files()
    assert project.rehearse("--", "pulumi", "preview", "-s", "aws-dev").returncode == 0
    assert files() == before
