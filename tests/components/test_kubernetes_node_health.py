"""NodeHealth: exact objects, and refusals."""

import json

from gpufleet.kubernetes.node_health import NodeHealth
from tests.components.recorder import construct, refusal

NAME = "gpufleet-node-health"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1"


def test_rights_are_few(preview):
    recording = construct(lambda: NodeHealth("health"), preview)
    (role,) = recording.inputs(f"{RBAC}:ClusterRole").values()
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["list", "patch"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]},
    ]
    (inside,) = recording.inputs(f"{RBAC}:Role").values()
    assert inside["metadata"] == {"name": NAME, "namespace": "default"}
    assert inside["rules"] == [{"apiGroups": [""], "resources": ["events"], "verbs": ["create"]}]
    account = {"kind": "ServiceAccount", "name": NAME, "namespace": "kube-system"}
    for kind in ("ClusterRoleBinding", "RoleBinding"):
        (binding,) = recording.inputs(f"{RBAC}:{kind}").values()
        assert binding["subjects"] == [account]
        assert binding["roleRef"]["name"] == NAME


def test_program_and_its_pod(preview):
    recording = construct(lambda: NodeHealth("health", pools={"lab": 4}, evict=False, most_percent=10), preview)
    (program,) = recording.inputs("kubernetes:core/v1:ConfigMap").values()
    expected = json.loads(program["data"]["expected.json"])
    assert expected["pools"] == {"lab": 4}
    assert (expected["types"]["p5.48xlarge"], expected["types"]["g5.xlarge"]) == (8, 1)
    (deployment,) = recording.inputs("kubernetes:apps/v1:Deployment").values()
    assert (deployment["spec"]["replicas"], deployment["spec"]["strategy"]) == (1, {"type": "Recreate"})
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "docker.io/library/python:3.13-slim"
    assert " ".join(container["command"]) == (
        "python3 -m node_health --expected /opt/gpufleet/node_health/expected.json --every 30 --most-percent 10 "
        "--lasting 300 --young 900 --keep-pods"
    )
    assert pod["serviceAccountName"] == NAME
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    # Every file of the program is in its pod, as a package.
    (volume,) = pod["volumes"]
    paths = {each["key"]: each["path"] for each in volume["configMap"]["items"]}
    assert paths == {name: f"node_health/{name}" for name in program["data"]}


def test_labels_and_what_is_refused(preview):
    recording = construct(lambda: NodeHealth("health", labels={"team": "vision"}), preview)
    (account,) = recording.inputs("kubernetes:core/v1:ServiceAccount").values()
    assert account["metadata"]["labels"] == {"team": "vision", "app.kubernetes.io/name": NAME}
    assert refusal(lambda: NodeHealth("health", every_seconds=0, pools={"lab": 0}), preview) == [
        "health: every_seconds=0: is below 1; use 1 or more [any-argument-least]",
        "health: pools.lab=0: is below 1; use 1 or more [any-argument-least]",
    ]
