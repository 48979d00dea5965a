"""The program of an AWS environment: what it registers from its configuration, and what it refuses before that."""

import pytest

from tests.unit.stacks.aws_environment import POOL, program

REACHED = {"public_access_cidrs": ["52.94.76.0/22"]}
SUBNET = "dev-network-private-{zone}-id".format


def subnets_of_cluster(made):
    return made.one("aws:eks/cluster:Cluster").inputs["vpcConfig"]["subnetIds"]


def test_gpus_may_lie_where_eks_puts_no_control_plane():
    made = program()
    assert subnets_of_cluster(made) == [SUBNET(zone="use1-az1"), SUBNET(zone="use1-az2")]
    groups = made.inputs("aws:eks/nodeGroup:NodeGroup")
    assert groups["dev-trainers-nodes"]["subnetIds"] == [SUBNET(zone="use1-az3")]
    # EC2 has no m7i.large in use1-az3.
    assert groups["dev-cluster-system"]["subnetIds"] == [SUBNET(zone="use1-az1"), SUBNET(zone="use1-az2")]
    mounts = made.inputs("aws:efs/mountTarget:MountTarget")
    assert sorted(each["subnetId"] for each in mounts.values()) == [
        SUBNET(zone=f"use1-az{number}") for number in (1, 2, 3)
    ]


def test_images_may_come_from_elsewhere():
    made = program(registry={})
    assert made.result["registry_urls"] == {}
    assert "--image REGISTRY/IMAGE:TAG" in made.result["first_job"]


def test_zones_of_the_control_plane_can_be_chosen():
    network = {"zones": ["use1-az1", "use1-az2", "use1-az3", "use1-az4"], "max_zones": 4}
    made = program(network=network, cluster={"zones": ["use1-az4", "use1-az1"]})
    assert subnets_of_cluster(made) == [SUBNET(zone="use1-az4"), SUBNET(zone="use1-az1")]


REFUSED = {
    "one zone is left": (
        {"network": {"zones": ["use1-az1", "use1-az3"]}},
        "dev-cluster: zones=[use1-az1]: EKS requires its control plane in two zones and places none in use1-az3; add a "
        "second zone to the network; nodes may still lie in one [aws-cluster-two-zones]",
    ),
    "one zone is chosen": (
        {"cluster": {"zones": ["use1-az1"]}},
        "dev-cluster: zones=[use1-az1]: EKS requires its control plane in two zones and places none in use1-az3; add a "
        "second zone to the network; nodes may still lie in one [aws-cluster-two-zones]",
    ),
    "no zone is chosen": (
        {"cluster": {"zones": []}},
        "dev-cluster: zones=[]: EKS requires its control plane in two zones and places none in use1-az3; add a second "
        "zone "
        "to the network; nodes may still lie in one [aws-cluster-two-zones]",
    ),
    "a zone that EKS rejects is chosen": (
        {"cluster": {"zones": ["use1-az1", "use1-az2", "use1-az3"]}},
        "dev-cluster: zones=use1-az3: EKS does not place control planes in this zone; use use1-az1, use1-az2, "
        "use1-az4, "
        "use1-az5 or use1-az6; nodes may lie in it [aws-cluster-zone-accepted]",
    ),
    "a zone without a subnet is chosen": (
        {"cluster": {"zones": ["use1-az1", "use1-az4"]}},
        "dev-cluster: zones=use1-az4: is not a zone of the network; add it to network.zones, or use use1-az1, "
        "use1-az2 or "
        "use1-az3 [aws-cluster-zone-of-network]",
    ),
    "what a component alone would see": (
        {
            "registry": {"existing_repositories": ["training"]},
            "network": {"zones": ["use1-az1", "use1-az2", "use1-az3"], "max_zones": 2},
        },
        "dev-network: max_zones=2: the address plan keeps no room for 3 zones; use 3 to 7 [aws-network-max-zones]\n"
        "dev-registry: account_id=null: is required by existing_repositories when no repository is created; give the "
        "account of the registry, or a name in repositories [aws-registry-account]",
    ),
    "subnets without an address for each node": (
        {
            "network": {"zones": ["use1-az1", "use1-az2", "use1-az3"], "cidr": "10.0.0.0/24"},
            "pools": {"trainers": POOL | {"max": 60}},
        },
        "dev-trainers: max=60: 10.0.0.192/26 has 59 addresses, room for 59 nodes with 1 each; use 59 or fewer, or "
        "larger subnets [aws-subnet-nodes]",
    ),
    "a version that EKS does not have": (
        {"cluster": {"version": "1.99"}},
        "dev-cluster: version=1.99: EKS makes no cluster with it; use 1.31, 1.32, 1.33, 1.34, 1.35 or 1.36 "
        "[aws-cluster-version-offered]",
    ),
    "a pool that is newer than the cluster": (
        {"cluster": {"version": "1.34"}, "pools": {"trainers": POOL | {"version": "1.35"}}},
        "dev-trainers: version=1.35: is newer than the cluster, which has 1.34; leave it out: nodes then follow the "
        "cluster [aws-node-group-version]",
    ),
    "a range of documentation": (
        {"cluster": {"public_access_cidrs": ["198.51.100.0/24"]}},
        "dev-cluster: public_access_cidrs=198.51.100.0/24: is a reserved range, which EKS rejects here; give the "
        "address that the internet sees: curl https://checkip.amazonaws.com [aws-cluster-public-cidr]",
    ),
    "a tag that AWS rejects": (
        {"tags": {"team": "a;b"}},
        "dev-network: tags.team=a;b: has characters that AWS rejects; use letters, digits, spaces and _ . : / = + - @ "
        "[aws-tag-value]",
    ),
    "a budget of nothing": (
        {"budget": {"usd_per_month": 0, "emails": ["ml@example.com"]}},
        "dev-budget: usd_per_month=0.0: must be above 0; give what the environment may cost in a month; "
        "gpufleet cost says what its pools can [any-budget-limit]",
    ),
}


def versions_of_nodes(**changes):
    groups = program(**changes).inputs("aws:eks/nodeGroup:NodeGroup")
    return {name: each.get("version") for name, each in groups.items()}


def test_nodes_follow_the_cluster_unless_a_pool_has_a_version_of_its_own():
    system, trainers = "dev-cluster-system", "dev-trainers-nodes"
    cluster = {"version": "1.35"}
    assert versions_of_nodes(cluster=cluster) == {system: "1.35", trainers: "1.35"}
    pinned = {"trainers": POOL | {"version": "1.33"}}
    assert versions_of_nodes(cluster=cluster, pools=pinned) == {system: "1.35", trainers: "1.33"}
    own = {"trainers": POOL | {"image": "ami-0123456789abcdef0"}}
    assert versions_of_nodes(cluster=cluster, pools=own) == {system: "1.35", trainers: None}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses_before_anything_is_registered(case):
    changes, line = REFUSED[case]
    assert program.refusal(**changes) == line.splitlines()


def warnings_of(caplog, **changes):
    caplog.set_level("INFO")
    program.run(**changes)
    return [each.message for each in caplog.records if "[aws-" in each.message]


def test_pods_without_addresses_are_a_warning(caplog):
    # Private subnets of /26 have 59 addresses: twelve nodes start, and two of them get pods.
    network = {"zones": ["use1-az1", "use1-az2", "use1-az3"], "cidr": "10.0.0.0/24"}
    assert warnings_of(caplog, network=network, cluster=REACHED) == [
        "dev-trainers: max=12: 10.0.0.192/26 has 59 addresses, room for 2 nodes with 21 each; use 2 or fewer, or "
        "larger subnets [aws-subnet-addresses]"
    ]


def test_support_that_ends_before_the_environment_is_a_warning(caplog):
    cluster = {**REACHED, "version": "1.35"}
    assert warnings_of(caplog, cluster=cluster, expires_at="2027-12-31") == [
        "dev-cluster: version=1.35: standard support ends on 2027-03-27, before the environment does on 2027-12-31; "
        "from then on EKS upgrades the control plane, and no nodes; raise it by then, one minor version at a time; no "
        "version lasts so long yet [aws-cluster-version-supported]"
    ]
    caplog.clear()
    assert warnings_of(caplog, cluster=cluster, expires_at="2027-03-27") == []


def test_512_nodes_in_one_pool_are_a_warning_with_both_ways_out(caplog):
    pools = {"trainers": POOL | {"max": 512}}
    assert warnings_of(caplog, pools=pools, cluster=REACHED) == [
        "dev-trainers: max=512: not verified: EKS allows 450 nodes in a node group by default, and whether the account "
        "has more is not known; make 2 pools of at most 450 (a job runs in one of them), or ask for 512: `aws "
        "service-quotas request-service-quota-increase --service-code eks --quota-code L-BD136A63 --region us-east-1 "
        "--desired-value 512` [aws-node-group-quota]"
    ]


def test_an_api_that_only_the_vpc_reaches_is_a_warning(caplog):
    assert warnings_of(caplog) == [
        "dev-cluster: public_access_cidrs=[]: the cluster's API is reachable from inside the VPC only; run `pulumi "
        "up` and `gpufleet jobs` in it (a VPN, a runner there), or list your address, as 203.0.113.7/32 "
        "[aws-cluster-api-reached]"
    ]
    caplog.clear()
    assert warnings_of(caplog, cluster=REACHED) == []


def test_a_quota_that_the_pools_exceed_is_refused():
    # Twelve p5.48xlarge of 192 vCPUs each.
    (line,) = program.refusal(quotas=[{"family": "P", "market": "on-demand", "limit": 2303, "in_use": 0}])
    assert line.startswith(
        "dev: pools={dev-trainers: 12 x 192}: 2304 on-demand vCPUs of family P in us-east-1 at the peak"
    )
    assert line.endswith("[any-quota-enough]")
    assert program(quotas=[{"family": "P", "market": "on-demand", "limit": 2304, "in_use": 0}]).resources


def test_an_environment_with_a_budget_watches_its_own_tag():
    made = program(budget={"usd_per_month": 5000, "emails": ["ml@example.com"]}).one("aws:budgets/budget:Budget")
    assert made.name == "dev-budget-budget"
    assert made.inputs["costFilters"] == [{"name": "TagKeyValue", "values": ["user:environment$dev"]}]
    assert made.inputs["tags"]["environment"] == "dev"
    assert program().of("aws:budgets/budget:Budget") == []


def test_an_expired_environment_comes_up_with_a_warning(caplog):
    caplog.set_level("INFO")
    assert program.run(expires_at="2020-01-31").resources
    assert (
        "dev-network: tags.expires-at=2020-01-31: has passed; bring the environment down, or set a later day if "
        in (caplog.text)
    )


def test_all_parts_are_judged_at_once():
    told = program.refusal(
        network={"zones": ["use1-az1", "use1-az3"], "nat": "two"},
        pools={"trainers": POOL | {"max": 0}},
        budget={"usd_per_month": -1, "emails": ["x"]},
    )
    assert [line.split(":")[0] for line in told] == ["dev-network", "dev-cluster", "dev-trainers", *["dev-budget"] * 2]


def test_components_and_their_rules_agree_on_what_an_existing_cluster_lacks():
    """Once a second judgement of the configuration accepted what the constructor then refused, one fault at a time."""
    existing = {
        "name": "shared",
        "security_group_id": "sg-0123456789abcdef0",
        "endpoint": "https://shared.eks.example.com",
        "certificate_authority": "Y2VydA==",
    }
    assert program.refusal(
        existing_cluster=existing,
        pools={"trainers": POOL | {"image": "ami-0123456789abcdef0"}},
        network={"zones": ["use1-az1", "use1-az2", "use1-az3"], "max_zones": 1},
    ) == [
        "dev-network: max_zones=1: the address plan keeps no room for 3 zones; use 3 to 7 [aws-network-max-zones]",
        "dev-trainers: service_cidr=null: image=ami-0123456789abcdef0 is not EKS's, so its nodes need this to join; "
        "give it (an output of the cluster), or set image=al2023 [aws-node-image-can-join]",
    ]


def test_a_manifest_that_cannot_be_read_hides_no_other_fault():
    lines = program.refusal(operator={"manifest": "none.yaml", "sha256": "a" * 64}, team={"namespace": "Training"})
    assert [line.split(": ")[0] for line in lines] == ["dev-mpi-operator", "dev-team", "dev-volume"]
    assert lines[0] == "dev-mpi-operator: none.yaml: cannot be read: No such file or directory"


def test_faults_of_what_is_on_the_cluster_come_with_those_of_the_cluster():
    lines = program.refusal(
        network={"zones": ["use1-az1", "use1-az2", "use1-az3"], "nat": "two"},
        registry={"repositories": ["Training"]},
        team={"namespace": "Training"},
        queue={"order": ["trainer"]},
        operator={"version": "latest"},
        autoscaler={"version": "latest"},
    )
    assert [(line.split(": ")[0], line.rpartition("[")[2]) for line in lines] == [
        ("dev-network", "any-argument-word]"),
        ("dev-registry", "aws-registry-name]"),
        ("dev-autoscaler", "any-kubernetes-version-pinned]"),
        ("dev-mpi-operator", "any-kubernetes-version-pinned]"),
        ("dev-mpi-operator", "any-operator-checksum-known]"),
        ("dev", "any-argument-word]"),
        ("dev-queue", "any-kubernetes-name]"),
        ("dev-team", "any-kubernetes-name]"),
        ("dev-volume", "any-kubernetes-name]"),
    ]
