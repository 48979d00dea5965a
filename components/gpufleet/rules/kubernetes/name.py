"""Rules on the names of Kubernetes objects."""

import re

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


@rule("any-kubernetes-name", Severity.ERROR)
def name_form(*, argument: str, name: str) -> Outcome:
    """The name of a namespace, a volume, a queue or a secret is valid everywhere in Kubernetes.

    Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ (RFC 1123 label): namespaces and
    services take no more, and the same name serves as a label's value.
    """
    if len(name) <= 63 and _LABEL.fullmatch(name):
        return passed()
    fix = "use at most 63 lower-case letters, digits and - between them, such as team-vision"
    return failed(argument, name, "is not a valid Kubernetes name", fix)
