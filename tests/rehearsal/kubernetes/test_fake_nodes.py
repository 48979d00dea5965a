"""Fake nodes follow the node groups of the simulated cloud."""

import base64

import pytest

from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.fake_nodes import follow
from gpufleet_rehearsal.kubernetes.node_groups import AGENT_POOL, AKS, NODE_GROUP, SCALING_TAG, SUBNET, TEMPLATE, groups

MACHINE = {"driver": True, "efa_interfaces": 0, "huge_pages": 0, "built_in": []}
LABELS = {"gpufleet.dev/pool": "trainers"}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}


class Table:
    """The nodes of no control plane at all."""

    def __init__(self):
        self.made = {}

    def add(self, count, type, zone, pool, labels=None, taints=None, *, machine=None):
        names = [f"{pool}-{zone}-{len(self.made) + n}" for n in range(count)]
        self.made |= {name: (type, zone, pool, dict(labels or {}), list(taints or []), machine) for name in names}
        return names

    def add_system(self, *place):
        return self.add(*place)

    def remove(self, names):
        for name in names:
            del self.made[name]

    def of_pool(self, pool):
        return [{"metadata": {"name": name}} for name, node in sorted(self.made.items()) if node[2] == pool]


@pytest.fixture
def cloud(tmp_path):
    store = Store(tmp_path / "cloud.db")

    def add(type_, id_, **inputs):
        return store.add(type_=type_, id_=id_, urn="u", name=id_, inputs=inputs, outputs={}, at=0.0, ready_at=0.0)

    add(SUBNET, "subnet-a", availabilityZone="us-east-1a")
    add(SUBNET, "subnet-b", availabilityZoneId="use1-az2")
    data = base64.b64encode(b"sysctl -w vm.nr_hugepages=5128").decode()
    add(TEMPLATE, "lt-efa", networkInterfaces=[{"interfaceType": "efa"}], userData=data)
    store.group = lambda id_="trainers", **inputs: add(
        NODE_GROUP,
        id_,
        **{
            "nodeGroupName": id_,
            "instanceTypes": ["p5.48xlarge"],
            "subnetIds": ["subnet-a"],
            "scalingConfig": {"desiredSize": 2},
            "labels": LABELS,
            "taints": [TAINT],
        }
        | inputs,
    )
    yield store
    store.close()


def test_group_as_it_is_read(cloud):
    cloud.group(launchTemplate={"id": "lt-efa"}, amiType="AL2023_x86_64_NVIDIA")
    cloud.group("system", instanceTypes=["m6i.large"], labels=None, taints=None)
    group, system = groups(cloud)
    assert (group.pool, group.desired, group.type, group.zones) == ("trainers", 2, "p5.48xlarge", ("use1-az1",))
    assert (group.labels, group.taints) == (LABELS, (TAINT,))
    assert group.machine == {**MACHINE, "efa_interfaces": 1, "huge_pages": 5128}
    assert (system.pool, system.type, system.machine) == ("system", "m6i.large", None)


def test_nodes_with_an_own_image_have_the_labels_of_their_kubelets_flags(cloud):
    flags = '["--node-labels=own=yes", "--register-with-taints=team=vision:NoExecute"]'
    data = base64.b64encode(flags.encode()).decode()
    cloud.add(
        type_=TEMPLATE, id_="lt-own", urn="u", name="lt", inputs={"userData": data}, outputs={}, at=0.0, ready_at=0.0
    )
    cloud.group(launchTemplate={"id": "lt-own"}, amiType="CUSTOM")
    (group,) = groups(cloud)
    assert group.labels == {"own": "yes"}
    assert group.taints == ({"key": "team", "value": "vision", "effect": "NO_EXECUTE"},)


def test_system_nodes_are_those_of_the_environment(cloud, tmp_path):
    table = Table()
    cloud.group("system", instanceTypes=["m7i.large"], labels={"a": "b"}, taints=None)
    assert follow(cloud, tmp_path, table) == ["system: 0 -> 2 nodes"]
    assert list(table.made.values()) == [("m7i.large", "use1-az1", "system", {"a": "b"}, [], None)] * 2


def test_tags_of_the_group_and_of_its_auto_scaling_group(cloud):
    def tag(id_, group, key):
        cloud.add(
            type_=SCALING_TAG, id_=id_, urn="u", name=id_, outputs={}, at=0.0, ready_at=0.0,
            inputs={"autoscalingGroupName": group, "tag": {"key": key, "value": "v", "propagateAtLaunch": False}},
        )  # fmt: skip

    tag("one", "eks-trainers", "ours")
    tag("two", "eks-others", "theirs")
    cloud.group(tags={"Name": "trainers"}, resources=[{"autoscalingGroups": [{"name": "eks-trainers"}]}])
    (group,) = groups(cloud)
    assert (group.tags, group.scaling_tags) == ({"Name": "trainers"}, {"ours": "v"})


def test_type_of_the_launch_template(cloud):
    cloud.add(
        type_=TEMPLATE, id_="lt-type", urn="u", name="lt", inputs={"instanceType": "g5.8xlarge"}, outputs={}, at=0.0,
        ready_at=0.0,
    )  # fmt: skip
    cloud.group(instanceTypes=None, launchTemplate={"id": "lt-type"})
    assert groups(cloud)[0].type == "g5.8xlarge"


def test_one_node_for_each_desired_one(cloud, tmp_path):
    table = Table()
    assert follow(cloud, tmp_path, table) == []
    group = cloud.group(subnetIds=["subnet-a", "subnet-b"], scalingConfig={"desiredSize": 3})
    assert follow(cloud, tmp_path, table) == ["trainers: 0 -> 3 nodes"]
    assert sorted(zone for _, zone, *_ in table.made.values()) == ["use1-az1", "use1-az1", "use1-az2"]
    assert follow(cloud, tmp_path, table) == []

    first = set(table.made)
    cloud.change(group, inputs={**group.inputs, "scalingConfig": {"desiredSize": 4}})
    assert follow(cloud, tmp_path, table) == ["trainers: 3 -> 4 nodes"]
    assert first < set(table.made)
    group = cloud.change(group, inputs={**group.inputs, "scalingConfig": {"desiredSize": 1}})
    follow(cloud, tmp_path, table)
    assert len(table.made) == 1

    # Other labels are other nodes, other tags are not.
    kept = set(table.made)
    group = cloud.change(group, inputs={**group.inputs, "tags": {"a": "b"}})
    follow(cloud, tmp_path, table)
    assert set(table.made) == kept
    group = cloud.change(group, inputs={**group.inputs, "labels": {"a": "b"}})
    follow(cloud, tmp_path, table)
    assert [node[3] for node in table.made.values()] == [{"a": "b"}]
    assert len(kept) == 1

    cloud.remove(group, 1.0)
    assert follow(cloud, tmp_path, table) == ["trainers: 1 -> 0 nodes"]
    assert table.made == {}


def test_number_of_the_autoscaler_is_left_alone(cloud, tmp_path):
    table = Table()
    cloud.group(scalingConfig={"desiredSize": 0})
    follow(cloud, tmp_path, table)
    table.add(2, "p5.48xlarge", "use1-az1", "trainers")
    assert follow(cloud, tmp_path, table) == []
    assert len(table.made) == 2


def test_agent_pool_as_it_is_read(cloud, tmp_path):
    def add(type_, id_, **inputs):
        return cloud.add(type_=type_, id_=id_, urn="u", name=id_, inputs=inputs, outputs={}, at=0.0, ready_at=0.0)

    profile = {"name": "system", "vmSize": "Standard_D4s_v5", "count": 2, "mode": "System"}
    add(AKS, "aks", name="dev", location="eastus", agentPoolProfiles=[profile])
    pool = {
        "resourceName": "dev",
        "vmSize": "Standard_NC4as_T4_v3",
        "enableAutoScaling": True,
        "count": 1,
        "minCount": 0,
        "maxCount": 4,
        "nodeLabels": LABELS,
        "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"],
    }
    add(AGENT_POOL, "trainers", name="trainers", availabilityZones=["1"], **pool)
    nothing = {"gpuProfile": {"driver": "None"}}
    add(AGENT_POOL, "spot", name="spot", scaleSetPriority="Spot", **{**pool, "count": 0}, **nothing, tags={"a": "b"})
    trainers, system, spot = sorted(groups(cloud), key=lambda group: group.pool, reverse=True)
    assert (system.desired, system.type, system.zones, system.machine) == (2, "Standard_D4s_v5", ("eastus-0",), None)
    assert (trainers.machine, spot.machine, spot.tags) == (MACHINE, {**MACHINE, "driver": False}, {"a": "b"})
    assert (trainers.zones, trainers.desired, trainers.min, trainers.max) == (("eastus-1",), 1, 0, 4)
    assert (trainers.labels, trainers.taints, trainers.scales_itself) == (LABELS, (TAINT,), True)
    # In no zone; AKS marks its Spot nodes itself.
    assert spot.zones == ("eastus-0",)
    assert spot.labels == {**LABELS, "kubernetes.azure.com/scalesetpriority": "spot"}
    assert [taint["key"] for taint in spot.taints] == ["nvidia.com/gpu", "kubernetes.azure.com/scalesetpriority"]
    assert follow(cloud, tmp_path, Table()) == ["spot: 0 -> 0 nodes", "system: 0 -> 2 nodes", "trainers: 0 -> 1 nodes"]
