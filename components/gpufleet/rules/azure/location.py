"""Rules on where resources of Azure are: region, resource group, subscription; and how they are tagged."""

import re
from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.azure.region import known_regions, region_form, region_listed
from gpufleet.rules.azure.tags import MOST, validate_azure_tags
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

_NAME = re.compile(r"[\w().-]{0,89}[\w()-]")
_SUBSCRIPTION = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@rule("azure-group-name", Severity.ERROR)
def group_name(*, name: str) -> Outcome:
    """The name of a resource group has 1 to 90 letters, digits and _ ( ) . -, and does not end in a dot.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftresources
    """
    if _NAME.fullmatch(name):
        return passed()
    fix = "use 1 to 90 letters, digits and _ ( ) . -, without a dot at the end"
    return failed("resource_group_name", name, "is not a valid resource group name", fix)


@rule("azure-group-subscription", Severity.ERROR)
def group_subscription(*, existing: bool, subscription: str) -> Outcome:
    """An existing resource group comes with the id of its subscription, since its own id is made of both.

    Source: components look nothing up in the cloud, so that a preview needs no credentials;
    https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
    """
    if _SUBSCRIPTION.fullmatch(subscription) or not (existing or subscription):
        return passed()
    fix = "give the one that az account show prints as id"
    if not subscription:
        return failed("subscription_id", None, "is not given, and the resource group exists", fix)
    return failed("subscription_id", subscription, "is not a subscription id", fix)


def validate_azure_location(args: Mapping[str, object], most_tags: int = MOST) -> list[Finding]:
    """Every finding on what all components have. Reads region, resource_group_name (if it is plain), tags.

    most_tags: how many tags the component's children may carry.
    """
    findings = [region_form(region=coerce.text(args, "region"))]
    group = args.get("resource_group_name")
    if isinstance(group, str):
        findings.append(group_name(name=group))
    return [*findings, *validate_azure_tags(coerce.mapping(args, "tags"), most_tags)]


def validate_resource_group(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on an environment. Reads region, resource_group_name (an existing one), subscription_id, tags."""
    existing = args.get("resource_group_name") is not None
    told = group_subscription(existing=existing, subscription=coerce.text(args, "subscription_id"))
    place, region = validate_azure_location(args), coerce.text(args, "region")
    form, *rest = place
    listed = [] if form.rejects else [region_listed(region=region, known=known_regions())]
    return [form, *listed, *rest, told]
