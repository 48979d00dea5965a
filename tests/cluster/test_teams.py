"""Several teams on one rehearsed cluster: their jobs, quotas that lend, users' uids as a lock, usage and notebooks.

The environment is onprem with two teams. Its API server, MPI operator and Kueue are the real ones; its servers are
fake nodes, so that no container runs, and the chart of JupyterHub is recorded only.
"""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.rehearsed_jobs import Rehearsed
from tests.e2e.rehearsed_project import copy_of_ours
from tools.kubernetes.api_client import ApiRefused, wait_until

DESKS = ("--workers", "1", "--gpu", "V100", "--place", "onprem")
SECRET = "never-shown"
TEAMS: dict[str, dict[str, Any]] = {
    "vision": {
        "quota": {"v100": 4, "titan": 2},
        "gid": 3000,
        "groups": ["lab-vision"],
        "users": {"ana": {"uid": 1501, "gid": 1501}, "ben": {"uid": 1502, "gid": 1502}},
    },
    "speech": {"quota": {"v100": 4}, "gid": 3001, "users": {"eve": {"uid": 1601, "gid": 1601}}},
}
NOTEBOOKS = {
    "host": "notebooks.example.com",
    "storage_class": "local-path",
    "images": ["registry.example.com/notebook:1.4"],
    "tls": {"secret": "hub-tls"},
    "oidc": {
        "client_id": "hub",
        "authorize_url": "https://login.example.com/authorize",
        "token_url": "https://login.example.com/token",
        "userdata_url": "https://login.example.com/userinfo",
    },
}


@pytest.fixture(scope="module")
def said() -> list[str]:
    """What the first `up` told."""
    return []


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, said: list[str]) -> Iterator[Rehearsed]:
    made = Rehearsed(copy_of_ours(tmp_path_factory.mktemp("project"), control_plane=True), "onprem")

    def several(config: dict[str, Any]) -> None:
        config["teams"] = TEAMS
        config["queue"]["lend"] = True
        config["notebooks"] = NOTEBOOKS
        config["usd_per_gpu_hour"] = {"v100": 3600.0}

    made.project.configure(several, made.environment)
    secrets = {"gpufleet:notebooks.oidc.client_secret": SECRET}
    made.project.store_secrets(secrets, "passphrase", tmp_path_factory.mktemp("backend"), made.environment)
    servers = made.project.folder / "stacks" / "config" / "rehearsal.onprem.yaml"
    servers.write_text(f"{servers.read_text()}storage_classes: [local-path]\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PULUMI_CONFIG_PASSPHRASE", "passphrase")
        try:
            said.append(made.up())
            yield made
        finally:
            made.project.home.control_plane.stop()


@pytest.fixture
def vision(lab: Rehearsed) -> Rehearsed:
    return lab.of("vision")


@pytest.fixture
def speech(lab: Rehearsed) -> Rehearsed:
    return lab.of("speech")


def object_in(lab: Rehearsed, path: str) -> dict[str, Any]:
    return dict(lab.plane.client.get(path))


def waits(team: Rehearsed, name: str) -> None:
    """Wait until the job is said to wait for its queue, with none of its pods made."""

    def said() -> bool:
        return "waits for queue onprem-queue" in team.jobs("status", name)[0]

    wait_until(f"{name} waits", said)
    assert team.pods(name) == []


def test_each_job_runs_as_its_user_with_its_teams_labels(vision: Rehearsed, speech: Rehearsed) -> None:
    vision.start("eyes", *DESKS, "--gpus", "2", "--user", "ana")
    speech.start("ears", *DESKS, "--gpus", "2", "--user", "eve")
    for team, name, user, ids in (
        (vision, "eyes", "ana", {"runAsUser": 1501, "runAsGroup": 1501, "supplementalGroups": [3000]}),
        (speech, "ears", "eve", {"runAsUser": 1601, "runAsGroup": 1601, "supplementalGroups": [3001]}),
    ):
        team.placed(name, 1)
        # Its launcher comes when the worker is ready.
        wait_until(f"{name} has a launcher", lambda: len(team.pods(name)) == 2)  # noqa: B023
        for pod in team.pods(name):
            assert ids.items() <= pod["spec"]["securityContext"].items()
            labels = pod["metadata"]["labels"]
            whose = {"team": team.namespace, "user": user, "project": "distributed-training"}
            assert {f"gpufleet.dev/{key}": value for key, value in whose.items()}.items() <= labels.items()
    assert [line.split()[0] for line in vision.jobs("list")[0].splitlines()] == ["eyes"]
    vision.cancel("eyes")
    speech.cancel("ears")


def test_with_two_teams_every_verb_wants_to_hear_whose(lab: Rehearsed, vision: Rehearsed) -> None:
    options = ("--workers", "1", "--pool", "v100", "--image", "t:1", "--dry-run")
    for words in (("list",), ("submit", *options, "--user", "ana", "--", "true")):
        _, said, code = lab.jobs(*words)
        assert (code, said.count("\n")) == (1, 1)
        assert "--team" in said
        assert {"speech", "vision"} <= {*said.replace(",", " ").split()}
    _, said, code = vision.jobs("submit", *options, "--user", "eve", "--", "true")
    assert (code, said.count("\n")) == (1, 1)
    assert "user=eve" in said


def test_idle_quota_is_lent_and_comes_back_when_the_job_ends(vision: Rehearsed, speech: Rehearsed) -> None:
    vision.start("own", *DESKS, "--gpus", "4", "--user", "ana")
    vision.placed("own", 1)
    vision.start("lent", *DESKS, "--gpus", "4", "--user", "ben")
    vision.placed("lent", 1)
    speech.start("late", *DESKS, "--gpus", "4", "--user", "eve")
    waits(speech, "late")
    vision.cancel("lent")
    assert speech.placed("late", 1) != vision.places("own")
    vision.start("more", *DESKS, "--gpus", "1", "--user", "ben")
    waits(vision, "more")
    vision.cancel("own", "more")
    speech.cancel("late")


def test_usage_adds_up(lab: Rehearsed, vision: Rehearsed, speech: Rehearsed) -> None:
    def told(by: str) -> dict[str, Any]:
        text, said, code = lab.inside("gpufleet", "usage", lab.environment, "--by", by, "--json")
        assert code == 0, said
        found: dict[str, Any] = json.loads(text)
        return found

    began = time.time()
    vision.start("one", *DESKS, "--gpus", "1", "--user", "ana")
    vision.start("two", *DESKS, "--gpus", "2", "--user", "ben")
    speech.start("other", *DESKS, "--gpus", "1", "--user", "eve")
    for team, name in ((vision, "one"), (vision, "two"), (speech, "other")):
        team.placed(name, 1)
    time.sleep(3)
    teams, users = told("team"), told("user")
    hours = {row["name"]: row["gpuHours"] for row in users["rows"]}
    assert set(hours) == {"ana", "ben", "eve"}
    for found in (teams, users):
        # Each figure is rounded to a millionth.
        assert sum(row["gpuHours"] for row in found["rows"]) == pytest.approx(found["all"]["gpuHours"], abs=1e-5)
        assert found["all"]["usd"] == pytest.approx(3600 * found["all"]["gpuHours"], rel=1e-3)
    # Jobs that were cancelled are gone, and with them what only a ledger would know.
    assert {row["name"]: row["jobs"] for row in teams["rows"]} == {"vision": 2, "speech": 1}
    # GPUs times at least the three seconds that all of these three jobs ran.
    assert hours["ana"] >= 1 * 3 / 3600
    assert hours["eve"] >= 1 * 3 / 3600
    # Asked a moment later, users of a team are a little above it.
    vision_hours = next(row["gpuHours"] for row in teams["rows"] if row["name"] == "vision")
    later = 3 * (time.time() - began) / 3600
    assert vision_hours <= hours["ana"] + hours["ben"] <= vision_hours + later
    alone, complaint, code = lab.inside(
        "gpufleet", "usage", lab.environment, "--team", "speech", "--by", "user", "--json"
    )
    assert code == 0, complaint
    assert [row["name"] for row in json.loads(alone)["rows"]] == ["eve"]
    vision.cancel("one", "two")
    speech.cancel("other")


def test_ids_of_another_team_are_refused(lab: Rehearsed) -> None:
    """With the policies that the stack has made; test_user_lock.py has the rest."""
    claim = {"name": "files", "persistentVolumeClaim": {"claimName": "shared"}}

    def attempt(namespace: str, uid: int) -> None:
        security = {"runAsUser": uid, "runAsGroup": uid, "runAsNonRoot": True}
        security |= {"seccompProfile": {"type": "RuntimeDefault"}}
        own = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        container = {"name": "main", "image": "a:1", "securityContext": own}
        spec = {"securityContext": security, "containers": [container], "volumes": [claim]}
        document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "try"}, "spec": spec}
        lab.plane.client.request("POST", f"/api/v1/namespaces/{namespace}/pods", document, dryRun="All")

    for namespace, own, other in (("vision", 1501, 1601), ("speech", 1601, 1501)):
        attempt(namespace, own)
        with pytest.raises(ApiRefused, match=f"runAsUser={other}: is not a uid of team {namespace}; pods with"):
            attempt(namespace, other)


def test_notebooks_have_their_rights_and_their_chart_is_said_to_be_recorded(lab: Rehearsed, said: list[str]) -> None:
    assert "chart jupyterhub 4.4.0: recorded, not rendered: the rehearsal has no helm, so none of" in said[0]
    assert SECRET not in said[0]
    for team, users in (("vision", {"ana", "ben"}), ("speech", {"eve"})):
        rights = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{team}"
        role = object_in(lab, f"{rights}/roles/notebook")
        assert {each for rule in role["rules"] for each in rule["resources"]}.isdisjoint({"secrets", "pods/exec"})
        assert object_in(lab, f"{rights}/rolebindings/notebook")["subjects"][0]["name"] == "notebook"
        told = json.loads(object_in(lab, f"/api/v1/namespaces/{team}/configmaps/gpufleet-jobs")["data"]["jobs.json"])
        assert (told["environment"], told["jobs"]["namespace"]) == (lab.environment, team)
        assert set(told["jobs"]["users"]) == users
        policies = object_in(lab, f"/apis/networking.k8s.io/v1/namespaces/{team}/networkpolicies")["items"]
        assert {each["metadata"]["name"] for each in policies} == {"in-from-team", "out-but-node-identity"}


def test_a_quota_a_user_and_one_more_team_do_not_touch_the_others(
    lab: Rehearsed, vision: Rehearsed, speech: Rehearsed
) -> None:
    vision.start("stays", *DESKS, "--gpus", "1", "--user", "ben")
    speech.start("calm", *DESKS, "--gpus", "2", "--user", "eve")
    vision.placed("stays", 1)
    speech.placed("calm", 1)
    # Launchers start after their workers; a pod that is still starting changes by itself.
    vision.all_ready("stays")
    speech.all_ready("calm")
    pods_before = vision.pods("stays"), speech.pods("calm")
    before = versions(lab, "speech")
    assert len(before) == 11

    def change(config: dict[str, Any]) -> None:
        config["teams"]["vision"]["quota"]["v100"] = 2
        # Whoever leaves the team keeps what runs, and it can be ended as ever.
        del config["teams"]["vision"]["users"]["ben"]
        config["teams"]["robots"] = {"quota": {"v100": 2}, "users": {"kim": {"uid": 1701, "gid": 1701}}}

    lab.project.configure(change, lab.environment)
    lab.up()
    assert versions(lab, "speech") == before
    assert (vision.pods("stays"), speech.pods("calm")) == pods_before
    robots = lab.of("robots")
    assert [team.quota("v100") for team in (vision, speech, robots)] == ["2", "4", "2"]
    robots.start("arms", *DESKS, "--gpus", "1", "--user", "kim")
    robots.placed("arms", 1)
    vision.cancel("stays")
    wait_until("its pods are gone", lambda: vision.pods("stays") == [])
    _, said, code = vision.jobs("submit", *DESKS, "--image", "t:1", "--user", "ben", "--dry-run", "--", "true")
    assert code == 1
    assert "user=ben" in said


def versions(lab: Rehearsed, team: str) -> dict[str, str]:
    """Uids and generations of what the stack has made for a team; those without a generation by their version."""
    inside = (
        "/api/v1/namespaces/{}/configmaps/gpufleet-jobs",
        "/api/v1/namespaces/{}/persistentvolumeclaims/shared",
        "/api/v1/namespaces/{}/serviceaccounts/trainer",
        "/api/v1/namespaces/{}/serviceaccounts/notebook",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles/notebook",
        "/apis/networking.k8s.io/v1/namespaces/{}/networkpolicies/in-from-team",
        "/apis/kueue.x-k8s.io/v1beta2/namespaces/{}/localqueues/onprem-queue",
        "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/onprem-queue-{}",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/{}-users",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/{}-users",
        "/api/v1/namespaces/{}",
    )
    found = {path: object_in(lab, path.format(team))["metadata"] for path in inside}
    return {path: f"{each['uid']} {each.get('generation') or each['resourceVersion']}" for path, each in found.items()}


def test_without_lending_a_team_above_its_quota_waits(lab: Rehearsed, vision: Rehearsed, speech: Rehearsed) -> None:
    lab.project.configure(lambda config: config["queue"].update(lend=False), lab.environment)
    lab.up()
    vision.start("fits", *DESKS, "--gpus", "2", "--user", "ana")
    vision.placed("fits", 1)
    vision.start("above", *DESKS, "--gpus", "1", "--user", "ana")
    waits(vision, "above")
    vision.cancel("fits")
    vision.placed("above", 1)


def test_destroy_with_jobs_at_work_ends_on_the_first_try(lab: Rehearsed) -> None:
    destroyed = lab.project.rehearse("--destroy", environment=lab.environment)
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert not lab.plane.running
