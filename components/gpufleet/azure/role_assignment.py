"""Give an identity one of Azure's built-in roles on one resource."""

import uuid

import pulumi
from pulumi_azure_native import authorization

ROLES = {
    "AcrPull": "7f951dda-4ed3-4680-a7ca-43fe172d538d",
    "Key Vault Secrets User": "4633458b-17de-408a-b874-0445c86b69e6",
    "Managed Identity Operator": "f1a07417-d97a-45cb-824c-7a7467783830",
    "Network Contributor": "4d97b98b-1d4f-4787-a291-c67834d212e7",
    "Storage Blob Data Contributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
}
"""Name of a role -> its id, the same in every subscription.

https://learn.microsoft.com/azure/role-based-access-control/built-in-roles, read in November 2026.
"""


def assignment_name(scope: str, role: str, principal: str) -> str:
    """The GUID that a role assignment is called by: the same for the same scope, role and principal.

    A random one would be refused (RoleAssignmentExists) whenever a stack has lost its state, or two stacks give the
    same role; this one names the assignment that is there.
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{scope}|{role}|{principal}"))


def role_id(scope: str, role: str) -> str:
    """The id of a role's definition, in the subscription of `scope`. Raises KeyError for a name that ROLES lacks."""
    subscription = "/".join(scope.split("/")[:3])
    return f"{subscription}/providers/Microsoft.Authorization/roleDefinitions/{ROLES[role]}"


def assign_role(
    child: str,
    parent: pulumi.Resource,
    role: str,
    scope: pulumi.Input[str],
    principal_id: pulumi.Input[str],
) -> "authorization.RoleAssignment":
    """The role assignment `child`: `principal_id` gets the role, by its name in ROLES, on the resource `scope`."""
    both = pulumi.Output.all(scope, principal_id)
    return authorization.RoleAssignment(
        child,
        scope=scope,
        role_assignment_name=both.apply(lambda known: assignment_name(known[0], role, known[1])),
        role_definition_id=pulumi.Output.from_input(scope).apply(lambda known: role_id(known, role)),
        principal_id=principal_id,
        # Without it Azure looks the identity up, and does not find one that was made seconds ago (PrincipalNotFound).
        principal_type="ServicePrincipal",
        opts=pulumi.ResourceOptions(parent=parent),
    )
