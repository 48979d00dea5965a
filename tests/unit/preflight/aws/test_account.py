"""What a real AWS account is asked, and what its answers mean. Answers have the shapes of botocore's models."""

import boto3
import pytest
from botocore import exceptions as botocore
from moto import mock_aws

from gpufleet.aws.client import AwsClientError
from gpufleet.preflight.aws.account import AwsAccount
from gpufleet.preflight.aws.facts import CapacityReservation, ExistingResources, PlacementGroup

REGION, ME = "us-east-1", "111111111111"


@pytest.fixture
def account():
    return AwsAccount(REGION, "dev")


@pytest.fixture
def simulated(credentials):
    with mock_aws():
        yield AwsAccount(REGION, "dev")


def test_zones_of_moto(simulated):
    names = simulated.zone_names()
    assert names["use1-az1"].startswith("us-east-1")
    assert len(set(names.values())) == len(names) == 6


def test_offers_of_moto_are_by_zone_id(simulated):
    found = simulated.zones_with(["p4de.24xlarge", "p4d.24xlarge", "p9.huge"])
    assert found == {
        "p4d.24xlarge": ["use1-az1", "use1-az2", "use1-az4", "use1-az6"],
        "p4de.24xlarge": ["use1-az4", "use1-az6"],
        "p9.huge": [],
    }


def test_every_page_of_moto_instances_counts_but_not_the_stacks_own(simulated, monkeypatch):
    ec2 = boto3.client("ec2", REGION)
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]

    def run(kind, count, environment):
        tags = [{"ResourceType": "instance", "Tags": [{"Key": "environment", "Value": environment}]}]
        return ec2.run_instances(
            ImageId=image, InstanceType=kind, MinCount=count, MaxCount=count, TagSpecifications=tags
        )["Instances"]

    for _ in range(3):
        run("g5.xlarge", 1, "prod")
    run("g5.8xlarge", 1, "dev")
    run("m5.large", 1, "prod")
    stopped = run("g5.48xlarge", 1, "prod")[0]["InstanceId"]
    ec2.stop_instances(InstanceIds=[stopped])
    seen = []
    whole = AwsAccount._ask

    def one_by_one(self, service, call, answer, **arguments):
        if call == "describe_capacity_reservations":  # not in moto
            return []
        if call == "describe_instances":
            arguments["PaginationConfig"] = {"PageSize": 5}
            seen.append(call)
        return whole(self, service, call, answer, **arguments)

    monkeypatch.setattr(AwsAccount, "_ask", one_by_one)
    assert simulated.in_use("on-demand") == {"G and VT": 12}
    assert simulated.in_use("spot") == {}
    assert seen == ["describe_instances"], "asked once for both markets"


def instance(kind, lifecycle=None, environment="prod", reservation=None, cores=None):
    found = {"InstanceType": kind, "Tags": [{"Key": "environment", "Value": environment}]}
    found |= {"InstanceLifecycle": lifecycle} if lifecycle else {}
    found |= {"CapacityReservationId": reservation} if reservation else {}
    return found | ({"CpuOptions": {"CoreCount": cores, "ThreadsPerCore": 2}} if cores else {})


def running(*instances):
    return {"Reservations": [{"Instances": [each]} for each in instances]}


def held(id_="cr-1", kind="p5.48xlarge", free=2, total=4, state="active", owner=ME, block=False):
    return {
        "CapacityReservationId": id_,
        "OwnerId": owner,
        "InstanceType": kind,
        "AvailabilityZone": "us-east-1a",
        "AvailabilityZoneId": "use1-az2",
        "State": state,
        "AvailableInstanceCount": free,
        "TotalInstanceCount": total,
        **({"ReservationType": "capacity-block"} if block else {}),
    }


@pytest.fixture
def holding(aws):
    aws.answers["GetCallerIdentity"] = {"Account": ME, "UserId": "x", "Arn": f"arn:aws:iam::{ME}:user/x"}
    return aws


@pytest.mark.parametrize(
    ("instances", "market", "used"),
    [
        ([instance("p5.48xlarge"), instance("g5.xlarge")], "on-demand", {"P": 192, "G and VT": 4}),
        ([instance("p5.48xlarge", "spot"), instance("p4d.24xlarge", "spot")], "spot", {"P5": 192, "P": 96}),
        ([instance("p5.48xlarge", "spot")], "on-demand", {}),
        ([instance("p5.48xlarge", "capacity-block", reservation="cr-9")], "on-demand", {}),
        ([instance("m7i.48xlarge")], "on-demand", {}),
        ([instance("p5.48xlarge", environment="dev")], "on-demand", {}),
        # The plan needs nothing for nodes in a reservation: those stay counted, the stack's own too.
        ([instance("p5.48xlarge", environment="dev", reservation="cr-1")], "on-demand", {"P": 192}),
        # A type newer than the catalog counts with what it runs.
        ([instance("p9.huge", cores=64)], "on-demand", {"P": 128}),
    ],
)
def test_what_counts_against_which_quota(holding, account, instances, market, used):
    holding.answers["DescribeInstances"] = running(*instances)
    assert account.in_use(market) == used
    asked = dict(holding.asked)["DescribeInstances"]
    assert asked["Filters"] == [{"Name": "instance-state-name", "Values": ["running"]}]


@pytest.mark.parametrize(
    ("reservation", "used"),
    [
        (held(), {"P": 2 * 192}),
        (held(free=0), {"P": 0}),
        (held(state="scheduled"), {"P": 2 * 192}),
        (held(state="cancelled"), {}),
        (held(owner="222222222222"), {}),
        (held(block=True), {}),
        (held(kind="m7i.large"), {}),
    ],
)
def test_unused_reservations_of_the_account_count_as_in_use(holding, account, reservation, used):
    holding.answers["DescribeCapacityReservations"] = {"CapacityReservations": [reservation]}
    assert account.in_use("on-demand") == used
    assert account.in_use("spot") == {}


def test_an_unused_reservation_of_an_unknown_type_is_not_counted_as_nothing(holding, account):
    holding.answers["DescribeCapacityReservations"] = {"CapacityReservations": [held(kind="p9.huge")]}
    with pytest.raises(AwsClientError, match=r"^p9\.huge: not in the catalog"):
        account.in_use("on-demand")


def test_a_reservation_has_room_for_the_nodes_that_the_stack_runs_in_it(holding, account):
    holding.answers["DescribeCapacityReservations"] = {"CapacityReservations": [held(), held("cr-2")]}
    holding.answers["DescribeInstances"] = running(
        instance("p5.48xlarge", environment="dev", reservation="cr-1"),
        instance("p5.48xlarge", environment="prod", reservation="cr-1"),
        instance("p5.48xlarge", environment="dev", reservation="cr-2"),
    )
    assert account.reservation("cr-1") == CapacityReservation("p5.48xlarge", "use1-az2", "active", free=3, total=4)
    assert account.reservation("cr-3") is None


def test_a_capacity_block_is_told_from_a_reservation(holding, account):
    holding.answers["DescribeCapacityReservations"] = {"CapacityReservations": [held(), held("cr-2", block=True)]}
    assert [account.reservation(each).kind for each in ("cr-1", "cr-2")] == ["default", "capacity-block"]


def test_placement_groups(aws, account):
    def answer(request):
        groups = [{"GroupName": "a", "Strategy": "spread", "State": "available"}]
        (name,) = request["Filters"][0]["Values"]
        return {"PlacementGroups": [group for group in groups if group["GroupName"] == name]}

    aws.answers["DescribePlacementGroups"] = answer
    assert account.placement_group("a") == PlacementGroup("spread", "available")
    assert account.placement_group("b") is None


def test_the_limit_is_the_accounts_own_else_awss_default(aws, account):
    aws.answers["GetServiceQuota"] = {"Quota": {"QuotaCode": "L-417A185B", "Value": 384.0}}
    aws.answers["GetAWSDefaultServiceQuota"] = {"Quota": {"Value": 0.0}}
    assert account.limit("P", "on-demand") == 384
    assert aws.asked == [("GetServiceQuota", {"ServiceCode": "ec2", "QuotaCode": "L-417A185B"})]
    aws.answers["GetServiceQuota"] = "NoSuchResourceException"
    assert account.limit("G and VT", "spot") == 0
    aws.answers["GetAWSDefaultServiceQuota"] = "NoSuchResourceException"
    assert account.limit("G and VT", "spot") is None


def test_a_quota_without_a_published_code_is_not_asked_for(aws, account):
    assert account.limit("P6", "spot") is None
    assert aws.asked == []


def test_networks_of_moto(simulated):
    ec2 = boto3.client("ec2", REGION)
    own = [{"Key": "environment", "Value": "dev"}]

    def tagged(kind):
        return [{"ResourceType": kind, "Tags": own}]

    before = simulated.network_use("vpcs")[""]
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16", TagSpecifications=tagged("vpc"))["Vpc"]["VpcId"]
    ec2.create_vpc(CidrBlock="10.1.0.0/16")
    assert simulated.network_use("vpcs") == {"": ExistingResources(before.own + 1, before.others + 1)}

    ec2.create_internet_gateway()
    ec2.create_internet_gateway(TagSpecifications=tagged("internet-gateway"))
    assert simulated.network_use("internet_gateways") == {"": ExistingResources(1, 1)}

    addresses = [ec2.allocate_address(Domain="vpc")["AllocationId"] for _ in range(2)]
    addresses += [ec2.allocate_address(Domain="vpc", TagSpecifications=tagged("elastic-ip"))["AllocationId"]]
    assert simulated.network_use("elastic_ips") == {"": ExistingResources(1, 2)}

    zones = ["use1-az1", "use1-az1", "use1-az2"]
    for number, (zone, address) in enumerate(zip(zones, addresses, strict=True)):
        cidr = f"10.0.{number}.0/24"
        subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZoneId=zone)["Subnet"]["SubnetId"]
        tags = tagged("natgateway") if number == 0 else []
        ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address, TagSpecifications=tags)
    assert simulated.network_use("nat_gateways") == {
        "use1-az1": ExistingResources(1, 1),
        "use1-az2": ExistingResources(0, 1),
    }
    gone = ec2.describe_nat_gateways(Filters=[{"Name": "subnet-id", "Values": [subnet]}])["NatGateways"][0]
    ec2.delete_nat_gateway(NatGatewayId=gone["NatGatewayId"])
    assert simulated.network_use("nat_gateways") == {"use1-az1": ExistingResources(1, 1)}


def test_a_vpc_that_another_account_shares_is_not_this_ones(holding, account):
    holding.answers["DescribeVpcs"] = {
        "Vpcs": [{"VpcId": "vpc-1", "OwnerId": ME}, {"VpcId": "vpc-2", "OwnerId": "222222222222"}]
    }
    assert account.network_use("vpcs") == {"": ExistingResources(0, 1)}


def test_which_nat_gateways_count(aws, account):
    aws.answers["DescribeNatGateways"] = {
        "NatGateways": [{"NatGatewayId": "nat-1", "SubnetId": "subnet-1"}, {"NatGatewayId": "nat-2"}]
    }
    aws.answers["DescribeSubnets"] = {"Subnets": [{"SubnetId": "subnet-1", "AvailabilityZoneId": "use1-az1"}]}
    assert account.network_use("nat_gateways") == {"use1-az1": ExistingResources(0, 1), "": ExistingResources(0, 1)}
    asked = dict(aws.asked)
    assert asked["DescribeNatGateways"]["Filter"] == [{"Name": "state", "Values": ["pending", "available", "deleting"]}]
    assert asked["DescribeSubnets"]["Filters"] == [{"Name": "subnet-id", "Values": ["subnet-1"]}]


def test_without_nat_gateways_no_subnet_is_asked_for(aws, account):
    assert account.network_use("nat_gateways") == {}
    assert [operation for operation, _ in aws.asked] == ["DescribeNatGateways"]


@pytest.mark.parametrize(
    ("counted", "code"),
    [
        ("elastic_ips", {"ServiceCode": "ec2", "QuotaCode": "L-0263D0A3"}),
        ("vpcs", {"ServiceCode": "vpc", "QuotaCode": "L-F678F1CE"}),
        ("internet_gateways", {"ServiceCode": "vpc", "QuotaCode": "L-A4707A72"}),
        ("nat_gateways", {"ServiceCode": "vpc", "QuotaCode": "L-FE5A380F"}),
    ],
)
def test_the_limit_on_networks_is_the_accounts_own_else_awss_default(aws, account, counted, code):
    aws.answers["GetServiceQuota"] = {"Quota": {"Value": 20.0}}
    aws.answers["GetAWSDefaultServiceQuota"] = {"Quota": {"Value": 5.0}}
    assert account.resource_limit(counted) == 20
    assert aws.asked == [("GetServiceQuota", code)]
    aws.answers["GetServiceQuota"] = "NoSuchResourceException"
    assert account.resource_limit(counted) == 5
    assert aws.asked[-1] == ("GetAWSDefaultServiceQuota", code)


QUESTIONS = {
    "ec2:DescribeAvailabilityZones": lambda account: account.zone_names(),
    "ec2:DescribeInstanceTypeOfferings": lambda account: account.zones_with(["g5.xlarge"]),
    "servicequotas:GetServiceQuota": lambda account: account.limit("P", "on-demand"),
    "ec2:DescribeInstances": lambda account: account.in_use("on-demand"),
    "ec2:DescribeCapacityReservations": lambda account: account.reservation("cr-1"),
    "ec2:DescribePlacementGroups": lambda account: account.placement_group("a"),
    "ec2:DescribeAddresses": lambda account: account.network_use("elastic_ips"),
    "ec2:DescribeVpcs": lambda account: account.network_use("vpcs"),
    "ec2:DescribeInternetGateways": lambda account: account.network_use("internet_gateways"),
    "ec2:DescribeNatGateways": lambda account: account.network_use("nat_gateways"),
}


@pytest.mark.parametrize("code", ["UnauthorizedOperation", "AccessDeniedException"])
@pytest.mark.parametrize("permission", QUESTIONS)
def test_a_missing_permission_is_named(holding, account, permission, code):
    holding.answers[permission.partition(":")[2]] = code
    with pytest.raises(AwsClientError) as error:
        QUESTIONS[permission](account)
    assert str(error.value).startswith(f"{permission}: denied by AWS")


@pytest.mark.parametrize(
    ("fault", "begins"),
    [
        (botocore.NoCredentialsError(), "AWS credentials: Unable to locate credentials"),
        (
            botocore.EndpointConnectionError(endpoint_url="https://ec2"),
            "ec2:DescribeAvailabilityZones: Could not connect",
        ),
        (botocore.ReadTimeoutError(endpoint_url="https://ec2"), "ec2:DescribeAvailabilityZones: Read timeout"),
    ],
)
def test_a_service_that_does_not_answer_is_asked_once(aws, account, fault, begins):
    aws.answers["DescribeAvailabilityZones"] = fault
    for question in ("ec2:DescribeAvailabilityZones", "ec2:DescribePlacementGroups"):
        with pytest.raises(AwsClientError) as error:
            QUESTIONS[question](account)
        assert str(error.value).startswith(begins)
    assert [operation for operation, _ in aws.asked] == ["DescribeAvailabilityZones"]


def test_what_is_denied_does_not_keep_other_questions_from_being_asked(aws, account):
    aws.answers["DescribeAvailabilityZones"] = "UnauthorizedOperation"
    with pytest.raises(AwsClientError):
        account.zone_names()
    assert account.placement_group("a") is None


def test_answers_may_take_ten_seconds_and_three_attempts(credentials):
    client = AwsAccount(REGION, "dev")._account._client("ec2")
    config = client.meta.config
    assert (config.connect_timeout, config.read_timeout) == (10, 10)
    assert config.retries["total_max_attempts"] == 3
