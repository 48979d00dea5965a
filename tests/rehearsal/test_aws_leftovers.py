"""What AWS keeps for a while after a deletion, and what a deletion leaves behind."""

import pytest

from gpufleet_rehearsal.cloud.checks import CloudError
from tests.rehearsal.scenarios import AWS, NAME, in_scenario


def test_delete_waits_for_what_is_still_settling(tmp_path):
    aws = in_scenario(AWS, "files", tmp_path)
    aws.delete(aws.resource("point"))
    began = aws.clock.now()
    aws.delete(aws.resource("target"))
    gone = aws.clock.now()
    aws.delete(aws.resource("files"))
    assert gone > began
    assert gone + 10 <= aws.clock.now() <= gone + 30


def test_placement_group_is_free_a_minute_after_its_nodes(tmp_path):
    (row,) = [row for row in AWS.refusals if row.name == "eks-node-group-placement-group-over-zones"]
    aws = in_scenario(AWS, "eks", tmp_path)
    group = aws.create(row.type, NAME, row.neighbour.inputs)
    aws.delete(group)
    began = aws.clock.now()
    aws.delete(aws.resource("placement"))
    assert began + 50 <= aws.clock.now() <= began + 90


def test_node_group_after_its_policies_leaks_an_interface(tmp_path):
    aws = in_scenario(AWS, "eks", tmp_path)
    kept = {r.id for r in aws.cloud.store.resources("aws:ec2/networkInterface:NetworkInterface")}
    aws.delete(aws.resource("cni-policy"))
    aws.delete(aws.resource("nodes"))
    (left,) = [r for r in aws.cloud.store.resources("aws:ec2/networkInterface:NetworkInterface") if r.id not in kept]
    assert left.hidden
    assert left.view["subnetId"] in {aws.resource("private-1").id, aws.resource("private-2").id}


def test_node_group_before_its_policies_leaks_nothing(tmp_path):
    aws = in_scenario(AWS, "eks", tmp_path)
    aws.delete(aws.resource("nodes"))
    aws.delete(aws.resource("cni-policy"))
    assert aws.cloud.store.resources("aws:ec2/networkInterface:NetworkInterface") == []


def test_leaked_interface_holds_its_subnet(tmp_path):
    aws = in_scenario(AWS, "eks", tmp_path)
    guarded = aws.resource("guarded")
    aws.update(guarded, {**guarded.inputs, "deletionProtection": False})
    for name in ("crowd", "filling", "near-nodes", "cni-policy", "nodes", "cluster", "bare", "guarded"):
        aws.delete(aws.resource(name))
    with pytest.raises(CloudError, match=r"^DependencyViolation: The subnet 'subnet-\w+' has dependencies"):
        aws.delete(aws.resource("private-1"))


LOG_GROUP = "aws:cloudwatch/logGroup:LogGroup"


def test_cluster_that_logs_leaves_its_log_group_when_nobody_else_keeps_it(tmp_path):
    aws = in_scenario(AWS, "eks", tmp_path)
    aws.delete(aws.resource("bare"))
    (left,) = aws.cloud.store.resources(LOG_GROUP)
    assert (left.id, left.hidden) == ("/aws/eks/bare/cluster", True)
    with pytest.raises(CloudError, match=r"^ResourceAlreadyExistsException: The specified log group already exists$"):
        aws.create(LOG_GROUP, NAME, {"name": "/aws/eks/bare/cluster"})


def test_log_group_that_goes_after_its_cluster_leaves_nothing(tmp_path):
    aws = in_scenario(AWS, "everything", tmp_path)
    for resource in reversed(AWS.scenarios["everything"]):
        aws.delete(aws.resource(resource.name))
        if resource.name == "cluster":
            break
    assert [group.id for group in aws.cloud.store.resources(LOG_GROUP)] == [aws.resource("cluster-logs").id]
