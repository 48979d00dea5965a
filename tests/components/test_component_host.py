"""Served to other languages, every component registers the same resources as in a Python program.

Over the wire names are camelCase and every number is a float.
"""

import inspect
import re
from collections.abc import Mapping
from typing import NotRequired, get_args, get_origin, is_typeddict

import pulumi
from pulumi.provider.experimental.analyzer import Analyzer
from pulumi.provider.experimental.component import ComponentProvider
from recorder import Recording, Registered
from samples import SAMPLES, Sample, components, construct_sample, every_component, every_package


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
    return {each.name: each for each in recording.resources}


@every_package
def test_host_takes_all_components_as_one_package(package):
    provider = ComponentProvider(list(components(package).values()), f"gpufleet-{package}")
    assert sorted(provider._component_defs) == sorted(SAMPLES[package])


@every_component()
def test_component_has_the_shape_that_the_host_calls(sample: Sample):
    name, args, opts = list(inspect.signature(sample.component.__init__).parameters.values())[1:]
    assert (name.name, name.annotation) == ("name", str)
    assert (args.name, args.annotation.__name__) == ("args", f"{sample.kind}Args")
    assert (opts.name, opts.default, opts.annotation) == ("opts", None, pulumi.ResourceOptions | None)


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
def test_component_describes_each_argument_of_its_own(sample: Sample):
    analysis = Analyzer(f"gpufleet-{sample.package}").analyze([sample.component])["component_definitions"][sample.kind]
    described = {analysis.inputs_mapping[key] for key, value in analysis.inputs.items() if value.description}
    assert fields_written_in(sample.args_type) - described == set()


def served(sample: Sample) -> ComponentProvider:
    return ComponentProvider([sample.component], f"gpufleet-{sample.package}")


def fields_written_in(declared: type) -> set[str]:
    """The fields in the class body itself, without those that it inherits."""
    lines = inspect.getsource(declared).splitlines()[1:]
    written = {line.split(":")[0].strip() for line in lines if line.startswith("    ") and ": " in line}
    return written & vars(declared)["__annotations__"].keys()
