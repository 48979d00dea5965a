"""The program of an environment as `pulumi up` runs it, under Pulumi's mocks: what it registers, or what it refuses."""

import asyncio
import gc
import json
import os
import runpy
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pulumi
from pulumi.runtime.settings import get_monitor, get_root_resource

from tests.components.recorder import Recording, construct

PROJECT = Path(__file__).parents[3]
STACKS = PROJECT / "stacks"
EXPLAINED = 32
"""Exit code of a program that has said what is wrong: pulumi/pulumi, sdk/python/cmd/pulumi-language-python/main.go."""


def engine_config(config: Mapping[str, object]) -> dict[str, str]:
    """A configuration as the engine hands it over. A key that is None is not there."""
    given = {key: value for key, value in config.items() if value is not None}
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()}


@dataclass(frozen=True)
class Program:
    """The program of the environment `name`. config: whole keys to values, of which a test changes some.

    computed, answers: what its cloud computes and answers: see `recorder.construct`.
    """

    name: str
    config: Mapping[str, object]
    computed: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def texts(self, whole: Mapping[str, object] | None = None, /, **changes: object) -> dict[str, str]:
        """The configuration with these keys of gpufleet changed. whole: others, with their namespaces."""
        own = {f"gpufleet:{key}": value for key, value in changes.items()}
        return engine_config({**self.config, **(whole or {}), **own})

    def __call__(
        self, whole: Mapping[str, object] | None = None, /, *, preview: bool = False, **changes: object
    ) -> Recording[dict[str, Any]]:
        """What the program registers with these changes; `result` holds the outputs of the stack.

        Each configuration is run once per process, and tests change nothing in its recording. A test that watches the
        run itself, as for its warnings, calls `run`.
        """
        key = json.dumps([self.name, self.texts(whole, **changes), preview], sort_keys=True)
        if key not in _RECORDINGS:
            _RECORDINGS[key] = self.run(whole, preview=preview, **changes)
        return _RECORDINGS[key]

    def run(
        self, whole: Mapping[str, object] | None = None, /, *, preview: bool = False, **changes: object
    ) -> Recording[dict[str, Any]]:
        """The same, run now."""

        def main() -> str:
            _run_main()
            stack = get_root_resource()
            stack.register_outputs(stack.outputs)
            return stack._name

        with _process(self.texts(whole, **changes)) as errors:
            made = construct(main, preview, self.computed, self.answers, stack=self.name)
        assert errors == []
        return replace(made, result=made.outputs[made.result])

    def refusal(self, whole: Mapping[str, object] | None = None, /, **changes: object) -> list[str]:
        """The lines with which a preview ends: they are said once, and nothing is registered."""
        recordings: list[Recording[object]] = []

        def run() -> None:
            recordings.append(get_monitor().recording)
            _run_main()

        code = None
        with _process(self.texts(whole, **changes)) as errors:
            try:
                construct(run, True, self.computed, self.answers, stack=self.name)
            except SystemExit as end:
                code = end.code
        assert code == EXPLAINED, "was accepted, should have been refused"
        assert [each.resources for each in recordings] == [[]], "refused only after resources were registered"
        (text,) = errors
        return text.splitlines()


ENCRYPTED = ["gpufleet:team", "gpufleet:teams", "gpufleet:notebooks"]
"""Keys with something encrypted in them."""
_RECORDINGS: dict[str, Recording[dict[str, Any]]] = {}


def _run_main() -> None:
    runpy.run_path(str(STACKS / "__main__.py"), run_name="__main__")


@contextmanager
def _process(config: Mapping[str, str]) -> Iterator[list[str]]:
    """What a program has for itself, as if it were a process. Yields the errors that Pulumi shows."""
    errors: list[str] = []
    encrypted = [key for key in config if key in ENCRYPTED]
    before = asyncio.get_event_loop()
    gc.freeze()
    try:
        with warnings.catch_warnings():
            # The runner cancels in the end what a program has left unfinished.
            with (
                asyncio.Runner() as runner,
                patch.dict(
                    os.environ, PULUMI_CONFIG=json.dumps(config), PULUMI_CONFIG_SECRET_KEYS=json.dumps(encrypted)
                ),
                patch.object(pulumi.log, "error", lambda message, *_: errors.append(message)),
            ):
                asyncio.set_event_loop(runner.get_loop())
                yield errors
            # What is left of it goes here, where what Python remarks on that is not shown.
            gc.collect()
    finally:
        asyncio.set_event_loop(before)
        # The program itself keeps the collector from its objects.
        gc.enable()
