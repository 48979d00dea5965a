"""Load balancers of Services, as EKS's service controller makes and deletes them in the simulated cloud."""

import pytest

from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.load_balancers import (
    ASSOCIATION,
    CLUSTER,
    FINALIZER,
    GROUP,
    INTERFACE,
    NO_SUBNETS,
    RELEASE_SECONDS,
    ROUTE,
    ROUTE_TABLE,
    SUBNET,
    VPC,
    LoadBalancers,
    subnets_for,
)
from tests.rehearsal.fast_clock import FastClock

UID = "0a1b2c3d-0000-4000-8000-00000000beef"
NAME = "a0a1b2c3d00004000800000000000bee"
ADDRESS = "service.beta.kubernetes.io/aws-load-balancer-"


class Cloud:
    """A VPC with a public and a private subnet in each of two zones, and an EKS cluster in the private ones."""

    def __init__(self, path, clock):
        self.store, self.clock = Store(path), clock
        self.add(VPC, "vpc-1", mainRouteTableId="rtb-main")
        self.add(ROUTE_TABLE, "rtb-main", vpcId="vpc-1")
        self.add(ROUTE_TABLE, "rtb-public", vpcId="vpc-1")
        self.add(ROUTE, "r-1", routeTableId="rtb-public", gatewayId="igw-1")
        self.add(ROUTE, "r-2", routeTableId="rtb-main", natGatewayId="nat-1")
        for zone in "ab":
            self.subnet(f"subnet-private-{zone}", zone, **{"kubernetes.io/role/internal-elb": "1"})
            self.subnet(f"subnet-public-{zone}", zone, public=True)
        self.cluster = self.add(
            CLUSTER, "eks", name="eks", region="us-east-1", vpcConfig={"vpcId": "vpc-1", "subnetIds": []}
        )

    def add(self, type_, id_, **inputs):
        return self.store.add(
            type_=type_, id_=id_, urn=f"urn:pulumi:dev::p::{type_}::{id_}", name=id_, inputs=inputs, outputs={},
            at=0.0, ready_at=0.0,
        )  # fmt: skip

    def subnet(self, id_, zone, public=False, **tags):
        made = self.add(SUBNET, id_, vpcId="vpc-1", availabilityZone=f"us-east-1{zone}", tags=tags)
        if public:
            self.add(ASSOCIATION, f"tie-{id_}", subnetId=id_, routeTableId="rtb-public")
        return made

    def where(self):
        """In which subnets there are interfaces."""
        return [interface.view["subnetId"] for interface in self.store.resources(INTERFACE)]


class Services:
    """Those of no control plane at all; `stale`: somebody else has changed them since they were read."""

    def __init__(self, *services):
        self.there, self.warned, self.stale = list(services), [], False

    def all(self):
        return list(self.there)

    def hold(self, service):
        if not self.stale:
            service["metadata"]["finalizers"] = [FINALIZER]
        return not self.stale

    def let_go(self, service):
        service["metadata"]["finalizers"] = []
        if service["metadata"].get("deletionTimestamp"):
            self.there.remove(service)
        return True

    def set_address(self, service, hostname):
        service["status"] = {"loadBalancer": {"ingress": [{"hostname": hostname}]} if hostname else {}}
        return True

    def warn(self, service, text):
        self.warned.append((service["metadata"]["name"], text))


def service(annotations=None, protocol="TCP", uid=UID, **spec):
    return {
        "metadata": {"name": "web", "namespace": "team", "uid": uid, "annotations": annotations},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80, "protocol": protocol}]} | spec,
        "status": {"loadBalancer": {}},
    }


@pytest.fixture
def cloud(tmp_path):
    made = Cloud(tmp_path / "cloud.db", FastClock())
    yield made
    made.store.close()


@pytest.fixture
def balancers(cloud):
    return LoadBalancers(cloud.store, cloud.clock)


def address(of):
    return [entry["hostname"] for entry in of["status"]["loadBalancer"].get("ingress", [])]


def test_service_is_held_and_has_interfaces_a_group_and_an_address(cloud, balancers):
    services = Services(web := service())
    assert balancers.follow(services) == [f"team/web: ELB {NAME} is there"]
    assert web["metadata"]["finalizers"] == [FINALIZER]
    (found,) = address(web)
    assert found.startswith(f"{NAME}-")
    assert found.endswith(".us-east-1.elb.rehearsal.invalid")
    (group,) = cloud.store.resources(GROUP)
    assert group.view["name"] == f"k8s-elb-{NAME}"
    assert group.view["description"] == f"Security group for Kubernetes ELB {NAME} (team/web)"
    assert group.view["tags"] == {"kubernetes.io/cluster/eks": "owned"}
    assert cloud.where() == ["subnet-public-a", "subnet-public-b"]
    for interface in cloud.store.resources(INTERFACE):
        assert interface.view["description"] == f"ELB {NAME}"
        assert interface.view["securityGroups"] == [group.id]
        assert (interface.hidden, interface.owner, interface.urn) == (True, None, cloud.cluster.urn)
        assert interface.name == f"ELB {NAME} of Service team/web"
    assert balancers.follow(services) == []
    assert len(cloud.where()) == 2


def test_deleted_service_waits_until_the_interfaces_are_gone(cloud, balancers):
    services = Services(web := service())
    balancers.follow(services)
    web["metadata"]["deletionTimestamp"] = "2026-11-01T00:00:00Z"
    assert balancers.follow(services) == []
    assert (len(cloud.where()), len(cloud.store.resources(GROUP))) == (2, 1)
    cloud.clock.at += RELEASE_SECONDS
    assert balancers.follow(services) == [f"team/web: ELB {NAME} is gone"]
    assert (services.there, cloud.where(), cloud.store.resources(GROUP)) == ([], [], [])


def test_without_simulated_time_it_is_gone_at_once(tmp_path):
    cloud = Cloud(tmp_path / "cloud.db", Clock(0.0, 0.0, 0.0))
    services = Services(web := service())
    balancers = LoadBalancers(cloud.store, cloud.clock)
    balancers.follow(services)
    web["metadata"]["deletionTimestamp"] = "2026-11-01T00:00:00Z"
    balancers.follow(services)
    assert (services.there, cloud.where()) == ([], [])


def test_service_of_another_type_loses_it_and_stays(cloud, balancers):
    services = Services(web := service())
    balancers.follow(services)
    web["spec"]["type"] = "ClusterIP"
    balancers.follow(services)
    cloud.clock.at += RELEASE_SECONDS
    balancers.follow(services)
    assert services.there == [web]
    assert (web["metadata"]["finalizers"], address(web), cloud.where()) == ([], [], [])


@pytest.mark.parametrize("status", ["gone", "deleting", "creating"])
def test_nobody_looks_after_it_without_a_cluster(cloud, balancers, status):
    services = Services(web := service())
    balancers.follow(services)
    web["metadata"]["deletionTimestamp"] = "2026-11-01T00:00:00Z"
    if status == "gone":
        cloud.store.remove(cloud.cluster, 1.0)
    elif status == "deleting":
        cloud.store.change(cloud.cluster, status="deleting")
    else:
        cloud.store.change(cloud.cluster, ready_at=cloud.clock.at + 600)
    services.there.append(service(uid="another"))
    for _ in range(3):
        cloud.clock.at += RELEASE_SECONDS
        assert balancers.follow(services) == []
    assert cloud.where() == ["subnet-public-a", "subnet-public-b"]
    assert web["metadata"]["finalizers"] == [FINALIZER]


def test_internal_one_takes_the_subnets_of_its_role(cloud, balancers):
    services = Services(web := service({f"{ADDRESS}internal": "true"}))
    balancers.follow(services)
    assert cloud.where() == ["subnet-private-a", "subnet-private-b"]
    assert address(web)[0].startswith(f"internal-{NAME}-")


def test_network_load_balancer_has_no_group(cloud, balancers):
    services = Services(web := service({f"{ADDRESS}type": "nlb"}, "UDP"))
    balancers.follow(services)
    assert {i.view["description"].rpartition("/")[0] for i in cloud.store.resources(INTERFACE)} == {f"ELB net/{NAME}"}
    assert cloud.store.resources(GROUP) == []
    assert address(web)[0].endswith(".elb.us-east-1.rehearsal.invalid")
    web["metadata"]["deletionTimestamp"] = "2026-11-01T00:00:00Z"
    balancers.follow(services)
    cloud.clock.at += RELEASE_SECONDS
    balancers.follow(services)
    assert cloud.where() == []


def test_groups_that_the_service_names(cloud, balancers):
    said = {f"{ADDRESS}security-groups": "sg-own", f"{ADDRESS}extra-security-groups": "sg-1, sg-2"}
    balancers.follow(Services(service(said)))
    assert cloud.store.resources(INTERFACE)[0].view["securityGroups"] == ["sg-own", "sg-1", "sg-2"]
    assert cloud.store.resources(GROUP) == []


@pytest.mark.parametrize(
    "other",
    [
        service({f"{ADDRESS}type": "external"}),
        service({f"{ADDRESS}type": "nlb-ip"}),
        service(loadBalancerClass="service.k8s.aws/nlb"),
        service(type="ClusterIP"),
        service(type="NodePort"),
    ],
)
def test_services_of_others_are_left_alone(cloud, balancers, other):
    assert balancers.follow(Services(other)) == []
    assert "finalizers" not in other["metadata"]
    assert cloud.where() == []


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (service(protocol="UDP"), "Protocol UDP not supported by LoadBalancer"),
        (service({f"{ADDRESS}type": "nlb"}, "SCTP"), "Protocol SCTP not supported by LoadBalancer"),
        (service(loadBalancerIP="10.0.0.1"), "LoadBalancerIP cannot be specified for AWS ELB"),
    ],
)
def test_what_the_controller_refuses_is_said_once(cloud, balancers, wrong, why):
    services = Services(wrong)
    assert balancers.follow(services) == balancers.follow(services) == []
    said = f"Error syncing load balancer: failed to ensure load balancer: {why}"
    assert services.warned == [("web", said)]
    assert (cloud.where(), address(wrong)) == ([], [])


def test_without_public_subnets_it_waits_for_one(cloud, balancers):
    for tie in cloud.store.resources(ASSOCIATION):
        cloud.store.remove(tie, 1.0)
    services = Services(web := service())
    balancers.follow(services)
    assert services.warned[0][1].endswith(NO_SUBNETS)
    cloud.subnet("subnet-late", "b", public=True)
    balancers.follow(services)
    assert cloud.where() == ["subnet-late"]
    assert len(address(web)) == 1


def test_main_route_table_and_routes_inside_of_a_table_count(cloud):
    table = next(each for each in cloud.store.resources(ROUTE_TABLE) if each.id == "rtb-main")
    cloud.store.change(table, inputs={"vpcId": "vpc-1", "routes": [{"gatewayId": "igw-1"}]})
    ids = [subnet.id for subnet in subnets_for(cloud.store, cloud.cluster, internal=False)]
    # All are public now; of two in a zone the first by name, as none has the role's tag.
    assert ids == ["subnet-private-a", "subnet-private-b"]


def test_of_several_subnets_in_a_zone_role_then_cluster_then_name_decides(cloud):
    def chosen():
        return subnets_for(cloud.store, cloud.cluster, internal=False)[0].id

    cloud.subnet("subnet-a-first", "a", public=True)
    assert chosen() == "subnet-a-first"
    cloud.subnet("subnet-z-own", "a", public=True, **{"kubernetes.io/cluster/eks": "shared"})
    assert chosen() == "subnet-z-own"
    cloud.subnet("subnet-z-role", "a", public=True, **{"kubernetes.io/role/elb": "1"})
    assert chosen() == "subnet-z-role"
    cloud.subnet("subnet-of-others", "c", public=True, **{"kubernetes.io/cluster/other": "owned"})
    zones = [subnet.view["availabilityZone"] for subnet in subnets_for(cloud.store, cloud.cluster, internal=False)]
    assert zones == ["us-east-1a", "us-east-1b"]


def test_lost_control_plane_takes_them_along_but_not_those_of_a_cluster_that_is_gone(cloud, balancers):
    balancers.follow(Services(service()))
    cloud.add(INTERFACE, "eni-program", description=f"ELB {NAME}", subnetId="subnet-public-a")
    balancers.forget()
    assert [left.id for left in cloud.store.resources(INTERFACE)] == ["eni-program"]
    assert cloud.store.resources(GROUP) == []

    balancers.follow(Services(service()))
    cloud.store.remove(cloud.cluster, 1.0)
    balancers.forget()
    assert len(cloud.store.resources(INTERFACE)) == 3


def test_service_that_somebody_changes_meanwhile_is_for_the_next_look(cloud, balancers):
    services = Services(service())
    services.stale = True
    assert (balancers.follow(services), cloud.where()) == ([], [])
    services.stale = False
    assert len(balancers.follow(services)) == 1
