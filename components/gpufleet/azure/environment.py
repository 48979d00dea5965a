"""Environment: the resource group that holds everything."""

from collections.abc import Mapping
from typing import NotRequired, TypedDict

import pulumi
from pulumi_azure_native import resources

from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_arguments
from gpufleet.rules.azure.place import judge_azure_environment


class EnvironmentArgs(TypedDict):
    """Where everything is. Give ``resource_group_name`` to build in a group that exists."""

    region: str
    """Region of the group and of all that is in it, for instance eastus."""
    resource_group_name: NotRequired[str]
    """An existing resource group. Then none is made, and destroy leaves it."""
    subscription_id: NotRequired[str]
    """Id of the existing group's subscription. Needed with ``resource_group_name``, as components look nothing up."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


class Environment(pulumi.ComponentResource):
    """One resource group: it goes in one command, and all that is in it goes with it.

    ``pulumi destroy`` deletes member by member, and keeps what is protected, and the group with it. Whoever deletes
    the group itself (``az group delete``) deletes the protected files and images too: Azure knows nothing of
    Pulumi's protection.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
    """

    resource_group_name: pulumi.Output[str]
    """Name of the group; Azure's, made from the component's, unless it exists."""
    resource_group_id: pulumi.Output[str]
    """What a budget or a role is given for: /subscriptions/.../resourceGroups/NAME."""

    def __init__(self, name: str, args: EnvironmentArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        refuse_or_warn(name, [*judge_arguments(args, EnvironmentArgs), *judge_azure_environment(args)])
        # No inputs: a component's children wait until every value that the component registers with is known.
        super().__init__("gpufleet-azure:index:Environment", name, {}, opts)
        existing = args.get("resource_group_name")
        if existing is None:
            group = resources.ResourceGroup(
                f"{name}-group",
                location=args["region"],
                tags=dict(args.get("tags", {})),
                opts=pulumi.ResourceOptions(parent=self),
            )
            self.resource_group_name, self.resource_group_id = group.name, group.id
        else:
            self.resource_group_name = pulumi.Output.from_input(existing)
            self.resource_group_id = pulumi.Output.from_input(
                f"/subscriptions/{args.get('subscription_id')}/resourceGroups/{existing}"
            )
        self.register_outputs(
            {"resource_group_name": self.resource_group_name, "resource_group_id": self.resource_group_id}
        )
