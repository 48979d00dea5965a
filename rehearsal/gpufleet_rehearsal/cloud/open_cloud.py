"""Opens the simulated cloud of a rehearsal's directory: table, store, settings and one timeline for all processes."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.availability import instance_catalog_of
from gpufleet_rehearsal.cloud.change import has_unknown
from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.settings import DIRECTORY, RehearsalSettings, load_settings
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.table.cloud_rows import CloudRow
from gpufleet_rehearsal.table.loader import load_table
from gpufleet_rehearsal.table.paths import Json


class RehearsalMissing(UserError):
    """The plugin runs where no rehearsal is; the text is one line."""


def open_cloud(name: str, directory: Path | None, config: Mapping[str, Json] | None = None) -> Cloud:
    """The cloud `name` of the rehearsal in `directory`, as a provider of this configuration sees it.

    Errors: RehearsalMissing, SettingsError, StoreError, TableError, FaultError; each is one line for the user.
    """
    if directory is None:
        raise RehearsalMissing(
            f"{DIRECTORY} is not set: the simulated {name} provider only works in a rehearsal; run `gpufleet rehearse`"
        )
    if not directory.is_dir():
        raise RehearsalMissing(f"{DIRECTORY}={directory}: directory not found; run `gpufleet rehearse`")
    table, config = load_table(name), config or {}
    settings = with_location(load_settings(directory / "rehearsal.json"), table.row, config)
    store = Store(directory / "cloud.db")
    cloud = Cloud(
        table, store, timeline(store, settings), settings, problems=input_problems, offers=instance_catalog_of(name)
    )
    cloud.view.default_tags = default_tags(config)
    return cloud


def with_location(settings: RehearsalSettings, row: CloudRow, config: Mapping[str, Json]) -> RehearsalSettings:
    """The settings with the region and the account of a provider of this configuration."""

    def known(key: str) -> str | None:
        value = config.get(key)
        return value if isinstance(value, str) and value and not has_unknown(value) else None

    region = known(row.region.key) or (None if row.region.required else row.region.default)
    account = None if row.account is None else known(row.account.key) or row.account.default
    given = {"region": region, "account": account}
    return settings.model_copy(update={key: value for key, value in given.items() if value is not None})


def input_problems(type_: str, inputs: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The input checks of `inputs.py`, which are only loaded when something is checked."""
    from gpufleet_rehearsal.inputs.validate import problems

    return [(problem.path, problem.reason) for problem in problems(type_, inputs)]


def config_problems(name: str, config: Mapping[str, Json], settings: RehearsalSettings) -> list[str]:
    """What is wrong with the provider's configuration, a line each: misspelt keys, and no region."""
    from gpufleet_rehearsal.inputs.validate import config_problems as misspelt

    found, where = [problem.reason for problem in misspelt(name, config)], load_table(name).row.region
    if where.required and not config.get(where.key) and "region" not in settings.model_fields_set:
        key = f"{name}:{where.key}"
        found.append(f"{key}: not set; give the region, `pulumi config set {key} {where.default}`")
    return found


def default_tags(config: Mapping[str, Json]) -> Mapping[str, Json]:
    """Tags that the provider's configuration puts on every resource (`aws:defaultTags`)."""
    given = config.get("defaultTags")
    if isinstance(given, str):
        given = json.loads(given) if given.startswith("{") else None
    tags = given.get("tags") if isinstance(given, Mapping) else None
    return tags if isinstance(tags, Mapping) else {}


def timeline(store: Store, settings: RehearsalSettings) -> Clock:
    """The rehearsal's clock. Processes of one latency scale share its anchor; a new scale continues from now."""
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
