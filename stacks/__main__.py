"""The program of every environment: picks the stack that `gpufleet:cloud` names, and builds it from the settings."""

import json
import os

import pulumi

from settings import SettingsError, read


def run() -> None:
    """Errors: pulumi.RunError with one line for each fault of the configuration, before anything is registered."""
    environment = pulumi.get_stack()
    try:
        settings = read(json.loads(os.environ.get("PULUMI_CONFIG", "{}")), environment)
    except SettingsError as error:
        raise pulumi.RunError(str(error)) from None
    # Imported only now: a process never loads the SDKs of two clouds.
    from on_aws import build

    for name, value in build(environment, settings).items():
        pulumi.export(name, value)


run()
