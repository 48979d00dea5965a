"""Secrets are planted everywhere that one can be, and looked for in every form of the report."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gpufleet.report.build import build_report
from gpufleet.report.load_previews import read_preview
from gpufleet.report.redaction import mask_secrets
from gpufleet.report.write_files import write_report_files
from gpufleet.secret_patterns import is_secret_name
from tests.unit.report.written_previews import document, step, urn, written

PREVIEWS = Path(__file__).parent / "previews"
MARK = "4dabf18193072939515e22adb298388d"
PLANTED = "PLANTED"


def secret(plain: object) -> dict[str, Any]:
    return {MARK: "1b47061264138c4ac30d75fd1eb44270", "plaintext": json.dumps(plain)}


def both(kind: str, name: str, value: Any, path: str, **more: Any) -> dict[str, Any]:
    """An update that changes a property from one planted value to another."""
    old = json.loads(json.dumps(value).replace(PLANTED, f"{PLANTED}-old"))
    diff = {path: {"kind": "update", "inputDiff": True}} if path else None
    return step("update", kind, name, old, value, detailedDiff=diff, diffReasons=[path.split(".")[0]], **more)


NODES = "aws:eks/nodeGroup:NodeGroup"
KUBECONFIG = "apiVersion: v1\nclusters: []\nusers:\n- user: {client-key-data: PLANTED}\n"
PLACES: dict[str, dict[str, Any]] = {
    "marked": both(NODES, "a", {"labels": {"x": secret("PLANTED1")}}, "labels.x"),
    "marked above": both(NODES, "b", {"labels": secret({"x": "PLANTED2"})}, "labels.x"),
    "marked below": both(NODES, "c", {"labels": {"x": secret("PLANTED3"), "y": 1}}, "labels"),
    "old alone marked": step(
        "update", NODES, "d", {"labels": {"x": secret("PLANTED4")}}, {"labels": {"x": "PLANTED4"}},
        detailedDiff={"labels.x": {"kind": "update"}},
    ),
    "provider": both("pulumi:providers:kubernetes", "k", {"namespace": "PLANTED"}, "namespace"),
    "by name": both(NODES, "e", {"adminPassword": "PLANTED"}, "adminPassword"),
    "by name below": both(NODES, "f", {"auth": {"apiKey": "PLANTED"}}, "auth"),
    "kubeconfig by look": both("kubernetes:core/v1:ConfigMap", "g", {"data": {"config": KUBECONFIG}}, "data.config"),
    "kubernetes secret": both("kubernetes:core/v1:Secret", "h", {"stringData": {"x": "PLANTED"}}, "stringData.x"),
    "environment": both(
        "kubernetes:apps/v1:Deployment", "i", {"env": [{"name": "DB_PASSWORD", "value": "PLANTED"}]}, "env[0].value"
    ),
    "user data": both("aws:ec2/launchTemplate:LaunchTemplate", "j", {"userData": "PLANTED"}, "userData"),
    "additional": both(
        "aws:s3/bucket:Bucket", "l", {"bucketPrefix": "PLANTED"}, "bucketPrefix",
        newStates={"additionalSecretOutputs": ["bucketPrefix"]},
    ),
    "no diff of the provider": both(NODES, "m", {"x": {"token": "PLANTED", "y": secret("PLANTED5")}}, ""),
    "url": both(NODES, "n", {"source": "https://me:PLANTED@example.com/x"}, "source"),
    "text in text": both("kubernetes:helm.sh/v3:Release", "o", {"values": "password: PLANTED"}, "values"),
    "key file": both(NODES, "p", {"x": "-----BEGIN RSA PRIVATE KEY-----\nPLANTED"}, "x"),
    "outputs": both(NODES, "q", {"x": 1}, "x", newStates={"outputs": {"x": "PLANTED"}}),
}  # fmt: skip


def all_forms(folder: Path, *previews: Path) -> str:
    made = build_report([read_preview(each) for each in previews], today=date(2026, 11, 22))
    names = write_report_files(made, folder / "out", folder)
    assert len(names) == 7
    return "\n".join((folder / "out" / name).read_text() for name in names)


@pytest.mark.parametrize("place", PLACES)
def test_planted_secret_is_nowhere(tmp_path: Path, place: str) -> None:
    text = all_forms(tmp_path, written(tmp_path, document(PLACES[place])))
    assert PLANTED not in text
    assert PLACES[place]["urn"].rsplit("::", 1)[1] in text


def test_secrets_of_the_real_engine_are_nowhere(tmp_path: Path) -> None:
    """`tagsAll` in the outputs, debug messages of the log and the configuration hold them in plain text."""
    for name in ("secrets.json", "secrets.events.jsonl"):
        assert PLANTED in (PREVIEWS / name).read_text()
        assert PLANTED not in all_forms(tmp_path, PREVIEWS / name)
    assert PLANTED not in all_forms(tmp_path, PREVIEWS / "secrets.json", PREVIEWS / "secrets.events.jsonl")


def test_messages_are_swept(tmp_path: Path) -> None:
    """A policy pack gets secrets in plain text, and a provider may quote them in what it says."""
    net = urn("aws:ec2/vpc:Vpc", "net")
    state = {"type": "aws:ec2/vpc:Vpc", "urn": net, "custom": True, "inputs": {"x": secret("hunter22PLANTED")}}
    violation = {"resourceUrn": net, "message": "x=hunter22PLANTED: no", "policyName": "p", "policyPackName": "q"}
    events = [
        {"resourcePreEvent": {"metadata": {"op": "same", "urn": net, "old": state, "new": state}}},
        {"policyEvent": violation | {"enforcementLevel": "mandatory"}},
        {"diagnosticEvent": {"urn": net, "severity": "error", "message": "cannot log in: password=PLANTED\n"}},
        {"diagnosticEvent": {"urn": net, "severity": "debug", "message": "PLANTED"}},
        {"summaryEvent": {"result": "failed"}},
    ]
    lines = [json.dumps({"sequence": 1, "timestamp": 2, **each}, separators=(",", ":")) for each in events]
    (tmp_path / "log").write_text("\n".join(lines))
    text = all_forms(tmp_path, tmp_path / "log")
    assert PLANTED not in text
    assert "x=[hidden]: no" in text
    assert "cannot log in: [hidden]" in text


def test_configuration_is_never_shown(tmp_path: Path) -> None:
    said = document(PLACES["by name"]) | {"config": {"aws:region": "us-east-1", "billing:anything": "PLANTED"}}
    assert PLANTED not in all_forms(tmp_path, written(tmp_path, said))


SECRET_NAMES = (
    "password", "adminPassword", "secretKey", "secret_access_key", "kubeconfig", "clientSecret", "token", "api-key",
    "connectionString", "primaryKey", "userData", "customData", "client-key-data", "sasToken", "privateKeyPem",
)  # fmt: skip
PLAIN_NAMES = ("httpTokens", "kmsKeyId", "keyName", "tags", "secretName", "tokenTtl", "key", "publicKey", "passthrough")


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_names_of_what_is_none(name: str) -> None:
    assert not is_secret_name(name)


def test_masking_leaves_the_rest() -> None:
    line = "aws-dev: max=4: costs up to 64,148 USD; set max=1 or less [any-cost-ceiling-pool]"
    assert mask_secrets(line, {"abc"}) == line
    assert mask_secrets("user abcd here", {"abcd"}) == "user [hidden] here"
    assert mask_secrets("id AKIAABCDEFGHIJKLMNOP here") == "id [hidden] here"
