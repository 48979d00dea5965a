"""Cases of gpufleet.rules.azure.location."""

from gpufleet.rules.azure.location import group_name, group_subscription, validate_resource_group

ID = "00000000-0000-0000-0000-000000000000"

CASES = {
    group_name: [
        ("plain", {"name": "azure-dev-group1a2b3c4d"}, "pass", ""),
        ("one", {"name": "a"}, "pass", ""),
        ("longest", {"name": "a" * 90}, "pass", ""),
        (
            "too-long",
            {"name": "a" * 91},
            "fail",
            (
                f"trainers: resource_group_name={'a' * 91}: is not a valid resource group name; use 1 to 90 letters, "
                "digits and _ ( ) . -, without a dot at the end [azure-group-name]"
            ),
        ),
        (
            "dot",
            {"name": "fleet."},
            "fail",
            (
                "trainers: resource_group_name=fleet.: is not a valid resource group name; use 1 to 90 letters, digits "
                "and _ ( ) . -, without a dot at the end [azure-group-name]"
            ),
        ),
        (
            "space",
            {"name": "my fleet"},
            "fail",
            (
                "trainers: resource_group_name=my fleet: is not a valid resource group name; use 1 to 90 letters, "
                "digits "
                "and _ ( ) . -, without a dot at the end [azure-group-name]"
            ),
        ),
    ],
    group_subscription: [
        ("none", {"existing": False, "subscription": ""}, "pass", ""),
        ("both", {"existing": True, "subscription": ID}, "pass", ""),
        ("not-needed", {"existing": False, "subscription": ID}, "pass", ""),
        (
            "missing",
            {"existing": True, "subscription": ""},
            "fail",
            (
                "trainers: subscription_id=null: is not given, and the resource group exists; give the one that az "
                "account show prints as id [azure-group-subscription]"
            ),
        ),
        (
            "name",
            {"existing": True, "subscription": "research"},
            "fail",
            (
                "trainers: subscription_id=research: is not a subscription id; give the one that az account show "
                "prints as id [azure-group-subscription]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


def test_region_that_nobody_knows_is_said_once_and_what_is_no_region_is_not_looked_up():
    said = {
        region: [each.rule for each in validate_resource_group({"region": region, "tags": {}}) if "region" in each.rule]
        for region in ("eastus9", "East US")
    }
    assert said == {"eastus9": ["azure-region-form", "azure-region-listed"], "East US": ["azure-region-form"]}
