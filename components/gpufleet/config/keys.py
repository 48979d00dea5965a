"""The keys of a configuration: which there are, for the generated tables, and where one belongs."""

from collections.abc import Iterator, Sequence

from gpufleet.typed_dicts import Field, Shape, docstrings_of, fields_of, is_record, record_in


def walk(declared: type, prefix: str = "") -> Iterator[tuple[str, Field, str]]:
    """Every key with its field and description, in reading order.

    `<name>` stands for a name of the user's choice, `[]` for an entry of a list. An object of keys has an entry of its
    own where a configuration may be without it.
    """
    texts = docstrings_of(declared)
    for name, field in fields_of(declared).items():
        key, inner = f"{prefix}{name}", record_in(field.shape)
        if not is_record(field.shape) or not (field.required or field.default):
            yield key, field, texts[name]
        if inner is not None:
            yield from walk(inner, f"{key}{_step(field.shape)}")


def _step(shape: Shape | None) -> str:
    """How a key continues inside of a field: `.key`, `.<name>.key` in a mapping, `[].key` in a list."""
    if shape is None or is_record(shape):
        return "."
    return ("[]" if shape.kind is list else ".<name>") + _step(shape.item)


def key_elsewhere(path: Sequence[str], environment: str, *, rented: bool) -> str | None:
    """What to do instead of an unknown key that other pools have, None for any other. rented: whether by a cloud.

    Sizes by the hours are built on EKS alone, where the key is known.
    """
    if path[-1] != "schedule" or "pools" not in path[:-1]:
        return None
    if not rented or path[0] == "own_servers":
        return "own servers are not rented by the hour: leave it out"
    stop = f"gpufleet stop {environment}"
    return f"only pools on EKS have sizes by the hours: let cron run `{stop} --yes` and `{stop} --undo`"
