"""A component's arguments as a pydantic model: one definition of every word serves component and configuration."""

import ast
import inspect
import sys
import textwrap
import typing
from collections.abc import Collection, Iterator
from typing import Any, TypeVar

import pulumi
from pydantic import BaseModel, create_model

Model = TypeVar("Model", bound=BaseModel)

_DEFINITIONS: dict[type, type] = {}

# Pulumi's Input[T] names the third of its alternatives, Output[T], only as text.
_OF_PULUMI = {"Output": pulumi.Output, "T": Any}


def model_of(definition: type, base: type[Model], without: Collection[str] = ()) -> type[Model]:
    """The model, derived from `base`, with the fields of a TypedDict in their order.

    Fields that may be absent default to None; an Input becomes the plain value. TypedDicts inside become models too
    (pydantic takes none before Python 3.12). `without`: fields that the stack fills in itself.
    """
    fields: dict[str, Any] = {}
    for name, hint in typing.get_type_hints(definition, localns=_OF_PULUMI).items():
        if name in without:
            continue
        kind = _with_models(hint, base)
        required = name in definition.__required_keys__
        fields[name] = (kind if required else kind | None, ... if required else None)
    model = create_model(definition.__name__, __base__=base, **fields)
    _DEFINITIONS[model] = definition
    return model


def texts_of(model: type) -> dict[str, str]:
    """The string literal under each field of a model, or of the TypedDict that it was made from."""
    return _texts(_DEFINITIONS.get(model, model))


def _with_models(hint: object, base: type[Model]) -> object:
    if typing.is_typeddict(hint):
        return model_of(hint, base)
    arguments = typing.get_args(hint)
    if not arguments:
        return hint
    if any(typing.get_origin(argument) is pulumi.Output for argument in arguments):
        return _with_models(arguments[0], base)
    return typing.get_origin(hint)[tuple(_with_models(argument, base) for argument in arguments)]


def _texts(definition: type) -> dict[str, str]:
    """The string literal under each field, the inherited ones first."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(definition))).body[0]
    assert isinstance(tree, ast.ClassDef)
    texts: dict[str, str] = {}
    for parent in _parents(definition, tree):
        declares = isinstance(parent, type) and issubclass(parent, BaseModel) and parent is not BaseModel
        if declares or typing.is_typeddict(parent):
            texts |= texts_of(parent)
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                texts[name] = inspect.cleandoc(words)
            case _:
                pass
    return texts


def _parents(definition: type, tree: ast.ClassDef) -> Iterator[type]:
    """The classes that a definition names. Before Python 3.12 a TypedDict remembers none, so its source is asked."""
    if not typing.is_typeddict(definition):
        yield from definition.__bases__
        return
    known = vars(sys.modules[definition.__module__])
    for base in tree.bases:
        if isinstance(base, ast.Name) and isinstance(known.get(base.id), type):
            yield known[base.id]
