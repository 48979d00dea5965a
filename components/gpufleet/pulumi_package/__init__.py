"""Our components as Pulumi packages, one for each cloud, so that programs in other languages have them too.

`pulumi package add components/packages/gpufleet-aws` makes an SDK from the schema; the engine then runs that folder,
and has it construct the components. Errors are returned as lines, without a traceback.
"""
