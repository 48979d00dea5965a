"""The `kubernetes` provider's own configuration, as the engine sends it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpufleet_rehearsal.cloud.change import has_unknown
from gpufleet_rehearsal.kubernetes.diff import MUTABLE_ON_REQUEST
from gpufleet_rehearsal.kubernetes.kubeconfig import Access, UnusableKubeconfig, read_kubeconfig
from gpufleet_rehearsal.kubernetes.word_lists import word_list
from gpufleet_rehearsal.table.paths import Json

DELETE_UNREACHABLE = "PULUMI_K8S_DELETE_UNREACHABLE"


@dataclass(frozen=True)
class ProviderConfiguration:
    """What the program says of its cluster.

    access: None when there is no kubeconfig, or it is not known yet. unknown: it is not known yet. mutable: kinds of
    MUTABLE_ON_REQUEST that change in place. delete_unreachable: forget what lies on a cluster that is gone.
    """

    access: Access | None
    unknown: bool = False
    namespace: str | None = None
    mutable: tuple[str, ...] = ()
    delete_unreachable: bool = False


def read_configuration(config: Mapping[str, Json]) -> ProviderConfiguration:
    """Read the provider's inputs. Errors: UnusableKubeconfig."""
    given = _kubeconfig(config)
    unknown = given is not None and has_unknown(given)
    context, cluster, namespace = (_text(config, key) for key in ("context", "cluster", "namespace"))
    access = read_kubeconfig(given, context, cluster) if given and not unknown else None
    return ProviderConfiguration(
        access,
        unknown,
        namespace or (access.namespace if access and access.namespace != "default" else None),
        tuple(key for key in MUTABLE_ON_REQUEST.values() if _is_true(config.get(key))),
        _is_true(config.get("deleteUnreachable")) or _is_true(os.environ.get(DELETE_UNREACHABLE)),
    )


def configuration_problems(config: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """What is wrong with the provider's inputs: key and reason."""
    legal = word_list("provider_keys")
    for key in sorted(set(config) - legal):
        if not key.startswith("__"):
            yield (
                key,
                f"kubernetes:{key}: no such key of the provider's configuration; legal are: {', '.join(sorted(legal))}",
            )
    if config.get("renderYamlToDirectory"):
        yield (
            "renderYamlToDirectory",
            "kubernetes:renderYamlToDirectory: not supported: a rehearsal applies objects and renders none",
        )
    server_side = config.get("enableServerSideApply")
    if server_side is not None and not has_unknown(server_side) and not _is_true(server_side):
        yield (
            "enableServerSideApply",
            "kubernetes:enableServerSideApply=false: a rehearsal applies server-side only, the provider's default",
        )
    try:
        read_configuration(config)
    except UnusableKubeconfig as error:
        yield "kubeconfig", str(error)


def leads_elsewhere(olds: Mapping[str, Json], news: Mapping[str, Json]) -> bool:
    """Whether another cluster is meant, so that all that lies on the old one has to be made again."""
    try:
        before, after = read_configuration(olds).access, read_configuration(news).access
    except UnusableKubeconfig:
        return False
    return before is not None and after is not None and before.server != after.server


def _kubeconfig(config: Mapping[str, Json]) -> str | None:
    given = config.get("kubeconfig")
    if given is None or isinstance(given, str):
        return given or None
    return json.dumps(given)


def _text(config: Mapping[str, Json], key: str) -> str | None:
    value = config.get(key)
    return value if isinstance(value, str) and value and not has_unknown(value) else None


def _is_true(value: object) -> bool:
    # The engine sends what is not text as JSON.
    return value is True or (isinstance(value, str) and value.lower() == "true")
