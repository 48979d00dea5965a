"""`helm.v3.Release` without helm: its arguments are checked, and the release is recorded. Nothing is rendered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpufleet_rehearsal.cloud.change import Diff, PropertyChange, has_unknown, top_level
from gpufleet_rehearsal.kubernetes.diff import changes
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType
from gpufleet_rehearsal.kubernetes.word_lists import word_list
from gpufleet_rehearsal.table.paths import Json

KIND = ResourceType("helm.sh/v3", "Release")
_PINNED = re.compile(r"v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?")
_RELEASE_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_FIXED = ("name", "namespace", "chart", "repositoryOpts")
"""What replaces a release: it is another one then."""


def problems(inputs: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """What is wrong with a release: argument and reason."""
    legal = word_list("release_arguments")
    for key in sorted(set(inputs) - legal):
        yield key, f"{key}: unknown argument of a Release; must be one of {', '.join(sorted(legal))}"
    chart, version, values = inputs.get("chart"), inputs.get("version"), inputs.get("values")
    if not chart:
        yield "chart", "chart: not set; name the chart, or its oci:// address"
    if version is None:
        yield "version", f"version: not set; pin the version of {chart}, so that every `up` installs the same"
    elif not has_unknown(version) and not (isinstance(version, str) and _PINNED.fullmatch(version)):
        yield "version", f"version={version!r}: must be one version, such as 1.2.3, not a range"
    if values is not None and not has_unknown(values) and not isinstance(values, Mapping):
        yield "values", f"values: must be a mapping, not {type(values).__name__}"
    name = inputs.get("name")
    if isinstance(name, str) and not has_unknown(name) and (len(name) > 53 or not _RELEASE_NAME.fullmatch(name)):
        yield "name", f"name={name!r}: must be a release name: at most 53 lower-case letters, digits and -"
    repository = inputs.get("repositoryOpts")
    repo = repository.get("repo") if isinstance(repository, Mapping) else None
    if isinstance(repo, str) and not has_unknown(repo) and not repo.startswith(("http://", "https://")):
        yield (
            "repositoryOpts",
            f"repositoryOpts.repo={repo!r}: must be an http(s) address; an oci:// address goes into chart",
        )


def release_diff(olds: Mapping[str, Json], news: Mapping[str, Json]) -> Diff:
    """What changes between two sets of arguments."""
    found = tuple(
        PropertyChange(change.path, change.kind, top_level(change.path) in _FIXED)
        for change in changes(KIND, olds, news).changes
    )
    replaced = any(change.replaces for change in found)
    return Diff(found, delete_first=replaced and olds.get("name") == news.get("name"))


def outputs(inputs: Mapping[str, Json], revision: int) -> dict[str, Json]:
    """What a release says of itself."""
    status: dict[str, Json] = {
        "name": inputs.get("name"),
        "namespace": inputs.get("namespace") or "default",
        "chart": inputs.get("chart"),
        "version": inputs.get("version"),
        "revision": revision,
        "status": "deployed",
    }
    return {**inputs, "status": status, "resourceNames": {}}
