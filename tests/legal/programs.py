"""Legal raw programs: those that mistakes start from and those of the corpus, with legal values in place of theirs."""

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from tests.corpus.programs import Program, programs
from tests.legal.documented import KEPT_DAYS, VALUES, names
from tests.mistakes.corpus import patched, program

Inputs = Mapping[str, Any]
TAGS = st.dictionaries(st.sampled_from(["team", "cost-center", "Data"]), VALUES, max_size=3)


def _tags(draw: st.DrawFn, inputs: Inputs) -> Inputs:
    return {**inputs, "tags": {**inputs.get("tags", {}), **draw(TAGS)}}


def _node_group(draw: st.DrawFn, inputs: Inputs) -> Inputs:
    """docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html"""
    # Of some corpus programs a change refers to the counts, and their subnets and quotas are for few nodes. Without a
    # node the add-on coredns stays degraded, so its create fails: terraform-aws-modules/terraform-aws-eks#3001.
    least, desired = draw(st.integers(0, 1)), draw(st.integers(1, 2))
    return _tags(draw, {**inputs, "scalingConfig": {"minSize": least, "desiredSize": desired, "maxSize": 2}})


def _logs(draw: st.DrawFn, inputs: Inputs) -> Inputs:
    return _tags(draw, {**inputs, "retentionInDays": draw(st.sampled_from(KEPT_DAYS))})


def _files(draw: st.DrawFn, inputs: Inputs) -> Inputs:
    mode = draw(st.sampled_from(["bursting", "elastic"]))
    kept = {key: value for key, value in inputs.items() if key != "provisionedThroughputInMibps"}
    return _tags(draw, {**kept, "throughputMode": mode, "performanceMode": "generalPurpose"})


LEGAL: Mapping[str, Callable[[st.DrawFn, Inputs], Inputs]] = {
    "aws:eks/nodeGroup:NodeGroup": _node_group,
    "aws:cloudwatch/logGroup:LogGroup": _logs,
    "aws:efs/fileSystem:FileSystem": _files,
    "aws:ec2/vpc:Vpc": _tags,
    "aws:ec2/subnet:Subnet": _tags,
    "aws:ec2/securityGroup:SecurityGroup": _tags,
    "aws:iam/role:Role": _tags,
    "aws:s3/bucket:Bucket": _tags,
    "aws:ecr/repository:Repository": _tags,
    "aws:batch/jobQueue:JobQueue": _tags,
    "azure-native:resources:ResourceGroup": _tags,
    "azure-native:network:VirtualNetwork": _tags,
    "azure-native:storage:StorageAccount": _tags,
    "azure-native:containerregistry:Registry": _tags,
    "azure-native:containerservice:ManagedCluster": _tags,
}
"""Type -> what gives its inputs other legal values. Tags are legal on each of these."""


@st.composite
def corpus_programs(draw: st.DrawFn) -> Program:
    """A program of the corpus that needs nothing that an account holds, renamed and with other legal values."""
    chosen = draw(st.sampled_from([each for each in programs() if not each.holds]))
    changed = dict(chosen.resources)
    for name, node in chosen.resources.items():
        if node["type"] in LEGAL and draw(st.booleans()):
            changed[name] = {**node, "inputs": LEGAL[node["type"]](draw, node.get("inputs", {}))}
    return Program(
        chosen.name, chosen.file, chosen.source, chosen.kind, chosen.region, changed, changed, chosen.lookups
    )


STARTS = ("network", "cluster", "nodes", "template", "placed", "fabric", "batch", "files")
"""Of programs_aws.yaml."""
AZURE_STARTS = ("azure-group", "azure-aks", "azure-batch", "azure-registry", "azure-storage")
_PATCHES: Mapping[str, Mapping[str, st.SearchStrategy[Inputs]]] = {
    # docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html: 450 nodes in a group
    "trainers": {
        "nodes": st.integers(1, 450).map(lambda most: {"scalingConfig": {"maxSize": most}}),
        "template": st.sampled_from([["g5.8xlarge"], ["g6.12xlarge"], ["g4dn.xlarge"]]).map(
            lambda types: {"instanceTypes": types}
        ),
        "azure-aks": st.integers(1, 200).map(lambda most: {"maxCount": most}),
        "azure-batch": st.integers(1, 64).map(
            lambda nodes: {"scaleSettings": {"fixedScale": {"targetDedicatedNodes": nodes}}}
        ),
    },
    "cluster": {"cluster": names(1, 60).map(lambda name: {"name": name})},
    "store": {
        "azure-storage": st.from_regex(r"[a-z0-9]{3,24}", fullmatch=True).map(lambda name: {"accountName": name})
    },
    "images": {
        "azure-registry": st.from_regex(r"[a-zA-Z0-9]{5,50}", fullmatch=True).map(lambda name: {"registryName": name})
    },
}


@st.composite
def starts(draw: st.DrawFn) -> tuple[str, Mapping[str, Any]]:
    """Region and resources of a program that mistakes start from, with other legal values."""
    start = draw(st.sampled_from((*STARTS, *AZURE_STARTS)))
    resources = program(start)
    for name, of_start in _PATCHES.items():
        if start in of_start and draw(st.booleans()):
            resources = patched(resources, {name: {"inputs": draw(of_start[start])}})
    return "eastus" if start.startswith("azure") else "us-east-1", resources
