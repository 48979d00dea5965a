"""hybrid rehearsed on a control plane: own servers join by their scripts, jobs land where asked and go on to the cloud.

The servers are those of stacks/config/rehearsal.hybrid.yaml: two with 4 V100s, one with 4 A10Gs; the cloud rents out up
to two with 4 A10Gs. The MPI operator, Kueue, the cluster autoscaler's rules and kubectl are as in test_onprem.py and
test_autoscaler.py; servers and Systems Manager are played.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.rehearsed_jobs import Rehearsed
from tests.e2e.rehearsed_project import copy_of_ours
from tools.kubernetes.api_client import wait_until

RENTED = "hybrid-rented"
ROLE = "training.kubeflow.org/job-role"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsed]:
    """The environment with all that its stack installs, and its servers joined."""
    made = Rehearsed(copy_of_ours(tmp_path_factory.mktemp("project"), control_plane=True), "hybrid")
    try:
        made.up()
        made.project.connect_site()
        made.up()
        yield made
    finally:
        made.project.home.control_plane.stop()


def listed(lab: Rehearsed) -> dict[str, dict[str, Any]]:
    """What `gpufleet nodes list` tells, by the server's name, else the node's."""
    text, said, code = lab.inside("gpufleet", "nodes", "list", lab.environment, "--json")
    assert code == 0, said
    return {str(row["server"] or row["node"]): row for row in json.loads(text)}


def server_of(lab: Rehearsed, node: str) -> str:
    return lab.labels(node).get("server", "")


def test_servers_have_joined_with_the_labels_of_their_scripts(lab: Rehearsed) -> None:
    # A node is ready before its device plugin has counted the GPUs.
    wait_until(
        "all have GPUs", lambda: all(row["gpus"] for row in listed(lab).values()), state=lambda: str(listed(lab))
    )
    rows = listed(lab)
    assert {name: (row["gpu"], row["gpus"], row["place"], row["state"]) for name, row in rows.items()} == {
        "gpu-1": ("V100", 4, "onprem", "ready"),
        "gpu-2": ("V100", 4, "onprem", "ready"),
        "gpu-3": ("A10G", 4, "onprem", "ready"),
    }
    # With an activation of Systems Manager a node has the name that this gave it.
    assert all(row["node"].startswith("mi-") for row in rows.values())
    # The label by which docs/hybrid.md has kubectl find the node of a server, whatever it is called.
    found = lab.kubectl("get", "nodes", "-l", "gpufleet.dev/server=gpu-1", "-o", "name")
    assert found.split() == [f"node/{rows['gpu-1']['node']}"]
    (taint,) = lab.node(rows["gpu-1"]["node"])["spec"]["taints"]
    assert taint == {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    told, said, code = lab.inside("gpufleet", "link", lab.environment)
    assert code == 0, said
    assert told.splitlines()[-2:] == [
        "done     own servers",
        "next: the first job: `pulumi stack output first_job -s hybrid`",
    ]


def test_a_job_lands_where_it_asks_to(lab: Rehearsed) -> None:
    lab.start("desk", "--workers", "2", "--gpu", "V100", "--place", "onprem")
    lab.start("away", "--workers", "1", "--gpu", "A10G", "--place", "cloud")
    assert sorted(server_of(lab, node) for node in lab.placed("desk", 2)) == ["gpu-1", "gpu-2"]
    (rented,) = lab.placed("away", 1)
    assert (lab.labels(rented)["place"], lab.labels(rented)["pool"]) == ("cloud", RENTED)
    lab.cancel("desk", "away")


def test_a_job_goes_on_to_the_cloud_when_own_servers_are_taken(lab: Rehearsed) -> None:
    anywhere = ("--workers", "1", "--gpu", "A10G", "--place", "any")
    lab.start("first", *anywhere)
    assert [server_of(lab, node) for node in lab.placed("first", 1)] == ["gpu-3"]
    lab.start("second", *anywhere)
    (rented,) = lab.placed("second", 1)
    assert lab.labels(rented)["place"] == "cloud"
    lab.cancel("first", "second")


def launcher_of(lab: Rehearsed, name: str) -> str:
    """The node of a job's launcher, once it runs."""

    def found() -> list[str]:
        pods = [each for each in lab.pods(name) if each["metadata"]["labels"][ROLE] == "launcher"]
        return [str(each["spec"]["nodeName"]) for each in pods if each["status"].get("phase") == "Running"]

    wait_until(f"the launcher of {name} runs", lambda: bool(found()), state=lambda: lab.state(name))
    (node,) = found()
    return node


def test_all_pods_of_a_job_are_on_one_side(lab: Rehearsed) -> None:
    """Across both pod networks no plain NetworkPolicy holds. Every own server is tainted."""
    lab.start("desk", "--workers", "2", "--gpu", "V100", "--place", "onprem")
    lab.placed("desk", 2)
    assert server_of(lab, launcher_of(lab, "desk")) in ("gpu-1", "gpu-2", "gpu-3")
    anywhere = ("--workers", "1", "--gpu", "A10G", "--place", "any")
    lab.start("first", *anywhere)
    lab.placed("first", 1)
    assert lab.labels(launcher_of(lab, "first"))["place"] == "onprem"
    # The overflow goes to the cloud as a whole, and its launcher to a node without GPUs there.
    lab.start("second", *anywhere)
    (rented,) = lab.placed("second", 1)
    launcher = launcher_of(lab, "second")
    assert lab.labels(rented)["place"] == lab.labels(launcher)["place"] == "cloud"
    assert "nvidia.com/gpu.present" not in lab.node(launcher)["metadata"]["labels"]
    lab.cancel("desk", "first", "second")


def test_a_stopped_pool_is_given_to_no_job_until_it_is_started(lab: Rehearsed) -> None:
    anywhere = ("--workers", "1", "--gpu", "A10G", "--place", "any")
    lab.start("holds", *anywhere)
    assert [server_of(lab, node) for node in lab.placed("holds", 1)] == ["gpu-3"]
    stopped, said, code = lab.inside("gpufleet", "stop", lab.environment)
    assert code == 0, said
    assert "\nstopped: hybrid-rented-nodes; its queue gives them to no job\n" in stopped

    # Not to the cloud, where it would wait for nodes that do not come: it gets the own server that is free again.
    lab.start("returns", *anywhere)
    lab.held("returns", "flavor hybrid-queue-rented is stopped")
    lab.cancel("holds")
    assert [server_of(lab, node) for node in lab.placed("returns", 1)] == ["gpu-3"]
    lab.start("goes", *anywhere)
    lab.held("goes", "flavor hybrid-queue-rented is stopped")
    _, said, code = lab.inside("gpufleet", "stop", lab.environment, "--undo")
    assert code == 0, said
    (rented,) = lab.placed("goes", 1)
    assert lab.labels(rented)["place"] == "cloud"
    lab.cancel("returns", "goes")


def test_a_server_is_added_by_its_script_and_the_others_do_not_notice(lab: Rehearsed) -> None:
    before = listed(lab)
    uids = {name: lab.node(row["node"])["metadata"]["uid"] for name, row in before.items() if row["server"]}
    lab.project.configure(
        lambda config: config["own_servers"]["pools"]["v100"]["nodes"].append("gpu-4"), lab.environment
    )
    lab.add_server(name="gpu-4", gpus=4)
    told = lab.up()
    assert "on-prem server gpu-4: joined as node mi-" in told
    assert "gpu-1: joined" not in told
    after = listed(lab)
    assert after["gpu-4"]["state"] == "ready"
    assert {name: lab.node(after[name]["node"])["metadata"]["uid"] for name in uids} == uids
    assert lab.quota("v100") == "12"


def test_an_mpi_job_over_three_own_servers_has_its_launcher_there(lab: Rehearsed) -> None:
    lab.start("three", "--workers", "3", "--gpu", "V100", "--place", "onprem")
    assert sorted(server_of(lab, node) for node in lab.placed("three", 3)) == ["gpu-1", "gpu-2", "gpu-4"]
    assert lab.labels(launcher_of(lab, "three"))["place"] == "onprem"
    lab.cancel("three")


def test_a_server_goes_after_its_drain_and_the_others_do_not_notice(lab: Rehearsed) -> None:
    lab.start("stays", "--workers", "1", "--gpu", "A10G", "--place", "onprem")
    lab.start("moves", "--workers", "1", "--gpu", "V100")
    lab.placed("stays", 1)
    (leaving,) = lab.placed("moves", 1)
    server, before = server_of(lab, leaving), lab.pods("stays")

    lab.drain(leaving)
    assert listed(lab)[server]["cordoned"] is True
    wait_until("its job has a worker elsewhere", lambda: lab.places("moves") not in ([], [leaving]))
    (moved,) = lab.places("moves")

    lab.project.configure(
        lambda config: config["own_servers"]["pools"]["v100"]["nodes"].remove(server), lab.environment
    )
    lab.remove_server(server)
    lab.up()
    wait_until("the machine is gone", lambda: lab.node(leaving) == {})
    assert server not in listed(lab)
    assert lab.quota("v100") == "8"
    assert lab.pods("stays") == before
    assert lab.places("moves") == [moved]


def test_destroy_with_jobs_at_work_ends_on_the_first_try(lab: Rehearsed) -> None:
    destroyed = lab.project.rehearse("--destroy", environment=lab.environment)
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert not lab.plane.running
