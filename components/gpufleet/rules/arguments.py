"""Rules on the arguments themselves: names and kinds, from the TypedDict that declares them."""

import collections.abc
from collections.abc import Callable, Mapping, Sequence

from gpufleet.rules.coerce import is_texts, is_whole
from gpufleet.rules.messages import join_words, nearest
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.typed_dicts import Shape, fields_of, is_record


@rule("any-argument-known", Severity.ERROR)
def argument_known(*, name: str, value: object, known: Sequence[str]) -> Outcome:
    """An argument is one that the component declares.

    Source: TypedDicts are not checked when a program runs, and Pulumi lets unknown keys of a component pass.
    """
    if name in known:
        return passed()
    near = nearest(name, known)
    fix = f"did you mean {near}?" if near else f"remove it, or use {join_words(sorted(known))}"
    return failed(name, value, "unknown argument", fix)


@rule("any-argument-given", Severity.ERROR)
def argument_given(*, name: str, given: bool, says: str) -> Outcome:
    """A required argument is given.

    Source: TypedDicts are not checked when a program runs.
    """
    return passed() if given else failed(name, None, "is required", f"give {says}")


@rule("any-argument-kind", Severity.ERROR)
def argument_kind(*, name: str, value: object, kind: type | None) -> Outcome:
    """An argument that rules check is a plain value of its declared kind, known before anything is deployed.

    Source: TypedDicts are not checked when a program runs; outputs are unknown in preview (pulumi/pulumi#12372).
    """
    if kind is None or _KINDS[kind][1](value):
        return passed()
    seen = f'"{value}"' if isinstance(value, str) else value  # "2" is not 2
    return failed(name, seen, f"is not {_KINDS[kind][0]}", f"give {_KINDS[kind][0]}, known before deployment")


def validate_arguments(args: Mapping[str, object], declared: type) -> list[Finding]:
    """Unknown, missing and wrongly typed arguments. `declared` is the component's TypedDict of arguments.

    Fields of plain kinds are checked by kind; one that takes an Input takes anything.
    """
    fields = fields_of(declared)
    findings = [argument_known(name=str(name), value=value, known=tuple(fields)) for name, value in args.items()]
    for name, field in fields.items():
        kind = None if field.shape.is_input else _kind(field.shape)
        given = args.get(name) is not None
        if field.required:
            findings.append(argument_given(name=name, given=given, says=_KINDS[kind][0] if kind else "a value"))
        if given:
            findings.append(argument_kind(name=name, value=args[name], kind=kind))
    return findings


def _kind(shape: Shape) -> type | None:
    """The kind in `_KINDS` that a shape asks for, or None when it takes more than plain values."""
    if is_record(shape):
        return collections.abc.Mapping
    if shape.kind not in (list, dict):
        return shape.kind
    text = shape.item is not None and shape.item.kind is str and not shape.item.is_input
    if shape.kind is list:
        return list if text else collections.abc.Sequence
    return dict if text else collections.abc.Mapping


def _is_text_mapping(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(word, str) for pair in value.items() for word in pair)


_KINDS: dict[type, tuple[str, Callable[[object], bool]]] = {
    str: ("a string", lambda value: isinstance(value, str)),
    int: ("a whole number", is_whole),
    float: ("a number", lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    list: ("a list of strings", is_texts),
    dict: ("a mapping from strings to strings", _is_text_mapping),
    collections.abc.Sequence: ("a list", lambda value: isinstance(value, Sequence) and not isinstance(value, str)),
    collections.abc.Mapping: ("a mapping", lambda value: isinstance(value, Mapping)),
}
