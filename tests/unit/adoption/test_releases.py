"""Helm releases of the stack's own clusters are imported one by one; an engine is played."""

import json
from pathlib import Path

import pytest

from gpufleet.adoption.releases import import_releases, lost_releases

PROVIDER = "urn:pulumi:dev::gpufleet::pulumi:providers:kubernetes::dev-kubernetes"
CLUSTER = "urn:pulumi:dev::gpufleet::gpufleet-aws:index:Cluster$aws:eks/cluster:Cluster::dev-cluster"
RELEASE = "kubernetes:helm.sh/v3:Release"


def step(name, type_=RELEASE, urn=None, **state):
    urn = urn or f"urn:pulumi:dev::gpufleet::{type_}::{name}"
    return {"op": "create", "newState": {"urn": urn, "type": type_, "custom": True, **state}}


def release(name, provider=PROVIDER):
    return step(f"{name}-release", provider=f"{provider}::04da6b54", inputs={"namespace": "kube-system", "name": name})


OWN = step("dev-kubernetes", "pulumi:providers:kubernetes", PROVIDER, propertyDependencies={"kubeconfig": [CLUSTER]})
TEMPLATE = {
    "nameTable": {"dev-kubernetes": PROVIDER, "dev": "urn:platform"},
    "providerInputs": {"dev-kubernetes": {"kubeconfig": "sealed"}},
    "resources": [
        {"type": "x:index:Autoscaler", "name": "dev-autoscaler", "component": True, "parent": "dev"},
        {"type": "kubernetes:core/v1:Namespace", "name": "team", "id": "<PLACEHOLDER>"},
        *(
            {"type": RELEASE, "name": f"{name}-release", "parent": "dev-autoscaler", "provider": "dev-kubernetes"}
            for name in ("autoscaler", "cilium")
        ),
    ],
}


class Engine:
    """steps: of a preview. state: has the cluster, if it is the stack's own. lacking: a release that is not there."""

    def __init__(self, steps, own=True, lacking=""):
        self._steps, self._lacking = steps, lacking
        type_ = "aws:eks/cluster:Cluster" if own else "pulumi:pulumi:StackReference"
        self._state = [{"urn": CLUSTER, "type": type_, "custom": True, "id": "dev"}]
        self.imported = []

    def state(self, stack):
        return self._state

    def preview(self, stack):
        return self._steps

    def preview_json(self, stack, option, file):
        assert option == "--import-file"
        Path(file).write_text(json.dumps(TEMPLATE))
        return {"steps": self._steps}

    def run_operation(self, operation, stack, *arguments):
        assert (operation, stack, arguments[0], arguments[2:]) == (
            "import",
            "dev",
            "--file",
            ("--generate-code=false",),
        )
        read = json.loads(Path(arguments[1]).read_text())
        if read["resources"][-1]["id"] == self._lacking:
            return 255
        self.imported.append(read)
        return 0


def test_a_release_is_imported_with_its_components_and_its_provider():
    engine = Engine([OWN, release("autoscaler"), release("cilium")])
    ids = ["kube-system/autoscaler", "kube-system/cilium"]
    assert (lost_releases(engine, "dev"), import_releases(engine, "dev")) == (ids, ids)
    first, _ = engine.imported
    assert first == {
        **TEMPLATE,
        "resources": [TEMPLATE["resources"][0], {**TEMPLATE["resources"][2], "id": "kube-system/autoscaler"}],
    }


def test_one_that_the_cluster_lacks_stops_no_other():
    engine = Engine([OWN, release("autoscaler"), release("cilium")], lacking="kube-system/autoscaler")
    assert import_releases(engine, "dev") == ["kube-system/cilium"]


@pytest.mark.parametrize(
    ("steps", "own"),
    [
        pytest.param([OWN, release("autoscaler")], False, id="somebody else's cluster"),
        pytest.param([release("autoscaler")], True, id="no provider that is known"),
        pytest.param([OWN, {**release("autoscaler"), "op": "same"}], True, id="in the state"),
        pytest.param([OWN, step("team", "kubernetes:core/v1:Namespace", provider=f"{PROVIDER}::1")], True, id="object"),
    ],
)
def test_others_are_left_alone(steps, own):
    assert lost_releases(Engine(steps, own), "dev") == []
