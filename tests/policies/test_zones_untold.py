"""The zones pack where a program does not tell all: unverified, never a pass in silence, never a crash."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.policies.feasibility import validate_feasibility
from gpufleet.rules import Status
from tests.policies.changed_program import (
    Program,
    both,
    findings_of,
    inputs,
    interfaces,
    resources,
    set_in,
    without,
)
from tests.policies.legal_program import legal_program
from tests.policies.raw_program import plan_from

LITERALS = {
    "subnet-outside": (
        set_in("nodes", subnetIds=["subnet-1"]),
        {("nodes", "any-plan-known")},
    ),
    "placement-group-outside": (set_in("template", placement={"groupName": "ring"}), {("nodes", "any-plan-known")}),
    "template-outside": (
        set_in("nodes", launchTemplate={"id": "lt-1", "version": "1"}),
        {("nodes", "any-plan-known"), ("nodes", "aws-node-group-metadata")},
    ),
    "groups-outside": (
        interfaces(securityGroups=["sg-1"]),
        {("nodes", "aws-efa-group-to-self"), ("nodes", "aws-node-group-cluster-group")},
    ),
    "route-table-outside": (
        set_in("association-use1-az1", routeTableId="rtb-1"),
        {("nodes", "aws-subnet-way-out"), ("environment", "aws-subnet-way-out")},
    ),
    "vpc-outside": (
        both(set_in("subnet-use1-az1", vpcId="vpc-1"), without("association-use1-az1")),
        {("nodes", "aws-subnet-way-out"), ("environment", "aws-subnet-way-out")},
    ),
    "route-to-somewhere": (
        set_in("route-use1-az1", destinationCidrBlock="${vpc.cidrBlock}"),
        {("nodes", "aws-subnet-way-out"), ("environment", "aws-subnet-way-out")},
    ),
    "ports-of-nfs": (set_in("nfs-in", fromPort="${vpc.id}"), {("target", "aws-files-nfs-open")}),
    "vcpus": (resources(maxVcpus="${vpc.id}"), {("environment", "any-plan-known")}),
    "nfs-from-a-group-outside": (
        set_in("nfs-in", referencedSecurityGroupId="sg-1"),
        {("target", "aws-files-nfs-open")},
    ),
    "files-outside": (
        set_in("access", fileSystemId="fs-1", rootDirectory={"path": "/data"}),
        {("access", "aws-files-directory-made")},
    ),
    "environments-outside": (
        both(
            without("environment"),
            set_in("queue", computeEnvironmentOrders=[{"order": 1, "computeEnvironment": "arn:aws:batch:mine"}]),
        ),
        {("job", "aws-batch-multinode-on-demand")},
    ),
    "control-plane-outside": (
        lambda program: inputs(program, "cluster")["vpcConfig"].update(subnetIds=["subnet-1", "subnet-2"]),
        {("cluster", "any-plan-known")},
    ),
    "one-zone-file-system-without-names": (
        set_in("files", availabilityZoneName="us-east-1a"),
        {("target", "aws-files-target-in-zone")},
    ),
}


@pytest.mark.parametrize(("change", "rules"), LITERALS.values(), ids=LITERALS)
def test_what_the_program_does_not_tell_is_unverified(
    change: Callable[[Program], None], rules: set[tuple[str, str]]
) -> None:
    program = legal_program()
    change(program)
    found = findings_of(program)
    assert {each.finding.status for each in found} == {Status.UNVERIFIED}
    assert {(each.resource, each.finding.rule) for each in found} == rules


def test_what_the_provider_fills_in_is_not_what_the_program_says() -> None:
    """A policy pack sees outputs: at preview those that a program leaves out are unknown."""
    program = legal_program()
    plan = plan_from(program)
    filled = [
        Resource(
            each.urn,
            each.type,
            {"diskSize": UNKNOWN, "ingress": UNKNOWN, "egress": UNKNOWN, "remoteAccess": UNKNOWN, **each.inputs},
            each.depends,
            each.parent,
            each.provider_region,
        )
        for each in plan.resources
    ]
    found = validate_feasibility(Plan(plan.stack, filled), {})
    assert {each.finding.status for each in found} == {Status.PASS}


VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from([UNKNOWN, "${vpc.id}", "0.0.0.0/0", "efa", "g5.xlarge", "-1", "{", "[]", "AL2_", "us-east-1a"]),
    lambda of: st.lists(of, max_size=2) | st.dictionaries(st.text(max_size=3), of, max_size=2),
    max_leaves=4,
)
PLAIN = plan_from(legal_program())


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_no_value_whatever_makes_the_judgement_raise(data: st.DataObject) -> None:
    """Every property of two resources is changed, inside as well, or taken away."""
    changed = dict.fromkeys(data.draw(st.lists(st.sampled_from(range(len(PLAIN.resources))), min_size=1, max_size=3)))
    found = list(PLAIN.resources)
    for place in changed:
        each = found[place]
        replaced = {name: data.draw(VALUE | inside(value)) for name, value in each.inputs.items()}
        depends = each.depends if data.draw(st.booleans()) else {}
        found[place] = Resource(
            each.urn, each.type, replaced, depends, "", data.draw(st.sampled_from(["us-east-1", None]))
        )
    for finding in validate_feasibility(Plan("dev", found), {"zone_names": {"use1-az1": "us-east-1a"}}):
        assert finding.line.isprintable()


def inside(value: object) -> st.SearchStrategy[object]:
    """The value with one thing in it changed."""
    if isinstance(value, Mapping) and value:
        return st.sampled_from(sorted(value)).flatmap(
            lambda key: (VALUE | inside(value[key])).map(lambda new: {**value, key: new})
        )
    if isinstance(value, list) and value:
        return (VALUE | inside(value[0])).map(lambda new: [new, *value[1:]])
    return st.just(value)


@pytest.mark.parametrize("told", [{}, {"platformCapabilities": ["EC2"]}, {"platformCapabilities": "${roles.kind}"}])
def test_a_container_with_an_output_inside_is_not_refused(told: Mapping[str, object]) -> None:
    """Its properties are one text, unknown as a whole: nothing says that it has a network configuration."""
    container = {"containerProperties": '{"image": "${images.repositoryUrl}"}'}
    program = {
        "images": {"type": "aws:ecr/repository:Repository", "inputs": {}},
        "roles": {"type": "aws:iam/role:Role", "inputs": {"assumeRolePolicy": "{}"}},
        "job": {"type": "aws:batch/jobDefinition:JobDefinition", "inputs": {"type": "container", **container, **told}},
    }
    refused = [each.line for each in validate_feasibility(plan_from(program), {}) if each.finding.rejects]
    assert refused == []
