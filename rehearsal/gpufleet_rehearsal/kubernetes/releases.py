"""Releases of charts, recorded: see release.py for what is checked of them."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet_rehearsal.kubernetes.engine_log import EngineLog
from gpufleet_rehearsal.kubernetes.recorded_objects import RecordedObjects
from gpufleet_rehearsal.kubernetes.release import KIND, outputs, problems
from gpufleet_rehearsal.table.paths import Json

Play = Callable[[Mapping[str, Json]], Awaitable[str]]


class Releases:
    """The releases of one cluster."""

    def __init__(self, directory: Path, cluster: str, log: EngineLog, play: Play | None = None) -> None:
        """cluster: as Recorded has it. play: runs the program of a chart where there is one, and says what it did;
        empty where there is none."""
        self._directory, self._cluster, self._log, self._play = directory, cluster, log, play
        self._opened: RecordedObjects | None = None

    @property
    def _recorded(self) -> RecordedObjects:
        if self._opened is None:
            self._opened = RecordedObjects(self._directory, self._cluster)
        return self._opened

    @property
    def any(self) -> bool:
        """Whether there is a chart whose objects, kinds included, a real cluster would have and this one has not."""
        return self._recorded.any_of(KIND)

    def check(
        self, name: str, news: Mapping[str, Json], olds: Mapping[str, Json], seed: bytes
    ) -> tuple[Mapping[str, Json], list[tuple[str, str]]]:
        """Arguments, named `<logical name>-<8 hex digits>` where they give no name, and what is wrong with them."""
        drawn = f"{name}-{random.Random(seed or None).getrandbits(32):08x}"
        inputs = {key: value for key, value in news.items() if not key.startswith("__")}
        inputs.setdefault("name", olds.get("name") or drawn)
        return inputs, list(problems(inputs))

    async def create(self, urn: str, inputs: Mapping[str, Json], *, preview: bool) -> tuple[str, Mapping[str, Json]]:
        """Record a release. Errors: UserError when its name is taken."""
        if preview:
            return "", outputs(inputs, 1)
        id_ = f"{inputs.get('namespace') or 'default'}/{inputs['name']}"
        if self._recorded.get(KIND, id_) is not None:
            raise UserError(f"{id_}: cannot re-use a name that is still in use")
        found = outputs(inputs, 1)
        played = await self._play(inputs) if self._play else ""
        self._recorded.put(KIND, urn, id_, inputs, found)
        what = (
            f"chart {inputs.get('chart')} {inputs.get('version')}: recorded, not rendered: the rehearsal has no helm, "
        )
        await self._log.warn(what + (f"but {played}" if played else "so none of the chart's objects are made"), urn)
        return id_, found

    async def update(self, urn: str, id_: str, inputs: Mapping[str, Json], *, preview: bool) -> Mapping[str, Json]:
        """Record a release again."""
        found = outputs(inputs, self._recorded.revision(KIND, id_) + 1)
        if not preview:
            self._recorded.put(KIND, urn, id_, inputs, found)
        return found

    def read(self, id_: str) -> tuple[Mapping[str, Json], Mapping[str, Json]] | None:
        """Arguments and outputs of a release; None when it is not there."""
        return self._recorded.get(KIND, id_)

    def delete(self, id_: str) -> None:
        """Strike out a release; one that is not there is fine."""
        self._recorded.remove(KIND, id_)
