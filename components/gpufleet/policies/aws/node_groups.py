"""Checks of the EKS node groups and launch templates in a plan: which of the two sets what."""

from collections.abc import Iterable

from gpufleet.catalog import aws
from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.aws.launch_template import TEMPLATE, LaunchTemplate, template_of
from gpufleet.plan.aws.node_group import NODE_GROUP, may_stand
from gpufleet.plan.aws.security_groups import CLUSTER, SECURITY_GROUP
from gpufleet.plan.aws.zones import region_of
from gpufleet.plan.property_values import blocks, get_path, items, number, value_of
from gpufleet.plan.user_data import NOT_ENCODED, form_of
from gpufleet.rules.aws import launch_template as templates
from gpufleet.rules.aws import node_group as groups
from gpufleet.rules.aws.efa_security_groups import one_on_each_card
from gpufleet.rules.aws.node_group_size import live_minimum, nodes_within_quota
from gpufleet.rules.aws.node_version import version_near_cluster, version_of_image
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding

_FORBIDDEN = {
    "iamInstanceProfile": "leave the instance profile out: the node group has node_role_arn",
    "instanceInitiatedShutdownBehavior": "leave the shutdown behaviour out: EKS ends instances itself",
    "hibernationOptions": "leave hibernation out: EKS ends instances itself",
}


def validate_node_groups(plan: Plan) -> list[ResourceFinding]:
    """Every finding on node groups, and on the launch templates of a plan."""
    resource_findings: list[ResourceFinding] = []
    for each in plan.of_type(NODE_GROUP):
        resource_findings += findings_on(each, _node_group(plan, each))
    for each in plan.of_type(TEMPLATE):
        resource_findings += findings_on(each, _template(each))
    return resource_findings


def _node_group(plan: Plan, resource: Resource) -> list[Finding]:
    template = template_of(plan, resource, "launchTemplate")
    block = value_of(resource, "launchTemplate")
    disk = value_of(resource, "diskSize")
    told = disk is not UNKNOWN and bool(number(disk))
    ssh = value_of(resource, "remoteAccess") is not None
    findings = [
        groups.template_only(argument="disk_size", given=told, template=template.used),
        groups.template_only(argument="remote_access", given=ssh, template=template.used),
        groups.template_named_once(has_id=get_path(block, "id") is not None, has_name=_chosen(get_path(block, "name"))),
    ]
    return [
        *findings,
        *_sizes(resource),
        _metadata(resource, template),
        *_types_and_image(plan, resource, template),
        *_in_template(plan, resource, template),
    ]


def _sizes(resource: Resource) -> Iterable[Finding]:
    """An update sends the state's number of nodes, where the program ignores it."""
    scaling = value_of(resource, "scalingConfig")
    least, desired, most = (number(get_path(scaling, f"{word}Size")) for word in ("min", "desired", "max"))
    if most is not None:
        yield nodes_within_quota(most=most, limit=None, region=region_of(resource) or "")
    if least is not None and desired is not None:
        cluster, group = (value_of(resource, name) for name in ("clusterName", "nodeGroupName"))
        yield live_minimum(
            stands=may_stand(resource),
            least=least,
            desired=desired,
            cluster=cluster if isinstance(cluster, str) else "CLUSTER",
            group=group if isinstance(group, str) else "GROUP",
        )


def _metadata(resource: Resource, template: LaunchTemplate) -> Finding:
    """What the node group's launch template says of the metadata service, or EKS's own where there is none."""
    if not template.used:
        ami_type = str(value_of(resource, "amiType"))
        if ami_type.startswith("AL2_"):
            return groups.metadata_for_node_only(hops=2, tokens="optional")
        known = ami_type.startswith("AL2023")
        return groups.metadata_for_node_only(hops=1 if known else None, tokens="required" if known else None)
    options = template.value_of("metadataOptions")
    if get_path(options, "httpEndpoint") == "disabled":
        return groups.metadata_for_node_only(hops=1, tokens="required")
    hops, tokens = number(get_path(options, "httpPutResponseHopLimit")), get_path(options, "httpTokens")
    return groups.metadata_for_node_only(
        hops=hops or None, tokens=tokens if isinstance(tokens, str) and tokens else None
    )


def _chosen(name: object) -> bool:
    """Whether a program says a name; in a block that names a template by id, the provider fills the name in later."""
    return isinstance(name, str)


def _types_and_image(plan: Plan, resource: Resource, template: LaunchTemplate) -> Iterable[Finding]:
    listed = value_of(resource, "instanceTypes")
    types = [each for each in items(listed) if isinstance(each, str)]
    template_type = template.value_of("instanceType")
    release, version = value_of(resource, "releaseVersion"), value_of(resource, "version")
    # Of an existing one, a pack sees the release that it had, beside the version that it gets.
    if isinstance(release, str) and isinstance(version, str) and not may_stand(resource):
        yield groups.release_of_version(release=release, version=version)
    clusters = [value_of(each, "version") for each in plan.behind(resource, "clusterName", CLUSTER)]
    if isinstance(version, str):
        for cluster in clusters:
            yield version_near_cluster(version=version, cluster=cluster if isinstance(cluster, str) else "")
    ami_type = value_of(resource, "amiType")
    image = template.value_of("imageId")
    if UNKNOWN not in (listed, template_type):
        its_type = template_type if isinstance(template_type, str) else ""
        yield groups.type_once(types=types, template_type=its_type)
        yield groups.type_given(types=types or [""] * len(items(listed)), template_type=its_type)
        types = types or [its_type]
    if ami_type is UNKNOWN:
        return
    kind = ami_type if isinstance(ami_type, str) else ""
    yield groups.image_current(ami_type=kind)
    # Without their own version, new nodes have the cluster's; existing ones keep theirs.
    told = [version] if version is not None or may_stand(resource) else clusters
    its_version = next((each for each in told if each is not None), None)
    yield groups.image_of_version(ami_type=kind, version=its_version if isinstance(its_version, str) else "")
    if image is not UNKNOWN:
        own_image = image if isinstance(image, str) else ""
        yield groups.image_once(ami_type=kind, image_id=own_image)
        if isinstance(version, str):
            yield version_of_image(version=version, image=own_image)
    records = [aws().types[name] for name in types if name in aws().types]
    yield groups.image_driver(ami_type=kind, types=[record.type for record in records])
    for record in records:
        yield groups.image_architecture(ami_type=kind, type_name=record.type, architecture=record.architecture)


def _in_template(plan: Plan, resource: Resource, template: LaunchTemplate) -> Iterable[Finding]:
    if template.resource is None:
        return
    for name, instead in _FORBIDDEN.items():
        value = template.value_of(name)
        yield groups.template_field(field="" if value is None else name, instead=instead)
    interfaces = blocks(template.value_of("networkInterfaces"))
    subnets = [each for each in interfaces if get_path(each, "subnetId") is not None]
    instead = "leave the subnet out: the node group has subnet_ids"
    yield groups.template_field(field="networkInterfaces.subnetId" if subnets else "", instead=instead)
    market = get_path(template.value_of("instanceMarketOptions"), "marketType")
    instead = "leave the market out, and set capacity_type=SPOT on the node group"
    yield groups.template_field(field="instanceMarketOptions" if market == "spot" else "", instead=instead)
    template_type = template.value_of("instanceType")
    if UNKNOWN not in (market, template_type, value_of(resource, "capacityType")):
        yield groups.block_in_template(
            block=value_of(resource, "capacityType") == "CAPACITY_BLOCK",
            market=market if isinstance(market, str) else "",
            template_type=template_type if isinstance(template_type, str) else "",
        )
    data, ami_type = template.value_of("userData"), value_of(resource, "amiType")
    if isinstance(data, str) and ami_type is not UNKNOWN:
        form = form_of(data)
        # Without its own image, and without a word, the node group starts Amazon Linux.
        kind = ami_type if isinstance(ami_type, str) else "CUSTOM" if template.value_of("imageId") else "AL2023"
        if form != NOT_ENCODED:
            yield groups.user_data_form(form=form, ami_type=kind)
    yield _cluster_group(plan, template.resource)


def _cluster_group(plan: Plan, template: Resource) -> Finding:
    """Whether the cluster's group is among those of the template, wherever that names them."""
    interfaces = blocks(value_of(template, "networkInterfaces"))
    name = "networkInterfaces" if interfaces else "vpcSecurityGroupIds"
    value = get_path(interfaces[0], "securityGroups") if interfaces else value_of(template, name)
    listed = items(value)
    if plan.behind(template, name, CLUSTER):
        return groups.cluster_group(groups=len(listed), clusters_own=True)
    made_here = len(plan.behind(template, name, SECURITY_GROUP))
    count = 1 if value is UNKNOWN else len(listed)
    return groups.cluster_group(groups=count, clusters_own=False if listed and made_here >= len(listed) else None)


def _template(template: Resource) -> Iterable[Finding]:
    interfaces = items(value_of(template, "networkInterfaces"))
    own = value_of(template, "vpcSecurityGroupIds") or value_of(template, "securityGroupNames")
    at_interfaces = [each for each in interfaces if get_path(each, "securityGroups") is not None or each is UNKNOWN]
    yield templates.groups_once(
        interfaces=len(interfaces), instance_groups=len(items(own)) or int(own is UNKNOWN and bool(at_interfaces))
    )
    efa = [each for each in blocks(interfaces) if get_path(each, "interfaceType") in ("efa", "efa-only")]
    # A card without an index is the first.
    yield one_on_each_card(cards=[number(get_path(each, "networkCardIndex")) or 0 for each in efa])
    placement = value_of(template, "placement")
    named = get_path(placement, "groupName") is not None or get_path(placement, "groupId") is not None
    yield templates.partition_of_group(partition=number(get_path(placement, "partitionNumber")) or None, group=named)
    data = value_of(template, "userData")
    if isinstance(data, str):
        yield templates.user_data_encoded(encoded=form_of(data) != NOT_ENCODED)
