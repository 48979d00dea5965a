"""Read a stack's configuration by the TypedDict that declares it: every fault at once, one line each.

Pulumi itself lets unknown keys pass and stops at the first missing one. Here each fault is a line with its key, what
is legal, and the nearest known key for a misspelt one.
"""

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from typing import Any

from gpufleet.config.keys import key_elsewhere
from gpufleet.config.plain_text import PlainText
from gpufleet.config.stacks import KINDS, StackKind, stack_kind
from gpufleet.cost.usage_assumptions import read_usage
from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.plan.quota_limits import read_quotas
from gpufleet.rules.coerce import from_engine
from gpufleet.rules.messages import join_words
from gpufleet.rules.suppression import read_suppressions
from gpufleet.secret_patterns import matching_patterns
from gpufleet.typed_dicts import Field, Shape, fields_of, is_record

SECRET_RULE = "config-secret"
"""Of a secret that is not encrypted. Source: pulumi.com/docs/iac/concepts/secrets."""


class ConfigError(Exception):
    """The environment's configuration is not legal; the text holds one line for each fault."""


@dataclass(frozen=True)
class Fault:
    """An error at a path of keys. rule: printed in brackets after the line."""

    path: tuple[str, ...]
    problem: str
    rule: str = "config-value"
    value: object = None


READERS: Mapping[str, Callable[[object, str], object]] = {
    "suppress": lambda entries, where: read_suppressions(entries, where, date.today()),
    "quotas": read_quotas,
    "usage": read_usage,
}
"""Keys that packs and commands read too, each by one function, which raises a UserError with a line for each fault."""


def config_of_engine() -> dict[str, str]:
    """The configuration that the engine passes to the program: key -> text, or JSON of a list or mapping."""
    return parse_json(os.environ.get("PULUMI_CONFIG", "{}"), "PULUMI_CONFIG", shape=dict[str, str])


def read_config(config: Mapping[str, str], environment: str, plain: PlainText | None = None) -> Mapping[str, Any]:
    """The configuration of an environment, as the TypedDict of its stack declares it.

    config: the engine's (PULUMI_CONFIG: key -> text or JSON). plain: which of its values are in plain text, where a
    secret is a fault; default: all. Errors: ConfigError with one line for each fault.
    """
    cloud = config.get("gpufleet:cloud", "")
    kind = stack_kind(cloud)
    file = f"Pulumi.{environment}.yaml"
    values, lines = _own_keys(config, kind, file)
    # Faults that a key's own reader reports are not reported twice.
    by_reader = {key: faults for key in READERS if (faults := _faults_of_reader(key, values.get(key), file))}
    reader = _Reader(plain or PlainText())
    read = reader.record({key: value for key, value in values.items() if key not in by_reader}, kind.config, ())
    lines += [_line(fault, kind, environment) for fault in reader.faults]
    lines += chain.from_iterable(by_reader.values())
    if lines:
        # Which keys there are depends on the cloud: without one, only its own line is certain.
        of_cloud = [line for line in lines if line.startswith(f"{file}: gpufleet:cloud")]
        raise ConfigError("\n".join(lines if cloud in KINDS else of_cloud or lines))
    return read


def _own_keys(config: Mapping[str, str], kind: StackKind, file: str) -> tuple[dict[str, object], list[str]]:
    """The values by our own keys, and lines on keys of unknown namespaces."""
    values: dict[str, object] = {}
    lines: list[str] = []
    namespaces = (kind.provider, "pulumi")
    for key, text in config.items():
        namespace, _, name = key.partition(":")
        if namespace == "gpufleet" and name in kind.provider_keys:
            own = f"{kind.provider}:{name}"
            lines.append(f"{file}: {key}: the provider has this key; set {own} [config-{name}]")
        elif namespace == "gpufleet":
            values[name] = from_engine(text)
        elif namespace not in namespaces:
            near = difflib.get_close_matches(namespace, ["gpufleet", *namespaces], n=1)
            hint = f"did you mean {near[0]}:{name}?" if near else f"known: gpufleet, {', '.join(namespaces)}"
            lines.append(f"{file}: {key}: unknown namespace; {hint} [config-unknown-key]")
    values |= {name: config[key] for name in kind.provider_keys if (key := f"{kind.provider}:{name}") in config}
    return values, lines


def _faults_of_reader(key: str, value: object, file: str) -> list[str]:
    try:
        READERS[key](value, f"{file}: gpufleet:{key}")
    except UserError as error:
        return str(error).splitlines()
    return []


class _Reader:
    """Converts values, which the engine passes as text, to the types that their shapes declare."""

    def __init__(self, plain: PlainText) -> None:
        self.faults: list[Fault] = []
        self._plain = plain

    def record(self, values: Mapping[Any, object], declared: type, path: tuple[str, ...]) -> dict[str, Any]:
        """Faults are in the order of the declaration, unknown keys last."""
        fields = fields_of(declared)
        near = {name: difflib.get_close_matches(str(name), fields, n=1) for name in values if name not in fields}
        meant = {match for matches in near.values() for match in matches}
        read: dict[str, Any] = {}
        for name, field in fields.items():
            if (value := values.get(name)) is not None:
                read[name] = self._field(value, field, (*path, name))
            elif field.default is not None:
                read[name] = field.default.value
            # A misspelt key is one fault, not two: the key that it meant is not also missing.
            elif field.required and name not in meant:
                self.faults.append(Fault((*path, name), "missing", "config-missing-key"))
        for name, matches in near.items():
            hint = f"did you mean {matches[0]}?" if matches else f"known: {', '.join(sorted(fields))}"
            self.faults.append(Fault((*path, str(name)), f"unknown key; {hint}", "config-unknown-key"))
        return read

    def _field(self, value: object, field: Field, path: tuple[str, ...]) -> object:
        if field.encrypted and path in self._plain:
            self.faults.append(Fault(path, "is stored in plain text", SECRET_RULE))
            return value
        for check in field.checks:
            try:
                value = check.parse(value)
            except ValueError as error:
                self.faults.append(Fault(path, str(error), value=value))
                return value
        return self._value(value, field.shape, path)

    def _value(self, value: object, shape: Shape, path: tuple[str, ...]) -> object:
        if is_record(shape) or shape.kind is dict:
            if not isinstance(value, Mapping):
                return self._reject(value, path, "must be a mapping; write keys under it")
            if shape.kind is not dict and shape.kind is not None:
                return self.record(value, shape.kind, path)
            item = shape.item
            return {key: self._value(each, item, (*path, str(key))) if item else each for key, each in value.items()}
        if shape.kind is list:
            if not isinstance(value, Sequence) or isinstance(value, str):
                single = "a list, not a single value" if isinstance(value, str) else "a list"
                return self._reject(value, path, f"must be {single}; write [a, b]")
            item = shape.item
            return [self._value(each, item, (*path, str(at))) if item else each for at, each in enumerate(value)]
        if isinstance(value, str) and path in self._plain:
            for pattern in matching_patterns(value):
                if not pattern.likely:
                    self.faults.append(Fault(path, f"looks like a secret in plain text ({pattern.id})", SECRET_RULE))
                    return value
        if shape.kind is None:
            return value
        return self._scalar(value, shape, path)

    def _scalar(self, value: object, shape: Shape, path: tuple[str, ...]) -> object:
        # Values of inner keys are arguments of components, whose rules explain them better.
        if shape.choices and len(path) - sum(part.isdigit() for part in path) == 1 and value not in shape.choices:
            return self._reject(value, path, f"must be {join_words([repr(word) for word in shape.choices])}")
        try:
            return _SCALARS[shape.kind or str](value)
        except ValueError as error:
            return self._reject(value, path, str(error))

    def _reject(self, value: object, path: tuple[str, ...], problem: str) -> object:
        self.faults.append(Fault(path, problem, value=value))
        return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text; put it in quotes")
    return value


def _whole(value: object) -> int:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None
    except ValueError:
        number = None
    if number is None or not number.is_integer():
        raise ValueError("must be a whole number")
    return int(value) if isinstance(value, int) else int(number)


def _number(value: object) -> float:
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise ValueError("must be a number")


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise ValueError("must be true or false")


_SCALARS: Mapping[type, Callable[[object], object]] = {str: _text, int: _whole, float: _number, bool: _flag}


def _line(fault: Fault, kind: StackKind, environment: str) -> str:
    namespace = kind.provider if fault.path[0] in kind.provider_keys else "gpufleet"
    key = f"{namespace}:{'.'.join(fault.path)}"
    where = f"Pulumi.{environment}.yaml: {key}"
    problem = fault.problem
    if fault.rule == "config-value":
        return f"{where}={fault.value!r}: {problem} [{fault.rule}]"
    if fault.rule == SECRET_RULE:
        how = f"`pulumi config set -s {environment} --secret --path '{key}'`"
        problem = f"{problem}; change it, as others may have read it, and store it by {how}"
    elif fault.rule == "config-missing-key":
        problem = f"missing; set it with `pulumi config set --path '{key}' VALUE`"
    elif hint := key_elsewhere(fault.path, environment, rented=kind.provider != "kubernetes"):
        problem = f"unknown key; {hint}"
    return f"{where}: {problem} [{fault.rule}]"
