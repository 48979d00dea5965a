"""Arguments as programs in other languages write them: what is wrong with their shape, and findings in their spelling.

Pulumi's SDK maps camelCase to our names, but silently drops unknown names and stops at the first missing one.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pulumi
from pulumi.provider.experimental.analyzer import ComponentDefinition, PropertyDefinition, PropertyType, TypeDefinition

from gpufleet.rules import Finding, Status
from gpufleet.rules.arguments import argument_given, argument_kind, argument_known

_EXACT = 2**53
"""From here on a float is not an exact whole number."""
_KINDS: Mapping[PropertyType | None, type] = {
    PropertyType.STRING: str,
    PropertyType.INTEGER: int,
    PropertyType.NUMBER: float,
    PropertyType.BOOLEAN: bool,
}
"""Kind of a schema -> kind that rules know."""


def off_the_wire(value: object) -> object:
    """A value as its program wrote it: every number comes over the wire as a float, 2 as 2.0.

    A mapping comes in another order each time, and what is made of it would then change with each `up`: the order of
    its keys is one that stays.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    if isinstance(value, Mapping):
        return {key: off_the_wire(value[key]) for key in sorted(value)}
    return [off_the_wire(each) for each in value] if isinstance(value, list) else value


def misshapen(
    inputs: Mapping[str, object], component: ComponentDefinition, types: Mapping[str, TypeDefinition]
) -> list[Finding]:
    """Names that are unknown or missing, at any depth, and values of which the mapping to our names makes nothing.

    An output where the schema says plain is one: a component validates such an argument before anything is deployed.
    The component itself validates the types of all others.
    """
    found = _of_fields(inputs, component.inputs, types, "")
    return [finding for finding in found if finding.status is Status.FAIL]


def _of_fields(
    given: Mapping[str, object],
    fields: Mapping[str, PropertyDefinition],
    types: Mapping[str, TypeDefinition],
    within: str,
) -> Iterator[Finding]:
    for name, value in given.items():
        yield _at(within, argument_known(name=name, value=value, known=tuple(fields)))
    for name, declared in fields.items():
        value = given.get(name)
        if value is None:
            yield _at(within, argument_given(name=name, given=declared.optional, says="a value"))
        else:
            yield from _of_value(value, declared, types, f"{within}{name}")


def _at(within: str, finding: Finding) -> Finding:
    return replace(finding, argument=f"{within}{finding.argument}")


def _of_value(
    value: object, declared: PropertyDefinition, types: Mapping[str, TypeDefinition], where: str
) -> Iterator[Finding]:
    if isinstance(value, pulumi.Output):
        if declared.plain:
            yield argument_kind(name=where, value=value, kind=_kind(declared))
        return
    fields = _type_of(declared, types)
    inner = declared.items or declared.additional_properties
    if fields is not None and isinstance(value, Mapping):
        yield from _of_fields(value, fields.properties, types, f"{where}.")
    elif inner is not None and isinstance(value, Mapping if declared.additional_properties else list):
        parts = value.items() if isinstance(value, Mapping) else enumerate(value)
        places = ((f"{where}.{key}" if isinstance(value, Mapping) else f"{where}[{key}]", each) for key, each in parts)
        for place, each in places:
            yield from _of_value(each, inner, types, place)
    elif fields is not None or (inner is not None and _holds_types(inner, types)):
        yield argument_kind(name=where, value=value, kind=_kind(declared))
    elif declared.type is PropertyType.INTEGER and not isinstance(value, int | float):
        yield argument_kind(name=where, value=value, kind=int)


def _kind(declared: PropertyDefinition) -> type:
    """The kind that a finding asks for. Lists and mappings are those of texts but where the schema has others."""
    inner = declared.items or declared.additional_properties
    if inner is None:
        return _KINDS.get(declared.type, Mapping)
    if inner.type is PropertyType.STRING:
        return list if declared.items else dict
    return Sequence if declared.items else Mapping


def _type_of(declared: PropertyDefinition, types: Mapping[str, TypeDefinition]) -> TypeDefinition | None:
    return types.get(declared.ref.rpartition(":")[2]) if declared.ref else None


def _holds_types(declared: PropertyDefinition, types: Mapping[str, TypeDefinition]) -> bool:
    inner = declared.items or declared.additional_properties
    return _type_of(declared, types) is not None or (inner is not None and _holds_types(inner, types))


def spelling(
    component: ComponentDefinition, package: Mapping[str, ComponentDefinition], types: Mapping[str, TypeDefinition]
) -> Callable[[Finding], Finding]:
    """A function that converts a finding's argument, value and message to the spelling of other languages.

    In messages, names are recognized by their _: those of the component's arguments and of the package's outputs.
    """
    texts = dict(_names(component.inputs, component.inputs_mapping, types))
    for each in package.values():
        texts |= {ours: theirs for theirs, ours in each.outputs_mapping.items() if ours not in texts}

    def respelled(text: str) -> str:
        return re.sub(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b", lambda word: texts.get(word[0], word[0]), text)

    def spelt(finding: Finding) -> Finding:
        whole = TypeDefinition("", PropertyType.OBJECT, component.inputs, component.inputs_mapping, "", dict)
        place, declared = _place(f".{finding.argument}", whole, None, types)
        return replace(
            finding,
            argument=place[1:],
            value=_value(finding.value, declared, types) if declared else finding.value,
            problem=respelled(finding.problem),
            fix=respelled(finding.fix),
        )

    return spelt


def _names(
    fields: Mapping[str, PropertyDefinition], mapping: Mapping[str, str], types: Mapping[str, TypeDefinition]
) -> Iterator[tuple[str, str]]:
    """Our spelling and theirs of all fields, those of inner types included."""
    yield from ((ours, theirs) for theirs, ours in mapping.items())
    for declared in fields.values():
        inner: PropertyDefinition | None = declared
        while inner is not None:
            if kind := _type_of(inner, types):
                yield from _names(kind.properties, kind.properties_mapping, types)
            inner = inner.items or inner.additional_properties


def _place(
    path: str, fields: TypeDefinition | None, declared: PropertyDefinition | None, types: Mapping[str, TypeDefinition]
) -> tuple[str, PropertyDefinition | None]:
    """A path such as .taints[0].key in their spelling, and what is declared there. Keys of mappings stay."""
    step = re.match(r"(\.[^.\[]*|\[[^]]*\])", path)
    if step is None or (fields is None and declared is None):
        return path, declared
    first, rest = step[0], path[step.end() :]
    inner: PropertyDefinition | None
    if fields is not None:
        theirs = {ours: theirs for theirs, ours in fields.properties_mapping.items()}.get(first[1:])
        if theirs is None:
            return path, None
        first, inner = f".{theirs}", fields.properties[theirs]
    else:
        inner = declared and (declared.items or declared.additional_properties)
        if inner is None:
            return path, None
    end, there = _place(rest, _type_of(inner, types), inner, types)
    return first + end, there


def _value(value: object, declared: PropertyDefinition, types: Mapping[str, TypeDefinition]) -> object:
    """A value in their spelling: fields of our types, and lists of their names; keys of mappings stay."""
    fields, inner = _type_of(declared, types), declared.items or declared.additional_properties
    if fields is not None:
        theirs = {ours: theirs for theirs, ours in fields.properties_mapping.items()}
        if isinstance(value, list | tuple):
            return [theirs.get(str(each), each) for each in value]
        if isinstance(value, Mapping):
            known = {
                theirs[key]: _value(value[key], fields.properties[theirs[key]], types) for key in theirs if key in value
            }
            return known | {key: each for key, each in value.items() if key not in theirs}
    if inner is not None and isinstance(value, Mapping):
        return {key: _value(each, inner, types) for key, each in value.items()}
    if inner is not None and isinstance(value, list | tuple):
        return [_value(each, inner, types) for each in value]
    return value
