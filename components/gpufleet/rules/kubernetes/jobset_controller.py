"""Rules on JobSet's controller."""

from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.kubernetes.device_plugins import repository_form, validate_object_labels
from gpufleet.rules.kubernetes.version import version_pinned
from gpufleet.rules.labels import key_form, value_form
from gpufleet.rules.rule import Finding


def validate_jobset_controller(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on JobSet's controller. Reads version, image, node_selector, labels."""
    findings = validate_object_labels(args)
    if isinstance(args.get("version"), str):
        findings.append(version_pinned(argument="version", version=coerce.text(args, "version")))
    if isinstance(args.get("image"), str):
        findings.append(repository_form(argument="image", repository=coerce.text(args, "image")))
    for key, value in coerce.mapping(args, "node_selector").items():
        findings.append(key_form(argument="node_selector", key=key))
        if isinstance(value, str):
            findings.append(value_form(argument=f"node_selector.{key}", value=value))
    return findings
