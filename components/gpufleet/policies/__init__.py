"""Judging a whole plan: what policy packs, `gpufleet cost` and `gpufleet preflight` say of a stack.

`zones` and `cost` turn a plan into findings; they import neither pulumi nor a cloud SDK. `pack` alone knows Pulumi's
policy SDK.
"""
