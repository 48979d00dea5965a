"""What the engine runs for a program of `gpufleet.fleet.state_program`: it registers resources as a state has them."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi

from gpufleet.documents.json import parse_json, read_json
from gpufleet.fleet.stack_state import ROOT
from gpufleet.fleet.state_program import PROVIDERS, STATE, is_default_provider

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
"""How a state marks a secret. Source: github.com/pulumi/pulumi, sdk/go/common/resource/sig/sig.go."""


def main() -> None:
    """Register what the file says, and export the outputs that the stack has."""
    content = read_json(Path(os.environ[STATE]))
    known: dict[str, pulumi.Resource] = {}
    default = {each["urn"]: each for each in content["resources"] if is_default_provider(each)}
    for each in content["resources"]:
        if each["type"] != ROOT and each["urn"] not in default:
            inputs = content["inputs"].get(each["urn"], each.get("inputs") or {})
            known[each["urn"]] = _registered(each, plain(inputs), known, default)
    for name, value in content["outputs"].items():
        pulumi.export(name, plain(value))


def _registered(
    resource: Mapping[str, Any],
    inputs: Mapping[str, Any],
    known: Mapping[str, pulumi.Resource],
    default: Mapping[str, Mapping[str, Any]],
) -> pulumi.Resource:
    kind, name = str(resource["type"]), str(resource["urn"]).rpartition("::")[2]
    options: dict[str, Any] = {
        "parent": known.get(str(resource.get("parent"))),
        "depends_on": [known[urn] for urn in resource.get("dependencies") or () if urn in known],
        "deleted_with": known.get(str(resource.get("deletedWith"))),
        "protect": bool(resource.get("protect")),
        "retain_on_delete": bool(resource.get("retainOnDelete")),
        "additional_secret_outputs": list(resource.get("additionalSecretOutputs") or ()),
    }
    if not resource.get("custom"):
        return pulumi.ComponentResource(kind, name, None, pulumi.ResourceOptions(**options))
    if kind.startswith(PROVIDERS):
        options["version"] = inputs.get("version")
        return pulumi.ProviderResource(kind.removeprefix(PROVIDERS), name, inputs, pulumi.ResourceOptions(**options))
    provider = str(resource.get("provider") or "").rpartition("::")[0]
    if provider in known:
        options["provider"] = known[provider]
    elif provider in default:
        # The engine makes default providers itself, one for each version that is asked for.
        options["version"] = (default[provider].get("inputs") or {}).get("version")
    if resource.get("external"):
        options["id"] = resource["id"]
    return pulumi.CustomResource(kind, name, dict(inputs), pulumi.ResourceOptions(**options))


def plain(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """A value of a state, with secrets as the SDK has them, and without what bridged providers note of defaults."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    if value.get(_SIGNATURE) == _SECRET:
        return pulumi.Output.secret(plain(parse_json(value["plaintext"], "secret")))
    return {key: plain(each) for key, each in value.items() if key != "__defaults"}
