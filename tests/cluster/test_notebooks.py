"""Notebooks on a real control plane: their pods as the real KubeSpawner makes them, and jobs with their own rights.

The chart cannot be had here and is not rendered: of it, its jupyterhub_config.py is played by hub_side.py, and its
hub, proxy and network policies do not run. Nodes are fake: no container runs, so that a notebook's code runs here.
"""

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs import JobError, submit
from gpufleet.jobs.kubernetes import in_cluster
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError
from gpufleet.kubernetes.jupyterhub_values import plan_values
from gpufleet.kubernetes.notebook_rbac import plan_jobs_configmap, plan_rights
from gpufleet.kubernetes.shared_volume import plan_claim, plan_volume
from gpufleet.kubernetes.team import plan_namespace, plan_network_policies, plan_service_account
from tests.cluster.workloads import pods
from tools.jupyterhub.install import install
from tools.kubernetes.api_client import wait_until
from tools.kubernetes.control_plane import ControlPlane
from tools.kubernetes.nodes import Nodes

TEAM = "notebooks-team"
IMAGE = f"registry.example.com/notebook@sha256:{'0' * 64}"
POOL = {"types": ["g5.12xlarge"], "zones": ["use1-az1"], "max": 2, "label": "desks"}
ARGS: dict[str, Any] = {
    "namespace": TEAM,
    "environment": "lab",
    "host": "notebooks.example.com",
    "pools": {"desks": {"gpu": "A10G", "gpus": 4, "usd_per_hour": 5.672}},
    "images": [IMAGE],
    "volume_claim": "shared",
    "storage_class": "gp3",
    "users": {"ana": {"uid": 1501, "gid": 1500}, "bo": {"uid": 1502, "gid": 1500}},
    "gid": 1600,
    "admins": ["ana"],
    "oidc": {
        "client_id": "hub",
        "client_secret": "never shown",
        "authorize_url": "https://login.example.com/authorize",
        "token_url": "https://login.example.com/token",
        "userdata_url": "https://login.example.com/userinfo",
    },
    "tls": {"secret": "hub-tls"},
    "jobs": {
        "namespace": TEAM,
        "volume_claim": "shared",
        "service_account": "trainer",
        "users": {"ana": {"uid": 1501, "gid": 1500}, "bo": {"uid": 1502, "gid": 1500}},
        "gid": 1600,
        "pools": {"desks": POOL},
    },
}


@pytest.fixture(scope="module")
def team(operator: ControlPlane, nodes: Nodes) -> Iterator[ControlPlane]:
    """A team's namespace with all that Team, SharedVolume and Notebooks put into it, but the chart."""
    source = {"namespace": TEAM, "source": {"nfs": "10.0.0.5:/export"}}
    documents = [
        plan_namespace({"namespace": TEAM}),
        plan_service_account({"namespace": TEAM}),
        *plan_network_policies({"namespace": TEAM}).values(),
        plan_volume(source),
        plan_claim(source),
        *plan_rights(ARGS).values(),
    ]
    for document in documents:
        operator.client.apply(document)
    told = plan_jobs_configmap(ARGS)
    operator.client.apply({**told, "data": {"jobs.json": json.dumps({"environment": "lab", "jobs": ARGS["jobs"]})}})
    nodes.add(2, "g5.12xlarge", "use1-az1", "desks")
    nodes.add(1, "g4dn.xlarge", "use1-az1", "others")
    yield operator
    operator.client.delete(f"/api/v1/namespaces/{TEAM}")
    operator.client.delete(f"/api/v1/persistentvolumes/{TEAM}-shared")


def hub(plane: ControlPlane, act: str, user: str = "ana", values: dict[str, Any] | None = None, **more: Any) -> Any:
    """What the hub's side does; see hub_side.py."""
    given = {"values": values or plan_values(ARGS), "namespace": TEAM, "user": user, "act": act, "options": {}, **more}
    done = subprocess.run(
        [str(install()), str(Path(__file__).with_name("hub_side.py"))],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "KUBECONFIG": str(plane.kubeconfig), "PYTHONWARNINGS": "ignore"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def notebook(plane: ControlPlane, name: str) -> dict[str, Any]:
    return dict(plane.client.get(f"/api/v1/namespaces/{TEAM}/pods/{name}"))


def test_a_notebook_with_two_gpus_lands_on_their_node_as_its_user(team: ControlPlane) -> None:
    profiles = [each["display_name"] for each in plan_values(ARGS)["singleuser"]["profileList"]]
    assert profiles == [
        "No GPU",
        "1 x A10G, cloud, 1.42 USD/h",
        "2 x A10G, cloud, 2.84 USD/h",
        "4 x A10G, cloud, 5.67 USD/h",
    ]
    made = hub(team, "start", options={"profile": "2-a10g-cloud"})
    pod = notebook(team, made["pod"])
    assert pod["status"]["phase"] == "Running"
    node = team.client.get(f"/api/v1/nodes/{pod['spec']['nodeName']}")["metadata"]["labels"]
    # A profile is of a GPU model and a place, not of a pool: other tests may have such nodes too.
    place = {"gpufleet.dev/gpu": "A10G", "gpufleet.dev/place": "cloud"}
    assert place.items() <= node.items()
    assert {"gpufleet.dev/user": "ana", "gpufleet.dev/team": TEAM}.items() <= pod["metadata"]["labels"].items()
    [container] = pod["spec"]["containers"]
    assert container["image"] == IMAGE
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "2"
    security = container["securityContext"]
    assert (security["runAsUser"], security["runAsGroup"], security["runAsNonRoot"]) == (1501, 1500, True)
    assert (security["allowPrivilegeEscalation"], security["capabilities"]) == (False, {"drop": ["ALL"]})
    assert pod["spec"]["securityContext"] == {"supplementalGroups": [1600]}
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert (variables["HOME"], variables["USER"], variables["JUPYTER_IMAGE_SPEC"]) == ("/mnt/home/ana", "ana", IMAGE)
    mounts = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
    assert (mounts["/mnt"], mounts["/etc/passwd"]) == ("shared-files", "passwd")
    claims = {each["name"]: each.get("persistentVolumeClaim") for each in pod["spec"]["volumes"]}
    assert claims["shared-files"] == {"claimName": "shared"}
    assert "ana:x:1501:1500::/mnt/home/ana:/bin/sh" in pod["metadata"]["annotations"]["gpufleet.dev/passwd"]
    assert pod["spec"]["serviceAccountName"] == "notebook"
    team.client.delete(f"/api/v1/namespaces/{TEAM}/pods/{made['pod']}")


def test_a_notebook_without_gpu_keeps_off_gpu_nodes(team: ControlPlane) -> None:
    made = hub(team, "start", user="bo")
    pod = notebook(team, made["pod"])
    assert pod["spec"]["nodeName"].startswith("system-")
    assert "nvidia.com/gpu" not in pod["spec"]["containers"][0]["resources"]["limits"]
    team.client.delete(f"/api/v1/namespaces/{TEAM}/pods/{made['pod']}")


def test_a_notebook_among_own_servers_tolerates_them(team: ControlPlane, nodes: Nodes) -> None:
    """All of them may have the taint of GPU nodes: then hub and notebooks without GPU go there too, and only then."""
    [rack] = nodes.add(1, "g5.12xlarge", "use1-az1", "racks", {"site": "lab", "gpufleet.dev/gpu": "A10G"})
    there = plan_values({**ARGS, "node_selector": {"site": "lab"}, "taints": []})
    made = hub(team, "start", user="bo", values=there)
    pod = notebook(team, made["pod"])
    assert (pod["status"]["phase"], pod["spec"]["nodeName"]) == ("Running", rack)
    team.client.delete(f"/api/v1/namespaces/{TEAM}/pods/{made['pod']}")
    # Where there is a node without GPUs, it is preferred.
    made = hub(team, "start", user="bo", values=plan_values({**ARGS, "taints": []}))
    pod = notebook(team, made["pod"])
    assert pod["spec"]["nodeName"].startswith("system-")
    team.client.delete(f"/api/v1/namespaces/{TEAM}/pods/{made['pod']}")


def test_pod_security_refuses_what_the_chart_would_do_by_itself(team: ControlPlane) -> None:
    """The level is enforced, and our values are why notebooks pass."""
    values = plan_values(ARGS)
    values["hub"]["config"].pop("KubeSpawner")
    with pytest.raises(AssertionError, match="violates PodSecurity"):
        hub(team, "start", user="bo", values=values)


def test_a_stranger_gets_no_notebook(team: ControlPlane) -> None:
    told = hub(team, "start", user="eve")
    assert told == {
        "refused": "eve has no uid here, so that no notebook starts; ask for an entry in gpufleet:team.users"
    }
    assert not pods(team, TEAM, "gpufleet.dev/user=eve")


def test_who_may_log_in(team: ControlPlane) -> None:
    names = {"ana": [], "eve": [], "eve-of-vision": ["vision"]}
    assert hub(team, "login", names=names) == {"ana": True, "eve": False, "eve-of-vision": False}
    by_group = plan_values({**ARGS, "oidc": {**ARGS["oidc"], "allowed_groups": ["vision"]}})
    assert hub(team, "login", values=by_group, names=names) == {"ana": True, "eve": False, "eve-of-vision": True}


@pytest.fixture
def inside(team: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process as code in ana's notebook: its service account's token, its variables, and its home."""
    path = f"/api/v1/namespaces/{TEAM}/serviceaccounts/notebook/token"
    answer = team.client.request("POST", path, {"spec": {"expirationSeconds": 600}})
    server = KubernetesApi.of(team.kubeconfig.read_text(), "admin")
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "token").write_text(answer["status"]["token"])
    (secrets / "namespace").write_text(TEAM)
    (secrets / "ca.crt").write_bytes(Path(server.configuration.ssl_ca_cert).read_bytes())
    monkeypatch.setattr(in_cluster, "SECRETS", secrets)
    host, _, port = server.server.rpartition("/")[2].rpartition(":")
    shared = tmp_path / "mnt"
    home = shared / "home" / "ana" / "digits"
    home.mkdir(parents=True)
    for key, value in {
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": port,
        "GPUFLEET_USER": "ana",
        "GPUFLEET_SHARED": str(shared),
        "JUPYTER_IMAGE_SPEC": IMAGE,
    }.items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(home)
    return home


def test_a_job_from_a_notebook_runs_through(
    team: ControlPlane, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = submit("python3 train.py --epochs 2", workers=2, gpus=2, time_limit_minutes=5)
    assert job.name.startswith("train-")
    made = team.client.get(f"/apis/kubeflow.org/v2beta1/namespaces/{TEAM}/mpijobs/{job.name}")
    worker = made["spec"]["mpiReplicaSpecs"]["Worker"]["template"]["spec"]
    assert worker["containers"][0]["image"] == IMAGE
    assert worker["securityContext"]["runAsUser"] == 1501
    assert worker["volumes"][1]["persistentVolumeClaim"] == {"claimName": "shared"}
    launcher = made["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]["command"]
    assert launcher[-5:] == [str(inside), "python3", "train.py", "--epochs", "2"]
    assert job.wait() == 0
    assert (job.status()["state"], job.status()["exitCode"]) == ("Succeeded", 0)
    assert isinstance(job.logs(), str)
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"{job.name}: submitted"
    assert f"{job.name}: Succeeded" in said
    job.cancel()
    path = f"/apis/kubeflow.org/v2beta1/namespaces/{TEAM}/mpijobs/{job.name}"
    wait_until("it is deleted", lambda: team.client.find(path) is None)
    with pytest.raises(JobError, match="job not found"):
        job.status()


def test_a_notebook_may_do_what_jobs_need_and_no_more(team: ControlPlane, inside: Path) -> None:
    api = KubernetesApi.of(in_cluster._kubeconfig(), "notebook")
    core = f"/api/v1/namespaces/{TEAM}"
    for allowed in (f"{core}/pods", f"{core}/events", f"{core}/configmaps/gpufleet-jobs", core):
        assert api.get(allowed)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": []}}
    refused = [
        lambda: api.get(f"{core}/secrets"),
        lambda: api.create(f"{core}/pods", pod),
        lambda: api.delete(f"{core}/pods/x"),
        lambda: api.get("/api/v1/nodes"),
        lambda: api.get("/api/v1/namespaces/default/pods"),
        lambda: api.get("/apis/kubeflow.org/v2beta1/namespaces/default/mpijobs"),
        lambda: api.create(f"{core}/serviceaccounts/trainer/token", {}),
        lambda: api.patch(f"{core}/configmaps/gpufleet-jobs", {"data": {}}),
    ]
    for ask in refused:
        with pytest.raises(KubernetesApiError, match="not allowed"):
            ask()


def test_faults_are_a_line_each(team: ControlPlane, inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(JobError) as told:
        submit("python3 train.py", workers=2, gpus=8)
    assert str(told.value).startswith("train-")
    assert "gpus_per_worker=8: is more than the 4 of g5.12xlarge; use 1 to 4" in str(told.value)
    assert told.value._render_traceback_() == [f"JobError: {told.value}"]
    with pytest.raises(JobError, match="submit: gpu_model=A10G: unknown argument"):
        submit("python3 train.py", gpu_model="A10G")
    with pytest.raises(JobError, match="is in this notebook only, and a job would not find it"):
        submit("python3 train.py", folder="/tmp")
    with pytest.raises(JobError, match="user=eve: user not found"):
        submit("python3 train.py", user="eve")
    token = in_cluster.SECRETS / "token"
    kept = token.read_text()
    token.write_text(base64.b64encode(b"expired").decode())
    with pytest.raises(JobError, match="does not accept the credentials"):
        submit("python3 train.py")
    token.write_text(kept)
    monkeypatch.setattr(in_cluster, "SECRETS", Path("/nowhere"))
    with pytest.raises(JobError, match="this is not a pod in a cluster"):
        submit("python3 train.py")


def test_the_namespace_needs_what_the_stack_tells(team: ControlPlane, inside: Path) -> None:
    path = f"/api/v1/namespaces/{TEAM}/configmaps/gpufleet-jobs"
    kept = team.client.get(path)
    team.client.delete(path)
    wait_until("it is gone", lambda: team.client.find(path) is None)
    with pytest.raises(JobError, match="has no ConfigMap gpufleet-jobs"):
        submit("python3 train.py")
    document = {"apiVersion": "v1", "kind": "ConfigMap", "data": kept["data"]}
    team.client.apply({**document, "metadata": {"name": "gpufleet-jobs", "namespace": TEAM}})
