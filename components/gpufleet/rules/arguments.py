"""Rules on the arguments themselves: names and kinds, from the TypedDict that declares them."""

import collections.abc
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence

from gpufleet.rules.read import is_texts, is_whole
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.wording import listed, nearest


@rule("any-argument-known", Severity.ERROR)
def argument_known(*, name: str, value: object, known: Sequence[str]) -> Outcome:
    """An argument is one that the component declares.

    Source: TypedDicts are not checked when a program runs, and Pulumi lets unknown keys of a component pass.
    """
    if name in known:
        return passed()
    near = nearest(name, known)
    fix = f"did you mean {near}?" if near else f"remove it, or use {listed(sorted(known))}"
    return failed(name, value, "there is no argument of this name", fix)


@rule("any-argument-given", Severity.ERROR)
def argument_given(*, name: str, given: bool, says: str) -> Outcome:
    """A required argument is given.

    Source: TypedDicts are not checked when a program runs.
    """
    return passed() if given else failed(name, None, "is required and was not given", f"give {says}")


@rule("any-argument-kind", Severity.ERROR)
def argument_kind(*, name: str, value: object, kind: type | None) -> Outcome:
    """An argument that rules judge is a plain value of its declared kind, known before anything is deployed.

    Source: TypedDicts are not checked when a program runs; outputs are unknown in preview (pulumi/pulumi#12372).
    """
    if kind is None or _KINDS[kind][1](value):
        return passed()
    seen = f'"{value}"' if isinstance(value, str) else value  # "2" is not 2
    return failed(name, seen, f"is not {_KINDS[kind][0]}", f"give {_KINDS[kind][0]}, known before deployment")


def judge_arguments(args: Mapping[str, object], declared: type) -> list[Finding]:
    """Unknown, missing and wrongly typed arguments. `declared` is the component's TypedDict of arguments.

    Only fields of plain kinds are judged by kind; a field that takes an Input takes anything.
    """
    # Not typing.get_type_hints: it evaluates what pulumi.Input hides behind forward references, and fails.
    fields = {name: _kind(hint) for name, hint in inspect.get_annotations(declared).items()}
    required: frozenset[str] = getattr(declared, "__required_keys__", frozenset())
    findings = [argument_known(name=str(name), value=value, known=tuple(fields)) for name, value in args.items()]
    for name, kind in fields.items():
        given = args.get(name) is not None
        if name in required:
            findings.append(argument_given(name=name, given=given, says=_KINDS[kind][0] if kind else "a value"))
        if given:
            findings.append(argument_kind(name=name, value=args[name], kind=kind))
    return findings


def _kind(hint: object) -> type | None:
    """The kind in `_KINDS` that an annotation asks for, or None when it takes more than plain values."""
    if typing.get_origin(hint) in (typing.NotRequired, typing.Required):
        return _kind(typing.get_args(hint)[0])
    bare = typing.get_origin(hint) or hint
    if bare is collections.abc.Sequence or bare is list:
        return list if typing.get_args(hint) == (str,) else None
    if bare is collections.abc.Mapping or bare is dict:
        return dict if typing.get_args(hint) == (str, str) else None
    return bare if isinstance(bare, type) and bare in _KINDS else None


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
