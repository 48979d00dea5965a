"""What is particular to types of the simulated AWS: durations, zones, versions, and what a cluster makes."""

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
    (token, row.autoname.property, row.autoname.max)
    for token, row in AWS.types.items()
    if row.autoname is not None and f"{row.autoname.property}Prefix" in row.immutable
)


@pytest.mark.parametrize(("token", "name", "most"), PREFIXED, ids=[each[0] for each in PREFIXED])
def test_longest_prefix_becomes_a_legal_name(token, name, most, tmp_path):
    """What the provider's own limit lets through is no longer than a name may be; without a name of its own."""
    aws = in_scenario(AWS, "everything", tmp_path)
    example = next(r for r in AWS.scenarios["everything"] if r.type == token)
    given = {key: value for key, value in aws.fill(example.inputs).items() if key != name}
    longest = longest_prefix(aws, token, given, name, most)
    made = aws.create(token, "prefixed", {**given, f"{name}Prefix": longest})
    assert made.view[name].startswith(longest)
    assert len(longest) < len(made.view[name]) <= most
    refused = aws.cloud.check(token, "prefixed", {**given, f"{name}Prefix": f"{longest}p"}, {})[1]
    assert refused, "one more is refused, or the test does not look at the limit"


def longest_prefix(aws, token, given, name, most):
    """The longest that the provider takes."""
    for length in range(most, 0, -1):
        if not aws.cloud.check(token, "prefixed", {**given, f"{name}Prefix": "p" * length}, {})[1]:
            return "p" * length
    raise AssertionError(f"{token} takes no prefix")


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
