"""The program of every stack here: gpufleet's own, for the stack's `gpufleet:cloud`."""

from gpufleet.config.program import run_environment

run_environment()
