"""The site's examples in the languages that no test of components runs, and the layout of all."""

import json
from typing import Any

import jsonschema
import pytest
import yaml

from tools.website.code_layout import WIDTH, Block, laid_out
from tools.website.example_programs import arguments, programs, schema
from tools.website.go_arguments import camel
from tools.website.reference import Undocumented

EVERY = [(package, component) for package in ("aws", "azure", "kubernetes") for component in arguments(package)]


def json_schema(package: str, component: str) -> dict[str, Any]:
    """The arguments of a component as JSON Schema: Pulumi's own dialect, without references to any value."""
    pulumi = json.loads(json.dumps(schema(package)).replace('{"$ref": "pulumi.json#/Any"}', "{}"))
    of = pulumi["resources"][f"gpufleet-{package}:index:{component}"]
    types = {token: {**each, "additionalProperties": False} for token, each in pulumi.get("types", {}).items()}
    return {
        "type": "object",
        "properties": of["inputProperties"],
        "required": of.get("requiredInputs", []),
        "additionalProperties": False,
        "types": types,
    }


@pytest.mark.parametrize(("package", "component"), EVERY)
def test_yaml_fits_the_schema_of_the_package(package: str, component: str) -> None:
    project = yaml.safe_load(programs(package, component)["YAML"])
    assert list(project["packages"]) == [f"gpufleet-{package}"]
    (resource,) = project["resources"].values()
    assert resource["type"] == f"gpufleet-{package}:{component}"
    checks = jsonschema.Draft202012Validator(json_schema(package, component))
    assert [each.message for each in checks.iter_errors(resource["properties"])] == []
    # As many values as in Python, in the same order.
    assert list(resource["properties"]) == [camel(name) for name in arguments(package)[component]]


def test_the_schema_finds_a_mistake_at_any_depth() -> None:
    checks = jsonschema.Draft202012Validator(json_schema("kubernetes", "Team"))
    found = checks.iter_errors({"namespace": 1, "users": {"ana": {"uid": 1, "gid": 1, "shell": "sh"}}, "x": 1})
    assert sorted(each.message for each in found) == [
        "1 is not of type 'string'",
        "Additional properties are not allowed ('shell' was unexpected)",
        "Additional properties are not allowed ('x' was unexpected)",
    ]


@pytest.mark.parametrize(("package", "component"), EVERY)
def test_no_line_needs_a_wide_window(package: str, component: str) -> None:
    """But for one with a value that cannot be broken, such as an id of Azure's."""
    for language, program in programs(package, component).items():
        long = [line for line in program.expandtabs(4).splitlines() if len(line) > WIDTH + 32 and "/" not in line]
        assert (language, long) == (language, [])


def test_a_secret_comes_from_the_configuration() -> None:
    texts = programs("azure", "SiteLink")
    assert 'pre_shared_key=config.require_secret("vpnKey"),' in texts["Python"]
    assert yaml.safe_load(texts["YAML"])["config"] == {"vpnKey": {"type": "string", "secret": True}}
    assert "      preSharedKey: ${vpnKey}\n" in texts["YAML"]
    assert 'preSharedKey: config.requireSecret("vpnKey"),' in texts["TypeScript"]
    assert 'conf.RequireSecret("vpnKey"),' in texts["Go"]


def test_a_component_without_an_example_ends_it() -> None:
    with pytest.raises(Undocumented, match=r"^gpufleet\.aws\.Nothing: no example in "):
        programs("aws", "Nothing")


def test_values_that_fit_stand_on_one_line_and_in_one_column() -> None:
    wide = Block("[", [("", '"' + letter * 40 + '"') for letter in "abc"], "]")
    block = Block(
        "f(", [("a: ", "1"), ("long: ", Block("{", [("x: ", "2")], "}", " ")), ("w: ", wide), ("b: ", "3")], ")"
    )
    lines = ["f(", "  a:    1,", "  long: { x: 2 },", "  w: ["]
    lines += [f'    "{letter * 40}",' for letter in "abc"]
    lines += ["  ],", "  b: 3,", ")"]
    assert laid_out(block, "  ", aligned=True) == "\n".join(lines) + "\n"
    assert "\n  a: 1,\n" in laid_out(block, "  ")
