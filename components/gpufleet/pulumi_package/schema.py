"""The schemas of our packages: what Pulumi's SDK infers from components, made fit to read and to compare."""

import inspect
import json
import re
from typing import Any

from gpufleet.documents.json import parse_json
from gpufleet.repository import release_tag, repository

_ABOUT = {"aws": "AWS", "azure": "Azure", "kubernetes": "Kubernetes"}


def written(schema: str) -> str:
    """A schema as its committed file has it."""
    return json.dumps(parse_json(schema, "schema"), indent=2, sort_keys=True) + "\n"


def described(schema: dict[str, Any], cloud: str) -> dict[str, Any]:
    """A schema that Pulumi's SDK inferred, with what it does not know: licence, names of SDKs, texts made readable."""
    about = (
        f"Multi-node GPU training on {_ABOUT[cloud]}: components that reject invalid configurations before deployment."
    )
    language = schema.get("language", {})
    language["go"] = {
        **language.get("go", {}),
        "importBasePath": f"gpufleet.dev/sdk/go/gpufleet-{cloud}/gpufleet{cloud}",
    }
    language["nodejs"] = {**language.get("nodejs", {}), "packageName": f"@gpufleet/{cloud}"}
    own = {"description": about, "license": "Apache-2.0", "keywords": ["category/infrastructure", "gpu", cloud]}
    own |= {"publisher": "gpufleet", **_places(cloud)}
    return {key: _cleaned(value) for key, value in {**schema, **own, "language": language}.items()}


def _places(cloud: str) -> dict[str, str]:
    """Where the repository is, the logo, and the plugin; nothing where the installed gpufleet does not know.

    Keys as in Pulumi's metaschema (pulumi/pulumi, pkg/codegen/schema/pulumi.json). An engine takes a plugin's
    folder from a Git host if its address begins with git:// (sdk/go/common/workspace/plugins.go, IsGitPlugin).
    """
    address = repository()
    if address is None:
        return {}
    _, _, path = address.partition("://")
    return {
        "repository": address,
        "logoUrl": f"{address}/raw/{release_tag()}/docs/pictures/logo.svg",
        "pluginDownloadURL": f"git://{path}/components/packages/gpufleet-{cloud}",
    }


def _cleaned(part: object, *, whole: bool = True) -> object:
    """Descriptions without Python's indentation and roles; what an item is, its list says already. whole: no item."""
    if isinstance(part, list):
        return [_cleaned(each) for each in part]
    if not isinstance(part, dict):
        return part
    holds = isinstance(part.get("type"), str)
    cleaned = {}
    for key, value in part.items():
        if key != "description" or not isinstance(value, str):
            cleaned[key] = _cleaned(value, whole=not (holds and key in ("items", "additionalProperties")))
        elif whole:
            cleaned[key] = _prose(value)
    if not whole and str(cleaned.get("$ref")).startswith("#/types/"):
        # Go's generator makes no type for arguments that are used only where all is plain, and then uses it.
        cleaned.pop("plain", None)
    return cleaned


def _prose(text: str) -> str:
    """A docstring as Markdown, for readers in any language."""
    text = re.sub(r":\w+:`~?([\w.]+)`", lambda found: f"`{found[1].rpartition('.')[2]}`", inspect.cleandoc(text))
    return text.replace("``", "`")
