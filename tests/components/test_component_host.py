"""Served to other languages, every component registers the same resources as in a Python program.

Over the wire names are camelCase and every number is a float.
"""

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NotRequired, Unpack, get_args, get_origin, is_typeddict

import pulumi
from pulumi.provider.experimental.component import ComponentProvider

from gpufleet.pulumi_package.provider import TypedDictAnalyzer
from tests.components.recorder import Recording, Registered
from tests.components.samples import SAMPLES, Sample, components, construct_sample, every_component, every_package


def over_the_wire(value: object, declared: object = None) -> object:
    """``value`` as it arrives. declared: its type; fields of a TypedDict are spelt anew, keys of a mapping are not."""
    declared = get_args(declared)[0] if get_origin(declared) is NotRequired else declared
    if isinstance(value, dict):
        fields = inspect.get_annotations(declared) if is_typeddict(declared) else {}
        of_each = get_args(declared)[1] if get_origin(declared) is Mapping else None
        return {
            camel(key) if fields else key: over_the_wire(inner, fields.get(key, of_each))
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [over_the_wire(inner) for inner in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def camel(name: str) -> str:
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def by_name(recording: Recording[object]) -> dict[str, Registered]:
    return {each.name: replace(each, inputs=opened(each.inputs)) for each in recording.resources}


def opened(value: object) -> object:
    """Inputs with JSON in place of the texts that hold it: a number is 4.0 there, where a Python program has 4."""
    if isinstance(value, dict):
        return {key: opened(inner) for key, inner in value.items()}
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in ("{", "[") else value
    except ValueError:
        return value


@every_package
def test_host_takes_all_components_as_one_package(package):
    provider = ComponentProvider(list(components(package).values()), f"gpufleet-{package}")
    assert sorted(provider._component_defs) == sorted(SAMPLES[package])


@every_component()
def test_component_has_the_shape_that_the_host_calls(sample: Sample):
    name, args, opts, keywords = list(inspect.signature(sample.component.__init__).parameters.values())[1:]
    assert (name.name, name.annotation) == ("name", str)
    assert (args.name, args.annotation.__name__) == ("args", f"{sample.kind}Args")
    assert (opts.name, opts.default, opts.annotation) == ("opts", None, pulumi.ResourceOptions | None)
    assert keywords.annotation == Unpack[args.annotation]


@every_component()
def test_served_component_registers_the_same(sample: Sample, preview):
    wire = over_the_wire(sample.args, sample.args_type)
    provider = served(sample)
    built = construct_sample(lambda: provider.construct("mine", sample.token, wire), preview)
    direct = sample.build(preview)
    assert by_name(built) == by_name(direct)
    assert built.outputs["mine"] == direct.outputs["mine"]


@every_component()
def test_served_component_publishes_what_it_declares(sample: Sample):
    declared = set(served(sample)._component_defs[sample.kind].outputs_mapping.values())
    assert sample.build(preview=False).outputs["mine"].keys() == declared


@every_component()
def test_component_describes_each_argument(sample: Sample):
    """Those too that stand in what its arguments extend."""
    analyzer = TypedDictAnalyzer(f"gpufleet-{sample.package}")
    inputs = analyzer.analyze([sample.component])["component_definitions"][sample.kind].inputs
    assert inputs
    assert [name for name, declared in inputs.items() if not declared.description] == []


def served(sample: Sample) -> ComponentProvider:
    return ComponentProvider([sample.component], f"gpufleet-{sample.package}")
