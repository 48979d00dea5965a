"""The cost pack on programs that nobody would write: everything is checked, nothing crashes."""

import re
from datetime import date
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pulumi_policy import ReportViolation

from gpufleet.policies import cost, ownership
from gpufleet.policies.pack import StackPolicy, policies_of
from tests.policies.raw_program import plan_from, policy_args

TODAY = date(2026, 11, 21)
RANDOM = {"type": "random:index/randomInteger:RandomInteger"}
CONCERNS = [
    StackPolicy("cost", "Cost.", cost.validate_cost, cost.PROPERTIES),
    StackPolicy("ownership", "Owners.", ownership.validate_ownership, ownership.PROPERTIES),
]

KINDS = [
    "aws:eks/nodeGroup:NodeGroup",
    "aws:batch/computeEnvironment:ComputeEnvironment",
    "aws:autoscaling/group:Group",
    "aws:ec2/instance:Instance",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:ec2/capacityReservation:CapacityReservation",
    "aws:ec2/vpcEndpoint:VpcEndpoint",
    "aws:efs/fileSystem:FileSystem",
    "aws:eks/cluster:Cluster",
    "aws:ebs/volume:Volume",
    "azure-native:containerservice:ManagedCluster",
    "azure-native:compute:VirtualMachineScaleSet",
    "azure-native:batch:Pool",
    "azure-native:storage:FileShare",
    "azure-native:storage:StorageAccount",
    "pulumi:providers:aws",
]
NAMES = [
    "instanceTypes", "instanceType", "scalingConfig", "minSize", "maxSize", "computeResources", "launchTemplate",
    "blockDeviceMappings", "ebs", "volumeSize", "volumeType", "iops", "tags", "tagsAll", "defaultTags", "subnetIds",
    "throughputMode", "version", "upgradePolicy", "size", "instanceCount", "vpcEndpointType", "rootBlockDevice", "sku",
    "agentPoolProfiles", "vmSize", "count", "osDiskSizeGB", "scaleSettings", "storageProfile", "osDisk", "location",
    "accessTier", "accountName", "shareQuota", "name", "capacity",
]  # fmt: skip
LEAVES = st.sampled_from(
    [
        "${r.result}",
        "x${r.result}",
        "g5.8xlarge",
        "spot",
        "",
        0,
        1,
        -1,
        2.5,
        10**9,
        float("nan"),
        True,
        None,
        "gp3",
        "{}",
        "1.31",
    ]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=8,
)
RESOURCES = st.lists(
    st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=6)), max_size=5
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RESOURCES)
def test_anything_is_judged_and_nothing_crashes(listed: list[tuple[str, dict[str, Any]]]) -> None:
    resources: dict[str, dict[str, Any]] = {"r": RANDOM}
    resources |= {f"it-{number}": {"type": kind, "inputs": inputs} for number, (kind, inputs) in enumerate(listed)}
    for each in cost.validate_cost_and_ownership(plan_from(resources), {}, TODAY):
        assert "\n" not in each.line
    lines: list[str] = []
    report: ReportViolation = lambda line, urn=None: lines.append(line)  # noqa: E731
    for policy in policies_of(*CONCERNS):
        policy.validate(policy_args(resources), report)
    assert all(re.search(r"\[[a-z0-9-]+\]$", line) for line in lines)
