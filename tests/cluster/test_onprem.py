"""onprem rehearsed on a control plane: a job lands where asked, goes on to rented nodes, and a drained node goes.

The servers are those of stacks/config/rehearsal.onprem.yaml: two with 4 V100s and one with 2 TITAN Vs of the lab's, two
with 8 V100s rented. The MPI operator, Kueue and kubectl are the real ones.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.job_kind import JOB_SET
from tests.cluster.rehearsed_jobs import TEAM, Rehearsed
from tests.cluster.workloads import pods
from tests.e2e.rehearsed_project import copy_of_ours
from tests.tools.guide_commands import guide_commands
from tools.kubernetes.api_client import wait_until

ROLE = "training.kubeflow.org/job-role"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsed]:
    """The environment with all that its stack installs."""
    made = Rehearsed(copy_of_ours(tmp_path_factory.mktemp("project"), control_plane=True), "onprem")
    software = ["device-plugin", "mpi-operator", "dcgm-exporter", "jobset"]
    made.project.configure(lambda config: config.update(software=software), made.environment)
    try:
        made.up()
        yield made
    finally:
        made.project.home.control_plane.stop()


def test_servers_are_labelled_by_type_and_place_and_no_cloud_was_needed(lab: Rehearsed) -> None:
    kinds = {str(each["type"]).split(":")[0] for each in lab.project.state(lab.environment) if each.get("custom")}
    assert kinds == {"pulumi", "kubernetes"}
    seen = {name: lab.labels(name) for name in ("gpu-1", "gpu-3", "rented-2")}
    assert {name: (each["gpu"], each["place"], each["pool"]) for name, each in seen.items()} == {
        "gpu-1": ("V100", "onprem", "onprem-v100"),
        "gpu-3": ("TITAN-V", "onprem", "onprem-titan"),
        "rented-2": ("V100", "cloud", "onprem-v100-rented"),
    }
    client = lab.plane.client
    claim = client.get(f"/api/v1/namespaces/{TEAM}/persistentvolumeclaims/shared")
    assert claim["status"]["phase"] == "Bound"
    volume = client.get(f"/api/v1/persistentvolumes/{claim['spec']['volumeName']}")
    assert volume["spec"]["nfs"] == {"server": "10.0.0.5", "path": "/export/shared"}


def test_a_job_lands_where_it_asks_to(lab: Rehearsed) -> None:
    lab.start("titan", "--workers", "1", "--gpu", "TITAN-V")
    lab.start("away", "--workers", "2", "--gpu", "V100", "--place", "cloud")
    assert lab.placed("titan", 1) == ["gpu-3"]
    assert lab.placed("away", 2) == ["rented-1", "rented-2"]
    lab.cancel("titan", "away")


def test_a_torchrun_job_runs_where_software_has_jobset(lab: Rehearsed) -> None:
    where = "--workers 2 --gpu V100 --place onprem --image training:1"
    submit = f"gpufleet jobs submit onprem --name train-ranks --launcher torchrun {where}"
    _, said, code = lab.line(f"{submit} --follow -- python3 train.py")
    assert (code, said.splitlines()[-1]) == (0, "train-ranks: succeeded"), said
    found = lab.plane.client.get(JOB_SET.job(TEAM, "train-ranks"))
    assert found["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "onprem-queue"
    # It was made suspended: Kueue has started it.
    resumed = [each["status"] for each in found["status"]["conditions"] if each["type"] == "Suspended"]
    assert resumed == ["False"]
    assert [each["spec"]["nodeName"] for each in pods(lab.plane, TEAM, JOB_SET.selector("train-ranks"))] != []


def test_a_launcher_runs_where_every_node_is_tainted(lab: Rehearsed) -> None:
    lab.kubectl("taint", "nodes", "--all", "nvidia.com/gpu=present:NoSchedule")
    lab.start("tainted", "--workers", "1", "--gpu", "TITAN-V")
    lab.placed("tainted", 1)

    def launched() -> bool:
        launchers = [each for each in lab.pods("tainted") if each["metadata"]["labels"][ROLE] == "launcher"]
        return [each["status"].get("phase") for each in launchers] == ["Running"]

    wait_until("the launcher runs", launched, state=lambda: lab.state("tainted"))
    lab.cancel("tainted")
    lab.kubectl("taint", "nodes", "--all", "nvidia.com/gpu-")


def test_first_job_runs_as_printed(lab: Rehearsed) -> None:
    lab.run_first_job()


def test_commands_of_the_guide(lab: Rehearsed) -> None:
    """The image of the first job is there, and pods on fake nodes run nothing."""
    for command in guide_commands("onprem"):
        lab.run_job(command)


def test_a_job_goes_on_to_rented_nodes_when_its_own_are_taken(lab: Rehearsed) -> None:
    anywhere = ("--workers", "2", "--gpu", "V100", "--gpus", "4", "--place", "any")
    lab.start("first", *anywhere)
    assert lab.placed("first", 2) == ["gpu-1", "gpu-2"]
    lab.start("second", *anywhere)
    assert all(name.startswith("rented-") for name in lab.placed("second", 2))
    lab.start("home", "--workers", "1", "--gpu", "V100", "--place", "onprem")

    def waits() -> bool:
        told, _, _ = lab.inside("gpufleet", "jobs", "status", lab.environment, "home")
        return "waits for queue onprem-queue" in told and "flavor onprem-queue-v100" in told

    wait_until("home waits for its own servers", waits)
    assert lab.places("home") == []
    lab.cancel("first")
    assert lab.placed("home", 1)[0] in ("gpu-1", "gpu-2")
    lab.cancel("second", "home")


def test_a_server_goes_after_its_drain_and_the_others_do_not_notice(lab: Rehearsed) -> None:
    lab.start("stays", "--workers", "1", "--gpu", "TITAN-V")
    lab.start("moves", "--workers", "1", "--gpu", "V100", "--place", "onprem")
    (leaving,) = lab.placed("moves", 1)
    lab.placed("stays", 1)
    other = {"gpu-1": "gpu-2", "gpu-2": "gpu-1"}[leaving]
    before = lab.pods("stays")
    versions = {name: lab.node(name)["metadata"]["uid"] for name in (other, "gpu-3", "rented-1")}

    lab.drain(leaving)
    wait_until("its job has a worker elsewhere", lambda: lab.places("moves") == [other])

    lab.project.configure(lambda config: config["pools"]["v100"].update(nodes=[other]), lab.environment)
    lab.remove_server(leaving)
    told = lab.up()
    assert f"NodePatch onprem-v100-{leaving} deleted" in told
    wait_until("the machine is gone", lambda: lab.node(leaving) == {})
    assert lab.quota("v100") == "4"

    assert lab.pods("stays") == before
    assert {name: lab.node(name)["metadata"]["uid"] for name in versions} == versions
    assert lab.places("moves") == [other]


def test_ps_knows_owner_and_end_and_a_later_end_restarts_nothing(lab: Rehearsed) -> None:
    def seen() -> dict[str, Any]:
        told, said, code = lab.inside("gpufleet", "ps", "--json")
        assert code == 0, said
        (found,) = json.loads(told)["environments"]
        return dict(found)

    def running() -> dict[str, Any]:
        kinds = {
            "/api/v1/pods": "uid", "/api/v1/namespaces": "uid", "/api/v1/persistentvolumes": "uid",
            "/api/v1/persistentvolumeclaims": "uid", "/apis/apps/v1/daemonsets": "generation",
            "/apis/apps/v1/deployments": "generation",
        }  # fmt: skip
        found = {kind: lab.plane.client.get(kind)["items"] for kind in kinds}
        # Pods of a machine that is gone go a while later.
        there = {each["metadata"]["name"] for each in lab.plane.client.get("/api/v1/nodes")["items"]}
        found["/api/v1/pods"] = [each for each in found["/api/v1/pods"] if each["spec"].get("nodeName") in there]
        return {
            f"{kind} {each['metadata']['name']}": each["metadata"][kinds[kind]]
            for kind in found
            for each in found[kind]
        }

    nodes = sum(str(each["type"]).endswith(":NodePatch") for each in lab.project.state(lab.environment))
    first = seen()
    assert (first["owner"], first["purpose"]) == ("platform-team", "distributed-training")
    assert first["expires"] == "2027-12-31"
    # Two nodes of 4 GPUs, of which a test before may have taken one away, one of 2, and two of 8.
    assert first["gpus"]["at_most"] == {5: 4 + 4 + 2 + 8 + 8, 4: 4 + 2 + 8 + 8}[nodes]
    before = running()
    assert len(before) > 12

    lab.project.configure(lambda config: config.update(expires_at="2028-01-31", purpose="a paper"), lab.environment)
    told = lab.up()
    assert [word for word in (" updated", "replaced", "deleted") if word in told] == [" updated"], told
    after = seen()
    assert (after["owner"], after["purpose"], after["expires"]) == ("platform-team", "a-paper", "2028-01-31")
    assert running() == before
    labels = lab.plane.client.get(f"/api/v1/namespaces/{TEAM}")["metadata"]["labels"]
    assert labels["gpufleet.dev/expires-at"] == "2028-01-31"
    assert "expires-at" not in lab.labels("gpu-3")


def test_destroy_with_jobs_at_work_ends_on_the_first_try(lab: Rehearsed) -> None:
    destroyed = lab.project.rehearse("--destroy", environment=lab.environment)
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert not lab.plane.running
