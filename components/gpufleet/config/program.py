"""Runs the program of an environment; errors end it with one line each and no traceback."""

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
from gpufleet.fleet.stop_transform import apply_stop_mode
from gpufleet.repository import shipped

EXPLAINED = 32
"""Exit code that tells Pulumi's language hosts that the program has reported its errors to the user."""


def run_environment() -> None:
    """Run our own program of the environment, wherever gpufleet is installed: a project of `gpufleet init` calls it."""
    run_program(shipped("stacks"))


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
    """A block in which errors in configuration and arguments end the program: a line for each, and no traceback."""
    # SDKs allocate some hundred thousand objects that stay; collecting garbage takes a fifth of a program's time.
    gc.disable()
    try:
        yield
    except (ConfigError, pulumi.RunError) as error:
        # A RunError that leaves this function would be shown twice: its lines, and that the program ended with code 1.
        pulumi.log.error(str(error))
        # The SDK was about to register the stack's outputs; Python warns that it never does.
        warnings.simplefilter("ignore", RuntimeWarning)
        sys.exit(EXPLAINED)
    gc.freeze()
    gc.enable()
