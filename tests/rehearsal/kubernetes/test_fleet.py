"""Fake nodes follow the node groups of the simulated cloud."""

import pytest

from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.fleet import NODE_GROUP, SUBNET, TEMPLATE, follow, groups

LABELS = {"gpufleet.dev/pool": "trainers"}
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}


class Table:
    """The nodes of no control plane at all."""

    def __init__(self):
        self.made = {}

    def add(self, count, type, zone, pool, labels=None, taints=None, network="plain"):
        names = [f"{pool}-{zone}-{len(self.made) + n}" for n in range(count)]
        self.made |= {name: (type, zone, pool, dict(labels or {}), list(taints or []), network) for name in names}
        return names

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
    add(TEMPLATE, "lt-efa", networkInterfaces=[{"interfaceType": "efa"}])
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
    cloud.group(launchTemplate={"id": "lt-efa"})
    cloud.group("system", instanceTypes=["m6i.large"])
    (group,) = groups(cloud)
    assert (group.pool, group.desired, group.type, group.zones) == ("trainers", 2, "p5.48xlarge", ("use1-az1",))
    assert (group.labels, group.taints, group.network) == (LABELS, (TAINT,), "efa")


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

    # Other labels are other nodes.
    kept = set(table.made)
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
