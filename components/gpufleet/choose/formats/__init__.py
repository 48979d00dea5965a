"""The forms of output of `gpufleet choose`."""
