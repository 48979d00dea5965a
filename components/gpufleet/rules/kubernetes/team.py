"""Rules on the namespace of a team."""

from collections.abc import Mapping

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import parse_json
from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice, distinct
from gpufleet.rules.kubernetes.device_plugins import validate_object_labels
from gpufleet.rules.kubernetes.name import name_form
from gpufleet.rules.kubernetes.ngc import validate_ngc
from gpufleet.rules.kubernetes.users import validate_users
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

LEVELS = ("restricted", "baseline", "privileged")
_RESERVED = ("default", "kube-node-lease", "kube-public", "kube-system")


@rule("any-team-namespace", Severity.ERROR)
def namespace_own(*, namespace: str) -> Outcome:
    """A team's namespace is not a system namespace.

    Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/: kube- is reserved; Pod
    Security restricted in kube-system keeps network and device plugins from starting.
    """
    if namespace not in _RESERVED and not namespace.startswith("kube-"):
        return passed()
    return failed("namespace", namespace, "is one of the cluster's own", "use a name of the team's, such as vision")


@rule("any-team-exception", Severity.ERROR)
def exception_named(*, level: str, exception: str) -> Outcome:
    """A namespace below Pod Security restricted gives a reason.

    Source: our choice: training with GPUs and EFA runs under restricted, so that each exception has a reason, such as
    InfiniBand's IPC_LOCK; https://kubernetes.io/docs/concepts/security/pod-security-standards/
    """
    if level == "restricted" or exception.strip():
        return passed()
    return failed("pod_security", level, "lets pods do more without a reason", "give exception, or use restricted")


@rule("any-team-login", Severity.ERROR)
def login_form(*, complete: bool) -> Outcome:
    """A registry's login is the JSON of a .dockerconfigjson with a registry in auths.

    Source: https://kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry/; the API server
    rejects what is not JSON, and a pod with another login stays ImagePullBackOff.
    """
    if complete:
        return passed()
    fix = 'give {"auths": {"<registry>": {"username": ..., "password": ...}}}, or ngc_key for nvcr.io'
    # Its value is a secret, also when it is wrong.
    return failed("docker_config", "[secret]", "is not a registry login", fix)


def validate_team(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a team. Reads namespace, groups, service_account, docker_config, pull_secret, pod_security,
    exception, users, gid, volume_claim, least_id, labels."""
    level = coerce.text(args, "pod_security", "restricted")
    findings = [
        allowed_choice(argument="pod_security", word=level, legal=LEVELS),
        exception_named(level=level, exception=coerce.text(args, "exception")),
        distinct(argument="groups", values=coerce.texts(args, "groups")),
        *validate_object_labels(args),
        *validate_users(args),
        *validate_ngc(args),
    ]
    for argument in ("namespace", "service_account", "pull_secret", "volume_claim"):
        if isinstance(args.get(argument), str):
            findings.append(name_form(argument=argument, name=coerce.text(args, argument)))
    if isinstance(args.get("namespace"), str):
        findings.append(namespace_own(namespace=coerce.text(args, "namespace")))
    if isinstance(login := args.get("docker_config"), str):
        findings.append(login_form(complete=_is_login(login)))
    return findings


def _is_login(text: str) -> bool:
    try:
        document = parse_json(text, "docker_config")
    except DocumentError:
        return False
    auths = document.get("auths") if isinstance(document, dict) else None
    return isinstance(auths, dict) and bool(auths) and all(isinstance(each, dict) for each in auths.values())
