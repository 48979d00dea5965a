"""hybrid rehearsed on a control plane: own servers join by their scripts, jobs land where asked and go on to the cloud.

The servers are those of stacks/config/rehearsal.hybrid.yaml, two with 4 V100s and one with 4 A10Gs, and one more with 4
V100s; the cloud rents out up to two with 4 A10Gs. The MPI operator, Kueue, the cluster autoscaler's rules and kubectl
are as in test_onprem.py and test_autoscaler.py; servers and Systems Manager are played.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpufleet_rehearsal.kubernetes.join_config import join_config
from tests.cluster.rehearsed_jobs import Rehearsed
from tests.e2e.rehearsed_project import copy_of_ours
from tests.tools.guide_commands import guide_commands
from tools.kubernetes.api_client import wait_until

RENTED = "hybrid-rented"
ROLE = "training.kubeflow.org/job-role"
SERVERS = ("gpu-1", "gpu-2", "gpu-3", "gpu-4")
HOW_FAR, ROUTER, HOW_FAR_AT_THE_SITE, SCRIPT = guide_commands("hybrid")
UNREACHED = "configured Kubernetes cluster is unreachable: unable to load schema information from the API server: Get"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsed]:
    """The environment before its first `up`, and three servers with V100s that stand at its site."""
    made = Rehearsed(copy_of_ours(tmp_path_factory.mktemp("project"), control_plane=True), "hybrid")
    made.project.configure(lambda config: config["own_servers"]["pools"]["v100"]["nodes"].append("gpu-4"), "hybrid")
    made.add_server(name="gpu-4", gpus=4)
    try:
        yield made
    finally:
        made.project.home.control_plane.stop()


@pytest.fixture(scope="module")
def lab(site: Rehearsed) -> Rehearsed:
    """The same with all that its stack installs, and its servers joined."""
    if not site.project.home.control_plane.access(start=False):
        site.project.connect_site()
        site.up()
    return site


def listed(lab: Rehearsed) -> dict[str, dict[str, Any]]:
    """What `gpufleet nodes list` tells, by the server's name, else the node's."""
    text, said, code = lab.inside("gpufleet", "nodes", "list", lab.environment, "--json")
    assert code == 0, said
    return {str(row["server"] or row["node"]): row for row in json.loads(text)}


def server_of(lab: Rehearsed, node: str) -> str:
    return lab.labels(node).get("server", "")


def nodes_of(lab: Rehearsed, name: str, role: str, count: int) -> list[str]:
    """The nodes on which so many pods of a job run that are its launcher, or its workers."""

    def found() -> list[str]:
        pods = [each for each in lab.pods(name) if each["metadata"]["labels"][ROLE] == role]
        return sorted(str(each["spec"]["nodeName"]) for each in pods if each["status"].get("phase") == "Running")

    wait_until(f"the {role} of {name} runs", lambda: len(found()) == count, state=lambda: lab.state(name))
    return found()


def launcher_of(lab: Rehearsed, name: str) -> str:
    """The node of a job's launcher, once it runs."""
    (node,) = nodes_of(lab, name, "launcher", 1)
    return node


def taints_of(lab: Rehearsed) -> dict[str, list[str]]:
    """The taints of each node, by the server's name, else the node's; printed."""
    found = {
        each["metadata"]["labels"].get("gpufleet.dev/server", each["metadata"]["name"]): [
            f"{taint['key']}={taint.get('value', '')}:{taint['effect']}" for taint in each["spec"].get("taints", ())
        ]
        for each in lab.plane.client.get("/api/v1/nodes")["items"]
    }
    print("taints:", *(f"  {name}: {', '.join(taints)}" for name, taints in found.items()), sep="\n")
    return found


def steps_of(told: str) -> list[str]:
    """The states of the four steps of `gpufleet link`."""
    return [line.split()[0] for line in told.splitlines()[:4]]


def test_from_nothing_in_two_phases_to_jobs_on_own_servers_and_in_the_cloud(site: Rehearsed, tmp_path: Path) -> None:
    told, said, code = site.line(HOW_FAR)
    assert (code, said, steps_of(told)) == (1, "", ["waiting", "later", "later", "later"])

    # The first phase: all of AWS, and nothing on the cluster.
    told = site.up()
    assert "on-prem server" not in told
    kinds = {str(each["type"]).split(":")[0] for each in site.project.state("hybrid")}
    assert "kubernetes" not in kinds, kinds
    told, said, code = site.line(HOW_FAR)
    assert (code, said, steps_of(told)) == (1, "", ["done", "waiting", "later", "later"])

    # The second one before the router is configured: one reason for all that fails, and one line of what to do.
    site.project.configure(lambda config: config.update(phase="cluster"), "hybrid")
    early = site.project.rehearse(environment="hybrid")
    failed = {line.partition("error: ")[2] for line in early.stdout.splitlines() if UNREACHED in line}
    mended = [line for line in early.stdout.splitlines() if line.startswith("the line to the site is down: ")]
    print("$ gpufleet rehearse hybrid", *failed, *mended, f"[exit code {early.returncode}]", sep="\n")
    assert early.returncode == 1, early.stdout
    (why,) = failed
    assert why.endswith("dial tcp 10.0.64.7:443: i/o timeout")
    assert len(mended) == 1
    assert "Traceback" not in early.stdout + early.stderr

    # The site is configured by what the cloud made.
    told, said, code = site.line(ROUTER)
    assert (code, said) == (0, "")
    assert "neighbours of 10.80.0.1 (BGP 65010): 10.80.0.0/24, BGP 65020; accept 10.81.0.0/16" in told
    site.project.connect_site()
    told, said, code = site.line(HOW_FAR_AT_THE_SITE)
    assert (code, said, steps_of(told)) == (1, "", ["done", "done", "waiting", "later"])

    # The second phase, and servers that join after it by what the guide pipes to them.
    told = site.up()
    print(*(line for line in told.splitlines() if "on-prem server" in line), sep="\n")
    assert sorted(line.split()[2] for line in told.splitlines() if line.startswith("  on-prem server ")) == [
        f"{name}:" for name in SERVERS
    ]
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\n[ "$*" = "root@gpu-1 bash -s" ] && cat > {tmp_path}/piped\n')
    ssh.chmod(0o755)
    _, said, code = site.inside("sh", "-c", f'PATH="{tmp_path}:$PATH"; {SCRIPT}')
    print(f"$ {SCRIPT}\n{said}[exit code {code}]")
    assert code == 0, said
    config = join_config((tmp_path / "piped").read_text())
    assert (config.cluster, config.labels["gpufleet.dev/server"]) == ("hybrid", "gpu-1")
    wait_until("all have GPUs", lambda: all(row["gpus"] for row in listed(site).values()))
    told, said, code = site.line(HOW_FAR)
    assert (code, said, steps_of(told)) == (0, "", ["done"] * 4)

    # From here on every node is tainted: the system nodes too, which carry the MPI operator, Kueue and DNS.
    system = [name for name, taints in taints_of(site).items() if not taints]
    site.kubectl("taint", "nodes", *system, "CriticalAddonsOnly=true:NoSchedule")
    tainted = taints_of(site)
    assert set(SERVERS) < set(tainted)
    assert all(tainted.values())

    # Three own servers, whose launcher is on one of them.
    site.start("three", "--workers", "3", "--gpu", "V100", "--place", "onprem")
    workers = [server_of(site, node) for node in nodes_of(site, "three", "worker", 3)]
    launcher = server_of(site, launcher_of(site, "three"))
    print(f"three: workers on {', '.join(sorted(workers))}, launcher on {launcher}")
    assert sorted(workers) == ["gpu-1", "gpu-2", "gpu-4"]
    assert launcher in SERVERS
    site.cancel("three")

    # More A10Gs than the site has: the whole job goes to nodes that are rented for it, its launcher too.
    site.start("more", "--workers", "2", "--gpu", "A10G", "--place", "any")
    rented = nodes_of(site, "more", "worker", 2)
    launcher = launcher_of(site, "more")
    print(f"more: workers on {', '.join(rented)}, launcher on {launcher}")
    assert [site.labels(node)["pool"] for node in {*rented, launcher}] == [RENTED, RENTED]
    assert all(taints_of(site).values())
    site.cancel("more")
    site.kubectl("taint", "nodes", *system, "CriticalAddonsOnly-")


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
        "gpu-4": ("V100", 4, "onprem", "ready"),
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
    assert {server_of(lab, node) for node in lab.placed("desk", 2)} < {"gpu-1", "gpu-2", "gpu-4"}
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


def test_all_pods_of_a_job_are_on_one_side(lab: Rehearsed) -> None:
    """Across both pod networks no plain NetworkPolicy holds. Every own server is tainted."""
    lab.start("desk", "--workers", "2", "--gpu", "V100", "--place", "onprem")
    lab.placed("desk", 2)
    assert server_of(lab, launcher_of(lab, "desk")) in SERVERS
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
    stopped, said, code = lab.inside("gpufleet", "stop", lab.environment, "--yes")
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
        lambda config: config["own_servers"]["pools"]["v100"]["nodes"].append("gpu-5"), lab.environment
    )
    lab.add_server(name="gpu-5", gpus=4)
    told = lab.up()
    assert "on-prem server gpu-5: joined as node mi-" in told
    assert "gpu-1: joined" not in told
    after = listed(lab)
    assert after["gpu-5"]["state"] == "ready"
    assert {name: lab.node(after[name]["node"])["metadata"]["uid"] for name in uids} == uids
    assert lab.quota("v100") == "16"


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
    assert lab.quota("v100") == "12"
    assert lab.pods("stays") == before
    assert lab.places("moves") == [moved]


def test_destroy_with_jobs_at_work_ends_on_the_first_try(lab: Rehearsed) -> None:
    destroyed = lab.project.rehearse("--destroy", environment=lab.environment)
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    assert not lab.plane.running
