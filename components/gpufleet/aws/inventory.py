"""What AWS holds of an environment, found by the tags that every resource carries.

The Resource Groups Tagging API finds everything with tags but IAM roles, which are asked for one by one. What takes no
tags is found by what it hangs on: routes and associations on tagged route tables, mount targets on tagged file systems
(and on those of tagged access points, where a tagged security group guards them), inline policies and instance profiles
on tagged roles.

Not looked for, since AWS accepts the same request again, so that the next `up` simply repeats it: policies attached to
roles (AttachRolePolicy), routes of a VPN and what tables learn from a gateway (CreateVpnConnectionRoute,
EnableVgwRoutePropagation), backup, lifecycle and access policies of file systems, registries and buckets, all other
settings of a bucket (Put...), access policies of an EKS cluster (AssociateAccessPolicy), tags of scaling groups
(CreateOrUpdateTags). A pull-through cache rule and the template of its repositories are the whole account's and say
nothing of an environment; AWS rejects a second one of its prefix, and the first is then imported by it (`pulumi import
aws:ecr/pullThroughCacheRule:PullThroughCacheRule NAME PREFIX`). So is an identity provider of an address
(GitHub's, which an image mirror makes): it is imported by its ARN, or given to the mirror as `provider_arn`.

The Tagging API lists some things for hours after they are gone (aws/aws-sdk#676), and some are gone only by their
status. So what it says of EC2 and KMS is checked with the service itself: `questions` in import_ids.json.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.aws.client import AwsClient
from gpufleet.aws.untagged_types import (
    GATEWAY_ASSOCIATION,
    INSTANCE_PROFILE,
    MOUNT_TARGET,
    ROLE_POLICY,
    ROUTE,
    ROUTE_TABLE_ASSOCIATION,
)
from gpufleet.documents.json import read_json

ROLES_AT_ONCE = 8
"""Roles whose tags are asked for at the same time. Our choice: an account may have thousands, and IAM throttles."""

_DESTINATIONS = {
    "destinationCidrBlock": "DestinationCidrBlock",
    "destinationIpv6CidrBlock": "DestinationIpv6CidrBlock",
    "destinationPrefixListId": "DestinationPrefixListId",
}
"""What a route leads to: Pulumi's property to EC2's."""


class AwsInventory:
    """A look at the account of the credentials in use: one region, and all of IAM.

    region, profile: boto3's own defaults when None.
    """

    def __init__(self, region: str | None = None, profile: str | None = None) -> None:
        self._account = AwsClient(region, profile)

    def holds(self, environment: str) -> Sequence[CloudResource]:
        """Everything tagged `environment` = environment, and what hangs on it; each thing once.

        What no row reads has the type `aws:<service>`, and its ARN as import id. Errors:
        gpufleet.aws.client.AwsClientError, also when only one permission is missing: what cannot be seen is never taken
        for absent.
        """
        look = _Look(self._account, environment)
        tagged = [found for arn, tags in look.tagged() for found in look.read(arn, tags)]
        of_roles = [*look.inline_policies(tagged), *look.instance_profiles(tagged)]
        found = [*tagged, *look.routes(), *look.mount_targets(tagged), *look.associations(tagged), *of_roles]
        return list({(each.type, each.import_id): each for each in found}.values())


@dataclass(frozen=True)
class ImportRow:
    """How Pulumi calls a tagged thing of one kind; import_ids.json explains the fields."""

    arn: re.Pattern[str]
    type: str
    id: str
    import_id: str
    alive: str | None


@dataclass(frozen=True)
class Question:
    """A call of AWS whose answer lists the ids of what really exists; arguments are templates."""

    service: str
    call: str
    arguments: Mapping[str, Any]
    answer: str


@dataclass(frozen=True)
class Table:
    """The content of import_ids.json. belongs: ARNs of what carries our tags, but is made and ended by others."""

    rows: Sequence[ImportRow]
    belongs: Sequence[re.Pattern[str]]
    questions: Mapping[str, Question]


@cache
def table() -> Table:
    """The rows, read once."""
    read = read_json(Path(__file__).with_name("import_ids.json"))
    rows = [
        ImportRow(
            re.compile(row["arn"]),
            row["type"],
            own := row.get("id", "{id}"),
            row.get("import_id", own),
            row.get("alive"),
        )
        for row in read["rows"]
    ]
    questions = {
        key: Question(**{name: value for name, value in question.items() if name != "_"})
        for key, question in read["questions"].items()
    }
    return Table(rows, [re.compile(row["arn"]) for row in read["belongs"]], questions)


class _Look:
    """One look at one environment; what has been asked is not asked again."""

    def __init__(self, account: AwsClient, environment: str) -> None:
        self._ask, self._environment = account.ask, environment
        self._answers: dict[str, frozenset[str]] = {}
        self._principals: dict[str, dict[str, str]] = {}

    def tagged(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        """ARN and tags of everything with the environment's tag."""
        mine = [{"Key": "environment", "Values": [self._environment]}]
        resources = self._ask(
            "resourcegroupstaggingapi",
            "get_resources",
            "ResourceTagMappingList[]",
            TagFilters=mine,
            ResourcesPerPage=100,
        )
        for resource in resources:
            yield resource["ResourceARN"], _tags(resource["Tags"])
        # A service's own roles carry nobody's tags.
        answer = "Roles[?!starts_with(Path, '/aws-service-role/') && !starts_with(Path, '/aws-reserved/')]"
        roles = self._ask("iam", "list_roles", answer)
        with ThreadPoolExecutor(ROLES_AT_ONCE) as pool:
            for role, tags in zip(roles, pool.map(self._role_tags, roles), strict=True):
                if tags.get("environment") == self._environment:
                    yield role["Arn"], tags

    def _role_tags(self, role: Mapping[str, Any]) -> dict[str, str]:
        return _tags(self._ask("iam", "list_role_tags", "Tags[]", RoleName=role["RoleName"]))

    def read(self, arn: str, tags: Mapping[str, str]) -> Iterator[CloudResource]:
        """What an ARN is for Pulumi; nothing when it is gone, or is part of something else."""
        name = tags.get("Name", "")
        _, _, service, _, account, resource = arn.split(":", 5)
        kind = f"{service}:{resource}"
        if any(part.fullmatch(kind) for part in table().belongs):
            return
        rows = [(row, match) for row in table().rows if (match := row.arn.fullmatch(kind))]
        if not rows:
            yield CloudResource(f"aws:{service}", arn, name, arn=arn, tags=tags)
        for row, match in rows:
            values = {"id": arn, **match.groupdict(), "environment": self._environment, "arn": arn}
            if row.type == "aws:eks/accessEntry:AccessEntry":
                values["principal"] = self._principal(arn, values["cluster"])
            if all(values.values()) and (row.alive is None or values["id"] in self._alive(row.alive, values)):
                values["account"] = account
                import_id, own = row.import_id.format(**values), row.id.format(**values)
                yield CloudResource(row.type, import_id, name, own, arn=arn, tags=tags)

    def _alive(self, question: str, values: Mapping[str, str]) -> frozenset[str]:
        """Ids of what exists, by a question of the table."""
        query = table().questions[question]
        arguments = _fill(query.arguments, values)
        key = json.dumps([question, arguments])
        if key not in self._answers:
            self._answers[key] = frozenset(self._ask(query.service, query.call, query.answer, **arguments))
        return self._answers[key]

    def _principal(self, arn: str, cluster: str) -> str:
        """Whom an access entry is for, empty when it is gone. Its ARN has the principal's name, but not its path."""
        if cluster not in self._principals:
            self._principals[cluster] = {
                entry["accessEntryArn"]: entry["principalArn"]
                for principal in self._ask("eks", "list_access_entries", "accessEntries[]", clusterName=cluster)
                for entry in self._ask(
                    "eks", "describe_access_entry", "[accessEntry]", clusterName=cluster, principalArn=principal
                )
            }
        return self._principals[cluster].get(arn, "")

    def routes(self) -> Iterator[CloudResource]:
        """Routes and associations of the environment's route tables, but for those that AWS makes by itself."""
        mine = [{"Name": "tag:environment", "Values": [self._environment]}]
        for tables in self._ask("ec2", "describe_route_tables", "RouteTables[]", Filters=mine):
            own, tags = {"routeTableId": tables["RouteTableId"]}, _tags(tables["Tags"])
            for route in tables["Routes"]:
                # A gateway endpoint writes its routes itself.
                if route.get("Origin") == "CreateRoute" and not str(route.get("GatewayId", "")).startswith("vpce-"):
                    property_ = next(ours for ours, theirs in _DESTINATIONS.items() if route.get(theirs))
                    to = route[_DESTINATIONS[property_]]
                    import_id = f"{own['routeTableId']}_{to}"
                    yield CloudResource(ROUTE, import_id, None, inputs={**own, property_: to}, tags=tags)
            for tie in tables["Associations"]:
                end = {"subnetId": tie["SubnetId"]} if "SubnetId" in tie else {"gatewayId": tie.get("GatewayId")}
                if not tie.get("Main"):
                    import_id = f"{next(iter(end.values()))}/{own['routeTableId']}"
                    id_, inputs = tie["RouteTableAssociationId"], {**own, **end}
                    yield CloudResource(ROUTE_TABLE_ASSOCIATION, import_id, None, id_, inputs, tags=tags)

    def mount_targets(self, tagged: Iterable[CloudResource]) -> Iterator[CloudResource]:
        """Mount targets of the environment's file systems, and its own on file systems of others."""
        ours = _tags_by_id(tagged, "aws:efs/fileSystem:FileSystem")
        groups = _tags_by_id(tagged, "aws:ec2/securityGroup:SecurityGroup")
        used = {
            system
            for point in _tags_by_id(tagged, "aws:efs/accessPoint:AccessPoint")
            for system in self._ask("efs", "describe_access_points", "AccessPoints[].FileSystemId", AccessPointId=point)
        }
        for system in sorted({*ours, *used}):
            for target in self._ask("efs", "describe_mount_targets", "MountTargets[]", FileSystemId=system):
                own, inputs = target["MountTargetId"], {"fileSystemId": system, "subnetId": target["SubnetId"]}
                guards = () if system in ours else self._guards(own)
                tags = ours.get(system) or next((groups[each] for each in guards if each in groups), None)
                if tags is not None:
                    yield CloudResource(MOUNT_TARGET, own, None, own, inputs, tags=tags)

    def _guards(self, mount_target: str) -> list[str]:
        call = "describe_mount_target_security_groups"
        return self._ask("efs", call, "SecurityGroups[]", MountTargetId=mount_target)

    def associations(self, tagged: Iterable[CloudResource]) -> Iterator[CloudResource]:
        """What ties the environment's virtual private gateways to Direct Connect gateways of others."""
        for gateway, tags in sorted(_tags_by_id(tagged, "aws:ec2/vpnGateway:VpnGateway").items()):
            call, answer = "describe_direct_connect_gateway_associations", "directConnectGatewayAssociations[]"
            for tie in self._ask("directconnect", call, answer, associatedGatewayId=gateway):
                if tie["associationState"] in ("associating", "associated", "updating"):
                    line = tie["directConnectGatewayId"]
                    inputs = {"dxGatewayId": line, "associatedGatewayId": gateway}
                    own = f"ga-{line}{gateway}"
                    yield CloudResource(GATEWAY_ASSOCIATION, f"{line}/{gateway}", None, own, inputs, tags=tags)

    def inline_policies(self, tagged: Iterable[CloudResource]) -> Iterator[CloudResource]:
        """Policies inside the environment's roles. The provider names each at random, so a second `up` adds one."""
        for role, tags in sorted(_tags_by_id(tagged, "aws:iam/role:Role").items()):
            for policy in self._ask("iam", "list_role_policies", "PolicyNames[]", RoleName=role):
                own, inputs = f"{role}:{policy}", {"role": role, "name": policy}
                yield CloudResource(ROLE_POLICY, own, None, own, inputs, own="name", tags=tags)

    def instance_profiles(self, tagged: Iterable[CloudResource]) -> Iterator[CloudResource]:
        """Profiles of the environment's roles; the Tagging API is not documented to find them by their own tags."""
        for role, tags in sorted(_tags_by_id(tagged, "aws:iam/role:Role").items()):
            call, answer = "list_instance_profiles_for_role", "InstanceProfiles[].InstanceProfileName"
            for own in self._ask("iam", call, answer, RoleName=role):
                inputs = {"role": role, "name": own}
                yield CloudResource(INSTANCE_PROFILE, own, None, own, inputs, own="name", tags=tags)


def _tags_by_id(tagged: Iterable[CloudResource], type_: str) -> dict[str, Mapping[str, object]]:
    return {each.import_id: each.tags for each in tagged if each.type == type_}


def _tags(pairs: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {pair["Key"]: pair["Value"] for pair in pairs}


def _fill(template: Any, values: Mapping[str, str]) -> Any:  # noqa: ANN401  (JSON of any shape)
    """The template with every text formatted by `values`."""
    if isinstance(template, Mapping):
        return {key: _fill(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [_fill(value, values) for value in template]
    return template.format(**values) if isinstance(template, str) else template
