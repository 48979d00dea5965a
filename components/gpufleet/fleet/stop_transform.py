"""The resource transform that registers GPU pools with zero nodes when `gpufleet stop` runs the program.

Configuration alone cannot stop a pool: the autoscaler owns the number of nodes, which the components ignore, and EKS
does not accept a maximum of 0. So one `up` registers the pools as stopped, and another one starts them again.
"""

import os

import pulumi

from gpufleet.fleet.pool_inputs import can_stop, stopped_inputs
from gpufleet.stop_mode import VARIABLES

# The number of nodes, as the programs' options and the engine write it.
_COUNTS = frozenset({"scalingConfig.desiredSize", "scaling_config.desired_size", "count"})


def apply_stop_mode() -> None:
    """Register the pools that `gpufleet stop` names as stopped. Call it before the program's first resource.

    It has no effect in an ordinary `up`.
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
        props = stopped_inputs(args.type_, args.props) if args.name in stopping else args.props
        return pulumi.ResourceTransformResult(props=props, opts=options)

    pulumi.runtime.register_resource_transform(transform)
