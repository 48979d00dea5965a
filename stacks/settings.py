"""The configuration of an environment: every key, typed, described and validated as a whole.

Pulumi itself lets unknown keys pass and stops at the first missing one; here all faults are reported at once,
each with its key, what is legal, and the nearest known key for a misspelt one.
"""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from gpufleet.aws.cluster import ClusterArgs
from gpufleet.aws.network import NetworkArgs
from gpufleet.aws.registry import RegistryArgs
from gpufleet.aws.shared_files import SharedFilesArgs
from gpufleet.pool import Pool
from typed_dict import model_of, texts_of

# The engine reads a day that YAML knows as a date and hands it on as a moment.
Day = Annotated[date, BeforeValidator(lambda day: str(day).removesuffix(" 00:00:00 +0000 UTC"))]

_WORDS = {
    "model_type": "is no mapping; write keys under it",
    "dict_type": "is no mapping; write keys under it",
    "sequence_str": "is a single value; write a list, [a, b]",
    "list_type": "is no list; write [a, b]",
    "string_type": "is no text; put it in quotes",
    "string_too_short": "is empty; give it a value",
    "int_parsing": "is no number; write a whole one",
    "int_from_float": "is no whole number; write one",
    "bool_parsing": "is neither; write true or false",
    "date_from_datetime_parsing": "is no day; write one like 2027-01-31",
    "date_from_datetime_inexact": "is a moment; write a day like 2027-01-31",
}
"""What is illegal, and what would be legal, by pydantic's kind of error; for other kinds its own words do."""

PROVIDERS = ("aws", "pulumi")
"""Namespaces of keys that are not ours and go to a provider or to the engine as they are."""


class SettingsError(Exception):
    """The environment's configuration is not legal; the text holds one line for each fault."""


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


# Every word is defined once, where the component takes it; the configuration leaves out what the stack fills in.
_FILLED = {"region", "tags", "erase"}
PoolSettings = model_of(Pool, _Settings)
NetworkSettings = model_of(NetworkArgs, _Settings, without={*_FILLED, "cluster_name"})
ClusterSettings = model_of(ClusterArgs, _Settings, without={*_FILLED, "subnet_ids", "node_subnet_ids", "cluster_name"})
FilesSettings = model_of(
    SharedFilesArgs,
    _Settings,
    without={*_FILLED, "zones", "vpc_id", "subnet_ids", "client_security_group_ids", "zone_names"},
)
RegistrySettings = model_of(RegistryArgs, _Settings, without=_FILLED)


class ExistingCluster(_Settings):
    name: str
    """Name of the EKS cluster."""
    security_group_id: str
    """The security group that EKS made for it."""
    endpoint: str
    """URL of its Kubernetes API."""
    certificate_authority: str
    """Its certificate, base64 of PEM."""
    service_cidr: str | None = None
    """IPv4 range of its Kubernetes services. Needed for nodes with an image of your own only."""
    node_role_arn: str | None = None
    """Role of the GPU nodes. Default: each pool makes one of its own."""


class AwsSettings(_Settings):
    """All keys of an AWS environment, under `gpufleet:` in its Pulumi.<environment>.yaml."""

    cloud: Literal["aws"]
    """Which stack this environment is: aws."""
    region: str
    """Region code, for instance us-east-1."""
    owner: str = Field(min_length=1)
    """Who answers for the environment; a tag on everything."""
    project: str = Field(min_length=1)
    """What it is for; a tag on everything."""
    expires_at: Day | None = None
    """Day (2027-01-31) after which nobody needs the environment any more; a tag on everything."""
    tags: dict[str, str] = {}
    """More tags for everything."""
    zone_names: dict[str, str] = {}
    """Your account's name of each zone id (use1-az1: us-east-1a). Needed for One Zone files only."""
    network: NetworkSettings
    """The VPC."""
    cluster: ClusterSettings = ClusterSettings()
    """The EKS cluster."""
    existing_cluster: ExistingCluster | None = None
    """An EKS cluster to use instead of making one; give its VPC under network too."""
    pools: dict[str, PoolSettings] = {}
    """GPU node groups by name."""
    files: FilesSettings = FilesSettings()
    """The shared file system (EFS), mounted in every zone that has GPU nodes."""
    registry: RegistrySettings = RegistrySettings()
    """The container registry (ECR). Repositories get the environment's name in front: aws-dev/<name>."""
    erase: bool = False
    """Let `pulumi destroy` delete the data too: file system, access point, repositories. Takes effect by an `up`."""


def read(config: Mapping[str, str], environment: str) -> AwsSettings:
    """The settings of an environment from the engine's configuration (PULUMI_CONFIG: key -> text or JSON).

    Errors: SettingsError with one line for each fault.
    """
    values: dict[str, Any] = {}
    lines: list[str] = []
    for key, text in config.items():
        namespace, _, name = key.partition(":")
        if key == "gpufleet:region":
            lines.append(
                f"Pulumi.{environment}.yaml: {key}: the provider's own key says it; set aws:region [config-region]"
            )
        elif namespace == "gpufleet":
            values[name] = _parse(text)
        elif namespace not in PROVIDERS:
            near = difflib.get_close_matches(namespace, ["gpufleet", *PROVIDERS], n=1)
            hint = f"did you mean {near[0]}:{name}?" if near else f"known: gpufleet, {', '.join(PROVIDERS)}"
            lines.append(f"Pulumi.{environment}.yaml: {key}: unknown namespace; {hint} [config-unknown-key]")
    if "aws:region" in config:
        values["region"] = config["aws:region"]
    try:
        settings = AwsSettings.model_validate(values)
    except ValidationError as error:
        lines += _lines(error, environment)
    if lines:
        raise SettingsError("\n".join(lines))
    return settings


def _parse(text: str) -> object:
    """Objects and lists come from the engine as JSON, everything else as text, which may look like JSON and be none."""
    try:
        return json.loads(text) if text[:1] in ("{", "[") else text
    except ValueError:
        return text


def _lines(error: ValidationError, environment: str) -> Iterator[str]:
    faults = error.errors()
    meant = {
        (*fault["loc"][:-1], near)
        for fault in faults
        if fault["type"] == "extra_forbidden" and (near := nearest(fault["loc"])) is not None
    }
    for fault in faults:
        # A misspelt key is one fault, not two: the key that it meant is not also missing.
        if fault["type"] != "missing" or fault["loc"] not in meant:
            yield _line(fault, environment)


def _line(fault: ErrorDetails, environment: str) -> str:
    path = fault["loc"]
    key = "aws:region" if path == ("region",) else f"gpufleet:{'.'.join(map(str, path))}"
    where = f"Pulumi.{environment}.yaml: {key}"
    if fault["type"] == "extra_forbidden":
        near = nearest(path)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(known_keys(path[:-1]))}"
        return f"{where}: unknown key; {hint} [config-unknown-key]"
    if fault["type"] == "missing":
        return f"{where}: missing; set it with `pulumi config set --path '{key}' VALUE` [config-missing-key]"
    if fault["type"] == "literal_error":
        words = f"is none of the legal words; use {fault['ctx']['expected']}"
    else:
        words = _WORDS.get(fault["type"]) or f"{fault['msg'][0].lower()}{fault['msg'][1:]}"
    return f"{where}={fault['input']!r}: {words} [config-value]"


def nearest(path: Sequence[int | str]) -> str | None:
    """The known key that an unknown one at the end of `path` most likely means."""
    near = difflib.get_close_matches(str(path[-1]), known_keys(path[:-1]), n=1)
    return near[0] if near else None


def known_keys(path: Sequence[int | str]) -> list[str]:
    """Keys that are legal under a path of keys, sorted."""
    model: type[BaseModel] | None = AwsSettings
    inner: object = AwsSettings
    for part in path:
        # A name of the user's choice or a list's index leads to the model inside; a key to the model of its field.
        inner = model.model_fields[str(part)].annotation if model and part in model.model_fields else inner
        model = _model_in(inner)
    return sorted(model.model_fields) if model else []


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The settings model that a field holds: itself, or in a list, a mapping or an optional."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_in, get_args(annotation))), None)


def walk(model: type[BaseModel] = AwsSettings, prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
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
