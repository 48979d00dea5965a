"""What is particular to types of the simulated AWS: durations, zones, versions, and what a cluster makes."""

import re
from bisect import bisect_left

import pytest

from gpufleet.catalog.eks_versions import eks_versions
from gpufleet_rehearsal.cloud.checks import CloudError
from tests.rehearsal.scenarios import AWS, in_scenario


def test_node_group_is_slower_with_gpus_and_quicker_without_nodes(tmp_path):
    aws = in_scenario(AWS, "everything", tmp_path)
    node_group = "aws:eks/nodeGroup:NodeGroup"
    inputs = aws.fill(scenario("nodes").inputs)
    sizes = {"minSize": 0, "desiredSize": 0, "maxSize": 2}
    assert aws.cloud.operation_seconds(node_group, "create", inputs) == 300
    assert aws.cloud.operation_seconds(node_group, "create", {**inputs, "scalingConfig": sizes}) == 60
    assert aws.cloud.operation_seconds(node_group, "create", aws.fill(scenario("system").inputs)) == 125


@pytest.mark.parametrize(("name", "seconds"), [("vpc-cni", 65), ("coredns", 15), ("files-driver", 15)])
def test_add_ons_take_their_own_time(name, seconds, tmp_path):
    aws = in_scenario(AWS, "everything", tmp_path)
    assert aws.cloud.operation_seconds("aws:eks/addon:Addon", "create", aws.fill(scenario(name).inputs)) == seconds


def scenario(name):
    return next(r for r in AWS.scenarios["everything"] if r.name == name)


def test_cluster_makes_its_security_group_and_takes_it_along(tmp_path):
    aws = in_scenario(AWS, "eks", tmp_path)
    cluster = aws.resource("bare")
    group = cluster.view["vpcConfig"]["clusterSecurityGroupId"]
    made = aws.cloud.store.get("aws:ec2/securityGroup:SecurityGroup", group)
    assert made.hidden
    assert made.view["vpcId"] == aws.resource("vpc").id
    aws.delete(cluster)
    assert aws.cloud.store.get("aws:ec2/securityGroup:SecurityGroup", group) is None


def test_launch_template_counts_its_versions(tmp_path):
    aws = in_scenario(AWS, "eks", tmp_path)
    template = aws.resource("template")
    assert template.view["latestVersion"] == 1
    assert aws.update(template, {**template.inputs, "instanceType": "g5.8xlarge"}).view["latestVersion"] == 2


def test_zone_name_and_id_follow_from_each_other(tmp_path):
    aws = in_scenario(AWS, "everything", tmp_path)
    assert aws.resource("private-1").view["availabilityZoneId"] == "use1-az1"
    assert aws.resource("private-2").view["availabilityZone"] == "us-east-1b"


PREFIXED = sorted(
    (token, row.autoname.property)
    for token, row in AWS.types.items()
    if row.autoname is not None and f"{row.autoname.property}Prefix" in row.immutable
)
LEGAL_LENGTH, LONGEST_TRIED = 6, 600
"""Characters: every service takes so many after a beginning that it demands, none the second number."""


@pytest.mark.parametrize(("token", "name"), PREFIXED, ids=[each[0] for each in PREFIXED])
def test_longest_prefix_becomes_a_legal_name(token, name, tmp_path):
    """What the provider's own limit lets through is no longer than a name may be; without a name of its own."""
    aws = in_scenario(AWS, "everything", tmp_path)
    example = next(r for r in AWS.scenarios["everything"] if r.type == token)
    given = {key: value for key, value in aws.fill(example.inputs).items() if key != name}
    longest = longest_legal(aws, token, given, f"{name}Prefix")
    made = aws.create(token, "prefixed", {**given, f"{name}Prefix": longest})
    assert made.view[name].startswith(longest)
    assert len(longest) < len(made.view[name]) <= len(longest_legal(aws, token, given, name))
    refused = aws.cloud.check(token, "prefixed", {**given, f"{name}Prefix": f"{longest}p"}, {})[1]
    assert refused, "one more is refused, or the test does not look at the limit"


def longest_legal(aws, token, given, property_):
    """The longest text that the checks of inputs take; longer ones are refused."""

    beginning = AWS.types[token].autoname.beginning

    def text(length):
        return beginning.ljust(length, "p")

    def is_refused(length):
        return bool(aws.cloud.check(token, "prefixed", {**given, property_: text(length)}, {})[1])

    lengths = range(len(beginning) + LEGAL_LENGTH, LONGEST_TRIED)
    refused = bisect_left(lengths, True, key=is_refused)
    assert refused > 0, f"{token} takes no {property_}"
    return text(lengths[refused - 1])


NAMED = sorted(
    (token, row.autoname)
    for token, row in AWS.types.items()
    if row.autoname is not None and row.autoname.kind == "random"
)


@pytest.mark.parametrize(("token", "auto"), NAMED, ids=[each[0] for each in NAMED])
def test_name_that_is_made_of_a_long_logical_name_is_whole_or_refused(token, auto, tmp_path):
    """Nothing is cut: the provider ends over what it cannot make, and the service's own limit is checked."""
    aws = in_scenario(AWS, "everything", tmp_path)
    example = next(r for r in AWS.scenarios["everything"] if r.type == token)
    given = {key: value for key, value in aws.fill(example.inputs).items() if key != auto.property}
    of_service = len(longest_legal(aws, token, given, auto.property))
    of_provider = auto.max or AWS.row.longest_name
    longest = min(of_service, of_provider)
    logical = "n" * (longest - len(auto.beginning) - len("-1234567"))
    assert len(aws.inputs(token, logical, given)[auto.property]) == longest
    if of_provider <= of_service:
        name = f"{auto.beginning}n{logical}-"
        words = f"^could not make instance of '{token}': name '{name}' plus 7 random chars is longer than maximum "
        with pytest.raises(CloudError, match=f"{words}length {longest}$"):
            aws.cloud.check(token, f"n{logical}", given, {})
    else:
        (failure,) = aws.cloud.check(token, f"n{logical}", given, {})[1]
        assert failure.reason.startswith(f"{auto.property}=")
        assert str(longest) in failure.reason


def test_provider_writes_a_buckets_name_in_lower_case(tmp_path):
    aws = in_scenario(AWS, None, tmp_path)
    assert aws.inputs("aws:s3/bucket:Bucket", "Results", {})["bucket"].startswith("results-")


def test_clusters_come_with_the_versions_that_the_catalog_offers():
    refusal = next(row for row in AWS.refusals if row.name == "eks-cluster-version-unsupported")
    assert str([name for name, record in eks_versions().items() if record.offered]) in str(refusal.when)


def test_default_group_of_a_vpc_is_taken_over_and_stays_with_it(tmp_path):
    aws = in_scenario(AWS, "everything", tmp_path)
    vpc, taken = aws.resource("vpc"), aws.resource("default-group")
    assert taken.id == vpc.view["defaultSecurityGroupId"]
    aws.delete(taken)
    assert aws.cloud.store.get("aws:ec2/securityGroup:SecurityGroup", taken.id).hidden


@pytest.mark.parametrize(("desired", "refused"), [(1, True), (2, False)])
def test_minimum_of_a_node_group_that_stands_is_not_above_its_nodes(tmp_path, desired, refused):
    aws = in_scenario(AWS, "eks", tmp_path)
    group = aws.resource("nodes")
    inputs = {**group.inputs, "scalingConfig": {"minSize": 2, "desiredSize": desired, "maxSize": 3}}
    if not refused:
        aws.update(group, inputs)
        return
    line = "InvalidParameterException: Minimum capacity 2 can't be greater than desired size 1"
    with pytest.raises(CloudError, match=f"^{line}$"):
        aws.update(group, inputs)


FURTHER = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"


def test_subnet_may_lie_in_a_further_block_of_its_vpc(tmp_path):
    aws = in_scenario(AWS, "network", tmp_path)
    subnet = {"vpcId": "${vpc.id}", "cidrBlock": "100.64.3.0/24"}
    with pytest.raises(CloudError, match=r"^InvalidSubnet.Range: The CIDR '100\.64\.3\.0/24' is invalid\.$"):
        aws.create("aws:ec2/subnet:Subnet", "pods", subnet)
    aws.create(FURTHER, "further", {"vpcId": "${vpc.id}", "cidrBlock": "100.64.0.0/16"})
    assert aws.create("aws:ec2/subnet:Subnet", "pods", subnet).view["cidrBlock"] == "100.64.3.0/24"
    with pytest.raises(CloudError, match=r"^InvalidSubnet.Range: "):
        aws.create("aws:ec2/subnet:Subnet", "beyond", {**subnet, "cidrBlock": "100.65.3.0/24"})


@pytest.mark.parametrize(
    ("token", "given", "pattern"),
    [
        ("aws:sqs/queue:Queue", {}, r"jobs-[0-9a-f]{7}"),
        ("aws:sqs/queue:Queue", {"fifoQueue": True}, r"jobs-[0-9a-f]{7}\.fifo"),
        ("aws:sns/topic:Topic", {"fifoTopic": True}, r"jobs-[0-9a-f]{7}\.fifo"),
        ("aws:cloudwatch/eventRule:EventRule", {"scheduleExpression": "rate(1 day)"}, r"jobs-[0-9a-f]{7}"),
        ("aws:lb/targetGroup:TargetGroup", {"targetType": "lambda"}, r"jobs-[0-9a-f]{7}"),
        ("aws:kms/alias:Alias", {"targetKeyId": "key"}, r"alias/jobs-[0-9a-f]{7}"),
    ],
)
def test_provider_names_what_has_no_name(token, given, pattern, tmp_path):
    aws = in_scenario(AWS, "network", tmp_path)
    inputs, failures = aws.cloud.check(token, "jobs", given, {})
    assert not failures
    assert re.fullmatch(pattern, inputs["name"])


@pytest.mark.parametrize("token", ["aws:s3/bucket:Bucket", "aws:s3/bucketV2:BucketV2"])
def test_provider_names_a_bucket_in_lower_case(token, tmp_path):
    aws = in_scenario(AWS, "network", tmp_path)
    inputs, failures = aws.cloud.check(token, "TrainingData", {}, {})
    assert not failures
    assert re.fullmatch(r"trainingdata-[0-9a-f]{7}", inputs["bucket"])
    assert not aws.cloud.diff(token, "TrainingData", inputs, {**inputs, "objectLockEnabled": True}).delete_first


def test_alias_that_begins_as_it_must_stays_so(tmp_path):
    aws = in_scenario(AWS, "network", tmp_path)
    inputs, _ = aws.cloud.check("aws:kms/alias:Alias", "alias/jobs", {"targetKeyId": "key"}, {})
    assert re.fullmatch(r"alias/jobs-[0-9a-f]{7}", inputs["name"])


def test_queue_of_a_made_name_is_replaced_without_going_first(tmp_path):
    aws, queue = in_scenario(AWS, "secrets", tmp_path), "aws:sqs/queue:Queue"
    inputs, _ = aws.cloud.check(queue, "jobs", {"fifoQueue": True}, {})
    for name, first in ((inputs["name"], False), ("own.fifo", True)):
        news = {**inputs, "name": name}
        assert aws.cloud.diff(queue, "jobs", {**news, "fifoQueue": False}, news).delete_first is first


def test_fifo_queue_of_a_prefix_has_the_ending(tmp_path):
    aws = in_scenario(AWS, "secrets", tmp_path)
    made = aws.create("aws:sqs/queue:Queue", "jobs", {"namePrefix": "jobs-", "fifoQueue": True})
    assert re.fullmatch(r"jobs-\d{26}\.fifo", made.view["name"])
    assert made.view["url"] == f"https://sqs.us-east-1.rehearsal.invalid/000000000000/{made.view['name']}"
    assert made.view["arn"] == f"arn:aws:sqs:us-east-1:000000000000:{made.view['name']}"


@pytest.mark.parametrize(
    ("token", "name", "again"),
    [
        ("aws:ssm/parameter:Parameter", "parameter", {"overwrite": True, "value": "training:2"}),
        ("aws:route53/record:Record", "front-name", {"allowOverwrite": True, "ttl": 300}),
    ],
)
def test_what_overwrites_may_be_there_already(token, name, again, tmp_path):
    aws = in_scenario(AWS, "everything", tmp_path)
    there = aws.resource(name)
    assert aws.create(token, "again", {**there.inputs, **again}).id == there.id


@pytest.mark.parametrize(
    ("service", "suffix", "name"),
    [
        ("autoscaling.amazonaws.com", "", "AWSServiceRoleForAutoScaling"),
        ("autoscaling.amazonaws.com", "team", "AWSServiceRoleForAutoScaling_team"),
        ("lex.amazonaws.com", "", "AWSServiceRoleForLex"),
    ],
)
def test_service_linked_role_is_named_after_its_service(service, suffix, name, tmp_path):
    aws = in_scenario(AWS, "secrets", tmp_path)
    asked = {"awsServiceName": service, "customSuffix": suffix}
    role = aws.create("aws:iam/serviceLinkedRole:ServiceLinkedRole", "role", asked)
    assert role.view["name"] == name
    assert role.view["arn"] == f"arn:aws:iam::000000000000:role/aws-service-role/{service}/{name}"


def test_parts_of_a_load_balancer_have_its_name_in_their_arns(tmp_path):
    aws = in_scenario(AWS, "everything", tmp_path)
    front, network, listener = (aws.resource(name) for name in ("front", "front-network", "front-http"))
    start = "arn:aws:elasticloadbalancing:us-east-1:000000000000:"
    assert front.view["arn"] == f"{start}loadbalancer/{front.view['arnSuffix']}"
    assert re.fullmatch(r"app/front/[0-9a-f]{16}", front.view["arnSuffix"])
    assert network.view["arnSuffix"].startswith("net/front-network/")
    assert listener.view["arn"].startswith(f"{start}listener/{front.view['arnSuffix']}/")
    assert aws.resource("services").view["arnSuffix"].startswith("targetgroup/services/")


def test_objects_have_versions_in_a_bucket_that_keeps_them(tmp_path):
    aws = in_scenario(AWS, "everything", tmp_path)
    plain = aws.create("aws:s3/bucketV2:BucketV2", "plain", {"bucket": "plain-bucket"})
    made = aws.create("aws:s3/bucketObjectv2:BucketObjectv2", "key", {"bucket": plain.id, "key": "key", "content": "x"})
    assert "versionId" not in made.view
    assert aws.resource("script").view["versionId"]
