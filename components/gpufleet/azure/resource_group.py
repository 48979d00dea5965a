"""ResourceGroup: the resource group of an environment, new or existing."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict, Unpack

import pulumi
from pulumi_azure_native import resources

from gpufleet.azure.links import GroupLink, ScopeLink
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding, coerce
from gpufleet.rules.azure.location import validate_resource_group


class ResourceGroupArgs(TypedDict):
    """Location of the group. Set ``resource_group_name`` to use an existing group."""

    region: str
    """Region of the group and of everything in it, for instance eastus."""
    resource_group_name: NotRequired[str]
    """An existing resource group. No group is created then, and destroy keeps it."""
    subscription_id: NotRequired[str]
    """Id of the existing group's subscription. Required with ``resource_group_name``: components look nothing up."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


class ResourceGroup(Component, former_name="Environment"):
    """An environment's resource group. Deleting it deletes everything in it.

    ``pulumi destroy`` deletes one resource after the other, and keeps protected resources and with them the group.
    Deleting the group itself (``az group delete``) also deletes protected files and images: Azure knows nothing of
    Pulumi's protection.
    """

    resource_group_name: pulumi.Output[str]
    """Name of the group: generated from the component's name, or that of the existing group."""
    resource_group_id: pulumi.Output[str]
    """Scope of a budget or a role assignment: /subscriptions/.../resourceGroups/NAME."""

    def __init__(
        self, name: str, args: ResourceGroupArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[ResourceGroupArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: ResourceGroupArgs) -> list[Finding]:
        return validate_resource_group(args)

    def create(self, name: str, args: ResourceGroupArgs) -> None:
        existing = args.get("resource_group_name")
        if existing is None:
            group = resources.ResourceGroup(
                f"{name}-group",
                location=args["region"],
                tags=args.get("tags", {}),
                opts=self.child(),
            )
            self.resource_group_name, self.resource_group_id = group.name, group.id
        else:
            self.resource_group_name = pulumi.Output.from_input(existing)
            self.resource_group_id = pulumi.Output.from_input(
                f"/subscriptions/{args.get('subscription_id')}/resourceGroups/{existing}"
            )

    def for_parts(self, more_tags: Mapping[str, str] | None = None) -> GroupLink:
        """Arguments of every component in the group. more_tags: tags of this component only."""
        tags = self.args.get("tags", {})
        return {
            "region": coerce.text(self.args, "region"),
            "resource_group_name": self.resource_group_name,
            # Invalid tags are passed on unchanged: the error is reported once.
            "tags": {**tags, **more_tags} if more_tags else tags,
        }

    def for_budget(self, *, by_tag: bool = False) -> ScopeLink:
        """What a budget watches: the group, or for one that goes by tag all of its subscription."""
        group = self.resource_group_id
        return {"scope": group.apply(lambda id_: "/".join(id_.split("/")[:3])) if by_tag else group}
