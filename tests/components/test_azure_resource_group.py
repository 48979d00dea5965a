"""Environment: one resource group, or one that exists."""

from typing import cast

import pytest

from gpufleet.azure.resource_group import ResourceGroup, ResourceGroupArgs
from tests.components.azure_place import SUBSCRIPTION, TAGS, known
from tests.components.recorder import Recording, construct, refusal

COMPONENT = "gpufleet-azure:index:ResourceGroup"
GROUP = "azure-native:resources:ResourceGroup"
SUBSCRIPTION_ID = SUBSCRIPTION.rpartition("/")[2]


def build(preview: bool, /, **changes: object) -> Recording[ResourceGroup]:
    """An environment called dev."""
    args = {"region": "eastus", "tags": TAGS, **changes}
    return construct(lambda: ResourceGroup("dev", cast(ResourceGroupArgs, args)), preview)


def test_a_group_of_its_own(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(GROUP) == {"dev-group": {"location": "eastus", "tags": TAGS}}
    assert {each.type for each in recording.resources} == {COMPONENT, GROUP}
    assert recording.one(COMPONENT).inputs == {}
    group = recording.one(GROUP)
    assert (group.parent, group.protect, group.retain_on_delete) == ("dev", None, None)
    assert recording.outputs["dev"] == {
        "resource_group_name": known(preview, "dev-group"),
        "resource_group_id": known(preview, "dev-group-id"),
    }


def test_an_existing_group_is_left_alone(preview: bool) -> None:
    recording = build(preview, resource_group_name="theirs", subscription_id=SUBSCRIPTION_ID)
    assert [each for each in recording.resources if each.custom] == []
    assert recording.outputs["dev"] == {
        "resource_group_name": "theirs",
        "resource_group_id": f"{SUBSCRIPTION}/resourceGroups/theirs",
    }


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "a region as people read it": (
        {"region": "East US"},
        ["region=East US: is not an Azure region; did you mean eastus? [azure-region-form]"],
    ),
    "an existing group without its subscription": (
        {"resource_group_name": "theirs"},
        [
            "subscription_id=null: is not given, and the resource group exists; give the one that az account show "
            "prints as id [azure-group-subscription]"
        ],
    ),
    "several faults at once": (
        {"resource_group_name": "theirs.", "subscription_id": "pay-as-you-go", "tags": {"a/b": "x"}},
        [
            "resource_group_name=theirs.: is not a valid resource group name; use 1 to 90 letters, digits and _ ( ) . "
            "-, "
            "without a dot at the end [azure-group-name]",
            "tags=a/b: has /, which Azure rejects; use other characters [azure-tag-key]",
            "subscription_id=pay-as-you-go: is not a subscription id; give the one that az account show prints as "
            "id [azure-group-subscription]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    args = cast(ResourceGroupArgs, {"region": "eastus", **changes})
    assert refusal(lambda: ResourceGroup("dev", args), preview) == [f"dev: {line}" for line in lines]
