"""The example of a component as a whole program in each language, all written from one set of arguments.

`component_examples/<package>.yaml` has the arguments; the package's schema has their spelling and types in languages
other than Python.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import yaml

from tools.website.code_layout import WIDTH, Block, Node, laid_out
from tools.website.go_arguments import Argument, Arguments, Schema, camel, go_struct, property_types
from tools.website.reference import ROOT, Undocumented

NAME = "speech"
"""Of the component in each example."""
_EXAMPLES = ROOT / "tools" / "website" / "component_examples"


class Secret(str):
    """A value of the stack's configuration that an example asks for by this name."""

    __slots__ = ()


class _Loader(yaml.SafeLoader):
    """YAML with the tag `!secret`."""


def _secret(loader: yaml.SafeLoader, node: yaml.Node) -> Secret:
    return Secret(loader.construct_yaml_str(node))


_Loader.add_constructor("!secret", _secret)


class _Dumper(yaml.SafeDumper):
    """YAML in which nothing refers to another place, and only what is short stands on one line."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _short_on_one_line(dumper: yaml.SafeDumper, mapping: Mapping[str, object]) -> yaml.MappingNode:
    node = dumper.represent_mapping("tag:yaml.org,2002:map", mapping)
    if sum(len(f"{key}: {value}, ") for key, value in mapping.items()) > WIDTH:
        node.flow_style = False
    return node


_Dumper.add_representer(dict, _short_on_one_line)
_Dumper.add_representer(Secret, lambda dumper, name: dumper.represent_str(f"${{{name}}}"))


@cache
def arguments(package: str) -> Mapping[str, Arguments]:
    """Component of a package (aws, azure, kubernetes) -> the arguments of its example, in Python's spelling."""
    text = (_EXAMPLES / f"{package}.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Arguments] = yaml.load(text, _Loader)["examples"]
    return found


@cache
def schema(package: str) -> Schema:
    """The schema of a package, as Pulumi's engine reads it."""
    file = ROOT / "components" / "packages" / f"gpufleet-{package}" / "schema.json"
    read: Schema = json.loads(file.read_text(encoding="utf-8"))
    return read


def programs(package: str, component: str) -> Mapping[str, str]:
    """Language -> program. Errors: Undocumented, for a component without an example."""
    if component not in arguments(package):
        raise Undocumented(f"gpufleet.{package}.{component}: no example in tools/website/component_examples")
    given = arguments(package)[component]
    takes = schema(package)["resources"][f"gpufleet-{package}:index:{component}"]["inputProperties"]
    secrets = sorted(_secrets(dict(given)))
    translated = _translated(given, takes, schema(package))
    return {
        "Python": _python(package, component, given, secrets),
        "YAML": _yaml(package, component, translated, secrets),
        "TypeScript": _typescript(package, component, translated, secrets),
        "Go": _go(package, component, given, secrets),
    }


def _secrets(value: Argument) -> Iterator[str]:
    match value:
        case Secret():
            yield str(value)
        case dict():
            for inner in value.values():
                yield from _secrets(inner)
        case list():
            for inner in value:
                yield from _secrets(inner)


def _translated(given: Arguments, takes: Mapping[str, Schema], types: Schema) -> Arguments:
    """The arguments in the spelling of other languages. takes: name -> type."""
    return {camel(key): _spelled(inner, takes[camel(key)], types) for key, inner in given.items()}


def _spelled(value: Argument, of: Schema, types: Schema) -> Argument:
    if isinstance(value, list):
        return [_spelled(each, of["items"], types) for each in value]
    if not isinstance(value, dict):
        return value
    takes = property_types(of, types)
    if takes is not None:
        return dict(_translated(value, takes, types))
    return {key: _spelled(each, of["additionalProperties"], types) for key, each in value.items()}


def _python(package: str, component: str, given: Arguments, secrets: Sequence[str]) -> str:
    def node(value: Argument) -> Node:
        match value:
            case Secret():
                return f"config.require_secret({json.dumps(value)})"
            case dict():
                return Block("{", [(f"{json.dumps(key)}: ", node(each)) for key, each in value.items()], "}")
            case list():
                return Block("[", [("", node(each)) for each in value], "]")
            case bool():
                return str(value)
        return json.dumps(value)

    folder = "platform" if component == "TrainingPlatform" else package
    imports = ["import pulumi\n"] * bool(secrets) + [f"from gpufleet.{folder} import {component}\n"]
    config = ["config = pulumi.Config()\n"] * bool(secrets)
    entries = [("", json.dumps(NAME)), *((f"{key}=", node(each)) for key, each in given.items())]
    return (
        "\n".join([*imports, *config]) + "\n" * (not secrets) + laid_out(Block(f"{component}(", entries, ")"), "    ")
    )


def _yaml(package: str, component: str, given: Arguments, secrets: Sequence[str]) -> str:
    project: dict[str, Any] = {
        "name": NAME,
        "runtime": "yaml",
        "packages": {f"gpufleet-{package}": f"../gpufleet/components/packages/gpufleet-{package}"},
    }
    if secrets:
        project["config"] = {name: {"type": "string", "secret": True} for name in secrets}
    project["resources"] = {NAME: {"type": f"gpufleet-{package}:{component}", "properties": given}}
    # Maps and lists of plain values stand on one line.
    return yaml.dump(project, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=110)


def _typescript(package: str, component: str, given: Arguments, secrets: Sequence[str]) -> str:
    def key_of(key: str) -> str:
        return f"{key if key.isidentifier() else json.dumps(key)}: "

    def node(value: Argument) -> Node:
        match value:
            case Secret():
                return f"config.requireSecret({json.dumps(value)})"
            case dict():
                return Block("{", [(key_of(key), node(each)) for key, each in value.items()], "}", " ")
            case list():
                return Block("[", [("", node(each)) for each in value], "]")
        return json.dumps(value)

    lines = [f'import * as gpufleet from "@gpufleet/{package}";']
    if secrets:
        lines += ['import * as pulumi from "@pulumi/pulumi";', "", "const config = new pulumi.Config();"]
    entries = [(key_of(key), node(each)) for key, each in given.items()]
    made = laid_out(Block(f'new gpufleet.{component}("{NAME}", {{', entries, "})"), "    ")
    return "\n".join([*lines, "", made.rstrip("\n") + ";", ""])


_GO = """\
package main

import (
\t"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
{imports}\t"gpufleet.dev/sdk/go/gpufleet-{package}/{go}"
)

func main() {{
\tpulumi.Run(func(ctx *pulumi.Context) error {{
{config}{made}
\t\treturn err
\t}})
}}
"""


def _go(package: str, component: str, given: Arguments, secrets: Sequence[str]) -> str:
    resource = schema(package)["resources"][f"gpufleet-{package}:index:{component}"]
    types, required, go = schema(package), set(resource.get("requiredInputs", ())), f"gpufleet{package}"
    opening = f'_, err := {go}.New{component}(ctx, "{NAME}", &{go}.{component}Args{{'
    struct = go_struct(opening, given, resource["inputProperties"], required, types, go, closing="})")
    made = laid_out(struct, "\t", aligned=True)
    return _GO.format(
        imports='\t"github.com/pulumi/pulumi/sdk/v3/go/pulumi/config"\n' * bool(secrets),
        package=package,
        go=go,
        config='\t\tconf := config.New(ctx, "")\n' * bool(secrets),
        made="\n".join(f"\t\t{line}" for line in made.splitlines()),
    )
