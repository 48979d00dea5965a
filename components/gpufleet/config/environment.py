"""Environment: a stack's name and configuration, and what every part of it gets from them."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pulumi

from gpufleet.config.plain_text import PlainText
from gpufleet.config.reader import config_of_engine, read_config
from gpufleet.ownership import ERASE_OUTPUT, STACK_LABEL, stack_mark
from gpufleet.pools.node_labels import OBJECT_LABELS, PREFIX, label_value
from gpufleet.validation import gathering

C = TypeVar("C", bound=Mapping[str, Any])
Config = TypeVar("Config", bound=Mapping[str, Any], covariant=True)


@dataclass(frozen=True)
class Environment(Generic[Config]):
    """One environment: its name is the stack's, its configuration that of `Pulumi.<name>.yaml`."""

    name: str
    config: Config

    @staticmethod
    def load(declared: type[C]) -> "Environment[C]":
        """The environment of the running program. declared: the TypedDict of its configuration.

        Errors: `gpufleet.config.reader.ConfigError` with one line for each fault.
        """
        name = pulumi.get_stack()
        return Environment(name, declared(**read_config(config_of_engine(), name, PlainText.of_engine(name))))

    def part(self, name: str) -> str:
        """The logical name of a part of the environment."""
        return f"{self.name}-{name}"

    def gathering(self, *shared: str) -> AbstractContextManager[None]:
        """A block at whose end the faults of all parts are raised at once: see `gpufleet.validation.gathering`.

        shared: arguments that several parts get alike, besides region and tags.
        """
        return gathering(("region", "tags", *shared))

    def export(self, **outputs: pulumi.Input[Any]) -> None:
        """Outputs of the stack, by name; with `jobs` go the budgets of the configuration.

        `erase` is one where the configuration says so: by it `gpufleet reap` knows that it may delete data.
        """
        if "jobs" in outputs and "budgets" in self.config:
            jobs: Any = outputs["jobs"]
            outputs["jobs"] = {**jobs, "budgets": self.config["budgets"]}
        if self.config.get("erase"):
            outputs[ERASE_OUTPUT] = True
        for name, value in outputs.items():
            pulumi.export(name, value)

    @property
    def tags(self) -> dict[str, str]:
        """Tags of every resource, to which each component adds gpufleet's mark (`gpufleet.ownership`)."""
        config = self.config
        own = {"owner": config["owner"], "project": config["project"], "environment": self.name}
        end = {"expires-at": config.get("expires_at", "never")}
        more = {key: config[key] for key in ("purpose", "grace") if key in config}
        return {**config["tags"], **own, **end, **more}

    @property
    def labels(self) -> dict[str, str]:
        """Labels of every Kubernetes object of an environment: what `tags` says, of the keys that are set.

        For the objects' own metadata only: in selectors, which cannot be changed, in templates of pods, whose change
        restarts them, and on nodes they have no place. `gpufleet ps` reads them where nothing has tags. A label's value
        has letters, digits and `-_.` only, at most 63: other signs become one -, and what is left empty is left out.
        """
        mark = stack_mark(pulumi.get_project(), self.name)
        keys = {**self.config, "environment": self.name, STACK_LABEL: mark}
        texts = {key: keys.get(key.replace("-", "_")) for key in OBJECT_LABELS}
        values = {key: label_value(text) for key, text in texts.items() if text}
        return {f"{PREFIX}{key}": value for key, value in values.items() if value}
