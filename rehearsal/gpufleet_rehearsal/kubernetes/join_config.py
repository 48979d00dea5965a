"""What a server's script tells nodeadm: read out of the script itself, as the server would run it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from gpufleet_rehearsal.kubernetes.machine import taint_of

_KIND, _VARIABLE = "NodeConfig", "NODE_CONFIG"


class JoinConfigError(Exception):
    """The script has no NodeConfig that nodeadm could read; the text says what is wrong."""


@dataclass(frozen=True)
class JoinConfig:
    """A NodeConfig of node.eks.aws/v1alpha1. taints: {key, value, effect} in a pool's words.

    ssm, roles_anywhere: the credentials; one of them is empty.
    """

    cluster: str
    region: str
    labels: Mapping[str, str]
    taints: list[Mapping[str, str]]
    ssm: Mapping[str, str]
    roles_anywhere: Mapping[str, str]


def join_config(script: str) -> JoinConfig:
    """The NodeConfig of a script that `gpufleet.aws.join_script` made. Errors: JoinConfigError.

    Source: https://docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-nodeadm.html
    """
    spec = _config(script).get("spec") or {}
    cluster, hybrid = spec.get("cluster") or {}, spec.get("hybrid") or {}
    flags = dict(each.lstrip("-").partition("=")[::2] for each in (spec.get("kubelet") or {}).get("flags") or ())
    return JoinConfig(
        cluster=str(cluster.get("name", "")),
        region=str(cluster.get("region", "")),
        labels=dict(each.partition("=")[::2] for each in _listed(flags.get("node-labels", ""))),
        taints=[taint_of(each) for each in _listed(flags.get("register-with-taints", ""))],
        ssm=hybrid.get("ssm") or {},
        roles_anywhere=hybrid.get("iamRolesAnywhere") or {},
    )


def _config(script: str) -> dict[str, Any]:
    """The value of the variable in the script's head, as the shell reads it."""
    head = script.partition("\n\n")[0]
    try:
        words = dict(word.partition("=")[::2] for word in shlex.split(head, comments=True))
        document = yaml.safe_load(words.get(_VARIABLE, ""))
    except (ValueError, yaml.YAMLError) as error:
        raise JoinConfigError(f"its header is not valid shell, or {_VARIABLE} is not valid YAML: {error}") from error
    if not isinstance(document, dict) or document.get("kind") != _KIND:
        raise JoinConfigError(f"its variable {_VARIABLE} does not contain a {_KIND}")
    return document


def _listed(flag: str) -> list[str]:
    return [part for part in "".join(shlex.split(flag)).split(",") if part]
