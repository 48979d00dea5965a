"""The environments of the templates for `pulumi new`: those of `gpufleet init` with its defaults."""

from gpufleet.config.new_environment import DEFAULTS, environment_config, render_environment


def aws() -> str:
    """templates/aws-gpufleet/Pulumi.dev.yaml."""
    return _environment("aws")


def aws_batch() -> str:
    """templates/aws-batch-gpufleet/Pulumi.dev.yaml."""
    return _environment("aws-batch")


def azure() -> str:
    """templates/azure-gpufleet/Pulumi.dev.yaml."""
    return _environment("azure")


def _environment(cloud: str) -> str:
    config = environment_config(DEFAULTS[cloud], "platform-team", "${PROJECT}", "platform-team@example.com")
    return render_environment(config, None)
