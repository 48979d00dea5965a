"""The resource transform by which `gpufleet stop --undo` starts GPU pools again with the configured number of nodes.

The components ignore the number of nodes, which the autoscaler owns, so that an ordinary `up` would leave it at 0.
"""

import os

import pulumi

from gpufleet.fleet.pool_inputs import can_stop

VARIABLE = "GPUFLEET_START"
"""Environment variable with names of pools, one per line: those to start again. `gpufleet stop --undo` sets it."""
# The number of nodes, as the programs' options and the engine write it.
_COUNTS = frozenset({"scalingConfig.desiredSize", "scaling_config.desired_size", "count"})


def apply_stop_mode() -> None:
    """Register the pools that `gpufleet stop --undo` names with their nodes. Call it before the first resource.

    It has no effect in an ordinary `up`.
    """
    starting = frozenset(os.environ.get(VARIABLE, "").splitlines())
    if not starting:
        return

    def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if args.name not in starting or not can_stop(args.type_):
            return None
        options = args.opts
        options.ignore_changes = [path for path in options.ignore_changes or [] if path not in _COUNTS]
        return pulumi.ResourceTransformResult(props=args.props, opts=options)

    pulumi.runtime.register_resource_transform(transform)
