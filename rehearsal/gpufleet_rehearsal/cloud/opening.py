"""Opens the simulated cloud of a rehearsal's directory: table, store, settings and one timeline for all processes."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.change import has_unknown
from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.settings import DIRECTORY, Settings, load_settings
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.table.loading import load_table
from gpufleet_rehearsal.table.paths import Json


class NoRehearsal(UserError):
    """The plugin runs where no rehearsal is; the text is one line."""


class CatalogOffers:
    """What gpufleet's catalog knows of instance types; it is read when first asked."""

    def offered(self, instance_type: str, region: str, zone: str | None) -> bool | None:
        from gpufleet.catalog import aws

        if zone is not None:
            return aws().offered(instance_type, zone)
        zones = aws().zones_with(instance_type, region)
        return None if zones is None else bool(zones)

    def vcpus(self, instance_type: str) -> int | None:
        from gpufleet.catalog import aws

        known = aws().types.get(instance_type)
        return known.vcpus if known else None


def open_cloud(name: str, directory: Path | None, config: Mapping[str, Json] | None = None) -> Cloud:
    """The cloud `name` of the rehearsal in `directory`, as a provider of this configuration sees it.

    Errors: NoRehearsal, SettingsError, StoreError, TableError, FaultError; each is one line for the user.
    """
    if directory is None:
        raise NoRehearsal(
            f"{DIRECTORY} is not set: this stand-in for the {name} provider only works in a rehearsal; run "
            "`gpufleet rehearse`"
        )
    if not directory.is_dir():
        raise NoRehearsal(f"{DIRECTORY}={directory}: there is no such directory; run `gpufleet rehearse`")
    settings = load_settings(directory / "rehearsal.json")
    config = config or {}
    region = config.get("region")
    if isinstance(region, str) and region and not has_unknown(region):
        settings = settings.model_copy(update={"region": region})
    store = Store(directory / "cloud.db")
    cloud = Cloud(
        load_table(name), store, timeline(store, settings), settings, problems=input_problems, offers=CatalogOffers()
    )
    cloud.around.default_tags = default_tags(config)
    return cloud


def input_problems(type_: str, inputs: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The input checks of `inputs.py`, which are only loaded when something is checked."""
    from gpufleet_rehearsal.inputs.problems import problems

    return [(problem.path, problem.reason) for problem in problems(type_, inputs)]


def config_problems(name: str, config: Mapping[str, Json], settings: Settings) -> list[str]:
    """What is wrong with the provider's configuration, a line each: misspelt keys, and no region."""
    found: list[str] = []
    if name == "aws":
        from gpufleet_rehearsal.inputs.problems import config_problems as misspelt

        found += [problem.reason for problem in misspelt(config)]
    if not config.get("region") and "region" not in settings.model_fields_set:
        found.append(f"{name}:region: not set; give the region, `pulumi config set {name}:region us-east-1`")
    return found


def default_tags(config: Mapping[str, Json]) -> Mapping[str, Json]:
    """Tags that the provider's configuration puts on every resource (`aws:defaultTags`)."""
    given = config.get("defaultTags")
    if isinstance(given, str):
        given = json.loads(given) if given.startswith("{") else None
    tags = given.get("tags") if isinstance(given, Mapping) else None
    return tags if isinstance(tags, Mapping) else {}


def timeline(store: Store, settings: Settings) -> Clock:
    """The rehearsal's clock. Processes of one latency scale share its anchor; a new scale goes on from now."""
    with store.transaction():
        wall = time.time()
        known = store.fact("timeline")
        scale, wall0, simulated0 = json.loads(known) if known else (settings.latency_scale, wall, 0.0)
        if scale != settings.latency_scale:
            simulated0 = Clock(scale, wall0, simulated0).now()
            scale, wall0 = settings.latency_scale, wall
        anchor = json.dumps([scale, wall0, simulated0])
        if anchor != known:
            store.remember("timeline", anchor)
    return Clock(scale, wall0, simulated0)
