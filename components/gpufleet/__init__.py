"""Pulumi components, rules and facts for multi-node GPU training.

Importing this package imports neither pulumi nor a cloud SDK; `gpufleet.aws` does.
"""
