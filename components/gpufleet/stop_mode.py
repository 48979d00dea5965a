"""GPU pools at zero nodes for the time being: what `gpufleet stop` asks of a program, by one line in the program.

Configuration alone cannot do it: how many nodes run is the autoscaler's number, which the components ignore, and EKS
does not take 0 as the most that a pool may have. So one `up` registers the pools as stopped, and another takes it back.
"""

import os

import pulumi

from gpufleet.fleet.pool_inputs import VARIABLES, can_stop, stopped

# The number of nodes, as the programs' options and the engine write it.
_COUNTS = frozenset({"scalingConfig.desiredSize", "scaling_config.desired_size", "count"})


def stop_requested() -> bool:
    """Whether this run of the program does nothing but stop pools."""
    return bool(os.environ.get(VARIABLES[True]))


def apply_stop_mode() -> None:
    """Register the pools that `gpufleet stop` names as stopped. Call it before the program's first resource.

    In an ordinary `up` it does nothing at all.
    """
    stopping, starting = (
        frozenset(os.environ.get(name, "").splitlines()) for name in (VARIABLES[True], VARIABLES[False])
    )
    if not stopping | starting:
        return

    def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if args.name not in stopping | starting or not can_stop(args.type_):
            return None
        options = args.opts
        options.ignore_changes = [path for path in options.ignore_changes or [] if path not in _COUNTS]
        props = stopped(args.type_, args.props) if args.name in stopping else args.props
        return pulumi.ResourceTransformResult(props=props, opts=options)

    pulumi.runtime.register_resource_transform(transform)
