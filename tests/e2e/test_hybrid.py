"""The life of hybrid on the simulated cloud, without a control plane: up, servers that come and go, broken input."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.rehearsed_project import Project, held, names_of

ENVIRONMENT = "hybrid"
CREATES = Path(__file__).with_name("creates_of_hybrid.txt").read_text().split()
ACTIVATION = "aws:ssm/activation:Activation"


def rehearse(project: Project, *arguments: str) -> str:
    done = project.rehearse(*arguments, environment=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def own(project: Project, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what the configuration says of own servers."""

    def changed(config: dict[str, Any]) -> None:
        change(config["own_servers"])

    project.configure(changed, ENVIRONMENT)


def stand(project: Project, *servers: dict[str, object]) -> None:
    """More servers at the site."""
    file = project.folder / "stacks" / "config" / f"rehearsal.{ENVIRONMENT}.yaml"
    rows = yaml.safe_load(file.read_text())
    rows["nodes"] += servers
    file.write_text(yaml.safe_dump(rows))


def joined(project: Project) -> dict[str, Any]:
    """Each server that has joined, with its node."""
    return dict(json.loads(project.cloud.store.fact("joined-servers") or "{}"))


CLOUD_END = "done     network, cluster and the cloud's end of the line (phase cloud)"
UNREACHED = "configured Kubernetes cluster is unreachable: unable to load schema information from the API server: Get"


def link(project: Project, *words: str) -> tuple[int, list[str]]:
    """Exit code and lines of `gpufleet link hybrid`, within the rehearsal."""
    done = project.rehearse("--", "gpufleet", "link", ENVIRONMENT, *words, environment=ENVIRONMENT)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_from_nothing_in_two_phases_and_not_in_the_wrong_order(project: Project) -> None:
    # Everything at once, before there is a line: all of the cloud is made, and nothing on the cluster.
    project.configure(lambda config: config.update(phase="cluster"), ENVIRONMENT)
    done = project.rehearse(environment=ENVIRONMENT)
    assert done.returncode == 1
    assert UNREACHED in done.stdout
    assert "dial tcp 10.0.64.7:443: i/o timeout" in done.stdout
    assert "the line to the site is down: `gpufleet link` lists what its router needs" in done.stdout
    assert [each for each in project.state(ENVIRONMENT) if str(each["type"]).startswith("kubernetes:")] == []

    # The first phase succeeds, and says what the router needs and what comes next.
    project.configure(lambda config: config.update(phase="cloud"), ENVIRONMENT)
    rehearse(project)
    made = names_of([each for each in project.state(ENVIRONMENT) if str(each["type"]).startswith("aws:")])
    assert made == set(CREATES) - {"hybrid-own-servers-activation"}
    code, (cloud, line, *_, following) = link(project)
    assert (code, cloud) == (1, CLOUD_END)
    assert line.startswith(f"waiting  the line to the site: {UNREACHED}")
    assert following.startswith("next: configure the site's router by `gpufleet link hybrid --router`")
    code, router = link(project, "--router")
    assert code == 0
    (vpn,) = project.cloud.store.resources("aws:ec2/vpnConnection:VpnConnection")
    for number in (1, 2):
        assert f"  cloud's address       {vpn.outputs[f'tunnel{number}Address']}" in router
        assert f"  pre-shared key        {vpn.outputs[f'tunnel{number}PresharedKey']}" in router
    assert "  BGP                   65010 to 64512, neighbour 169.254.21.1" in router
    assert "neighbours of 10.80.0.1 (BGP 65010): 10.80.0.0/24, BGP 65020; accept 10.81.0.0/16" in router

    # The router is configured: the line is up, and the second phase makes the rest. Servers join after it only.
    assert joined(project) == {}
    project.connect_site()
    code, lines = link(project)
    assert (code, lines[:3]) == (
        1,
        [
            CLOUD_END,
            "done     the line to the site",
            "waiting  what is installed on the cluster (phase cluster)",
        ],
    )
    told = rehearse(project)
    assert "\n    - " not in told
    assert set(joined(project)) == {"gpu-1", "gpu-2", "gpu-3"}
    code, lines = link(project)
    assert lines[2] == "done     what is installed on the cluster (phase cluster)"


def test_a_life(project: Project) -> None:
    project.connect_site()
    project.configure(lambda config: config.update(erase=True), ENVIRONMENT)
    told = rehearse(project)
    made = [each for each in project.state(ENVIRONMENT) if str(each["type"]).startswith("aws:")]
    assert names_of(made) == set(CREATES)
    assert sorted(line.split()[2] for line in told.splitlines() if line.startswith("  on-prem server ")) == [
        "gpu-1:", "gpu-2:", "gpu-3:",
    ]  # fmt: skip
    before = joined(project)
    assert before["gpu-3"]["labels"]["gpufleet.dev/pool"] == "hybrid-a10g"
    (activation,) = project.cloud.store.resources(ACTIVATION)

    # Own servers, 4 + 4 + 4 GPUs, are there whatever rented nodes are: none now, and two of 4 GPUs at the most.
    (listed,) = json.loads(rehearse(project, "--", "gpufleet", "ps", "--json"))["environments"]
    assert listed["gpus"] == {"now": None, "at_last_update": 12, "at_most": 12 + 8}
    # And `stop` says what they cost: AWS bills 160 vCPUs, 0.02 USD an hour each.
    floor = listed["usd_per_hour"]["floor"]
    assert (floor["complete"], floor["usd"] > 160 * 0.02) == (True, True)
    stopped = rehearse(project, "--", "gpufleet", "stop", ENVIRONMENT, "--dry-run").splitlines()
    assert f"still costs ${floor['usd']:,.3f}/h, ${floor['usd'] * 730:,.2f} a month (list prices):" in stopped
    assert stopped[-1] == "own servers are not stopped, nor the jobs on them"

    # Once more: nothing happens, no server joins again.
    assert "on-prem server" not in rehearse(project)
    # One server more: those that have joined stay as they are, and the activation is a new one, for it.
    own(project, lambda servers: servers["pools"]["v100"]["nodes"].append("gpu-4"))
    stand(project, {"name": "gpu-4", "gpus": 4})
    told = rehearse(project)
    assert [line.split()[2] for line in told.splitlines() if line.startswith("  on-prem server ")] == ["gpu-4:"]
    assert {name: node for name, node in joined(project).items() if name != "gpu-4"} == before
    assert project.cloud.store.resources(ACTIVATION)[0].id != activation.id

    # One that is named and does not stand there.
    own(project, lambda servers: servers["pools"]["v100"]["nodes"].append("gpu-9"))
    done = project.rehearse(environment=ENVIRONMENT)
    assert done.returncode == 1
    assert "on-prem server not joined gpu-9: not listed under nodes in the account's file" in done.stdout
    assert set(joined(project)) == {"gpu-1", "gpu-2", "gpu-3", "gpu-4"}

    rehearse(project, "--destroy")
    assert [line for line in held(project.cloud) if line.startswith("hybrid")] == []


@pytest.mark.sweep
def test_the_script_is_a_file_for_its_owner_only(project: Project) -> None:
    project.connect_site()
    rehearse(project)
    file = project.folder / "join.sh"
    done = project.rehearse(
        "--", "gpufleet", "nodes", "script", ENVIRONMENT, "gpu-1", "--to", str(file), environment=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "holds a secret" in done.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    (activation,) = project.cloud.store.resources(ACTIVATION)
    code = str(activation.outputs["activationCode"])
    assert code in file.read_text()
    # It stands nowhere else: not in the state, not in what the commands print.
    state = project.home.root / "backend" / ".pulumi" / "stacks" / "gpufleet" / f"{ENVIRONMENT}.json"
    assert code not in state.read_text()
    assert code not in done.stderr
    done = project.rehearse("--", "gpufleet", "nodes", "script", ENVIRONMENT, "gpu-7", environment=ENVIRONMENT)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: hybrid: node=gpu-7: no pool of gpufleet:own_servers names it; ")

    # An activation that is used up lets nobody in: a server that is put in the place of another wants a new one.
    own(project, lambda servers: servers["pools"]["v100"].update(nodes=["gpu-1", "gpu-5"]))
    stand(project, {"name": "gpu-5", "gpus": 4})
    done = project.rehearse(environment=ENVIRONMENT)
    assert done.returncode == 1
    assert "on-prem server not joined gpu-5: the activation is used up: 3 servers have registered" in done.stdout
    own(project, lambda servers: servers.update(count=4))
    assert "on-prem server gpu-5: joined as node mi-" in rehearse(project)


def yesterday() -> str:
    return str(datetime.now(UTC).date() - timedelta(days=1))


BROKEN: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "ranges that overlap the VPC's": (
        lambda servers: servers["networks"].update(nodes=["10.0.80.0/24"]),
        "hybrid: own_servers.networks.nodes=10.0.80.0/24: overlaps vpc_cidr=10.0.0.0/16; give each its own range "
        "[aws-hybrid-ranges-apart]",
    ),
    "credentials of both kinds": (
        lambda servers: servers.update(certificate_authority="-----BEGIN CERTIFICATE-----"),
        "hybrid-own-servers: certificate_authority=given: is of no use with credentials=ssm, and both kinds at once "
        "are not supported; leave it out, or set credentials=roles-anywhere [aws-hybrid-credentials]",
    ),
    "an activation that has ended": (
        lambda servers: servers.update(activation_expires=yesterday()),
        "hybrid-own-servers: activation_expires={yesterday}: has passed, so no server can join with this activation; "
        "give a day up to {last}, or leave it out: servers that have joined stay [aws-hybrid-activation-expires]",
    ),
    "another spelling of a GPU": (
        lambda servers: servers["pools"]["v100"].update(gpu="v100"),
        "hybrid-v100: gpu=v100: is spelled differently in the catalog, so jobs see two models; use V100 [any-node-gpu]",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_input_is_one_clear_line_and_nothing_is_made(case: str, project: Project) -> None:
    change, line = BROKEN[case]
    project.connect_site()
    own(project, change)
    done = project.rehearse(environment=ENVIRONMENT)
    assert done.returncode == 1
    expected = line.format(yesterday=yesterday(), last=datetime.now(UTC).date() + timedelta(days=30))
    said = [each.strip().removeprefix("error: ") for each in done.stdout.splitlines()]
    assert expected in said, done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert held(project.cloud) == []


def test_a_gpu_that_the_environment_has_not_is_one_clear_line(project: Project) -> None:
    project.connect_site()
    rehearse(project)
    command = (
        "gpufleet",
        "jobs",
        "submit",
        ENVIRONMENT,
        "--workers",
        "1",
        "--gpu",
        "V10",
        "--image",
        "a:1",
        "--dry-run",
    )
    done = project.rehearse("--", *command, "--", "true", environment=ENVIRONMENT)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
