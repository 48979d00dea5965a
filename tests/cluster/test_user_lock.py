"""The ids of a team's users as a lock, on a real API server: which pods mount the shared files, and which do not."""

from collections.abc import Iterator
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.data_pod import data_pod
from gpufleet.jobs.kubernetes.submission import build_submission
from gpufleet.jobs.settings import JobSettings, read_settings
from gpufleet.kubernetes.team import plan_namespace
from gpufleet.kubernetes.uid_admission_policy import plan_uid_admission_policy
from tools.kubernetes.api_client import ApiRefused, wait_until
from tools.kubernetes.control_plane import ControlPlane

TEAM = "locked"
USERS = {"ana": {"uid": 1501, "gid": 1501}, "ben": {"uid": 1502, "gid": 1502}}
OURS = {"runAsUser": 1501, "runAsGroup": 1501}
RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
CLAIM = {"persistentVolumeClaim": {"claimName": "shared"}}


@pytest.fixture(scope="module")
def team(operator: ControlPlane) -> Iterator[ControlPlane]:
    """A locked namespace, and one beside it without users."""
    args: Any = {"namespace": TEAM, "users": USERS, "gid": 3000}
    documents = [plan_namespace(args), plan_namespace({"namespace": "open"}), *plan_uid_admission_policy(args).values()]
    for document in documents:
        operator.client.apply(document)

    def locked() -> bool:
        return "ValidatingAdmissionPolicy" in refused(operator, pod(runAsUser=1601, runAsGroup=1501))

    # The API server looks at policies again and again; a new one counts a moment later.
    wait_until("the policy counts", locked)
    yield operator
    for document in reversed(documents):
        operator.client.delete(operator.client.path(document))


def settings(namespace: str = TEAM, **more: Any) -> JobSettings:
    """What jobs and copies of the environment are told."""
    pool = {"gpu": "V100", "gpus": 4, "label": "lab-desks", "max": 2, "zones": ["desk"], "place": "onprem"}
    told = {"namespace": namespace, "volume_claim": "shared", "pools": {"desks": pool}, **more}
    return read_settings({"kubeconfig": "{}", "jobs": told}, "lab")


def job(told: JobSettings, **words: Any) -> dict[str, Any]:
    """The MPIJob that `gpufleet jobs submit` makes."""
    request: Any = {"name": "try", "workers": 2, "image": "r.invalid/t:1", "command": ["true"], **words}
    return build_submission(told, request).manifest


def pod(volume: dict[str, Any] | None = CLAIM, container: dict[str, Any] | None = None, **user: Any) -> dict[str, Any]:
    """A pod that restricted takes, of this user."""
    main = {"name": "main", "image": "a:1", "securityContext": RESTRICTED | (container or {})}
    security = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}, **user}
    volumes = {"volumes": [{"name": "files", **volume}]} if volume else {}
    metadata = {"generateName": "try-", "namespace": TEAM}
    spec = {"securityContext": security, "containers": [main], **volumes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def refused(plane: ControlPlane, document: dict[str, Any], path: str = "pods", method: str = "POST") -> str:
    """What the API server says against it, empty where nothing; nothing is stored."""
    group = f"apis/{document['apiVersion']}" if "/" in document["apiVersion"] else f"api/{document['apiVersion']}"
    namespace = document["metadata"]["namespace"]
    try:
        plane.client.request(method, f"/{group}/namespaces/{namespace}/{path}?dryRun=All", document)
    except ApiRefused as error:
        return str(error)
    return ""


def test_kubernetes_finds_no_fault_in_the_policy(team: ControlPlane) -> None:
    path = f"/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{TEAM}-users"
    wait_until("it is looked at", lambda: "typeChecking" in team.client.get(path).get("status", {}))
    assert team.client.get(path)["status"]["typeChecking"] == {}


def test_what_a_refusal_says(team: ControlPlane) -> None:
    said = refused(team, pod(runAsUser=1601, runAsGroup=1501))
    assert said.endswith(
        f" denied request: runAsUser=1601: is not a uid of team {TEAM}; pods with the shared files set those of "
        "gpufleet:team.users, as `gpufleet jobs submit` does"
    )
    assert f"ValidatingAdmissionPolicy '{TEAM}-users'" in said


@pytest.mark.parametrize(
    ("made", "said"),
    [
        pytest.param(pod(runAsUser=1000, runAsGroup=1501), "runAsUser=1000: is not a uid", id="nobodys-job"),
        pytest.param(pod(), "runAsUser=unset: is not a uid", id="the-images-user"),
        pytest.param(pod(**OURS, container={"runAsUser": 1601}), "runAsUser=1601: is not a uid", id="container-wins"),
        pytest.param(pod(runAsUser=1501), "supplementalGroups=unset: is not a gid", id="the-images-group"),
        pytest.param(pod(runAsUser=1501, runAsGroup=0), "supplementalGroups=0: is not a gid", id="group-of-root"),
        pytest.param(pod(**OURS, fsGroup=3001), "supplementalGroups=3001: is not a gid", id="fs-group"),
        pytest.param(pod(**OURS, supplementalGroups=[3000, 3001, 3002]), "Groups=3001, 3002: is", id="groups"),
        pytest.param(
            pod({"csi": {"driver": "file.csi.azure.com"}}, runAsUser=1601, runAsGroup=1501),
            "runAsUser=1601: is not a uid",
            id="a-share-by-its-name",
        ),
    ],
)
def test_pods_that_are_refused(team: ControlPlane, made: dict[str, Any], said: str) -> None:
    assert said in refused(team, made)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(pod(**OURS), id="user"),
        pytest.param(pod(runAsUser=1502, runAsGroup=1502, supplementalGroups=[3000], fsGroup=3000), id="teams-group"),
        pytest.param(pod(container=OURS), id="ids-of-the-container"),
        # JupyterHub's proxy and hub, the second with its database.
        pytest.param(pod(None, container={"runAsUser": 65534, "runAsGroup": 65534}), id="proxy"),
        pytest.param(pod({"persistentVolumeClaim": {"claimName": "hub-db-dir"}}, {"runAsUser": 1000}), id="hub"),
        pytest.param(pod(None), id="without-files"),
        pytest.param(pod({"emptyDir": {}}, runAsUser=1601), id="with-its-own-files"),
    ],
)
def test_pods_that_pass(team: ControlPlane, made: dict[str, Any]) -> None:
    assert refused(team, made) == ""


def test_init_containers_and_those_that_come_later_are_judged_too(team: ControlPlane) -> None:
    early = pod(**OURS)
    early["spec"]["initContainers"] = [
        {"name": "early", "image": "a:1", "securityContext": {**RESTRICTED, "runAsUser": 1601}}
    ]
    assert "runAsUser=1601: is not a uid" in refused(team, early)
    path = f"/api/v1/namespaces/{TEAM}/pods"
    made = team.client.request("POST", path, pod(**OURS))
    # The scheduler writes to the pod at the same time: no version is named, so that this does not count as a conflict.
    name = made["metadata"].pop("name")
    made["metadata"] = {"name": name, "namespace": TEAM, "uid": made["metadata"]["uid"]}
    for uid, legal in ((1601, False), (1502, True)):
        later = {"name": "later", "image": "a:1", "securityContext": {**RESTRICTED, "runAsUser": uid}}
        change = made | {"spec": made["spec"] | {"ephemeralContainers": [later]}}
        assert ("is not a uid" not in refused(team, change, f"pods/{name}/ephemeralcontainers", "PUT")) is legal
    team.client.delete(f"{path}/{name}")


def test_jobs_and_copies_of_gpufleet_pass_and_others_hear_of_it_when_they_submit(team: ControlPlane) -> None:
    ours = settings(users=USERS, gid=3000)
    assert refused(team, job(ours, user="ana"), "mpijobs") == ""
    assert refused(team, data_pod(ours, "copy", "busybox:1", ours.users["ben"])) == ""
    # Told of no users, as an older gpufleet would be.
    stranger = settings()
    assert "runAsUser=1000, 1000: is not a uid" in refused(team, job(stranger), "mpijobs")
    assert "runAsUser=1000: is not a uid" in refused(team, data_pod(stranger, "copy", "busybox:1"))


def test_the_operators_pods_are_judged_whatever_the_mpijob_said(team: ControlPlane) -> None:
    """An MPIJob that was there before the policy, as seen by those who only make its pods."""
    worker = job(settings())["spec"]["mpiReplicaSpecs"]["Worker"]["template"]
    metadata = {"generateName": "w-", "namespace": TEAM}
    assert "runAsUser=1000: is not a uid" in refused(
        team, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": worker["spec"]}
    )


def test_a_namespace_without_users_has_no_lock(team: ControlPlane) -> None:
    assert plan_uid_admission_policy({"namespace": "open"}) == {}
    made = pod(runAsUser=1601, runAsGroup=1601)
    made["metadata"]["namespace"] = "open"
    assert refused(team, made) == ""
