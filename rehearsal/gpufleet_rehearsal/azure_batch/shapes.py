"""Which JSON Azure Batch's REST API takes and gives, read off the SDK's models: names, types, what is required.

The SDK itself sends whatever it is given; here a wrong name is a fault, as it is to Batch.
"""

import inspect
import re
import types
import typing
from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from azure.batch import models
from azure.batch._utils.model_base import Model
from azure.batch.models import _models

_DURATION = re.compile(r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def faults(model: str, value: Any, sent: bool = True) -> list[tuple[str, str, str]]:  # noqa: ANN401
    """(code of Batch, property, reason) of everything that is illegal. sent: in a request, not in an answer."""
    cls = getattr(models, model, None) or getattr(_models, model)
    return list(_of_model(cls, value, "", sent))


def _of_model(cls: Any, value: Any, at: str, sent: bool) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401
    if not isinstance(value, dict):
        yield "InvalidPropertyValue", at, "is not an object"
        return
    cls({})  # The SDK reads its own declarations when the first one is made.
    hints = typing.get_type_hints(cls, vars(_models) | {"_models": models})
    fields = {field._rest_name: (name, field) for name, field in cls._attr_to_rest_field.items()}
    for key in value:
        if key not in fields:
            yield "UnsupportedProperty", f"{at}{key}", "is not known"
        elif sent and fields[key][1]._visibility == ["read"]:
            yield "UnsupportedProperty", f"{at}{key}", "is read only"
    first = typing.get_overloads(cls.__init__)[0] if typing.get_overloads(cls.__init__) else None
    signature = inspect.signature(first).parameters if first else {}
    for key, (name, _) in fields.items():
        if key in value:
            yield from _of_type(hints[name], value[key], f"{at}{key}", sent)
        elif sent and name in signature and signature[name].default is inspect.Parameter.empty:
            yield "MissingRequiredProperty", f"{at}{key}", "is missing"


def _of_type(wanted: Any, value: Any, at: str, sent: bool) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        kinds = [each for each in arguments if each is not type(None)]
        # A word of an enumeration, or the enumeration: the latter says which words there are.
        enumerations = [each for each in kinds if isinstance(each, type) and issubclass(each, Enum)]
        wanted, origin = (enumerations or kinds)[0], typing.get_origin((enumerations or kinds)[0])
        arguments = typing.get_args(wanted)
    wrong = ("InvalidPropertyValue", at, f"{value!r} is illegal")
    if origin is list:
        if not isinstance(value, list):
            yield wrong
            return
        for index, each in enumerate(value):
            yield from _of_type(arguments[0], each, f"{at}[{index}]", sent)
    elif hasattr(wanted, "_attr_to_rest_field") or (isinstance(wanted, type) and issubclass(wanted, Model)):
        yield from _of_model(wanted, value, f"{at}.", sent)
    elif isinstance(wanted, type) and issubclass(wanted, Enum):
        if str(value).lower() not in {str(each.value).lower() for each in wanted}:
            yield wrong
    elif wanted is timedelta:
        if not isinstance(value, str) or not _DURATION.fullmatch(value):
            yield wrong
    elif wanted is datetime:
        if not isinstance(value, str) or not _MOMENT.fullmatch(value):
            yield wrong
    elif wanted in (str, bool, int) and type(value) is not wanted:
        yield wrong
