"""The policy pack gpufleet-zones on raw Azure resources: advice, and what it cannot know."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.policies.azure.feasibility import validate_azure_feasibility
from gpufleet.rules import Status
from tests.policies.azure_changes import (
    BLOB,
    CONFIG,
    SHARE,
    VM,
    Change,
    Program,
    both,
    findings_of,
    gateway,
    put,
    refused,
    told,
    with_change,
)
from tests.policies.legal_azure_program import legal_azure_program
from tests.policies.raw_program import plan_from


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (put("images", location="westeurope"), {("ring", "azure-registry-near-pool")}),
        (
            both(
                put("ring", vmSize="Standard_NC4as_T4_v3"),
                put("ring", *VM, nodePlacementConfiguration={"policy": "Zonal"}),
            ),
            {("ring", "azure-batch-zonal-inter-node"), ("ring", "azure-batch-inter-node-ethernet")},
        ),
        (
            put("ring", scaleSettings={"fixedScale": {"targetLowPriorityNodes": 2}}),
            {("ring", "azure-capacity-spot-mpi"), ("ring", "azure-batch-low-priority"), ("ring", "any-count-idle")},
        ),
        (
            put("ring", scaleSettings={"fixedScale": {"nodeDeallocationOption": "RetainedData"}}),
            {("ring", "azure-batch-retained-data")},
        ),
        (
            put(
                "ring",
                "scaleSettings",
                "autoScale",
                formula="$TargetDedicatedNodes = min(1, $PendingTasks.GetSample(1));",
            ),
            {("ring", "azure-batch-formula-samples")},
        ),
        (
            lambda program: program["ring"].update(type="azure-native:batch:Pool"),
            {("ring", "azure-batch-api-version")},
        ),
        (
            lambda program: program["ring"].update(type="azure-native:batch/v20230501:Pool"),
            {("ring", "azure-batch-api-version")},
        ),
        (put("trainers", scaleSetPriority="Spot"), {("trainers", "azure-capacity-spot-mpi")}),
        (put("trainers", nodeTaints=[]), {("trainers", "azure-agent-pool-taint")}),
        (put("operator", principalType=None), {("operator", "azure-role-principal-type")}),
        (put("trainers", gpuProfile={"driver": "None"}), {("trainers", "azure-agent-pool-driver")}),
        (put("trainers", enableNodePublicIP=True), {("trainers", "any-pool-private")}),
        (
            put("trainers", mode="System", minCount=1),
            {("trainers", "azure-agent-pool-system-gpu"), ("trainers", "any-count-idle")},
        ),
        (
            put("trainers", proximityPlacementGroupID=None, availabilityZones=["1", "2"]),
            {("trainers", "azure-size-one-zone")},
        ),
    ],
)
def test_advice(change: Change, found: set[tuple[str, str]]) -> None:
    program = with_change(change)
    assert refused(program) == set()
    assert told(program, Status.FAIL) == found


def test_advice_on_files_for_data() -> None:
    program = with_change(both(put("ring", mountConfiguration=[SHARE]), put("store", allowSharedKeyAccess=True)))
    assert told(program, Status.FAIL) == {("ring", "azure-mount-data-blob")}


def test_an_image_that_ends_within_a_year_is_a_warning() -> None:
    program = with_change(put("ring", *VM, nodeAgentSkuId="batch.node.ubuntu 22.04"))
    (found,) = {rule for _, rule in refused(program) | told(program, Status.FAIL)}
    assert found in ("azure-batch-image-ends", "azure-batch-image-ended")  # the latter from July 2027 on


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (put("trainers", vmSize="${net.name}"), {("trainers", "any-plan-known")}),
        (put("trainers", mode="${net.name}"), {("trainers", "any-plan-known")}),
        (put("trainers", nodeTaints="${net.name}"), set()),
        (put("trainers", availabilityZones=["1"]), {("trainers", "azure-size-in-zone")}),
        (put("trainers", resourceName="elsewhere"), {("trainers", "any-plan-known")}),
        (
            both(put("near", zones="${net.name}"), put("trainers", availabilityZones=["1"])),
            {("trainers", "azure-placement-group-zone"), ("trainers", "azure-size-in-zone")},
        ),
        (put("near", location="${net.name}"), {("trainers", "azure-region-same")}),
        (put("operator", roleDefinitionId="${net.name}"), {("cluster", "azure-cluster-kubelet-role")}),
        (put("operator", scope="${group.id}"), {("cluster", "azure-cluster-kubelet-role")}),
        (
            put("cluster", identityProfile={"kubeletidentity": {"resourceId": "/x"}}),
            {("cluster", "azure-cluster-kubelet-role")},
        ),
        (gateway("203.0.113.0/24", "${address.ipAddress}"), set()),
        (gateway("203.0.113.0/24", "${net.name}"), {("cluster", "azure-cluster-nodes-reach-api")}),
        (put("ring", interNodeCommunication="${net.name}"), {("ring", "any-plan-known")}),
        (put("ring", mountConfiguration="${net.name}"), {("ring", "any-plan-known")}),
        (put("ring", identity="${reader.id}"), {("ring", "any-plan-known")}),
        (put("ring", scaleSettings={"autoScale": {"formula": "${net.name}"}}), {("ring", "any-plan-known")}),
        (
            both(
                put("ring", accountName="elsewhere"),
                put("ring", scaleSettings={"fixedScale": {"targetDedicatedNodes": 81}}),
            ),
            {
                ("ring", "any-plan-known"),
                ("ring", "azure-batch-inter-node-size"),
                ("ring", "azure-storage-near-pool"),
                ("ring", "azure-registry-near-pool"),
            },
        ),
        (
            put(
                "ring",
                mountConfiguration=[
                    {"azureBlobFileSystemConfiguration": {**BLOB, "accountName": "elsewhere", "sasKey": "s"}}
                ],
            ),
            {("ring", "azure-storage-shared-key"), ("ring", "azure-storage-near-pool")},
        ),
        (put("store", allowSharedKeyAccess="${net.name}"), set()),
        (
            both(
                put("store", allowSharedKeyAccess="${net.name}"),
                put("account", "autoStorage", authenticationMode="StorageKeys"),
            ),
            {("account", "azure-storage-shared-key")},
        ),
        (put("nsg", securityRules="${net.name}"), {("ring", "azure-nsg-inter-node"), ("ring", "azure-nsg-mount-port")}),
        (put("share", accountName="elsewhere", enabledProtocols="NFS"), {("share", "azure-files-nfs-kind")}),
        (put("store", enableNfsV3="${net.name}"), {("store", "any-plan-known")}),
        (put("budget", timePeriod={"startDate": "${net.name}"}), {("budget", "any-plan-known")}),
    ],
)
def test_what_is_not_known_is_told_and_refuses_nothing(change: Change, found: set[tuple[str, str]]) -> None:
    program = with_change(change)
    assert refused(program) == set()
    unverified = {
        (each.resource, each.finding.rule) for each in findings_of(program) if each.finding.status is Status.UNVERIFIED
    }
    assert unverified == found


KEYS = st.sampled_from(
    sorted(
        {key for each in legal_azure_program().values() for key in each["inputs"]} | {"id", "name", "policy", "type"}
    )
)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.just(UNKNOWN)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in nested inputs, from the outside in."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([path] if path else []), *(place for key, item in inner for place in places(item, (*path, key)))]


PLACES = [(name, place) for name, each in legal_azure_program().items() for place in places(each["inputs"])]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=3))
def test_odd_values_anywhere_do_not_raise(changes: list[tuple[tuple[str, tuple[Any, ...]], Any]]) -> None:
    program = legal_azure_program()
    for (name, place), value in changes:
        holder: Any = program[name]["inputs"]
        try:
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = value
        except (TypeError, KeyError, IndexError, AttributeError):
            continue  # an earlier change has taken the place away
    resources = [
        Resource(each.urn, each.type, program[each.name]["inputs"], each.depends, each.parent, "eastus")
        for each in plan_from(legal_azure_program(), "eastus").resources
    ]
    for each in validate_azure_feasibility(Plan("dev", resources), {}):
        assert "\n" not in each.line


@pytest.mark.parametrize(("name", "place"), PLACES, ids=lambda value: str(value))
def test_an_unknown_value_anywhere_refuses_nothing(name: str, place: tuple[Any, ...]) -> None:
    program = legal_azure_program()
    holder: Any = program[name]["inputs"]
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = "${budget.id}"
    assert refused(program) == set()


def deployed(program: Program, name: str, **outputs: Any) -> Program:
    """The program as a policy pack sees it once that resource exists: by what Azure says, which tells no secret."""
    program[name]["inputs"] |= {"provisioningState": "Succeeded", **outputs}
    return program


def test_what_azure_does_not_tell_of_a_pool_that_exists_refuses_nothing() -> None:
    blob_by_key = {"azureBlobFileSystemConfiguration": {**BLOB, "accountName": "traindata01"}}
    share = {"azureFileShareConfiguration": {**SHARE["azureFileShareConfiguration"], "accountKey": None}}
    program = deployed(legal_azure_program(), "ring", mountConfiguration=[blob_by_key, share])
    assert refused(program) == set()
    assert told(program, Status.UNVERIFIED) == {("ring", "any-plan-known")}


def test_the_words_of_the_program_count_beside_those_of_azure() -> None:
    program = legal_azure_program()
    said = dict(program["trainers"]["inputs"], vmSize="Standard_NC6", proximityPlacementGroupID=None)
    program = deployed(program, "trainers", type="Microsoft.ContainerService/x", __inputs=said)
    assert refused(program) == {("trainers", "azure-size-current")}


@pytest.mark.parametrize("said", ["/x/userAssignedIdentities/train-agentpool", UNKNOWN])
def test_an_identity_that_aks_makes_for_its_nodes_needs_no_role(said: object) -> None:
    program = legal_azure_program()
    program["cluster"].pop("dependsOn")
    del program["operator"], program["cluster"]["inputs"]["identityProfile"]
    plan = plan_from(program, "eastus")
    cluster = next(each for each in plan.resources if each.name == "cluster")
    # A preview may show what Azure fills in; no resource of the program is behind it.
    seen = replace(cluster, inputs={**cluster.inputs, "identityProfile": {"kubeletidentity": {"resourceId": said}}})
    others = [each for each in plan.resources if each is not cluster]
    found = validate_azure_feasibility(replace(plan, resources=[*others, seen]), CONFIG)
    assert [each.line for each in found if each.finding.status is not Status.PASS] == []
