"""Kubeconfigs that lead nowhere, as far as that shows without a cluster: one line each, whatever the verb."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gpufleet.cli import main
from gpufleet.jobs.kubernetes.connection import KubeconfigError, connect

ANEW = "; take it again from the stack's outputs (`pulumi stack output kubeconfig --show-secrets`)"
LACKS = "is not a kubeconfig: it needs clusters, users, contexts and a current-context"


def kubeconfig(**changes: object) -> dict[str, Any]:
    """A whole one. changes: top-level keys; None takes one away."""
    content = {
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    return {key: value for key, value in {**content, **changes}.items() if value is not None}


def cluster(**fields: object) -> list[dict[str, Any]]:
    return [{"name": "c", "cluster": fields}]


def context(**fields: object) -> list[dict[str, Any]]:
    return [{"name": "x", "context": fields}]


def test_whole_one_is_taken_as_text_and_as_content() -> None:
    for each in (kubeconfig(), yaml.safe_dump(kubeconfig()), json.dumps(kubeconfig())):
        assert connect(each, "dev").configuration.host == "http://127.0.0.1:1"


def test_context_without_a_user_is_taken_as_kubectl_proxy_needs_it() -> None:
    found = connect(kubeconfig(users=None, contexts=context(cluster="c")), "dev")
    assert (found.configuration.host, found.configuration.api_key) == ("http://127.0.0.1:1", {})


BROKEN = {
    "empty": ("", LACKS),
    "a word": ("hello", LACKS),
    "a list": ("[]", LACKS),
    "a number": (7, LACKS),
    "half of one": ("{", "is not a kubeconfig: line 1: is not YAML: did not find expected node content"),
    "a tab": ("a:\n\t- b", "is not a kubeconfig: line 2: is not YAML: found character "),
    "binary": ("\x00", "is not a kubeconfig: is not YAML: "),
    "no clusters": (kubeconfig(clusters=[]), LACKS),
    "no current context": (kubeconfig(**{"current-context": ""}), LACKS),
    "clusters of another kind": (
        kubeconfig(clusters=3),
        "is not a kubeconfig: its clusters must be a list of mappings",
    ),
    "contexts of another kind": (
        kubeconfig(contexts=["x"]),
        "is not a kubeconfig: its contexts must be a list of mappings",
    ),
    "no such context": (
        kubeconfig(**{"current-context": "prod"}),
        "its current-context is prod, and the kubeconfig has only x under contexts",
    ),
    "no contexts": (kubeconfig(contexts=None), "its current-context is x, and the kubeconfig has none under contexts"),
    "no such cluster": (
        kubeconfig(contexts=context(cluster="d", user="u")),
        "the cluster of its context is d, and the kubeconfig has only c under clusters",
    ),
    "no such user": (
        kubeconfig(contexts=context(cluster="c", user="v")),
        "the user of its context is v, and the kubeconfig has only u under users",
    ),
    "no server": (kubeconfig(clusters=cluster(proxy=1)), "the kubeconfig's cluster c has no server"),
    "no such file": (
        kubeconfig(clusters=cluster(**{"server": "https://a.invalid", "certificate-authority": "/no/such"})),
        "the kubeconfig cannot be used: File does not exist: /no/such",
    ),
    "plugin of another kind": (
        kubeconfig(users=[{"name": "u", "user": {"exec": "aws"}}]),
        "is not a kubeconfig: its user's exec must be a mapping",
    ),
}


@pytest.mark.parametrize(("given", "line"), BROKEN.values(), ids=BROKEN.keys())
def test_kubeconfig_that_cannot_be_used(given: object, line: str) -> None:
    with pytest.raises(KubeconfigError) as caught:
        connect(given, "dev")
    text = str(caught.value)
    assert text.startswith(f"dev: {line}"), text
    assert text.endswith(ANEW), text
    assert text.isprintable()


VERBS = {
    "list": ["list", "dev"],
    "status": ["status", "dev", "train"],
    "logs": ["logs", "dev", "train"],
    "cancel": ["cancel", "dev", "train"],
    "submit": ["submit", "dev", "--workers", "1", "--image", "r.invalid/t:1", "--name", "train", "true"],
}
SERVERS = {
    "nobody listens": ({"server": "http://127.0.0.1:1"}, "cannot be reached: connection refused; is the cluster up"),
    "no such name": ({"server": "https://cluster.invalid"}, "cannot be reached: its name "),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("server", "line"), SERVERS.values(), ids=SERVERS.keys())
def test_every_verb_says_it_in_one_line(tmp_path: Path, verb: str, server: dict[str, str], line: str) -> None:
    file = tmp_path / "outputs.json"
    pools = {"trainers": {"types": ["g5.8xlarge"], "zones": ["use1-az1"]}}
    file.write_text(json.dumps({"kubeconfig": kubeconfig(clusters=cluster(**server)), "jobs": {"pools": pools}}))
    name, environment, *rest = VERBS[verb]
    done = CliRunner().invoke(main, ["jobs", name, environment, "--outputs", str(file), *rest])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: dev: {server['server']} {line}"), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
