"""Environment: the resource group that holds everything."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict, Unpack

import pulumi
from pulumi_azure_native import resources

from gpufleet.azure.links import GroupLink, ScopeLink
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding, coerce
from gpufleet.rules.azure.location import validate_azure_environment


class ResourceGroupArgs(TypedDict):
    """Where everything is. Give ``resource_group_name`` to build in a group that exists."""

    region: str
    """Region of the group and of all that is in it, for instance eastus."""
    resource_group_name: NotRequired[str]
    """An existing resource group. Then none is made, and destroy leaves it."""
    subscription_id: NotRequired[str]
    """Id of the existing group's subscription. Needed with ``resource_group_name``, as components look nothing up."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


class ResourceGroup(Component):
    """One resource group: it goes in one command, and all that is in it goes with it.

    ``pulumi destroy`` deletes member by member, and keeps what is protected, and the group with it. Whoever deletes
    the group itself (``az group delete``) deletes the protected files and images too: Azure knows nothing of
    Pulumi's protection.
    """

    resource_group_name: pulumi.Output[str]
    """Name of the group; Azure's, made from the component's, unless it exists."""
    resource_group_id: pulumi.Output[str]
    """What a budget or a role is given for: /subscriptions/.../resourceGroups/NAME."""

    def __init__(
        self, name: str, args: ResourceGroupArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[ResourceGroupArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: ResourceGroupArgs) -> list[Finding]:
        return validate_azure_environment(args)

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
        """What every component in the group gets. more_tags: of this one."""
        tags = self.args.get("tags", {})
        return {
            "region": coerce.text(self.args, "region"),
            "resource_group_name": self.resource_group_name,
            # Tags that are none go on as they are: what is wrong with them is reported once.
            "tags": {**tags, **more_tags} if more_tags else tags,
        }

    def for_budget(self, *, by_tag: bool = False) -> ScopeLink:
        """What a budget watches: the group, or for one that goes by tag all of its subscription."""
        group = self.resource_group_id
        return {"scope": group.apply(lambda id_: "/".join(id_.split("/")[:3])) if by_tag else group}
