"""Whose it is, what for, and until when: on everything that a cloud can tag, and on objects of Kubernetes."""

from typing import Any

import pytest

from tests.unit.stacks import aws_environment, azure_stack, lab_environment
from tests.unit.stacks.stack_programs import Program

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


@pytest.mark.parametrize("program", [aws_environment.program, azure_stack.program], ids=["aws", "azure"])
@pytest.mark.parametrize(
    ("config", "tags"),
    [({}, ALWAYS), (ASKED, {**ALWAYS, "purpose": "a paper", "expires-at": "150h", "grace": "2d"})],
    ids=["always", "if asked"],
)
def test_everything_with_tags_says_it(program: Program, config: dict[str, str], tags: dict[str, str]) -> None:
    found = [each for each in program(**config).resources if isinstance(each.inputs.get("tags"), dict)]
    assert len(found) > 10
    for each in found:
        assert tags.items() <= each.inputs["tags"].items(), each.name
        assert ("purpose" in each.inputs["tags"], "grace" in each.inputs["tags"]) == (bool(config), bool(config))


@pytest.mark.parametrize(
    "program",
    [aws_environment.program, azure_stack.program, lab_environment.program],
    ids=["aws", "azure", "onprem"],
)
@pytest.mark.parametrize("kind", ["one team", "several", "notebooks"])
def test_every_object_of_kubernetes_says_it_and_nothing_that_restarts(program: Program, kind: str) -> None:
    more: dict[str, Any] = {}
    if kind == "several":
        more = {"teams": {"vision": {}, "speech": {}}}
    if kind == "notebooks":
        login = {"client_id": "hub", "client_secret": "hush"} | {
            f"{what}_url": f"https://login.example.com/{what}" for what in ("authorize", "token", "userdata")
        }
        hub = {"host": "hub.example.com", "images": ["registry/note:1"], "tls": {"secret": "tls"}, "oidc": login}
        # Only on clusters of a cloud is it known which there are.
        own = {"storage_class": "local-path"} if program is lab_environment.program else {}
        more = {"notebooks": hub | own}
    made = [each for each in program(**ASKED, **more).resources if each.type.startswith("kubernetes:")]
    objects = [each for each in made if each.type not in (RELEASE, NODE)]
    assert len(objects) > 8
    for each in objects:
        own = {"gpufleet.dev/environment": program.name, **LABELS}
        assert own.items() <= each.inputs["metadata"]["labels"].items(), each.name
        assert "150h" not in str({key: value for key, value in each.inputs.items() if key != "metadata"}), each.name
    for each in made:
        assert each.type not in (RELEASE, NODE) or "150h" not in str(each.inputs), each.name
