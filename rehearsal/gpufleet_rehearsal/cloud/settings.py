"""The settings of a rehearsal, `<directory>/rehearsal.json`: how fast, where, and what goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gpufleet.errors import UserError

DIRECTORY = "GPUFLEET_REHEARSAL"
"""The environment variable that names a rehearsal's directory."""


class SettingsError(UserError):
    """The settings cannot be used; the text is one line."""


class RehearsalSettings(BaseModel):
    """How the simulated cloud behaves; every key has a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    latency_scale: float = Field(0.0, ge=0)
    """Real seconds per simulated one: 1 as slow as the real cloud, 0.01 a hundred times as fast, 0 without waiting."""
    seed: int = 0
    """Of everything that is drawn: identifiers, random faults."""
    region: str = "us-east-1"
    """Used when the program's provider configuration names none. Of AWS; in Azure every resource names its own."""
    account: str = Field("000000000000", pattern=r"^\d{12}$")
    faults: list[str] = []
    """What goes wrong, as in faults.py: "create:aws:eks/cluster:Cluster:1"."""
    quotas: dict[str, int] = {}
    """On-demand vCPUs at most, by quota family: {"P": 0, "G": 64, "standard": 1152}; others have no limit."""
    control_plane: bool = True
    """Whether objects of Kubernetes go to a real control plane, where its programs were built; else they are only
    checked and recorded."""


def load_settings(file: Path) -> RehearsalSettings:
    """Read the settings; a file that is not there means defaults. SettingsError names file and key."""
    try:
        return RehearsalSettings.model_validate_json(file.read_text()) if file.exists() else RehearsalSettings()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"{file}: {place or 'the file'}: {first['msg']}") from None
    except (OSError, json.JSONDecodeError) as error:
        raise SettingsError(f"{file}: {error}") from None
