"""Forms of one value that a pattern cannot say: JSON documents, networks, encodings. FORMS is the closed list."""

import base64
import binascii
import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime

from gpufleet_rehearsal.inputs.wire_values import Hidden, plain, validated_value

_TRUTHS = {"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"}  # Go's strconv.ParseBool
_TAGS = 50


def as_text(value: object) -> str:
    """A plain value as the provider spells it in a string slot."""
    if isinstance(value, Hidden):
        value = value.value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def is_number(value: object) -> bool:
    """Whether the bridge can make a finite number of a value: a number, or a string that spells one."""
    if isinstance(value, Hidden):
        value = value.value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    return re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", str(value)) is not None


def format_error(form: str, value: object) -> str | None:
    """What is wrong with a value of this form, or None. An unknown form is a KeyError, when the rows are loaded."""
    if isinstance(value, Hidden):
        value = value.value
    return FORMATS[form](value)


def _boolean(value: object) -> str | None:
    return None if as_text(value) in _TRUTHS else 'neither "true" nor "false"'


def _integer(value: object) -> str | None:
    return None if re.fullmatch(r"[+-]?\d+", as_text(value)) else "not a whole number"


def _number(value: object) -> str | None:
    return None if is_number(value) else "not a number"


def _timestamp(value: object) -> str | None:
    try:
        moment = datetime.fromisoformat(as_text(value))
    except ValueError:
        moment = None
    return None if moment is not None and moment.tzinfo is not None else "not a time such as 2026-01-31T12:00:00Z"


def _json(value: object) -> str | None:
    """An object: as JSON text, or as the SDK's own object."""
    if isinstance(value, Mapping):
        return None
    try:
        document = json.loads(as_text(value))
    except ValueError as error:
        return f"not JSON: {error}"
    return None if isinstance(document, dict) else "not a JSON object"


def _policy(value: object) -> str | None:
    """An IAM policy: a JSON object with Statement, each with an Effect."""
    if isinstance(value, Mapping) or (wrong := _json(value)):
        return None if isinstance(value, Mapping) else wrong
    statements = json.loads(as_text(value)).get("Statement")
    if not isinstance(statements, list | dict):
        return "a policy document without Statement"
    for statement in statements if isinstance(statements, list) else [statements]:
        if not isinstance(statement, dict) or statement.get("Effect") not in ("Allow", "Deny"):
            return "a statement's Effect must be Allow or Deny"
        if not statement.keys() & {"Action", "NotAction"}:
            return "a statement without Action"
    return None


def _trust(value: object) -> str | None:
    """An assume-role policy: a policy whose statements name a Principal."""
    if isinstance(value, Mapping) or (wrong := _policy(value)):
        return None if isinstance(value, Mapping) else wrong
    statements = json.loads(as_text(value))["Statement"]
    for statement in statements if isinstance(statements, list) else [statements]:
        if not statement.keys() & {"Principal", "NotPrincipal"}:
            return "a statement of a trust policy without Principal"
    return None


def _lifecycle(value: object) -> str | None:
    """ECR's lifecycle policy: rules, each with its own priority, a selection and an action."""
    if isinstance(value, Mapping) or (wrong := _json(value)):
        return None if isinstance(value, Mapping) else wrong
    rules = json.loads(as_text(value)).get("rules")
    if not isinstance(rules, list) or not rules:
        return "a lifecycle policy without rules"
    for rule in rules:
        if wrong := _lifecycle_rule(rule):
            return wrong
    priorities = [str(rule["rulePriority"]) for rule in rules]
    return None if len(set(priorities)) == len(priorities) else "two rules of the same rulePriority"


def _lifecycle_rule(rule: object) -> str | None:
    if not isinstance(rule, dict) or not isinstance(rule.get("selection"), dict):
        return "a rule without selection"
    if lacking := {"rulePriority", "action"} - rule.keys():
        return f"a rule without {', '.join(sorted(lacking))}"
    selection = rule["selection"]
    if selection.get("tagStatus") not in ("tagged", "untagged", "any"):
        return "a selection's tagStatus must be one of tagged, untagged, any"
    if selection["tagStatus"] == "tagged" and not selection.keys() & {"tagPrefixList", "tagPatternList"}:
        return "a selection of tagged images without tagPrefixList or tagPatternList"
    if lacking := {"countType", "countNumber"} - selection.keys():
        return f"a selection without {', '.join(sorted(lacking))}"
    if selection["countType"] == "sinceImagePushed" and selection.get("countUnit") != "days":
        return "a selection by sinceImagePushed without countUnit days"
    return None


def _network(version: int | None) -> Callable[[object], str | None]:
    def form(value: object) -> str | None:
        text = as_text(value)
        try:
            network = ipaddress.ip_network(text, strict=False) if "/" in text else None
        except ValueError:
            network = None
        if network is None or (version is not None and network.version != version):
            return f"not a network in CIDR notation such as {'2001:db8::/64' if version == 6 else '10.0.0.0/16'}"
        right = str(network)
        if text.split("/")[0] != right.split("/")[0] and version != 6:
            return f"not the network's own address; {right} is"
        return None

    return form


def _private(value: object) -> str | None:
    """An IPv4 network inside RFC 1918."""
    if wrong := _network(4)(value):
        return wrong
    network = ipaddress.IPv4Network(as_text(value))
    inside = any(
        network.subnet_of(ipaddress.IPv4Network(one)) for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
    )
    return None if inside else "not inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"


def _address(value: object) -> str | None:
    try:
        ipaddress.IPv4Address(as_text(value))
    except ValueError:
        return "not an IPv4 address"
    return None


def _base64(value: object) -> str | None:
    try:
        base64.b64decode("".join(as_text(value).split()).encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return "not Base64; encode it"
    return None


def _arn(value: object) -> str | None:
    right = re.fullmatch(
        r"arn:aws[\w-]*:[\w-]+:[a-z0-9-]*:(\d{12}|aws|aws-managed|third-party|aws-marketplace|cw.{10})?:.+",
        as_text(value),
    )
    return None if right else "not an ARN such as arn:aws:iam::123456789012:role/name"


def _aws_tags(value: object) -> str | None:
    def illegal(key: str) -> str:
        return "the prefix aws: is reserved" if key.lower().startswith("aws:") else ""

    return _tags(value, 128, illegal)


def _azure_tags(value: object) -> str | None:
    def illegal(key: str) -> str:
        found = sorted(set(key) & set("<>%&\\?/"))
        return f"{' '.join(found)} is not legal in a key" if found else ""

    return _tags(value, 512, illegal)


def _tags(value: object, longest: int, illegal: Callable[[str], str]) -> str | None:
    """Tags of a resource: number, keys, values. longest: of a key; illegal: what else is wrong with a key, or empty."""
    if not isinstance(value, Mapping):
        return None
    own = {str(key): plain(inner) for key, inner in value.items() if not str(key).startswith("__")}
    if len(own) > _TAGS:
        return f"{len(own)} tags, at most {_TAGS} are legal"
    for key, inner in own.items():
        if not 1 <= len(key) <= longest:
            return f"key {key[:20]!r}...: {len(key)} characters, legal are 1 to {longest}"
        if found := illegal(key):
            return f"key {key!r}: {found}"
        if validated_value(inner) and len(as_text(inner)) > 256:
            return f"value of {key!r}: {len(as_text(inner))} characters, at most 256 are legal"
    return None


def _duration(value: object) -> str | None:
    right = re.fullmatch(r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?", as_text(value))
    return None if right else "not a duration such as PT15M"


def _guid(value: object) -> str | None:
    right = re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", as_text(value))
    return None if right else "not a GUID such as 7f951dda-4ed3-4680-a7ca-43fe172d538d"


def _arm_id(value: object) -> str | None:
    """The id of a resource, a resource group or a subscription."""
    part = r"[^/<>%&\\?]+"
    right = re.fullmatch(
        rf"(?i)(/subscriptions/[0-9a-f-]{{36}}(/resourceGroups/{part})?)?(/providers/{part}(/{part}/{part})+)*",
        as_text(value),
    )
    return None if right and value else "not an id such as /subscriptions/<id>/resourceGroups/<group>"


WHOLE = frozenset({"tags", "azure-tags"})
"""Forms whose words name the part that is wrong, so that the whole value need not be shown."""

FORMATS: Mapping[str, Callable[[object], str | None]] = {
    "boolean": _boolean,
    "integer": _integer,
    "number": _number,
    "timestamp": _timestamp,
    "policy": _policy,
    "trust-policy": _trust,
    "ecr-lifecycle-policy": _lifecycle,
    "cidr": _network(None),
    "cidr-ipv4": _network(4),
    "cidr-ipv6": _network(6),
    "cidr-private": _private,
    "ipv4": _address,
    "base64": _base64,
    "arn": _arn,
    "tags": _aws_tags,
    "azure-tags": _azure_tags,
    "duration": _duration,
    "guid": _guid,
    "arm-id": _arm_id,
}
