"""The program of every environment: picks the stack that `gpufleet:cloud` names, and builds it from the settings."""

import gc
import json
import os
import sys
import warnings
from importlib import import_module

import pulumi

from gpufleet.stopping import stop_pools_if_asked
from settings import SettingsError, read

PROGRAMS = {"aws": "on_aws", "aws-batch": "on_aws_batch", "azure": "on_azure", "onprem": "on_onprem"}
"""The module of each stack."""
EXPLAINED = 32
"""Exit code by which Pulumi's language hosts know that the program has told the user what is wrong."""


def run() -> None:
    """Errors: SettingsError, pulumi.RunError; one line for each fault of the configuration, nothing is registered."""
    environment = pulumi.get_stack()
    settings = read(json.loads(os.environ.get("PULUMI_CONFIG", "{}")), environment)
    stop_pools_if_asked()
    # Imported only now: a process never loads the SDKs of two clouds.
    stack = import_module(PROGRAMS[settings.cloud])
    for name, value in stack.build(environment, settings).items():
        pulumi.export(name, value)


# SDKs are some hundred thousand objects that stay: looking for garbage among them takes a fifth of a program's time.
gc.disable()
try:
    run()
except (SettingsError, pulumi.RunError) as error:
    # A RunError that goes on from here would be shown twice: its lines, and that the program has ended with code 1.
    pulumi.log.error(str(error))
    # The SDK was about to tell the engine the stack's outputs; Python remarks that it never will.
    warnings.simplefilter("ignore", RuntimeWarning)
    sys.exit(EXPLAINED)
gc.freeze()
gc.enable()
