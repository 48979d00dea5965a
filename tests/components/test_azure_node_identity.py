"""NodeIdentity: exact inputs of its child; role assignments that are made for such identities."""

import uuid
from typing import cast

import pulumi
import pytest

from gpufleet.azure.node_identity import NodeIdentity, NodeIdentityArgs
from gpufleet.azure.role_assignment import ROLES, assign_role, assignment_name, role_id
from tests.components.azure_place import HERE, PLACE, SUBSCRIPTION, known
from tests.components.recorder import Recording, construct, refusal

COMPONENT = "gpufleet-azure:index:NodeIdentity"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
COMPUTED = {IDENTITY: {"principalId": "{name}-principal", "clientId": "{name}-client"}}
SCOPE = f"{SUBSCRIPTION}/resourceGroups/fleet/providers/Microsoft.Storage/storageAccounts/files"
BLOBS = "Storage Blob Data Contributor"


def build(preview: bool) -> Recording[NodeIdentity]:
    return construct(lambda: NodeIdentity("nodes", cast(NodeIdentityArgs, PLACE)), preview, COMPUTED)


def test_one_identity(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(IDENTITY) == {"nodes-identity": HERE}
    assert {each.type for each in recording.resources} == {COMPONENT, IDENTITY}
    assert (recording.one(COMPONENT).inputs, recording.one(IDENTITY).parent) == ({}, "nodes")
    assert recording.outputs["nodes"] == {
        "identity_id": known(preview, "nodes-identity-id"),
        "principal_id": known(preview, "nodes-identity-principal"),
        "client_id": known(preview, "nodes-identity-client"),
    }


def test_it_may_read_the_secrets_of_a_vault(preview: bool) -> None:
    vault = f"{SUBSCRIPTION}/resourceGroups/fleet/providers/Microsoft.KeyVault/vaults/jobs"
    args = cast(NodeIdentityArgs, {**PLACE, "key_vault_id": vault})
    recording = construct(lambda: NodeIdentity("nodes", args), preview, COMPUTED)
    role = "Key Vault Secrets User"
    assert recording.inputs(ASSIGNMENT) == {
        "nodes-secrets": {
            "scope": vault,
            "roleAssignmentName": known(preview, assignment_name(vault, role, "nodes-identity-principal")),
            "roleDefinitionId": role_id(vault, role),
            "principalId": known(preview, "nodes-identity-principal"),
            "principalType": "ServicePrincipal",
        }
    }


def test_refuses_what_it_does_not_know(preview: bool) -> None:
    args = cast(NodeIdentityArgs, {**PLACE, "regoin": "x"})
    assert refusal(lambda: NodeIdentity("nodes", args), preview) == [
        "nodes: regoin=x: unknown argument; did you mean region? [any-argument-known]"
    ]


def test_a_role_assignment(preview: bool) -> None:
    def assigned() -> None:
        nodes = NodeIdentity("nodes", cast(NodeIdentityArgs, PLACE))
        assign_role("files-nodes-blobs", nodes, BLOBS, pulumi.Output.from_input(SCOPE), nodes.principal_id)

    recording = construct(assigned, preview, COMPUTED)
    made = recording.one(ASSIGNMENT, "files-nodes-blobs")
    assert made.inputs == {
        "scope": SCOPE,
        "roleAssignmentName": known(preview, assignment_name(SCOPE, BLOBS, "nodes-identity-principal")),
        "roleDefinitionId": f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{ROLES[BLOBS]}",
        "principalId": known(preview, "nodes-identity-principal"),
        "principalType": "ServicePrincipal",
    }
    assert made.parent == "nodes"


def test_names_of_assignments_are_guids_of_what_they_say() -> None:
    names = {
        assignment_name(scope, role, principal)
        for scope in (SCOPE, f"{SCOPE}2")
        for role in ROLES
        for principal in ("p1", "p2")
    }
    assert len(names) == 4 * len(ROLES)
    assert {uuid.UUID(name).version for name in names} == {5}
    assert assignment_name(SCOPE, "AcrPull", "p1") in names


def test_ids_of_roles_are_guids() -> None:
    assert {str(uuid.UUID(each)) for each in ROLES.values()} == set(ROLES.values())
    with pytest.raises(KeyError):
        role_id(SCOPE, "Owner of all")
