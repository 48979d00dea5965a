"""The provider with nothing behind it: schemas judge, and objects and releases are noted down."""

import asyncio
import json

import pytest
from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.change import UNKNOWN
from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.cluster import SimulatedCluster
from gpufleet_rehearsal.kubernetes.configuration import configuration_problems, leads_elsewhere, read_configuration
from gpufleet_rehearsal.kubernetes.engine_log import EngineLog
from gpufleet_rehearsal.kubernetes.package_schema import package_schema
from gpufleet_rehearsal.kubernetes.recorded_objects import FILE, recorded_in_all
from gpufleet_rehearsal.kubernetes.release import KIND as RELEASE_KIND
from gpufleet_rehearsal.kubernetes.resource_type import ResourceTypeError, resource_type_of

CONFIGMAP = "kubernetes:core/v1:ConfigMap"
URN = f"urn:pulumi:s::p::{CONFIGMAP}::a"
VOLUME, CLAIM = "kubernetes:core/v1:PersistentVolume", "kubernetes:core/v1:PersistentVolumeClaim"
VOLUME_SPEC = {"accessModes": ["ReadWriteMany"], "capacity": {"storage": "1Ti"}, "nfs": {"server": "a.b", "path": "/"}}
CLAIM_SPEC = {
    "accessModes": ["ReadWriteMany"],
    "resources": {"requests": {"storage": "1Ti"}},
    "volumeName": "v",
    "storageClassName": "",
}


class Heard(EngineLog):
    """Keeps what is said."""

    def __init__(self):
        super().__init__(None)
        self.warnings = []

    async def warn(self, text, urn=""):
        if text not in self.warnings:
            self.warnings.append(text)


@pytest.fixture
def heard():
    return Heard()


@pytest.fixture
def cluster(tmp_path, heard):
    (tmp_path / "rehearsal.json").write_text('{"control_plane": false}')
    return SimulatedCluster(tmp_path, read_configuration({}), Clock(1.0), heard)


def run(work):
    return asyncio.run(work)


def test_life_of_a_noted_object(cluster, heard):
    inputs, found = run(cluster.check(CONFIGMAP, "a", {"data": {"x": "1"}}, {}, b"seed"))
    assert found == []
    name = inputs["metadata"]["name"]
    assert name.startswith("a-")
    assert len(name) == 10
    # The same again, and kept afterwards.
    assert run(cluster.check(CONFIGMAP, "a", {"data": {"x": "1"}}, {}, b"seed"))[0] == inputs
    assert run(cluster.check(CONFIGMAP, "a", {"data": {"x": "2"}}, inputs, b"other"))[0]["metadata"]["name"] == name

    id_, outputs = run(cluster.create(CONFIGMAP, URN, inputs, 0))
    assert id_ == f"default/{name}"
    assert heard.warnings == [
        "kubernetes: the rehearsal runs with --no-control-plane; objects are checked against the schemas of "
        "Kubernetes 1.34.0 and recorded, not applied"
    ]
    changed = run(cluster.update(CONFIGMAP, URN, id_, {**inputs, "data": {"x": "2"}}, outputs, 0, ()))
    assert changed["metadata"]["uid"] == outputs["metadata"]["uid"]
    assert run(cluster.read(CONFIGMAP, URN, id_, inputs, outputs))[0]["data"] == {"x": "2"}
    run(cluster.delete(CONFIGMAP, URN, id_, inputs, outputs, 0))
    assert run(cluster.read(CONFIGMAP, URN, id_, inputs, outputs)) is None


def test_wrong_object_is_found_by_its_schema(cluster):
    _, found = run(cluster.check(CONFIGMAP, "a", {"data": {"x": 1}, "spec": {}}, {}, b""))
    assert ("data.x", "data.x: 1 is not of type string") in found
    assert any(why.startswith("unknown field spec; legal are: ") for _, why in found)


def test_kind_without_a_definition_is_said_not_to_be_verified(cluster, heard):
    lamp = {"apiVersion": "x.org/v1", "kind": "Lamp", "metadata": {"name": "l"}}
    run(cluster.foresee("kubernetes:x.org/v1:Lamp", "urn", lamp, None))
    assert "x.org/v1/Lamp: not verified: its CustomResourceDefinition does not exist (yet)" in heard.warnings


def test_preview_before_the_cluster_is_there_is_judged_by_schemas(tmp_path, heard):
    cluster = SimulatedCluster(tmp_path, read_configuration({"kubeconfig": UNKNOWN}), Clock(1.0), heard)
    wrong = {"metadata": {"name": "a"}, "data": {"x": 1}}
    with pytest.raises(UserError, match=r"data.x: 1 is not of type string"):
        run(cluster.foresee(CONFIGMAP, URN, wrong, None))
    assert heard.warnings == [
        "kubernetes: the kubeconfig is only known once its cluster exists; objects are only checked against the "
        "schemas of Kubernetes 1.34.0"
    ]
    with pytest.raises(UserError, match="its cluster is not known yet, so it cannot be read"):
        run(cluster.read(CONFIGMAP, URN, "default/a", {}, {}))


def test_namespace_of_the_provider_is_for_kinds_that_lie_in_one(tmp_path, heard):
    (tmp_path / "rehearsal.json").write_text('{"control_plane": false}')
    cluster = SimulatedCluster(tmp_path, read_configuration({"namespace": "team"}), Clock(1.0), heard)
    placed, _ = run(cluster.check(CONFIGMAP, "a", {"metadata": {"name": "a"}}, {}, b""))
    assert placed["metadata"] == {"name": "a", "namespace": "team"}
    free, _ = run(cluster.check("kubernetes:core/v1:Namespace", "a", {"metadata": {"name": "a"}}, {}, b""))
    assert free["metadata"] == {"name": "a"}


def test_metadata_that_is_not_known_yet_passes(cluster):
    inputs, found = run(cluster.check(CONFIGMAP, "a", {"metadata": UNKNOWN}, {}, b""))
    assert (inputs["metadata"], found) == (UNKNOWN, [])


@pytest.mark.parametrize(
    ("type_", "inputs", "line"),
    [
        ("kubernetes:core/v1:ConfigMapList", {"kind": "ConfigMapList", "items": []}, "a list cannot be created; "),
        ("kubernetes:yaml/v2:ConfigGroup", {}, "parse the manifest and register each object by itself"),
        ("kubernetes:helm.sh/v4:Chart", {}, "a chart as helm.v3.Release"),
        ("kubernetes:helm.sh/v3:Chart", {}, "a chart as helm.v3.Release"),
        ("kubernetes:core:ConfigMap", {}, "must be a Kubernetes type, kubernetes:<group>/<version>:<Kind>"),
    ],
)
def test_what_is_no_object_is_refused(cluster, type_, inputs, line):
    with pytest.raises(UserError) as error:
        run(cluster.check(type_, "a", inputs, {}, b""))
    assert line in str(error.value)


def test_kinds_by_type():
    assert str(resource_type_of("kubernetes:core/v1:Pod", {})) == "v1/Pod"
    assert (
        str(resource_type_of("kubernetes:rbac.authorization.k8s.io/v1:Role", {})) == "rbac.authorization.k8s.io/v1/Role"
    )
    patch = resource_type_of("kubernetes:core/v1:NamespacePatch", {"kind": "Namespace"})
    assert (patch.kind, patch.patch) == ("Namespace", True)
    own = resource_type_of("kubernetes:x.org/v1:DriverPatch", {"kind": "DriverPatch"})
    assert (own.kind, own.patch) == ("DriverPatch", False)
    with pytest.raises(ResourceTypeError):
        resource_type_of("aws:ec2/vpc:Vpc", {})


RELEASE = {"chart": "kueue", "version": "0.19.0", "values": {"replicas": 1}, "namespace": "kueue"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"version": "v1.2.3-rc.1"}, None),
        ({"version": UNKNOWN, "values": UNKNOWN}, None),
        ({"version": None}, "version: not set; pin the version of kueue, so that every `up` installs the same"),
        ({"version": "0.19"}, "version='0.19': must be one version, such as 1.2.3, not a range"),
        ({"version": "^1.2.3"}, "version='^1.2.3': must be one version, such as 1.2.3, not a range"),
        ({"chart": None}, "chart: not set; name the chart, or its oci:// address"),
        ({"values": "a: b"}, "values: must be a mapping, not str"),
        ({"value": {}}, "value: unknown argument of a Release; must be one of allowNullValues, "),
        ({"name": "a_b"}, "name='a_b': must be a release name: "),
        ({"name": "a" * 54}, f"name={'a' * 54!r}: must be a release name: "),
        ({"repositoryOpts": {"repo": "oci://x"}}, "repositoryOpts.repo='oci://x': must be an http(s) address; "),
    ],
)
def test_arguments_of_a_release(cluster, change, reason):
    inputs = {key: value for key, value in {**RELEASE, **change}.items() if value is not None}
    _, found = cluster.releases.check("queue", inputs, {}, b"seed")
    assert [why[: len(reason or "")] for _, why in found] == ([reason] if reason else [])


def test_release_is_noted_and_not_rendered(cluster, heard):
    inputs, _ = cluster.releases.check("queue", RELEASE, {}, b"seed")
    assert inputs["name"].startswith("queue-")
    id_, outputs = run(cluster.releases.create("urn:pulumi:s::p::t::queue", inputs, preview=False))
    assert id_ == f"kueue/{inputs['name']}"
    assert outputs["status"]["status"] == "deployed"
    assert "recorded, not rendered" in heard.warnings[0]
    with pytest.raises(UserError, match="cannot re-use a name that is still in use"):
        run(cluster.releases.create("urn:pulumi:s::p::t::queue", inputs, preview=False))
    assert run(cluster.releases.update("urn", id_, inputs, preview=False))["status"]["revision"] == 2
    cluster.releases.delete(id_)
    assert cluster.releases.read(id_) is None


def test_two_clusters_of_one_rehearsal_hold_objects_of_the_same_names(tmp_path, heard):
    """As aws-dev and aws-prod: each has its autoscaler, and what ends with one stays in the other."""
    (tmp_path / "rehearsal.json").write_text('{"control_plane": false}')

    def cluster_at(server):
        context = {"name": "x", "context": {"cluster": "c"}}
        cluster = {"name": "c", "cluster": {"server": server}}
        leading = json.dumps({"clusters": [cluster], "contexts": [context], "current-context": "x"})
        return SimulatedCluster(tmp_path, read_configuration({"kubeconfig": leading}), Clock(1.0), heard)

    dev, prod = cluster_at("https://dev.rehearsal.invalid"), cluster_at("https://prod.rehearsal.invalid")
    release = RELEASE | {"name": "autoscaler"}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "dev"}}
    for each, value in ((dev, "dev"), (prod, "prod")):
        run(each.releases.create("urn", release | {"values": {"of": value}}, preview=False))
        run(each.create(CONFIGMAP, URN, document | {"data": {"x": value}}, 0))
    noted = recorded_in_all(Store(tmp_path / FILE), RELEASE_KIND)
    assert [each["values"] for each in noted] == [{"of": "dev"}, {"of": "prod"}]

    run(dev.delete(CONFIGMAP, URN, "default/a", document, {}, 0))
    dev.releases.delete("kueue/autoscaler")
    assert (dev.releases.any, prod.releases.any) == (False, True)
    assert run(dev.read(CONFIGMAP, URN, "default/a", document, {})) is None
    assert run(prod.read(CONFIGMAP, URN, "default/a", document, {}))[0]["data"] == {"x": "prod"}
    assert prod.releases.read("kueue/autoscaler")[0]["values"] == {"of": "prod"}


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ({"kubeconfg": "x"}, "kubernetes:kubeconfg: no such key of the provider's configuration; legal are: "),
        ({"enableServerSideApply": "false"}, "kubernetes:enableServerSideApply=false: a rehearsal applies"),
        (
            {"renderYamlToDirectory": "out"},
            "kubernetes:renderYamlToDirectory: not supported: a rehearsal applies objects",
        ),
        ({"kubeconfig": "/no/file"}, "kubeconfig: /no/file: No such file or directory"),
        ({"enableServerSideApply": "true", "kubeconfig": UNKNOWN, "namespace": UNKNOWN}, None),
    ],
)
def test_configuration(config, line):
    found = [why for _, why in configuration_problems(config)]
    assert [why[: len(line or "")] for why in found] == ([line] if line else [])


def test_another_cluster_replaces_what_is_on_the_old_one():
    def leading(server):
        context = {"name": "x", "context": {"cluster": "c"}}
        cluster = {"name": "c", "cluster": {"server": server}}
        return {"kubeconfig": json.dumps({"clusters": [cluster], "contexts": [context], "current-context": "x"})}

    here, there = leading("https://a.rehearsal.invalid"), leading("https://b.rehearsal.invalid")
    assert leads_elsewhere(here, there)
    assert not leads_elsewhere(here, here)
    assert not leads_elsewhere(here, {"kubeconfig": UNKNOWN})
    assert not leads_elsewhere({}, here)


def test_schema_for_import_has_the_kinds():
    resources = package_schema("4.24.0")["resources"]
    assert {"kubernetes:core/v1:ConfigMap", "kubernetes:apps/v1:Deployment", "kubernetes:helm.sh/v3:Release"} <= set(
        resources
    )
    assert set(resources["kubernetes:core/v1:ConfigMap"]["inputProperties"]) >= {"data", "metadata"}


def test_a_request_is_printed_and_only_its_submission_needs_a_control_plane(tmp_path, monkeypatch):
    (tmp_path / "Pulumi.yaml").write_text("name: p\nruntime: python\n")
    monkeypatch.setenv("GPUFLEET_REHEARSAL", str(tmp_path / "home"))
    server = {"server": "https://aks.rehearsal.invalid"}
    kubeconfig = {
        "clusters": [{"name": "c", "cluster": server}],
        "contexts": [{"name": "c", "context": {"cluster": "c"}}],
        "current-context": "c",
    }
    jobs = {"namespace": "training", "pools": {"trainers": {"types": ["g5.8xlarge"], "max": 2}}}
    registry = {"dev/training": "r.rehearsal.invalid/training"}
    outputs = tmp_path / "outputs.json"
    outputs.write_text(json.dumps({"kubeconfig": kubeconfig, "registry_urls": registry, "jobs": jobs}))
    given = ["--outputs", str(outputs), "--program", str(tmp_path), "--workers", "2", "--image", "training:1"]
    submit = ["jobs", "submit", "dev", *given, "--name", "train"]
    dry = CliRunner().invoke(main, [*submit, "--dry-run", "--", "python3", "train.py"])
    assert dry.exit_code == 0, dry.output
    assert "image: r.rehearsal.invalid/training:1" in dry.stdout
    done = CliRunner().invoke(main, [*submit, "--", "python3", "train.py"])
    assert (done.exit_code, done.stderr) == (
        1,
        "Error: dev: its simulated cluster leads to no control plane: it does not run; `gpufleet rehearse dev` brings "
        "it up\n",
    )


def test_a_volume_is_kept_as_long_as_a_claim_names_it(cluster):
    """pkg/controller/volume/pvprotection of Kubernetes: the volume is deleted after its claim."""
    of_volume = {"metadata": {"name": "v"}, "spec": VOLUME_SPEC}
    of_claim = {"metadata": {"name": "c", "namespace": "default"}, "spec": CLAIM_SPEC}
    volume_id, _ = run(cluster.create(VOLUME, URN, of_volume, 0))
    claim_id, _ = run(cluster.create(CLAIM, URN, of_claim, 0))
    with pytest.raises(UserError) as error:
        run(cluster.delete(VOLUME, URN, volume_id, of_volume, {}, 0.2))
    assert str(error.value) == (
        "PersistentVolume v is still there 0.2 s after it was to be deleted; finalizers: kubernetes.io/pv-protection; "
        "take away what holds it, then run the command again"
    )
    run(cluster.delete(CLAIM, URN, claim_id, of_claim, {}, 0))
    run(cluster.delete(VOLUME, URN, volume_id, of_volume, {}, 0))
    assert run(cluster.read(VOLUME, URN, volume_id, of_volume, {})) is None


def test_a_volume_goes_when_its_claim_goes_with_the_namespace(cluster):
    """As with `deleted_with`: the engine never asks for the claim's deletion, and may ask for the volume's first."""
    space = "kubernetes:core/v1:Namespace"
    of_space, of_volume = {"metadata": {"name": "team"}}, {"metadata": {"name": "v"}, "spec": VOLUME_SPEC}
    of_claim = {"metadata": {"name": "c", "namespace": "team"}, "spec": CLAIM_SPEC}
    other = {"metadata": {"name": "x", "namespace": "team-2"}, "data": {"a": "b"}}

    async def life():
        space_id, _ = await cluster.create(space, URN, of_space, 0)
        volume_id, _ = await cluster.create(VOLUME, URN, of_volume, 0)
        claim_id, _ = await cluster.create(CLAIM, URN, of_claim, 0)
        other_id, _ = await cluster.create(CONFIGMAP, URN, other, 0)
        async with asyncio.TaskGroup() as deletions:
            deletions.create_task(cluster.delete(VOLUME, URN, volume_id, of_volume, {}, 0))
            await asyncio.sleep(0.05)
            deletions.create_task(cluster.delete(space, URN, space_id, of_space, {}, 0))
        gone = [
            await cluster.read(kind, URN, id_, inputs, {})
            for kind, id_, inputs in ((VOLUME, volume_id, of_volume), (CLAIM, claim_id, of_claim))
        ]
        return gone, await cluster.read(CONFIGMAP, URN, other_id, other, {})

    gone, kept = run(life())
    assert gone == [None, None]
    assert kept is not None, "a namespace whose name begins alike"
