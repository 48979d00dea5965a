"""Whose it is, what for, and until when: on everything that a cloud can tag, and on objects of Kubernetes."""

from collections.abc import Callable
from typing import Any

import pytest

import aws_environment
import azure_stack
import test_on_onprem
from parts import labels
from settings import SharedSettings

ALWAYS = {"owner": "team", "project": "training", "environment": "dev", "expires-at": "never"}
ASKED = {"purpose": "a paper", "expires_at": "150h", "grace": "2d"}
LABELS = {
    "gpufleet.dev/owner": "team",
    "gpufleet.dev/project": "training",
    "gpufleet.dev/purpose": "a-paper",
    "gpufleet.dev/expires-at": "150h",
    "gpufleet.dev/grace": "2d",
}
RELEASE, NODE = "kubernetes:helm.sh/v3:Release", "kubernetes:core/v1:NodePatch"


@pytest.mark.parametrize("recording", [aws_environment.recording, azure_stack.recording], ids=["aws", "azure"])
@pytest.mark.parametrize(
    ("settings", "tags"),
    [({}, ALWAYS), (ASKED, {**ALWAYS, "purpose": "a paper", "expires-at": "150h", "grace": "2d"})],
    ids=["always", "if asked"],
)
def test_everything_with_tags_says_it(
    recording: Callable[..., Any], settings: dict[str, str], tags: dict[str, str]
) -> None:
    found = [each for each in recording(**settings).resources if isinstance(each.inputs.get("tags"), dict)]
    assert len(found) > 10
    for each in found:
        assert tags.items() <= each.inputs["tags"].items(), each.name
        assert ("purpose" in each.inputs["tags"], "grace" in each.inputs["tags"]) == (bool(settings), bool(settings))


@pytest.mark.parametrize(
    ("recording", "environment"),
    [(aws_environment.recording, "dev"), (azure_stack.recording, "dev"), (test_on_onprem.recording, "lab")],
    ids=["aws", "azure", "onprem"],
)
@pytest.mark.parametrize("kind", ["one team", "several", "notebooks"])
def test_every_object_of_kubernetes_says_it_and_nothing_that_restarts(
    recording: Callable[..., Any], environment: str, kind: str
) -> None:
    more: dict[str, Any] = {}
    if kind == "several":
        more = {"teams": {"vision": {}, "speech": {}}}
    if kind == "notebooks":
        login = {"client_id": "hub", "client_secret": "hush"} | {
            f"{what}_url": f"https://login.example.com/{what}" for what in ("authorize", "token", "userdata")
        }
        hub = {"host": "hub.example.com", "images": ["registry/note:1"], "tls": {"secret": "tls"}, "oidc": login}
        more = {"notebooks": hub}
    made = [each for each in recording(**ASKED, **more).resources if each.type.startswith("kubernetes:")]
    objects = [each for each in made if each.type not in (RELEASE, NODE)]
    assert len(objects) > 8
    for each in objects:
        own = {"gpufleet.dev/environment": environment, **LABELS}
        assert own.items() <= each.inputs["metadata"]["labels"].items(), each.name
        assert "150h" not in str({key: value for key, value in each.inputs.items() if key != "metadata"}), each.name
    for each in made:
        assert each.type not in (RELEASE, NODE) or "150h" not in str(each.inputs), each.name


def test_labels_hold_what_is_set_as_far_as_a_label_can() -> None:
    settings = SharedSettings(cloud="onprem", owner="Ana B. <ana@lab.example>", project="研究", expires_at="2027-01-31")
    assert labels("dev", settings) == {
        "gpufleet.dev/environment": "dev",
        "gpufleet.dev/owner": "Ana-B.-ana-lab.example",
        "gpufleet.dev/expires-at": "2027-01-31",
    }
