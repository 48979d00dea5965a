"""The keys of a configuration, for messages and for the generated table: which there are, and which one was meant."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from typed_dict import texts_of


def nearest(model: type[BaseModel], path: Sequence[int | str]) -> str | None:
    """The known key that an unknown one at the end of `path` most likely means."""
    near = difflib.get_close_matches(str(path[-1]), known_keys(model, path[:-1]), n=1)
    return near[0] if near else None


def elsewhere(path: Sequence[int | str], environment: str, *, rented: bool) -> str | None:
    """What to do instead of an unknown key that pools have elsewhere, None for any other. rented: whether by a cloud.

    Sizes by the hours are built on EKS alone, where the key is known.
    """
    if path[-1] != "schedule" or "pools" not in path[:-1]:
        return None
    if not rented or path[0] == "own_servers":
        return "own servers are not rented by the hour: leave it out"
    stop = f"gpufleet stop {environment}"
    return f"only pools on EKS have sizes by the hours: let cron run `{stop}` and `{stop} --undo`"


def known_keys(model: type[BaseModel], path: Sequence[int | str]) -> list[str]:
    """Keys that are legal under a path of keys, sorted."""
    here: type[BaseModel] | None = model
    inner: object = model
    for part in path:
        # A name of the user's choice or a list's index leads to the model inside; a key to the model of its field.
        inner = here.model_fields[str(part)].annotation if here and part in here.model_fields else inner
        here = _model_in(inner)
    return sorted(here.model_fields) if here else []


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The settings model that a field holds: itself, or in a list, a mapping or an optional."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def walk(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every key with its field, in reading order; `<name>` stands for a name of the user's choice, `[]` for a list.

    Only here do the fields get their descriptions: a run of the program needs none, and reading them takes long.
    """
    texts = texts_of(model)
    for name, field in model.model_fields.items():
        field.description = texts[name]
        key = f"{prefix}{name}"
        inner = _model_in(field.annotation)
        if inner is not field.annotation:
            yield key, field
        if inner is not None:
            yield from walk(inner, f"{key}{_step(field.annotation)}")


def _step(annotation: object) -> str:
    """How a key goes on inside a field: `.key`, `.<name>.key` in a mapping, `[].key` in a list."""
    if isinstance(annotation, type):
        return "."
    kind = get_origin(annotation)
    if isinstance(kind, type) and issubclass(kind, Mapping):
        return ".<name>."
    if isinstance(kind, type) and issubclass(kind, Sequence):
        return "[]."
    return next(_step(argument) for argument in get_args(annotation) if _model_in(argument))
