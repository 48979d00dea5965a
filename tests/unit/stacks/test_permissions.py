"""Every action of every role on AWS has its reason, every reason its action, and the page says both."""

import pytest

from tests.unit.stacks.recorded_roles import recorded_roles
from tools.generated_permissions import reasons

ROLES = recorded_roles()


def test_each_role_has_reasons_and_no_other() -> None:
    assert sorted(reasons()) == sorted(ROLES)


@pytest.mark.parametrize("key", ROLES)
def test_each_action_has_a_reason(key: str) -> None:
    why, role = reasons()[key], ROLES[key]
    assert sorted(why.get("actions", {})) == sorted(role.actions)
    assert sorted(why.get("managed", {})) == sorted(role.managed)
    texts = [why["for"], *why.get("actions", {}).values(), *why.get("managed", {}).values()]
    assert all(isinstance(text, str) and text.strip() for text in texts)


def test_no_role_of_an_identity_may_do_all_of_a_service() -> None:
    """Wildcards stand in denials of resources' policies only."""
    wild = {
        (key, action)
        for key, role in ROLES.items()
        for statement in role.statements
        for action in (statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]])
        if "*" in action and statement["Effect"] == "Allow"
    }
    assert wild == set()


def test_who_may_take_a_role_is_bound_to_this_account_or_cluster() -> None:
    """EC2 alone sends no account; its roles are passed within the account only."""
    free = {
        service
        for role in ROLES.values()
        for statement in role.trust
        if "Condition" not in statement
        for service in statement["Principal"].values()
    }
    assert free == {"ec2.amazonaws.com"}
