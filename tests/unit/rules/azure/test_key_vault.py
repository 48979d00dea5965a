"""Cases of gpufleet.rules.azure.key_vault."""

from gpufleet.rules.azure.key_vault import validate_node_identity, vault_id

VAULT = "/subscriptions/1/resourceGroups/lab/providers/Microsoft.KeyVault/vaults/lab-jobs"
FIX = "give the id that `az keyvault show --name VAULT --query id` prints [azure-key-vault-id]"
CASES = {
    vault_id: [
        ("id", {"vault": VAULT}, "pass", ""),
        ("any case", {"vault": VAULT.lower()}, "pass", ""),
        (
            "name",
            {"vault": "lab-jobs"},
            "fail",
            f"trainers: key_vault_id=lab-jobs: is not the resource id of a key vault; {FIX}",
        ),
        (
            "secret",
            {"vault": f"{VAULT}/secrets/a"},
            "fail",
            f"trainers: key_vault_id={VAULT}/secrets/a: is not the resource id of a key vault; {FIX}",
        ),
    ],
}


def test_case(case) -> None:
    case.check()


def test_what_is_not_known_is_not_judged() -> None:
    place = {"region": "eastus", "resource_group_name": "fleet"}
    assert len(validate_node_identity(place | {"key_vault_id": object()})) == len(validate_node_identity(place))
    assert len(validate_node_identity(place | {"key_vault_id": VAULT})) == len(validate_node_identity(place)) + 1
