"""Own servers in an AWS environment: what it registers for them, what jobs are told, and what it refuses."""

import pytest

from tests.unit.stacks.aws_environment import CONFIG, program

V100 = {"gpu": "V100", "gpus": 4, "nodes": ["gpu-1", "gpu-2"]}
TITAN = {"gpu": "TITAN-V", "gpus": 2, "nodes": ["gpu-3"], "taints": [{"key": "lab", "effect": "NO_SCHEDULE"}]}
RENTED = {"types": ["g5.12xlarge"], "max": 2, "zones": ["use1-az2"], "network": "plain"}
OWN = {
    "networks": {"nodes": ["10.80.0.0/24"], "pods": ["10.81.0.0/16"]},
    "nfs": "10.80.0.5:/export/shared",
    "pools": {"v100": V100, "titan": TITAN},
    "nodeadm": {"version": "v1.0.9", "sha256": "a" * 64},
    "cilium": {"bgp": {"asn": 65020, "peers": [{"address": "10.80.0.1", "asn": 65010}]}},
}
CLUSTER = "aws:eks/cluster:Cluster"


def changed(**changes):
    return {"own_servers": OWN | changes, "pools": {"rented": RENTED}, "queue": {}}


def test_the_cluster_knows_their_networks_and_they_have_a_role_and_an_activation():
    made = program(**changed())
    assert made.one(CLUSTER).inputs["remoteNetworkConfig"] == {
        "remoteNodeNetworks": {"cidrs": ["10.80.0.0/24"]},
        "remotePodNetworks": {"cidrs": ["10.81.0.0/16"]},
    }
    (activation,) = made.of("aws:ssm/activation:Activation")
    assert activation.inputs["registrationLimit"] == 3
    assert made.of("kubernetes:core/v1:NodePatch") == []


def test_jobs_have_their_files_from_the_own_server_everywhere():
    made = program(**changed())
    volume = made.one("kubernetes:core/v1:PersistentVolume").inputs["spec"]
    assert volume["nfs"] == {"server": "10.80.0.5", "path": "/export/shared"}
    assert made.of("aws:efs/fileSystem:FileSystem") == []
    assert "file_system_id" not in made.result


def test_jobs_know_both_kinds_of_pools_and_the_queue_fills_own_servers_first():
    made = program(**changed())
    pools = made.result["jobs"]["pools"]
    assert {name: (each.get("gpu"), each.get("place")) for name, each in pools.items()} == {
        "v100": ("V100", "onprem"),
        "titan": ("TITAN-V", "onprem"),
        "rented": (None, None),
    }
    (queue,) = [each for each in made.resources if each.type.endswith(":ClusterQueue")]
    flavors = queue.inputs["spec"]["resourceGroups"][0]["flavors"]
    gpus = [(each["name"].removeprefix("dev-queue-"), each["resources"][0]["nominalQuota"]) for each in flavors]
    assert gpus == [("titan", "2"), ("v100", "8"), ("rented", "8"), ("cpu", "0")]
    labels = {
        each.name: each.inputs["spec"].get("nodeLabels", {}) for each in made.resources if "ResourceFlavor" in each.type
    }
    pools_of = {name.removeprefix("dev-queue-flavor-"): each.get("gpufleet.dev/pool") for name, each in labels.items()}
    assert pools_of == {"titan": "dev-titan", "v100": "dev-v100", "rented": "dev-rented", "cpu": None}
    plugin = made.one("kubernetes:apps/v1:DaemonSet", "dev-device-plugin-daemonset").inputs["spec"]["template"]["spec"]
    assert "lab" in {toleration["key"] for toleration in plugin["tolerations"]}


def test_a_server_more_changes_nothing_but_the_number_that_may_register():
    more = OWN["pools"] | {"v100": V100 | {"nodes": ["gpu-1", "gpu-2", "gpu-4"]}}
    before = {each.name: each.inputs for each in program(**changed()).resources if each.custom}
    after = {each.name: each.inputs for each in program(**changed(pools=more)).resources if each.custom}
    assert before.keys() == after.keys()
    different = {name for name in before if before[name] != after[name]}
    assert different == {"dev-own-servers-activation", "dev-queue-quota-training"}


REFUSED = {
    "ranges that overlap the VPC": (
        changed(networks={"nodes": ["10.0.4.0/24"]}),
        "dev: own_servers.networks.nodes=10.0.4.0/24: overlaps vpc_cidr=10.0.0.0/16; give each its own range "
        "[aws-hybrid-ranges-apart]",
    ),
    "ranges that overlap each other": (
        changed(networks={"nodes": ["10.80.0.0/24"], "pods": ["10.80.0.0/16"]}),
        "dev: own_servers.networks.pods=10.80.0.0/16: overlaps own_servers.networks.nodes=10.80.0.0/24; give each its "
        "own range [aws-hybrid-ranges-apart]",
    ),
    "both kinds of credentials": (
        changed(credentials="ssm", certificate_authority="-----BEGIN CERTIFICATE-----"),
        "dev-own-servers: certificate_authority=given: is of no use with credentials=ssm, and both kinds at once are "
        "not supported; leave it out, or set credentials=roles-anywhere [aws-hybrid-credentials]",
    ),
    "another spelling of a GPU": (
        changed(pools={"v100": V100 | {"gpu": "v-100"}}),
        "dev-v100: gpu=v-100: is spelled differently in the catalog, so jobs see two models; use V100 [any-node-gpu]",
    ),
    "a pool's name in the cloud too": (
        changed(pools={"rented": V100}),
        "dev: own_servers.pools=rented: is a name of gpufleet:pools too; give one of them another name "
        "[any-pool-name-once]",
    ),
    "a server in two pools": (
        changed(pools={"v100": V100, "titan": TITAN | {"nodes": ["gpu-2"]}}),
        "dev: nodes=gpu-2: is in pools v100 and titan; leave it in one of them [any-node-pool]",
    ),
    "an EFS that no own server mounts": (
        changed() | {"files": {"throughput": "bursting"}},
        "dev: files=[throughput]: shapes an EFS, which pods on own servers cannot mount, and none is made; leave it "
        "out: own_servers.nfs holds the files of every job [aws-own-servers-files]",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_before_anything_is_made(case):
    changes, line = REFUSED[case]
    assert line in program.refusal(**changes)


@pytest.mark.parametrize("site", ["10.100.5.0/24", "172.20.5.0/24"])
def test_a_site_where_eks_may_put_its_services_chooses_their_range(site, monkeypatch):
    warned: list[str] = []
    monkeypatch.setattr("pulumi.log.warn", lambda message, *_, **__: warned.append(message))
    program.run(**changed(networks={"nodes": [site], "pods": ["10.81.0.0/16"]}))
    assert any("which EKS may choose" in line for line in warned)
    warned.clear()
    made = program.run(
        **changed(networks={"nodes": [site], "pods": ["10.81.0.0/16"]}), cluster={"service_cidr": "10.200.0.0/16"}
    )
    assert made.one(CLUSTER).inputs["kubernetesNetworkConfig"] == {"serviceIpv4Cidr": "10.200.0.0/16"}
    assert not [line for line in warned if "service" in line]


@pytest.mark.parametrize(
    ("services", "lines"),
    [
        (
            "10.80.0.0/16",
            [
                "dev: own_servers.networks.nodes=10.80.0.0/24: overlaps service_cidr=10.80.0.0/16; give each its own "
                "range [aws-hybrid-ranges-apart]"
            ],
        ),
        (
            "10.0.0.0/16",
            [
                "dev-cluster: service_cidr=10.0.0.0/16: overlaps vpc_cidr=10.0.0.0/16; give each its own range "
                "[aws-cluster-services-apart]"
            ],
        ),
    ],
)
def test_a_range_of_services_that_is_taken_is_refused(services, lines):
    assert program.refusal(**changed(), cluster={"service_cidr": services}) == lines


def test_an_activation_that_has_ended_is_refused():
    lines = program.refusal(**changed(activation_expires="2026-01-31"))
    (line,) = [each for each in lines if "aws-hybrid-activation-expires" in each]
    assert line.startswith("dev-own-servers: activation_expires=2026-01-31: has passed, so no server can join")


def test_pods_on_own_servers_have_a_network_of_their_own():
    made = program(**changed())
    (cilium,) = made.of("gpufleet-kubernetes:index:Cilium")
    assert cilium.name == "dev-cilium"
    (bgp,) = made.of("kubernetes:cilium.io/v2alpha1:CiliumBGPClusterConfig")
    (instance,) = bgp.inputs["spec"]["bgpInstances"]
    (router,) = instance["peers"]
    assert (instance["localASN"], router["peerAddress"], router["peerASN"]) == (65020, "10.80.0.1", 65010)
    made = program(**changed(cilium={"static_routes": True}))
    assert made.of("kubernetes:cilium.io/v2alpha1:CiliumBGPClusterConfig") == []
    assert made.one("kubernetes:helm.sh/v3:Release", "dev-cilium-release")


UNREACHED_PODS = {
    "no range": (
        {"networks": {"nodes": ["10.80.0.0/24"]}},
        [
            "dev: own_servers.networks.pods=[]: the cluster then reaches no pod on own servers; give a private range, "
            "such as 10.81.0.0/16, which is an address of nothing else [aws-own-servers-pods]",
        ],
    ),
    "no route": (
        {"cilium": {}},
        [
            "dev: own_servers.cilium.bgp=not given: the site's router does not learn which server has which pods; give "
            "the BGP numbers of servers and router and its address, or static_routes: true [aws-own-servers-pods]"
        ],
    ),
}


@pytest.mark.parametrize("case", UNREACHED_PODS)
def test_pods_that_the_cluster_cannot_reach_are_refused(case):
    changes, lines = UNREACHED_PODS[case]
    assert program.refusal(**changed(**changes)) == lines


def test_the_first_phase_makes_what_needs_no_way_to_the_site_and_tells_the_router_all():
    made = program(**changed(), link=LINK, phase="cloud")
    assert [each.type for each in made.resources if each.type.startswith(("kubernetes:", "pulumi:providers:kub"))] == []
    assert made.of("aws:ssm/activation:Activation") == []
    # From the site one reaches the cluster's API as soon as the line is up.
    (rule,) = [each for each in made.resources if each.name == "dev-own-servers-nodes-10-80-0-0-24-api"]
    assert (rule.inputs["cidrIpv4"], rule.inputs["fromPort"]) == ("10.80.0.0/24", 443)
    assert {"jobs", "first_job", "own_servers"} & made.result.keys() == set()
    router = made.result["link"].value
    assert made.result["phase"] == "cloud"
    assert {key: router[key] for key in ("kind", "cloud_cidr", "site_cidrs", "site_asn")} == {
        "kind": "vpn",
        "cloud_cidr": "10.0.0.0/16",
        "site_cidrs": ["10.80.0.0/24", "10.81.0.0/16"],
        "site_asn": 65010,
    }
    assert router["bgp"] == OWN["cilium"]["bgp"]
    (first, _) = router["tunnels"]
    assert first.keys() == {"address", "pre_shared_key", "cloud_inside_address", "site_inside_address", "cloud_asn"}


def test_the_second_phase_adds_what_lives_on_the_cluster_and_changes_nothing_else():
    def of_cloud(phase):
        made = program(**changed(), link=LINK, phase=phase)
        return {each.name: each.inputs for each in made.resources if each.type.startswith("aws:")}

    first, second = of_cloud("cloud"), of_cloud("cluster")
    assert {name: second[name] for name in first} == first
    assert second.keys() - first.keys() == {"dev-own-servers-activation"}


REACHED = (
    "dev-cluster: phase=not given: installs on the cluster, whose API is reachable from the VPC and over the line to "
    "the site only; use cloud until `gpufleet link` says that the line is up, then cluster [aws-cluster-api-reached]"
)


@pytest.mark.parametrize(("more", "said"), [({}, [REACHED]), ({"phase": "cloud"}, []), ({"phase": "cluster"}, [])])
def test_one_advice_on_how_the_api_is_reached(more, said, monkeypatch):
    warned: list[str] = []
    monkeypatch.setattr("pulumi.log.warn", lambda message, *_, **__: warned.append(message))
    program.run(**changed(), link=LINK, **more)
    assert [line for line in warned if "aws-cluster-api-reached" in line or "public_access" in line] == said


LINK = {"kind": "vpn", "customer_address": "203.0.113.9", "customer_asn": 65010}


def test_a_line_leads_to_the_servers_from_every_private_subnet():
    made = program(**changed(), link=LINK)
    tables = made.inputs("aws:ec2/vpnGatewayRoutePropagation:VpnGatewayRoutePropagation")
    assert len(tables) == 3
    assert {each["routeTableId"] for each in tables.values()} == {
        f"dev-network-private-use1-az{number}-routes-id" for number in (1, 2, 3)
    }
    assert {"link", "link_device_configuration"} <= made.result.keys()


def test_a_fault_of_the_networks_is_said_once_for_servers_and_line():
    apart = {"nodes": ["10.0.4.0/24"], "pods": ["10.81.0.0/16"]}
    lines = program.refusal(**changed(networks=apart), link=LINK)
    assert [line.rpartition("[")[2] for line in lines] == ["aws-hybrid-ranges-apart]"]
    lines = program.refusal(link=LINK)
    assert lines == [
        "dev-link: site_cidrs=[]: is empty; give at least one range of the own network [any-argument-not-empty]"
    ]


def test_route_tables_of_an_existing_network_are_missed_beside_its_own_faults():
    lines = program.refusal(network={"zones": ["use1-az2"], "vpc_id": "vpc-1"}, pools={"rented": RENTED}, link=LINK)
    assert [line.split("=")[0] for line in lines if not line.startswith("dev-cluster")] == [
        "dev-network: private_subnet_ids",
        "dev-link: site_cidrs",
        "dev-link: route_table_ids",
    ]


def test_what_the_control_plane_calls_runs_on_nodes_of_the_cloud():
    """Own servers have no region of AWS, and EKS may not reach a webhook there."""
    selector = {"topology.kubernetes.io/region": "us-east-1"}
    software = ["device-plugin", "mpi-operator", "autoscaler", "jobset"]
    releases = program(**changed(), software=software).inputs("kubernetes:helm.sh/v3:Release")
    assert releases["dev-queue-release"]["values"] == {"controllerManager": {"nodeSelector": selector}}
    assert releases["dev-jobset-release"]["values"]["controller"] == {"nodeSelector": selector}
    assert releases["dev-autoscaler-release"]["values"]["nodeSelector"] == selector
    assert (
        program(queue={}, pools={"rented": RENTED}).inputs("kubernetes:helm.sh/v3:Release")["dev-queue-release"][
            "values"
        ]
        == {}
    )


def test_without_own_servers_nothing_of_them_is_made():
    assert "own_servers" not in CONFIG
    made = program()
    assert "remoteNetworkConfig" not in made.one(CLUSTER).inputs
    assert made.of("aws:ssm/activation:Activation") == []


UNREACHED = (
    "dev: place=cloud: nothing leads from there to the shared files, which are at onprem: jobs with these files are "
    "rejected; give gpufleet:link, or own_servers.line: true where there is one, or submit such jobs with --place "
    "onprem [any-pool-reaches-files]"
)


@pytest.mark.parametrize(
    ("own", "more", "warnings"),
    [
        ({}, {}, [UNREACHED]),
        ({"pools": {"v100": V100 | {"place": "lab"}}}, {}, [UNREACHED.replace("onprem", "lab")]),
        ({"line": True}, {}, []),
        ({}, {"link": LINK}, []),
        ({}, {"pools": {}}, []),
    ],
    ids=["no line", "another place", "a line of others' making", "a line", "no rented pool"],
)
def test_jobs_know_from_where_the_files_are_not_reached(own, more, warnings, monkeypatch):
    warned: list[str] = []
    monkeypatch.setattr("pulumi.log.warn", lambda message, *_, **__: warned.append(message))
    pools = program.run(**changed(**own) | more).result["jobs"]["pools"]
    assert [line for line in warned if "any-pool-reaches-files" in line] == warnings
    unreached = [name for name, each in pools.items() if not each.get("reaches_files", True)]
    assert unreached == (["rented"] if warnings else [])
    assert all("reaches_files" not in each for name, each in pools.items() if name not in unreached)
