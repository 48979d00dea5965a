"""Run the program of an environment: what it refuses ends it with lines, not with a traceback."""

import gc
import runpy
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pulumi

from gpufleet.config.reader import ConfigError, config_of_engine, read_config
from gpufleet.config.stacks import KINDS
from gpufleet.stop_mode import apply_stop_mode

EXPLAINED = 32
"""Exit code by which Pulumi's language hosts know that the program has told the user what is wrong."""


def run_program(folder: Path) -> None:
    """Run the program in `folder` that `gpufleet:cloud` names: aws.py, aws_batch.py, azure.py or onprem.py."""
    with explained():
        cloud = config_of_engine().get("gpufleet:cloud", "")
        file = folder / f"{cloud.replace('-', '_')}.py"
        if cloud not in KINDS:
            read_config(config_of_engine(), pulumi.get_stack())  # says which clouds there are
        apply_stop_mode()
        runpy.run_path(str(file))


@contextmanager
def explained() -> Iterator[None]:
    """A block in which faults of configuration and arguments end the program: a line for each, and no traceback."""
    # SDKs are some hundred thousand objects that stay: looking for garbage among them takes a fifth of a program's
    # time.
    gc.disable()
    try:
        yield
    except (ConfigError, pulumi.RunError) as error:
        # A RunError that goes on from here would be shown twice: its lines, and that the program ended with code 1.
        pulumi.log.error(str(error))
        # The SDK was about to tell the engine the stack's outputs; Python remarks that it never will.
        warnings.simplefilter("ignore", RuntimeWarning)
        sys.exit(EXPLAINED)
    gc.freeze()
    gc.enable()
