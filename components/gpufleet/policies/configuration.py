"""The configuration of policies: its file, and each policy's, read value by value; all faults are reported at once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpufleet.documents.json import read_json
from gpufleet.errors import UserError
from gpufleet.rules.coerce import is_texts, is_whole
from gpufleet.rules.messages import format_value, join_words, nearest

RULE = "config-policy"
ALSO = ("suppress",)
"""Keys of every policy, which others read."""


class ConfigurationError(UserError):
    """A policy's configuration that cannot be used; the text has one line for each fault."""


@dataclass
class PolicySettings:
    """The values of a policy's configuration. `where`: the policy's name, which the lines begin with.

    known: its keys. A value of the wrong kind is a fault and reads as the default; `raise_faults` tells.
    """

    config: Mapping[str, object]
    where: str
    known: Mapping[str, object]
    faults: list[str] = field(default_factory=list)

    def gives(self, key: str) -> bool:
        return self.config.get(key) is not None

    def fault(self, text: str) -> None:
        """Note a fault, `key=value: problem; what would be right`."""
        self.faults.append(f"{self.where}.{text} [{RULE}]")

    def amount(self, key: str, default: float) -> float:
        """A number above 0."""
        value = self.config.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            self.fault(f"{key}={format_value(value)}: is not an amount; use a number above 0")
            return default
        return float(value)

    def whole(self, key: str, default: int) -> int:
        """A whole number, 0 or more."""
        value = self.config.get(key)
        return default if value is None else self._whole(key, value, default)

    def wholes(self, key: str) -> dict[str, int]:
        """A mapping of names to whole numbers, empty when not given."""
        value = self.config.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.fault(f"{key}={format_value(value)}: must be a mapping; write {{<name>: <number>}}")
            return {}
        return {str(name): self._whole(f"{key}.{name}", number, 0) for name, number in value.items()}

    def text(self, key: str, default: str) -> str:
        value = self.config.get(key)
        if value is None:
            return default
        if not isinstance(value, str) or not value:
            self.fault(f"{key}={format_value(value)}: must be a string; put it in quotes")
            return default
        return value

    def word(self, key: str, legal: Sequence[str]) -> str:
        """One of the legal words, the first of them when not given."""
        value = self.config.get(key)
        if value is None:
            return legal[0]
        if value not in legal:
            self.fault(f"{key}={format_value(value)}: is not an allowed value; use {join_words(legal)}")
            return legal[0]
        return str(value)

    def texts(self, key: str, default: Sequence[str]) -> Sequence[str]:
        value = self.config.get(key)
        if value is None:
            return default
        if not is_texts(value):
            self.fault(f"{key}={format_value(value)}: must be a list of strings; write [{', '.join(default)}]")
            return default
        return tuple(value)

    def raise_faults(self) -> None:
        """Errors: ConfigurationError when there are faults, or keys that are not known."""
        for key in self.config:
            if key not in self.known and key not in ALSO:
                near = nearest(str(key), self.known)
                self.fault(
                    f"{key}: unknown key; " + (f"did you mean {near}?" if near else f"known: {', '.join(self.known)}")
                )
        if self.faults:
            raise ConfigurationError("\n".join(self.faults))

    def _whole(self, key: str, value: object, default: int) -> int:
        if not is_whole(value) or value < 0:
            self.fault(f"{key}={format_value(value)}: must be a whole number; use 0 or more")
            return default
        return int(value)


def read_policies(file: Path) -> dict[str, Mapping[str, object]]:
    """Configuration by policy, without those that are only given an enforcement level. Errors: UserError."""
    fix = 'give the file of --policy-pack-config, such as {"cost": {...}, "ownership": {...}}'
    content = read_json(file, fix, shape=dict[str, object])
    return {name: each for name, each in content.items() if isinstance(each, dict)}
