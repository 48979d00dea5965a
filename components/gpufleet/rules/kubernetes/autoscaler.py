"""Rules on the cluster autoscaler."""

from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.aws.zones import validate_region
from gpufleet.rules.generic import at_least
from gpufleet.rules.kubernetes.device_plugins import repository_form, validate_object_labels
from gpufleet.rules.kubernetes.version import version_pinned
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule


@rule("any-autoscaler-idle", Severity.WARNING)
def idle_short(*, minutes: int) -> Outcome:
    """Idle GPU nodes are removed within an hour.

    Source: our choice; forgotten clusters' bills (skypilot-org/skypilot#3953). The autoscaler's own default is 10.
    """
    if minutes <= 60:
        return passed()
    return failed("idle_minutes", minutes, "is paid for after every job, on every node", "use 60 or less")


def validate_autoscaler(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the autoscaler. Reads region, version, image, idle_minutes, provision_minutes, labels."""
    idle = coerce.whole(args, "idle_minutes", 10)
    findings = [
        validate_region(coerce.text(args, "region")),
        at_least(argument="idle_minutes", value=idle, least=1),
        idle_short(minutes=idle),
        at_least(argument="provision_minutes", value=coerce.whole(args, "provision_minutes", 20), least=1),
        *validate_object_labels(args),
    ]
    if isinstance(args.get("version"), str):
        findings.append(version_pinned(argument="version", version=coerce.text(args, "version")))
    if isinstance(args.get("image"), str):
        findings.append(repository_form(argument="image", repository=coerce.text(args, "image")))
    return findings
