"""Where an environment with own servers is: each step, what comes next, and what the site's router needs."""

import json

import pytest
from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.errors import UserError
from gpufleet.onprem.link import LinkStatus, phase_of, pod_routes, router_lines, router_values
from tests.tools.fake_cluster import FakeCluster, played

CLOUD = "network, cluster and the cloud's end of the line (phase cloud)"
ON_CLUSTER = "what is installed on the cluster (phase cluster)"
STEPS = {
    "before the first up": (
        ("", "no cluster yet", None),
        [f"waiting  {CLOUD}", "later    the line to the site", f"later    {ON_CLUSTER}", "later    own servers"],
        "`pulumi config set gpufleet:phase cloud -s lab`, then `pulumi up -s lab`",
    ),
    "the line is down": (
        ("cloud", "no answer", None),
        [
            f"done     {CLOUD}",
            "waiting  the line to the site: no answer",
            f"later    {ON_CLUSTER}",
            "later    own servers",
        ],
        "configure the site's router by `gpufleet link lab --router`, and run this at the site again",
    ),
    "the line is up": (
        ("cloud", "", None),
        [f"done     {CLOUD}", "done     the line to the site", f"waiting  {ON_CLUSTER}", "later    own servers"],
        "`pulumi config set gpufleet:phase cluster -s lab`, then `pulumi up -s lab` at the site",
    ),
    "servers are missing": (
        ("cluster", "", ["gpu-2", "gpu-3"]),
        [
            f"done     {CLOUD}",
            "done     the line to the site",
            f"done     {ON_CLUSTER}",
            "waiting  own servers: not joined: gpu-2, gpu-3",
        ],
        "`gpufleet nodes script lab gpu-2 | ssh root@gpu-2 bash -s`",
    ),
    "nobody knows who has joined": (
        ("cluster", "", None),
        [f"done     {CLOUD}", "done     the line to the site", f"done     {ON_CLUSTER}", "waiting  own servers"],
        "`gpufleet nodes list lab`",
    ),
    "all is there": (
        ("cluster", "", []),
        [f"done     {CLOUD}", "done     the line to the site", f"done     {ON_CLUSTER}", "done     own servers"],
        "the first job: `pulumi stack output first_job -s lab`",
    ),
    "the line went down again": (
        ("cluster", "no answer", None),
        [
            f"done     {CLOUD}",
            "waiting  the line to the site: no answer",
            f"later    {ON_CLUSTER}",
            "later    own servers",
        ],
        "configure the site's router by `gpufleet link lab --router`, and run this at the site again",
    ),
}


@pytest.mark.parametrize("case", STEPS)
def test_steps_and_what_comes_next(case):
    (phase, down, missing), lines, following = STEPS[case]
    status = LinkStatus("lab", phase, down, missing)
    assert status.lines == [*lines, f"next: {following}"]
    assert status.as_json["next"] == following


@pytest.mark.parametrize(
    ("outputs", "phase"),
    [
        ({}, ""),
        ({"kubeconfig": "{}", "phase": "cloud"}, "cloud"),
        # A stack of a release that had no phases.
        ({"kubeconfig": "{}", "jobs": {}}, "cluster"),
    ],
)
def test_the_phase_of_a_stack(outputs, phase):
    assert phase_of(outputs) == phase


TUNNEL = {
    "address": "198.51.100.1",
    "pre_shared_key": "key-one",
    "cloud_inside_address": "169.254.21.1",
    "site_inside_address": "169.254.21.2",
    "cloud_asn": "64512",
}
VALUES = {
    "kind": "vpn",
    "tunnels": [TUNNEL],
    "cloud_cidr": "10.0.0.0/16",
    "site_cidrs": ["10.80.0.0/24", "10.81.0.0/16"],
    # Pulumi's outputs have no whole numbers.
    "site_asn": 65010.0,
    "servers": ["10.80.0.0/24"],
    "pods": ["10.81.0.0/16"],
    "bgp": {"asn": 65020.0, "peers": [{"address": "10.80.0.1", "asn": 65010.0}]},
}
NODE = {
    "metadata": {"name": "mi-1"},
    "spec": {
        "addresses": [{"type": "CiliumInternalIP", "ip": "10.81.0.5"}, {"type": "InternalIP", "ip": "10.80.0.11"}],
        "ipam": {"podCIDRs": ["10.81.0.0/25"]},
    },
}
ROUTER = [
    "tunnel 1",
    "  cloud's address       198.51.100.1",
    "  pre-shared key        key-one",
    "  inside, router        169.254.21.2/30",
    "  inside, cloud         169.254.21.1/30",
    "  BGP                   65010 to 64512, neighbour 169.254.21.1",
    "IKEv2, AES-GCM, groups 19 to 21; the router begins",
    "to the cloud: 10.0.0.0/16",
    "announce to the cloud: 10.80.0.0/24, 10.81.0.0/16",
    "neighbours of 10.80.0.1 (BGP 65010): 10.80.0.0/24, BGP 65020; accept 10.81.0.0/16",
]


def test_values_for_the_router():
    assert router_lines(VALUES, []) == ROUTER
    # A line of others' making, and static routes.
    own = {key: VALUES[key] for key in ("cloud_cidr", "servers", "pods")} | {"bgp": None}
    assert router_lines(own, pod_routes([NODE, {"metadata": {"name": "mi-2"}}])) == [
        "to the cloud: 10.0.0.0/16",
        "announce to the cloud: 10.80.0.0/24, 10.81.0.0/16",
        "route to pods of mi-1: 10.81.0.0/25 via 10.80.0.11",
    ]


@pytest.mark.parametrize(
    ("outputs", "line"),
    [
        (
            {},
            "lab: the stack's outputs have no link; configure gpufleet:link or gpufleet:own_servers, and run "
            "`pulumi up -s lab`",
        ),
        (
            {"link": "[secret]"},
            "lab: the stack's output link is hidden; write the outputs with "
            "`pulumi stack output -s lab --json --show-secrets`",
        ),
    ],
)
def test_outputs_without_the_values(outputs, line):
    with pytest.raises(UserError) as caught:
        router_values(outputs, "lab")
    assert str(caught.value) == line


def test_the_command_prints_them_and_says_whether_all_is_there(tmp_path):
    file = tmp_path / "outputs.json"
    file.write_text(json.dumps({"link": VALUES}))
    told = CliRunner().invoke(main, ["link", "lab", "--outputs", str(file), "--router"])
    assert (told.exit_code, told.stdout.splitlines()) == (0, ROUTER)
    told = CliRunner().invoke(main, ["link", "lab", "--outputs", str(file)])
    assert (told.exit_code, told.stdout.splitlines()[-1]) == (1, f"next: {STEPS['before the first up'][2]}")


def test_an_environment_without_a_line_says_so(tmp_path):
    file = tmp_path / "outputs.json"
    kubeconfig = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
        "users": [{"name": "c", "user": {}}],
        "current-context": "c",
    }
    file.write_text(json.dumps({"kubeconfig": kubeconfig, "phase": "cluster"}))
    told = CliRunner().invoke(main, ["link", "lab", "--outputs", str(file)])
    assert told.exit_code == 1
    assert told.stderr == (
        "Error: lab: the stack's outputs have no link; configure gpufleet:link or gpufleet:own_servers, and run "
        "`pulumi up -s lab`\n"
    )
    # With one, and a cluster that does not answer.
    file.write_text(json.dumps({"kubeconfig": kubeconfig, "phase": "cloud", "link": VALUES}))
    told = CliRunner().invoke(main, ["link", "lab", "--outputs", str(file)])
    lines = told.stdout.splitlines()
    assert (told.exit_code, lines[0]) == (1, f"done     {CLOUD}")
    assert lines[1].startswith("waiting  the line to the site: lab: http://127.0.0.1:9")
    assert lines[-1] == f"next: {STEPS['the line is down'][2]}"


@pytest.mark.parametrize(("namespaces", "installed"), [(["lab"], True), ([], False), (["other"], False)])
def test_an_up_that_failed_without_the_line_has_installed_nothing(namespaces, installed, tmp_path):
    """It writes the output `phase` nevertheless, so the cluster is asked."""
    objects = {f"/api/v1/namespaces/{name}": {"metadata": {"name": name}} for name in namespaces}
    with played(FakeCluster(objects=objects | {"/version": {}})) as cluster:
        outputs = {"kubeconfig": cluster.kubeconfig, "phase": "cluster", "link": VALUES, "jobs": {"namespace": "lab"}}
        (tmp_path / "outputs.json").write_text(json.dumps(outputs))
        told = CliRunner().invoke(main, ["link", "lab", "--outputs", str(tmp_path / "outputs.json")])
    states = ["done"] * 4 if installed else ["done", "done", "waiting", "later"]
    assert [line.split()[0] for line in told.stdout.splitlines()[:4]] == states, told.output
    assert told.exit_code == (0 if installed else 1)
    last = "the first job: `pulumi stack output first_job -s lab`" if installed else STEPS["the line is up"][2]
    assert told.stdout.splitlines()[-1] == f"next: {last}"
