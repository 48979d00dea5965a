"""Every type of the simulated AWS: its good request, its outputs, what replaces it, what it refers to."""

import ast
import importlib
import inspect
import re
import textwrap

import pytest
from aws_worlds import NAME, TABLE, build, in_world, open_aws, urn

from gpufleet_rehearsal.cloud.making import draft
from gpufleet_rehearsal.cloud.refusing import CloudError, words
from gpufleet_rehearsal.table.paths import Scope, parse_path

TYPES = sorted(TABLE.types)
EXAMPLES = {type_: next(r for r in TABLE.worlds["everything"] if r.type == type_) for type_ in TYPES}
"""The first of each type in the world of everything; a type without one fails at collection."""
REFERENCES = [(type_, path) for type_ in TYPES for path in TABLE.types[type_].references]
TAKEN = [(type_, n) for type_ in TYPES for n, _ in enumerate(TABLE.types[type_].taken)]
IMMUTABLE = [(type_, path) for type_ in TYPES for path in TABLE.types[type_].immutable]
ABSENT = {
    "aws:ec2/eip:Eip": [
        "associationId",
        "carrierIp",
        "customerOwnedIp",
        "instance",
        "networkInterface",
        "privateDns",
        "privateIp",
        "ptrRecord",
    ],
    "aws:ec2/natGateway:NatGateway": [
        "autoProvisionZones",
        "autoScalingIps",
        "regionalNatGatewayAutoMode",
        "regionalNatGatewayAddresses",
        "routeTableId",
    ],
    "aws:ec2/networkInterface:NetworkInterface": ["outpostArn"],
    "aws:ec2/route:Route": ["instanceId", "instanceOwnerId"],
    "aws:ec2/subnet:Subnet": ["ipv6CidrBlockAssociationId"],
    "aws:ec2/vpc:Vpc": ["ipv6AssociationId"],
    "aws:ec2/vpcEndpoint:VpcEndpoint": ["cidrBlocks", "dnsEntries", "networkInterfaceIds"],
    "aws:s3/bucket:Bucket": ["websiteDomain", "websiteEndpoint"],
}
"""Outputs that a plain resource of the type does not have, or that the rehearsal does not know."""


def sdk_class(token):
    """The class of pulumi_aws that registers a token."""
    module, name = token.split(":")[1].split("/")[0], token.rsplit(":", 1)[1]
    return getattr(importlib.import_module(f"pulumi_aws.{module}"), name)


def computed(token):
    """Wire names of the properties that the SDK only ever reads back."""
    source = inspect.getsource(sdk_class(token)._internal_init)
    found = []
    for node in ast.walk(ast.parse(textwrap.dedent(source))):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Subscript)
            and isinstance(node.value, ast.Constant)
            and node.value.value is None
            and isinstance(node.targets[0].slice, ast.Constant)
        ):
            found.append(re.sub(r"_(\w)", lambda m: m[1].upper(), node.targets[0].slice.value))
    return found


@pytest.mark.parametrize("token", TYPES)
def test_sdk_registers_the_token(token):
    assert f'"{token}"' in inspect.getsource(sdk_class(token)).replace("'", '"')


@pytest.mark.parametrize("token", TYPES)
def test_good_request_has_every_output(token, tmp_path):
    view = in_world("everything", tmp_path).resource(EXAMPLES[token].name).view
    row = TABLE.types[token]
    absent = [o for o in (*row.outputs, *(m.output for m in row.makes)) if not at(view, o)]
    assert set(absent) <= set(ABSENT.get(token, ()))
    assert [p for p in computed(token) if p not in view and p not in ABSENT.get(token, ())] == []
    assert "{" not in re.sub(r'\{"Version".*', "", str([view[o] for o in row.outputs if isinstance(view.get(o), str)]))


def at(view, dotted):
    for key in dotted.split("."):
        view = view.get(key) if isinstance(view, dict) else None
    return view is not None


@pytest.mark.parametrize(("token", "path"), IMMUTABLE)
def test_change_of_what_is_immutable_replaces(token, path, tmp_path):
    aws = open_aws(tmp_path)
    before, after = {"kept": "x"}, {"kept": "x"}
    *above, last = path.split(".")
    for side, value in ((before, "old"), (after, "new")):
        for key in above:
            side = side.setdefault(key, {})
        side[last] = value
    assert aws.cloud.diff(token, NAME, before, after).replaces == [path.split(".")[0]]
    assert aws.cloud.diff(token, NAME, before, {**before, "kept": "y"}).replaces == []


@pytest.mark.parametrize(("token", "path"), IMMUTABLE)
def test_what_is_immutable_is_an_input_of_the_sdk(token, path):
    inputs = inspect.signature(sdk_class(token)._internal_init).parameters
    assert path.split(".")[0] in {re.sub(r"_(\w)", lambda m: m[1].upper(), name) for name in inputs}


@pytest.mark.parametrize(("token", "path"), REFERENCES)
def test_reference_to_what_is_not_there_is_refused(token, path, tmp_path):
    reference = TABLE.types[token].references[path]
    aws = in_world("everything", tmp_path)
    inputs, bad = bad_request(aws, token, path)
    row = TABLE.types[token]
    before = aws.state()
    made = draft(aws.cloud.around, row, token, urn(token, NAME), NAME, inputs)
    said = words(reference.text.replace("{value}", "{$it}"), Scope(made.request, aws.cloud.around).looking_at(bad))
    with pytest.raises(CloudError) as refused:
        aws.run(aws.cloud.create(token, urn(token, NAME), inputs))
    assert str(refused.value) == f"{reference.code}: {said}"
    assert aws.state() == before


def bad_request(aws, token, path):
    """Inputs of an example that has something at the path, with a handle there that nothing has."""
    for example in (r for r in TABLE.worlds["everything"] if r.type == token):
        inputs = aws.fill(example.inputs)
        own, _, beyond = path.partition(" -> ")
        if beyond:
            (through,) = parse_path(own).values(Scope(aws.resource(example.name), aws.cloud.around)) or (None,)
            target = next((r for r in aws.cloud.store.resources() if r.id == through), None)
            if target is not None and replace(dict(target.inputs), beyond):
                changed = copy_with(target.inputs, beyond)
                aws.run(aws.cloud.update(target.type, target.id, target.urn, changed))
                return inputs, BAD
        elif replace(inputs, path):
            return copy_with(inputs, path), BAD
    inputs = aws.fill(EXAMPLES[token].inputs)
    assert not set(path) & set("[."), f"no example of {token} has anything at {path}"
    return {**inputs, path: BAD}, BAD


BAD = "there-is-none"


def replace(inputs, path):
    """Whether there is something at a path of inputs."""
    here = inputs
    for step in steps(path):
        if isinstance(step, int):
            here = here[0] if isinstance(here, list) and here else None
        else:
            here = here.get(step) if isinstance(here, dict) else None
    return here is not None


def copy_with(value, path, found=None):
    """A copy of inputs with BAD at the path, in lists at the first element."""
    rest = steps(path) if found is None else found
    if not rest:
        return BAD
    step, *rest = rest
    if isinstance(step, int):
        return [copy_with(value[0], path, rest), *value[1:]]
    return {**value, step: copy_with(value.get(step), path, rest)}


def steps(path):
    return [0 if part == "[*]" else part for part in re.findall(r"\[\*\]|[^.\[\]]+", path)]


@pytest.mark.parametrize(("token", "number"), TAKEN)
def test_the_same_again_is_refused(token, number, tmp_path):
    taken = TABLE.types[token].taken[number]
    aws = in_world("everything", tmp_path)
    example = EXAMPLES[token]
    before = aws.state()
    with pytest.raises(CloudError) as refused:
        aws.run(aws.cloud.create(token, urn(token, NAME), aws.fill(example.inputs)))
    assert refused.value.code == taken.code
    assert refused.value.text
    assert aws.state() == before


@pytest.mark.parametrize("token", TYPES)
def test_durations_have_a_source_that_fits_how_sure_they_are(token):
    latency = TABLE.types[token].latency
    for timing in (latency.create, latency.update, latency.delete):
        for duration in (timing, *timing.cases) if timing is not None else ():
            assert duration.source
            assert ("assumed" in duration.source) == (duration.sure == "D") or "#" in duration.source, duration.source
            if duration.low is not None and duration.high is not None:
                assert duration.low <= duration.seconds <= duration.high


def test_node_group_is_slower_with_gpus_and_quicker_without_nodes(tmp_path):
    aws = in_world("everything", tmp_path)
    node_group = "aws:eks/nodeGroup:NodeGroup"
    inputs = aws.fill(EXAMPLES[node_group].inputs)
    sizes = {"minSize": 0, "desiredSize": 0, "maxSize": 2}
    assert aws.cloud.seconds(node_group, "create", inputs) == 300
    assert aws.cloud.seconds(node_group, "create", {**inputs, "scalingConfig": sizes}) == 60
    assert aws.cloud.seconds(node_group, "create", aws.fill(world("system").inputs)) == 125


@pytest.mark.parametrize(("name", "seconds"), [("vpc-cni", 65), ("coredns", 15), ("files-driver", 15)])
def test_add_ons_take_their_own_time(name, seconds, tmp_path):
    aws = in_world("everything", tmp_path)
    assert aws.cloud.seconds("aws:eks/addon:Addon", "create", aws.fill(world(name).inputs)) == seconds


def world(name):
    return next(r for r in TABLE.worlds["everything"] if r.name == name)


@pytest.mark.parametrize("token", [t for t in TYPES if TABLE.types[t].needs])
def test_everything_holds_what_is_needed(token, tmp_path):
    aws = in_world("everything", tmp_path)
    example = aws.resource(EXAMPLES[token].name) if token != "aws:eks/addon:Addon" else aws.resource("coredns")
    scope = Scope(example, aws.cloud.around)
    for need in TABLE.types[token].needs:
        if need.when is not None and not need.when.holds(scope):
            continue
        ours = {theirs: set(map(str, parse_path(mine).values(scope))) for theirs, mine in need.where.items()}
        met = [
            thing
            for thing in aws.cloud.store.resources(need.type)
            for there in [scope.at(thing)]
            if all(set(map(str, parse_path(theirs).values(there))) & values for theirs, values in ours.items())
            and (need.only is None or need.only.holds(there))
        ]
        assert met, need.why


def test_cluster_makes_its_security_group_and_takes_it_along(tmp_path):
    aws = in_world("eks", tmp_path)
    cluster = aws.resource("bare")
    group = cluster.view["vpcConfig"]["clusterSecurityGroupId"]
    made = aws.cloud.store.get("aws:ec2/securityGroup:SecurityGroup", group)
    assert made.hidden
    assert made.view["vpcId"] == aws.resource("vpc").id
    aws.delete(cluster)
    assert aws.cloud.store.get("aws:ec2/securityGroup:SecurityGroup", group) is None


def test_launch_template_counts_its_versions(tmp_path):
    aws = in_world("eks", tmp_path)
    template = aws.resource("template")
    assert template.view["latestVersion"] == 1
    assert aws.update(template, {**template.inputs, "instanceType": "g5.8xlarge"}).view["latestVersion"] == 2


def test_zone_name_and_id_follow_from_each_other(tmp_path):
    aws = in_world("everything", tmp_path)
    assert aws.resource("private-1").view["availabilityZoneId"] == "use1-az1"
    assert aws.resource("private-2").view["availabilityZone"] == "us-east-1b"


def test_everything_can_be_deleted_in_reverse_and_leaves_nothing(tmp_path):
    aws = in_world("everything", tmp_path)
    for resource in reversed(TABLE.worlds["everything"]):
        aws.delete(aws.resource(resource.name))
    assert aws.state() == []


def test_worlds_are_built_without_a_refusal(tmp_path):
    for name in sorted(TABLE.worlds):
        directory = tmp_path / name
        directory.mkdir()
        assert len(build(TABLE.worlds[name], directory).made) == len(TABLE.worlds[name])
