"""The configuration of an environment: every key, typed, described and validated as a whole.

Pulumi itself lets unknown keys pass and stops at the first missing one; here all faults are reported at once,
each with its key, what is legal, and the nearest known key for a misspelt one. A cloud's own keys stand in a module of
its own, which alone imports that cloud's components.
"""

import difflib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from importlib import import_module
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from gpufleet.cost.usage import UsageArgs, read_usage
from gpufleet.errors import UserError
from gpufleet.lifetime import span_of
from gpufleet.plan.limits import QuotaArgs, read_quotas
from gpufleet.rules.suppression import SuppressionArgs, read_suppressions
from gpufleet.rules.tags import is_day
from gpufleet.stopping import stop_is_asked
from setting_keys import elsewhere, known_keys, nearest
from typed_dict import model_of


def _span(text: str) -> str:
    if span_of(text) is None:
        raise PydanticCustomError("span_parsing", "is no time")
    return text


def _end(text: str) -> str:
    # The engine reads a day that YAML knows as a date and hands it on as a moment.
    day = text.removesuffix(" 00:00:00 +0000 UTC")
    if span_of(day) is None and not is_day(day):
        raise PydanticCustomError("end_parsing", "is no end")
    return day


Span = Annotated[str, AfterValidator(_span)]
End = Annotated[str, AfterValidator(_end)]

_WORDS = {
    "model_type": "is no mapping; write keys under it",
    "dict_type": "is no mapping; write keys under it",
    "sequence_str": "is a single value; write a list, [a, b]",
    "list_type": "is no list; write [a, b]",
    "string_type": "is no text; put it in quotes",
    "string_too_short": "is empty; give it a value",
    "int_parsing": "is no number; write a whole one",
    "int_from_float": "is no whole number; write one",
    "float_parsing": "is no number; write one",
    "bool_parsing": "is neither; write true or false",
    "end_parsing": "is no end; write a day like 2027-01-31, or a lifetime like 150h",
    "span_parsing": "is no time; write hours, days or weeks like 150h, 6d or 2w",
}
"""What is illegal, and what would be legal, by pydantic's kind of error; for other kinds its own words do."""

STACKS = {
    "aws": "aws_settings:AwsSettings",
    "aws-batch": "aws_batch_settings:AwsBatchSettings",
    "azure": "azure_settings:AzureSettings",
    "onprem": "onprem_settings:OnpremSettings",
}
"""The settings of each stack, as module:class."""


class SettingsError(Exception):
    """The environment's configuration is not legal; the text holds one line for each fault."""


class Section(BaseModel):
    """A mapping of keys that are all known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


SuppressionSettings = model_of(SuppressionArgs, Section)
QuotaSettings = model_of(QuotaArgs, Section)
UsageSettings = model_of(UsageArgs, Section)


def given(settings: BaseModel) -> dict[str, Any]:
    """The arguments that the configuration really gives; the components know the defaults."""
    return settings.model_dump(exclude_none=True)


class SharedSettings(Section):
    """The keys that mean the same on every cloud."""

    PROVIDER: ClassVar[str]
    """Namespace of the keys that the cloud's provider reads."""
    OF_PROVIDER: ClassVar[frozenset[str]]
    """Settings that come from a key of that namespace instead of one of ours."""

    cloud: Literal["aws", "aws-batch", "azure", "onprem"]
    """Which stack this environment is: aws, an EKS cluster; aws-batch, AWS Batch without one; azure, an AKS cluster,
    Azure Batch, or both; or onprem, your own Kubernetes cluster and no cloud."""
    owner: str = Field(min_length=1)
    """Who answers for the environment; a tag on everything."""
    project: str = Field(min_length=1)
    """What it is for; a tag on everything."""
    purpose: str | None = Field(default=None, min_length=1)
    """Why it is there, within the project: a paper, a class; a tag on everything. Default: the project says enough."""
    expires_at: End | None = None
    """Day (2027-01-31) after which nobody needs the environment any more, or its lifetime (150h, 6d, 2w) from when it
    was made; a tag on everything. Default: never."""
    grace: Span | None = None
    """How long it may stay after that before `gpufleet reap` destroys it: 24h, 3d; a tag on everything. Default: what
    `gpufleet reap` says."""
    tags: dict[str, str] = {}
    """More tags for everything."""
    quotas: list[QuotaSettings] = []
    """Limits of the account on vCPUs, for judging pools without credentials. `gpufleet preflight` asks the account."""
    usage: UsageSettings = UsageSettings()
    """What `gpufleet cost` and the cost pack assume about a month; the stack itself makes nothing of it."""
    suppress: list[SuppressionSettings] = []
    """Rules that this environment lives with for a while. Every report lists them."""
    erase: bool = False
    """Let `pulumi destroy` delete the data too: file system, access point, repositories. Takes effect by an `up`."""


READERS: Mapping[str, Callable[[object, str], object]] = {
    "suppress": lambda entries, where: read_suppressions(entries, where, _day_of_suppressions()),
    "quotas": read_quotas,
    "usage": read_usage,
}
"""Keys that packs and commands read too, each by one function, which raises a UserError with a line for each fault."""


def read(config: Mapping[str, str], environment: str) -> SharedSettings:
    """The settings of an environment from the engine's configuration (PULUMI_CONFIG: key -> text or JSON).

    They are of the class that `gpufleet:cloud` names. Errors: SettingsError with one line for each fault.
    """
    model = model_for(config.get("gpufleet:cloud", ""))
    file = f"Pulumi.{environment}.yaml"
    values: dict[str, Any] = {}
    lines: list[str] = []
    namespaces = (model.PROVIDER, "pulumi")
    for key, text in config.items():
        namespace, _, name = key.partition(":")
        if namespace == "gpufleet" and name in model.OF_PROVIDER:
            own = f"{model.PROVIDER}:{name}"
            lines.append(f"{file}: {key}: the provider's own key says it; set {own} [config-{name}]")
        elif namespace == "gpufleet":
            values[name] = _parse(text)
        elif namespace not in namespaces:
            near = difflib.get_close_matches(namespace, ["gpufleet", *namespaces], n=1)
            hint = f"did you mean {near[0]}:{name}?" if near else f"known: gpufleet, {', '.join(namespaces)}"
            lines.append(f"{file}: {key}: unknown namespace; {hint} [config-unknown-key]")
    for name in model.OF_PROVIDER:
        if f"{model.PROVIDER}:{name}" in config:
            values[name] = config[f"{model.PROVIDER}:{name}"]
    judged = {key: faults for key in READERS if (faults := _faults(key, values.get(key), file))}
    try:
        settings = model.model_validate(values)
    except ValidationError as error:
        # What a key's own reader has said is not said again.
        lines += _lines(model, [fault for fault in error.errors() if fault["loc"][0] not in judged], file)
    lines += chain.from_iterable(judged.values())
    if lines:
        # Without a cloud nobody knows which keys there are: what is wrong with the others is not said.
        of_cloud = [line for line in lines if line.startswith(f"{file}: gpufleet:cloud")]
        raise SettingsError("\n".join(lines if config.get("gpufleet:cloud", "") in STACKS else of_cloud or lines))
    return settings


def _day_of_suppressions() -> date:
    """The day that suppressions have to reach: today, but any day will do for a run that only stops pools."""
    return date.min if stop_is_asked() else date.today()


def model_for(cloud: str) -> type[SharedSettings]:
    """The settings of a cloud's stack; for a word that is none of the clouds, those of the first, which will say so."""
    module, _, name = STACKS.get(cloud, STACKS["aws"]).partition(":")
    model: type[SharedSettings] = getattr(import_module(module), name)
    return model


def _parse(text: str) -> object:
    """Objects and lists come from the engine as JSON, everything else as text, which may look like JSON and be none."""
    try:
        return json.loads(text) if text[:1] in ("{", "[") else text
    except ValueError:
        return text


def _faults(key: str, value: object, file: str) -> list[str]:
    """What the reader of a key says."""
    try:
        READERS[key](value, f"{file}: gpufleet:{key}")
    except UserError as error:
        return str(error).splitlines()
    return []


def _lines(model: type[SharedSettings], faults: Sequence[ErrorDetails], file: str) -> Iterator[str]:
    meant = {
        (*fault["loc"][:-1], near)
        for fault in faults
        if fault["type"] == "extra_forbidden" and (near := nearest(model, fault["loc"])) is not None
    }
    for fault in faults:
        # A misspelt key is one fault, not two: the key that it meant is not also missing.
        if fault["type"] != "missing" or fault["loc"] not in meant:
            yield _line(model, fault, file)


def _line(model: type[SharedSettings], fault: ErrorDetails, file: str) -> str:
    path = fault["loc"]
    namespace = model.PROVIDER if path[0] in model.OF_PROVIDER else "gpufleet"
    key = f"{namespace}:{'.'.join(map(str, path))}"
    where = f"{file}: {key}"
    if fault["type"] == "extra_forbidden":
        near = nearest(model, path)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(known_keys(model, path[:-1]))}"
        environment = file.removeprefix("Pulumi.").removesuffix(".yaml")
        hint = elsewhere(path, environment, rented=model.PROVIDER != "kubernetes") or hint
        return f"{where}: unknown key; {hint} [config-unknown-key]"
    if fault["type"] == "missing":
        return f"{where}: missing; set it with `pulumi config set --path '{key}' VALUE` [config-missing-key]"
    if fault["type"] == "literal_error":
        words = f"is none of the legal words; use {fault['ctx']['expected']}"
    else:
        words = _WORDS.get(fault["type"]) or f"{fault['msg'][0].lower()}{fault['msg'][1:]}"
    return f"{where}={fault['input']!r}: {words} [config-value]"
