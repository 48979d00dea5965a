"""What components of Azure are given, and get back, in tests."""

from tests.components.recorder import MARK, UNKNOWN

GROUP = "fleet-group"
TAGS = {"owner": "ml", "environment": "azure-dev", **MARK}
SUBSCRIPTION = "/subscriptions/00000000-0000-0000-0000-000000000000"
PLACE: dict[str, object] = {"region": "eastus", "resource_group_name": GROUP, "tags": TAGS}
HERE: dict[str, object] = {"location": "eastus", "resourceGroupName": GROUP, "tags": TAGS}
"""What PLACE becomes in the inputs of a child."""


def known(preview: bool, value: object) -> object:
    """``value`` where the cloud has made it, unknown in preview."""
    return UNKNOWN if preview else value
