"""What a TypedDict declares, as data: for validating arguments, reading a configuration, and documenting both.

Imports no pulumi, and no class is made at run time: the annotations are read as they are.
"""

import ast
import collections.abc
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar


@dataclass(frozen=True)
class Default:
    """In an annotation, `Annotated[int, Default(2)]`: what a configuration without the key has there."""

    value: object


@dataclass(frozen=True)
class Check:
    """In an annotation, `Annotated[str, Check(parse)]`: how a configuration's value is read.

    parse: returns the value to use, or raises ValueError with what it must be. takes_mapping: whether it makes the
    field's text of a mapping, too.
    """

    parse: Callable[[Any], object]
    takes_mapping: bool = False


@dataclass(frozen=True)
class NumberRange:
    """In an annotation, `Annotated[int, NumberRange(1, 7)]`: the numbers that rules accept whatever other fields say.

    It documents and completes, and rejects nothing itself. most: None for no limit. above: `least` itself is too small.
    """

    least: float
    most: float | None = None
    above: bool = False


@dataclass(frozen=True)
class Encrypted:
    """In an annotation, `Annotated[str, Encrypted()]`: a configuration has the value encrypted, never in plain text."""


@dataclass(frozen=True)
class Shape:
    """What a value is.

    kind: str, int, float, bool, list, dict, a TypedDict, or None for anything. item: of a list's or a mapping's values.
    choices: the only legal values. is_input: whether an output of another resource may be in its place.
    """

    kind: type | None
    item: "Shape | None" = None
    choices: tuple[str, ...] = ()
    is_input: bool = False


@dataclass(frozen=True)
class Field:
    """One key of a TypedDict."""

    name: str
    shape: Shape
    required: bool
    default: Default | None = None
    checks: tuple[Check, ...] = ()
    encrypted: bool = False
    range: NumberRange | None = None


@cache
def fields_of(declared: type) -> Mapping[str, Field]:
    """The keys of a TypedDict by name, the inherited ones first."""
    required: frozenset[str] = getattr(declared, "__required_keys__", frozenset())
    return {name: _field(name, hint, name in required) for name, hint in inspect.get_annotations(declared).items()}


def _field(name: str, hint: object, required: bool) -> Field:
    if typing.get_origin(hint) in (typing.NotRequired, typing.Required):
        (hint,) = typing.get_args(hint)
    if typing.get_origin(hint) is not typing.Annotated:
        return Field(name, shape_of(hint), required)
    bare, *marks = typing.get_args(hint)
    default = next((mark for mark in marks if isinstance(mark, Default)), None)
    checks = tuple(mark for mark in marks if isinstance(mark, Check))
    encrypted = any(isinstance(mark, Encrypted) for mark in marks)
    numbers = next((mark for mark in marks if isinstance(mark, NumberRange)), None)
    return Field(name, shape_of(bare), required, default, checks, encrypted, numbers)


def shape_of(hint: object) -> Shape:
    """The shape that an annotation declares. Of alternatives the first counts, as Pulumi's Input[T] puts T first."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        first = shape_of(arguments[0])
        takes_output = any(typing.get_origin(each) is collections.abc.Awaitable for each in arguments)
        return Shape(first.kind, first.item, first.choices, takes_output)
    if origin is typing.Annotated:
        return shape_of(arguments[0])
    if origin is typing.Literal:
        return Shape(str, choices=arguments)
    if origin in (collections.abc.Sequence, list):
        return Shape(list, shape_of(arguments[0]))
    if origin in (collections.abc.Mapping, dict):
        return Shape(dict, shape_of(arguments[1]))
    return Shape(hint if isinstance(hint, type) and (hint in _SCALARS or typing.is_typeddict(hint)) else None)


_SCALARS = (str, int, float, bool)


D = TypeVar("D", bound=Mapping[str, Any])


def pick(declared: type[D], values: Mapping[str, Any]) -> D:
    """The keys of a mapping that a TypedDict declares, as such a TypedDict."""
    return declared(**{name: values[name] for name in fields_of(declared) if name in values})


def is_record(shape: Shape) -> bool:
    """Whether a value of the shape is a TypedDict."""
    return shape.kind is not None and typing.is_typeddict(shape.kind)


def record_in(shape: Shape | None) -> type | None:
    """The TypedDict that a value of the shape is or holds, in lists or mappings."""
    if shape is None:
        return None
    return shape.kind if is_record(shape) else record_in(shape.item)


@cache
def docstrings_of(declared: type) -> Mapping[str, str]:
    """The docstring under each key of a TypedDict, the inherited ones included."""
    texts: dict[str, str] = {}
    for parent in typed_dict_bases(declared):
        texts = {**_own_texts(parent), **texts}
    return texts


def typed_dict_bases(declared: type) -> Iterator[type]:
    """A TypedDict and those that it extends, nearest first: at run time it does not say which, its source does."""
    yield declared
    known = vars(sys.modules[declared.__module__])
    for base in _source(declared).bases:
        parent = known.get(base.id) if isinstance(base, ast.Name) else None
        if isinstance(parent, type) and typing.is_typeddict(parent):
            yield from typed_dict_bases(parent)


def _own_texts(declared: type) -> dict[str, str]:
    body = _source(declared).body
    texts: dict[str, str] = {}
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                texts[name] = inspect.cleandoc(words)
            case _:
                pass
    return texts


def _source(declared: type) -> ast.ClassDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(declared))).body[0]
    assert isinstance(tree, ast.ClassDef)
    return tree
