"""Types of AWS that take no tags, and are an environment's by what they hang on.

Not here, since AWS accepts the same request again, so that the next `up` simply repeats it: see inventory.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

ROUTE = "aws:ec2/route:Route"
ROUTE_TABLE_ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
MOUNT_TARGET = "aws:efs/mountTarget:MountTarget"
GATEWAY_ASSOCIATION = "aws:directconnect/gatewayAssociation:GatewayAssociation"
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
INSTANCE_PROFILE = "aws:iam/instanceProfile:InstanceProfile"


@dataclass(frozen=True)
class UntaggedType:
    """How a resource of a type is identified.

    parents: inputs with what it hangs on; the first one that is the environment's counts. inputs: those that tell it
    from others of its type. own: the one of these that is its own name.
    """

    parents: Sequence[str]
    inputs: Sequence[str]
    own: str | None = None


_DESTINATIONS = ("destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId")

UNTAGGED: Mapping[str, UntaggedType] = {
    ROUTE: UntaggedType(("routeTableId",), ("routeTableId", *_DESTINATIONS)),
    ROUTE_TABLE_ASSOCIATION: UntaggedType(("routeTableId",), ("routeTableId", "subnetId", "gatewayId")),
    MOUNT_TARGET: UntaggedType(("fileSystemId", "securityGroups"), ("fileSystemId", "subnetId")),
    GATEWAY_ASSOCIATION: UntaggedType(("associatedGatewayId",), ("dxGatewayId", "associatedGatewayId")),
    ROLE_POLICY: UntaggedType(("role",), ("role", "name"), "name"),
    INSTANCE_PROFILE: UntaggedType(("role",), ("role", "name"), "name"),
}
